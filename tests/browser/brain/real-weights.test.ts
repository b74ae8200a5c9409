/**
 * The starter brain itself, on each engine, through the app's own path: listed beside the app,
 * downloaded, loaded, a call in our dialect under its grammar, the result read, an answer.
 */
import { commands } from 'vitest/browser';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { BrainEvent, BrainMessage, BrainRequest } from '../../../src/brain/brain.ts';
import { fetchRows } from '../../../src/brain/local/catalogue.ts';
import { createModels } from '../../../src/brain/local/models.ts';
import type { Models } from '../../../src/brain/local/types.ts';
import { openStore } from '../../../src/store/open.ts';
import type { Store } from '../../../src/store/store.ts';
import { never } from './rows.ts';

const WEATHER: BrainRequest = {
  system: '',
  now: 'Sunday 2026-11-29 14:05, Asia/Kolkata',
  messages: [{ role: 'user', text: "What's the weather in Mumbai tomorrow?" }],
  tools: [
    {
      name: 'get_weather',
      description: 'Get the weather forecast of a city for a day.',
      inputSchema: {
        type: 'object',
        properties: {
          city: { type: 'string', description: 'Name of the city.' },
          date: { type: 'string', description: 'Day, as YYYY-MM-DD.' },
        },
        required: ['city', 'date'],
      },
    },
  ],
  toolChoice: 'auto',
  maxTokens: 80,
};

const server = await commands.startFileServer();
const index = `${server}models/index.json`;
/** Empty where `npm run weights` was not run: then there is nothing to test. */
const listed = (await fetchRows(index)) ?? [];

let store: Store;
let models: Models;

beforeAll(async () => {
  store = await openStore({ name: `weights-${crypto.randomUUID()}` });
  models = createModels({ store, index, publicRows: async () => [] });
});
afterAll(async () => {
  await models.unload();
  store.close();
  await commands.stopFileServer(server);
});

async function step(id: string, messages: readonly BrainMessage[]): Promise<readonly BrainEvent[]> {
  const brain = await models.brain(id);
  const events: BrainEvent[] = [];
  for await (const event of brain!.stream({ ...WEATHER, messages }, never())) events.push(event);
  return events;
}

const usageOf = (events: readonly BrainEvent[]) =>
  events.flatMap((event) => (event.type === 'usage' ? [event.usage] : []))[0];

describe.each(['wllama', 'webllm'])('Gemma 3 270M with our adapter on %s', (engine) => {
  const id = `gemma3-270m-tools.${engine}`;
  const here = listed.some((row) => row.id === id);

  test.skipIf(!here)(
    'calls the tool, reads its result out of the cache, and answers',
    async () => {
      const began = performance.now();
      await models.download(id);
      const stored = performance.now();
      const view = (await models.list()).find((one) => one.row.id === id);
      expect(view?.status).toEqual({ kind: 'ready' });

      const first = await step(id, WEATHER.messages);
      const calls = first.flatMap((event) => (event.type === 'call' ? [event.call] : []));
      expect(calls.map((call) => call.name)).toEqual(['get_weather']);
      expect(calls[0]?.args).toMatchObject({ city: 'Mumbai' });
      expect(calls[0]?.args?.date).toMatch(/^(tomorrow|2026-11-30)$/);
      expect(first.at(-1)).toEqual({ type: 'end', reason: 'calls' });

      const second = await step(id, [
        ...WEATHER.messages,
        { role: 'assistant', text: '', calls },
        {
          role: 'tool',
          callId: calls[0]!.id,
          name: 'get_weather',
          text: '{"city":"Mumbai","sky":"light rain","high_c":29}',
          isError: false,
        },
      ]);
      const answer = second.map((event) => (event.type === 'text' ? event.text : '')).join('');
      expect(answer).toMatch(/rain/i);
      expect(second.at(-1)).toEqual({ type: 'end', reason: 'stop' });

      const before = usageOf(first)!;
      const after = usageOf(second)!;
      expect(after.cachedTokens).toBeGreaterThan(before.promptTokens!);
      console.log(
        `${engine}: download ${Math.round(stored - began)} ms; ${JSON.stringify(before)}; ` +
          `${JSON.stringify(after)}; "${answer}"`,
      );
    },
    1_200_000,
  );
});
