/**
 * The starter brain itself, on each engine, through the app's own path: listed beside the app,
 * downloaded, loaded, a call in our dialect under its grammar, the result read, an answer. And on one
 * of them a few questions of the kind that `npm run eval:bfcl` asks by the hundred: of each what must
 * hold however right the model is.
 */
import { commands } from 'vitest/browser';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { BrainEvent, BrainMessage, BrainRequest, ToolSpec } from '../../../src/brain/brain.ts';
import { fetchRows } from '../../../src/brain/local/catalogue.ts';
import { createModels } from '../../../src/brain/local/models.ts';
import type { Models } from '../../../src/brain/local/types.ts';
import { matchOf } from '../../../src/mcp/match.ts';
import { searchText } from '../../../src/mcp/search-text.ts';
import { SET_REMINDER } from '../../../src/phone/tools.ts';
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
/** Empty where `npm run weights` was not run: then there is nothing to test, and each test says so. */
const listed = (await fetchRows(index)) ?? [];

function needs(id: string, skip: (condition: boolean, reason: string) => void): void {
  const here = listed.some((row) => row.id === id);
  skip(!here, `${id} is not in models/index.json: npm run weights fetches its weights`);
}

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

const matched = (words: string, tools: readonly ToolSpec[]): number =>
  matchOf(words, tools.map(searchText)) ?? 0;

async function ask(id: string, request: BrainRequest): Promise<readonly BrainEvent[]> {
  const brain = await models.brain(id);
  const events: BrainEvent[] = [];
  for await (const event of brain!.stream(request, never())) events.push(event);
  return events;
}

const step = (id: string, messages: readonly BrainMessage[]): Promise<readonly BrainEvent[]> =>
  ask(id, {
    ...WEATHER,
    messages,
    match: matched(messages[0]?.text ?? '', WEATHER.tools),
  });

const callsOf = (events: readonly BrainEvent[]) =>
  events.flatMap((event) => (event.type === 'call' ? [event.call] : []));
const decisionOf = (events: readonly BrainEvent[]): string | undefined =>
  events.flatMap((event) => (event.type === 'decision' ? [event.text] : []))[0];

const usageOf = (events: readonly BrainEvent[]) =>
  events.flatMap((event) => (event.type === 'usage' ? [event.usage] : []))[0];

describe.each(['wllama', 'webllm'])('Gemma 3 270M with our adapter on %s', (engine) => {
  const id = `gemma3-270m-tools.${engine}`;

  test('calls the tool, reads its result out of the cache, and answers', async ({ skip }) => {
    needs(id, skip);
    const began = performance.now();
    await models.download(id);
    const stored = performance.now();
    const view = (await models.list()).find((one) => one.row.id === id);
    expect(view?.status).toEqual({ kind: 'ready' });

    const first = await step(id, WEATHER.messages);
    const calls = callsOf(first);
    expect(decisionOf(first)).toMatch(/^Sure enough/);
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

    const other = await step(id, [{ role: 'user', text: 'Who painted the Mona Lisa?' }]);
    expect(decisionOf(other)).toMatch(/^Not sure enough/);
    expect(callsOf(other)).toEqual([]);
    expect(other.some((event) => event.type === 'text')).toBe(true);

    const before = usageOf(first)!;
    const after = usageOf(second)!;
    expect(after.cachedTokens).toBeGreaterThan(before.promptTokens!);
    console.log(
      `${engine}: download ${Math.round(stored - began)} ms; ${JSON.stringify(before)}; ` +
        `${JSON.stringify(after)}; "${answer}"`,
    );
  }, 1_200_000);
});

const text = (description: string) => ({ type: 'string', description });
const tool = (
  name: string,
  description: string,
  properties: Readonly<Record<string, unknown>>,
  required = Object.keys(properties),
): ToolSpec => ({ name, description, inputSchema: { type: 'object', properties, required } });

const TOOLS = [
  tool('find_recipes', 'Search for recipes by dish and diet.', {
    dish: text('Name of the dish.'),
    diet: { type: 'string', enum: ['any', 'vegan', 'vegetarian'], description: 'Diet.' },
    servings: { type: 'integer', description: 'For how many people.' },
  }),
  {
    name: SET_REMINDER.name,
    description: SET_REMINDER.description ?? '',
    inputSchema: SET_REMINDER.inputSchema,
  },
  tool('get_stock_price', 'Get the price of a stock.', { company: text('Name of the company.') }),
];
const WORDS_OF_TOOLS = ['any', 'vegan', 'vegetarian'];

/** Days and times are put into a form of their own. */
const WRITTEN = /^(?:\d{4}-\d\d-\d\d|\d\d:\d\d)$/;

/** Whether a value was said, or is one of those that a tool allows. */
const isCopied = (value: unknown, words: string): boolean =>
  typeof value === 'number'
    ? words.includes(String(value))
    : WRITTEN.test(String(value)) ||
      WORDS_OF_TOOLS.includes(String(value)) ||
      words.includes(String(value));

const starter = 'gemma3-270m-tools.wllama';

test('what the starter calls is whole, of the offered tools, and copied from the request', async ({
  skip,
}) => {
  needs(starter, skip);
  await models.download(starter);
  for (const [words, name] of [
    ['Find vegan lasagne recipes for 6 people', 'find_recipes'],
    ['Remind me to call the bank tomorrow at 09:00.', 'set_reminder'],
    ['What do the stocks of Zyntho and Quarbel cost?', 'get_stock_price'],
  ] as const) {
    // As the toolbox offers a small model what shares a word with the request.
    const tools = TOOLS.filter((one) => matched(words, [one]) > 0);
    const request = {
      ...WEATHER,
      messages: [{ role: 'user', text: words }],
      tools,
      match: matched(words, tools),
    } as const;
    const events = await ask(starter, request);
    const made = callsOf(events);
    expect(decisionOf(events)).toMatch(/^Sure enough/);
    expect(made[0]?.name).toBe(name);
    for (const { args, raw } of made) {
      expect(args, raw).not.toBeNull();
      for (const value of Object.values(args!).flat())
        expect(isCopied(value, words), raw).toBe(true);
    }
  }
}, 600_000);
