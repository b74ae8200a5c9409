/** Turns with the phone's own brain, its dialects and repairs; only the engine plays a script. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { runTurn } from '../../../src/agent/loop.ts';
import { createLocalBrain } from '../../../src/brain/local/brain.ts';
import { DIALECTS } from '../../../src/brain/local/dialect/families.ts';
import type { CatalogueRow, Family, LocalEngine } from '../../../src/brain/local/types.ts';
import type { CallPart, Part } from '../../../src/store/records.ts';
import { brokenReply } from '../brain/dialect/written.ts';
import { inputOf, kinds, portsOf, routerOf, textResult, toolboxOf } from './world.ts';

const row = (family: Family, more: Partial<CatalogueRow> = {}): CatalogueRow => ({
  id: `${family}.test`,
  label: family,
  engine: 'wllama',
  family,
  note: '',
  files: [],
  base: 'http://127.0.0.1/',
  licence: { name: '', url: '' },
  contextTokens: 4096,
  maxTools: 6,
  memory: 1,
  beside: true,
  ...more,
});

function engine(...replies: string[]): LocalEngine {
  let at = 0;
  return {
    load: () => Promise.resolve(),
    async *generate() {
      for (const text of (replies[at++] ?? 'Done.').match(/[^]{1,4}/g) ?? [])
        yield { type: 'token', text };
      yield { type: 'done', reason: 'stop', promptTokens: 9, cachedTokens: 0, outputTokens: 9 };
    },
    unload: () => Promise.resolve(),
  };
}

async function turn(
  model: CatalogueRow,
  ...replies: string[]
): Promise<{ parts: readonly Part[]; ran: readonly string[] }> {
  const toolbox = toolboxOf({
    get_weather: { readOnly: true, run: async () => textResult('{"rain":true}') },
  });
  const brain = createLocalBrain({ row: model, engine: engine(...replies) });
  const ports = portsOf({ router: routerOf(brain), toolbox });
  const input = inputOf({ request: 'Will it rain in Goa?', mode: 'phone' });
  await runTurn(input, ports, new AbortController().signal);
  return { parts: ports.journal.parts(), ran: toolbox.ran };
}

const callOf = (parts: readonly Part[]): CallPart | undefined =>
  parts.find((part) => part.kind === 'call');

describe('a turn with a brain on the phone', () => {
  test('keeps what a model thought apart from what it said', async () => {
    const { parts } = await turn(
      row('qwen3', { thinking: true }),
      '<think>\nThe tool knows.\n</think>\n\n<tool_call>\n{"name": "get_weather", "arguments": {"city": "Goa"}}\n</tool_call>',
      '<think>\nIt rains.\n</think>\n\nYes, take a raincoat.',
    );
    expect(kinds(parts)).toEqual([
      'route',
      'thinking',
      'call',
      'step',
      'route',
      'thinking',
      'text',
      'step',
    ]);
    expect(parts[1]).toMatchObject({ text: 'The tool knows.' });
    expect(parts[6]).toMatchObject({ text: 'Yes, take a raincoat.' });
  });

  test('notes with the call what was mended in it', async () => {
    const { parts, ran } = await turn(
      row('qwen3'),
      "<tool_call>\n{'name': 'get_weather', 'arguments': {'city': 'Goa'}}",
      'Yes.',
    );
    expect(ran).toEqual(['get_weather']);
    expect(callOf(parts)).toMatchObject({ mended: 'single quotes, a missing end marker' });
    const clean = await turn(row('gemma3'), '```tool_code\nget_weather(city="Goa")\n```', 'Yes.');
    expect(callOf(clean.parts)).not.toHaveProperty('mended');
  });

  test('runs nothing that was not offered, and tells the model so', async () => {
    for (const family of Object.keys(DIALECTS) as Family[]) {
      const { parts, ran } = await turn(
        row(family),
        '<tool_call>{"name": "delete_all", "arguments": {}}</tool_call>',
        'I cannot do that.',
      );
      expect(ran).toEqual([]);
      expect(kinds(parts)).toContain('badcall');
    }
  });

  test('five hundred malformed calls never throw, and never run anything unasked', async () => {
    let runs = 0;
    await fc.assert(
      fc.asyncProperty(brokenReply, async ({ reader, text }) => {
        const { parts, ran } = await turn(row(reader), text);
        const asked = parts.flatMap((part) => (part.kind === 'call' ? [part.tool] : []));
        expect(ran.every((name) => name === 'get_weather')).toBe(true);
        expect(ran.length).toBeLessThanOrEqual(asked.length);
        runs += ran.length;
      }),
      { numRuns: 500 },
    );
    expect(runs).toBeGreaterThan(10);
  });
});
