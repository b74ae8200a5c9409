import { describe, expect, test } from 'vitest';
import { answerTokens, fit, resultChars, type Material } from '../../../src/agent/context.ts';
import { runTurn } from '../../../src/agent/loop.ts';
import type { Brain, BrainMessage } from '../../../src/brain/brain.ts';
import { gemma3 } from '../../../src/brain/local/dialect/gemma3.ts';
import {
  inputOf,
  memoryJournal,
  portsOf,
  routerOf,
  scriptedBrain,
  textResult,
  toolboxOf,
} from './world.ts';

const FIXED = { system: 100, tools: 400 };
const turn = (n: number, length = 300): BrainMessage[] => [
  { role: 'user', text: `${n}`.padEnd(length, 'x') },
  { role: 'assistant', text: 'y'.repeat(length), calls: [] },
];
const user = (text: string): BrainMessage => ({ role: 'user', text });

function small(contextTokens: number, turns?: number): Brain {
  const brain = scriptedBrain([]);
  const info = brain.describe();
  return { ...brain, describe: () => ({ ...info, contextTokens, ...(turns ? { turns } : {}) }) };
}

const fitted = (material: Material, brain: Brain = scriptedBrain([])) =>
  fit(() => material, FIXED, brain);

describe('a window', () => {
  const history = Array.from({ length: 40 }, (_, n) => turn(n));

  test('leaves out whole turns, oldest first, and never the newest', () => {
    const { messages, use, fits } = fitted({ history, current: [user('now')] });
    expect(use.dropped).toBeGreaterThan(0);
    expect(messages).toHaveLength((40 - use.dropped) * 2 + 1);
    expect(messages[0]).toEqual(history[use.dropped]?.[0]);
    expect(messages.at(-1)).toEqual(user('now'));
    expect(fits).toBe(true);
  });

  test('is counted share by share, and what is counted stays within it', () => {
    const result: BrainMessage = {
      role: 'tool',
      callId: 'c',
      name: 't',
      text: 'r'.repeat(600),
      isError: false,
    };
    const { use } = fitted({ history, current: [user('now'), result] });
    expect(use).toMatchObject({ window: 4096, answer: 1024, ...FIXED, results: 208 });
    const taken = use.system + use.tools + use.earlier + use.words + use.results;
    expect(taken).toBeLessThanOrEqual(use.window - use.answer);
    expect(taken).toBeGreaterThan(use.window - use.answer - 250);
  });

  test('cuts what hangs on the words shorter until the turn fits, and counts it by itself', () => {
    const text = 'a'.repeat(100_000);
    const { messages, use, fits } = fit(
      (bound) => ({
        history,
        attached: text.slice(0, bound),
        current: [user(`now${text.slice(0, bound)}`)],
      }),
      { system: 100, tools: 2200 },
      scriptedBrain([]),
    );
    expect(fits).toBe(true);
    expect(use.attached).toBeGreaterThan(100);
    expect(use.words).toBeLessThan(20);
    expect(messages.at(-1)?.text.length).toBeGreaterThan(300);
  });

  test('shows a model no more turns than it can follow', () => {
    const { messages, use } = fitted({ history, current: [user('now')] }, small(100_000, 3));
    expect(messages).toHaveLength(7);
    expect(use.dropped).toBe(37);
  });

  test('holds a summary in place of the turns that it stands for', () => {
    const summary = { turns: 38, text: 'Much was said.', by: 'Test', at: 1 };
    const { messages, use } = fitted({ summary, history, current: [user('now')] });
    expect(messages[0]).toMatchObject({ role: 'user', text: /Much was said\./u });
    expect(messages.slice(2)).toEqual([...history.slice(38).flat(), user('now')]);
    expect(use.dropped).toBe(38);
  });

  test('holds it, too, where a model is shown but a few turns', () => {
    const summary = { turns: 37, text: 'Much was said.', by: 'Test', at: 1 };
    const brain = small(100_000, gemma3.turns);
    const { messages, use } = fitted({ summary, history, current: [user('now')] }, brain);
    expect(use.dropped).toBe(38);
    const now = 'Sunday 2026-11-29 14:05, UTC';
    const prompt = gemma3.render({ now, messages, tools: [], toolChoice: 'auto' }).join('');
    for (const shown of ['Much was said.', '38xxx', '39xxx', 'now<end_of_turn>'])
      expect(prompt).toContain(shown);
  });

  test('says so when even the newest turn is too long', () => {
    expect(fitted({ history: [], current: [user('z'.repeat(100_000))] }).fits).toBe(false);
  });

  test('takes a paste of a megabyte for what it is: too long, at once', () => {
    const paste = 'All work and no play. '.repeat(50_000);
    const { fits, messages } = fitted({ history, current: [user(paste)] });
    expect(fits).toBe(false);
    expect(messages).toEqual([user(paste)]);
  });

  test('keeps at least a fifth for the answer, up to a bound', () => {
    for (const window of [1024, 2048, 4096, 8192])
      expect(answerTokens(window)).toBeGreaterThanOrEqual(window / 5);
    expect(answerTokens(1_000_000)).toBe(4096);
    expect(resultChars(2048)).toBeLessThan(2048 * 3);
  });
});

describe('results that are longer than the window', () => {
  const LONG = Array.from({ length: 4000 }, (_, n) => `row ${n} of a long result`).join('\n');
  const cut = (outcome: unknown, _server: string, chars: number): string =>
    JSON.stringify(outcome).slice(0, chars);

  test('are cut until three of them fit, and the turn is answered', async () => {
    const reads = { run: async () => textResult(LONG), readOnly: true };
    const brain = scriptedBrain([
      {
        calls: ['a', 'b', 'c', 'd'].map((name) => ({ name, args: {} })),
      },
      { text: 'Read.' },
    ]);
    const journal = memoryJournal();
    const ports = portsOf({
      router: routerOf(brain),
      toolbox: toolboxOf({ a: reads, b: reads, c: reads, d: reads }),
      journal,
      resultText: cut,
    });
    const end = await runTurn(inputOf(), ports, new AbortController().signal);
    expect(end).toBe('done');
    const shown = brain.requests[1]?.messages ?? [];
    const results = shown.filter(({ role }) => role === 'tool');
    expect(results).toHaveLength(4);
    const route = journal.parts().findLast((part) => part.kind === 'route');
    expect(route).toMatchObject({ context: { window: 4096, dropped: 0 } });
    // The person's is whole.
    const kept = journal.parts().filter((part) => part.kind === 'call');
    for (const call of kept) expect(JSON.stringify(call.outcome)).toContain('row 3999');
  });

  test('of eleven thousand tokens leave room for an answer in a window of four thousand', async () => {
    const brain = scriptedBrain([{ calls: [{ name: 'a', args: {} }] }, { text: 'Read.' }]);
    const ports = portsOf({
      router: routerOf(brain),
      toolbox: toolboxOf({ a: { run: async () => textResult('w '.repeat(16_500)) } }),
      resultText: cut,
    });
    expect(await runTurn(inputOf(), ports, new AbortController().signal)).toBe('done');
    const asked = brain.requests[1]?.messages ?? [];
    const tokens = asked.reduce((sum, message) => sum + brain.countTokens(message.text), 0);
    expect(tokens).toBeLessThan(4096 * 0.8);
  });
});
