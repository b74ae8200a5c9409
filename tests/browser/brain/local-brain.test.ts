import { commands } from 'vitest/browser';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { BrainEvent, BrainMessage, ToolSpec } from '../../../src/brain/brain.ts';
import { createLocalBrain } from '../../../src/brain/local/brain.ts';
import { download } from '../../../src/brain/local/downloads.ts';
import type { HostedEngine } from '../../../src/brain/local/engines/client.ts';
import { createEngine } from '../../../src/brain/local/engines/engines.ts';
import { removeFiles } from '../../../src/brain/local/files.ts';
import type { CatalogueRow } from '../../../src/brain/local/types.ts';
import { never, randomGguf, tinyGemma } from './rows.ts';

const TOOLS: readonly ToolSpec[] = [
  {
    name: 'get_weather',
    description: 'Get the weather forecast of a city for a day.',
    inputSchema: {
      type: 'object',
      properties: {
        city: { type: 'string', enum: ['Mumbai', 'Delhi'] },
        unit: { type: 'string', enum: ['celsius', 'fahrenheit'] },
        hours: { type: 'array', items: { enum: [8, 12, 18] }, maxItems: 2 },
        detailed: { type: 'boolean' },
      },
      required: ['city', 'unit', 'hours'],
    },
  },
];

// One model knows the demo's tools alone, the other not even a language: what holds them is the grammar,
// in the notation of each engine.
describe.each([
  ['WebLLM', tinyGemma],
  ['wllama', randomGguf],
] as const)('a brain on %s', (_name, rowOf) => {
  let row: CatalogueRow;
  let engine: HostedEngine;

  beforeAll(async () => {
    const server = await commands.startFileServer();
    row = await rowOf(server);
    await download(row, { signal: never(), onProgress: () => undefined });
    await commands.stopFileServer(server);
    engine = createEngine[row.engine]();
    await engine.load(row, () => undefined, never());
  });
  afterAll(async () => {
    await engine.unload();
    await removeFiles(row);
  });

  async function ask(
    toolChoice: 'required' | 'none',
    messages: readonly BrainMessage[],
  ): Promise<BrainEvent[]> {
    const brain = createLocalBrain({
      row,
      engine: {
        load: () => Promise.resolve(),
        generate: (request, signal) => engine.generate(request, signal),
        unload: () => Promise.resolve(),
      },
    });
    const events: BrainEvent[] = [];
    const request = { system: '', now: 'Sunday 2026-11-29 14:05, Asia/Kolkata', messages };
    const limits = { tools: TOOLS, toolChoice, maxTokens: 300, temperature: 0, seed: 1 };
    for await (const event of brain.stream({ ...request, ...limits }, never())) events.push(event);
    return events;
  }

  test('calls an offered tool with valid arguments where it must', async () => {
    const events = await ask('required', [
      { role: 'user', text: 'What is the weather in Mumbai?' },
    ]);
    const calls = events.flatMap((event) => (event.type === 'call' ? [event.call] : []));
    expect(calls.length).toBeGreaterThan(0);
    for (const { name, args } of calls) {
      expect(name).toBe('get_weather');
      expect(['Mumbai', 'Delhi']).toContain(args?.city);
      expect(['celsius', 'fahrenheit']).toContain(args?.unit);
      expect(args?.hours).toBeInstanceOf(Array);
    }
    expect(events.at(-1)).toEqual({ type: 'end', reason: 'calls' });
  });

  test('answers in words where it may not call', async () => {
    const events = await ask('none', [{ role: 'user', text: 'What is the weather in Mumbai?' }]);
    expect(events.some((event) => event.type === 'call')).toBe(false);
    expect(events.some((event) => event.type === 'text')).toBe(true);
    expect(events.find((event) => event.type === 'usage')).toMatchObject({
      usage: { promptTokens: expect.any(Number), outputTokens: expect.any(Number) },
    });
  });
});
