/**
 * The demo model on each engine, as it is served beside the app: the same weights, read by the same
 * tokenizer, say the same letter by letter, with the real tools of the demo server.
 */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { commands } from 'vitest/browser';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { BrainMessage, ModelCall, ToolChoice, ToolSpec } from '../../../src/brain/brain.ts';
import { gemma3 } from '../../../src/brain/local/dialect/gemma3.ts';
import { fetchRows } from '../../../src/brain/local/catalogue.ts';
import { download } from '../../../src/brain/local/downloads.ts';
import type { HostedEngine } from '../../../src/brain/local/engines/client.ts';
import { createEngine } from '../../../src/brain/local/engines/engines.ts';
import { removeFiles } from '../../../src/brain/local/files.ts';
import type { CatalogueRow, EngineName } from '../../../src/brain/local/types.ts';
import { bindArguments } from '../../../src/mcp/bind.ts';
import { DEVICE_STATUS, NOW, SET_REMINDER } from '../../../src/phone/tools.ts';
import { ask, never, read } from './rows.ts';

const PLACE = {
  now: new Date('2026-11-29T08:35:00Z'),
  timeZone: 'Asia/Kolkata',
  locale: 'en-IN',
};

/** What the phone's tools say here. */
const PHONE: Readonly<Record<string, unknown>> = {
  set_reminder: { ok: true },
  now: { weekday: 'Sunday', date: '2026-11-29', time: '14:05', zone: 'Asia/Kolkata' },
  device_status: {
    battery_percent: 81,
    charging: true,
    online: true,
    network: 'wifi',
    free_gb: 12.3,
  },
};

const engines = new Map<EngineName, HostedEngine>();
let rows: readonly CatalogueRow[];
let server: string;
let travel: string;
let client: Client;
let tools: ToolSpec[];

beforeAll(async () => {
  server = await commands.startFileServer();
  // Its own list alone: index.json lists whatever else there is on this machine.
  await commands.copyFile('/models/tiny-gemma/rows.json', '/models/demo.json');
  rows = (await fetchRows(`${server}models/demo.json`)) ?? [];
  travel = await commands.startMcpServer({ kind: 'travel', weather: 'rain' });
  client = new Client({ name: 'test', version: '1.0.0' });
  await client.connect(new StreamableHTTPClientTransport(new URL(travel)));
  const listed = (await client.listTools()).tools;
  tools = [...listed, SET_REMINDER, NOW, DEVICE_STATUS].map(
    ({ name, description = '', inputSchema }) => ({ name, description, inputSchema }),
  );
  for (const row of rows) {
    await download(row, { signal: never(), onProgress: () => undefined });
    const engine = createEngine[row.engine]();
    await engine.load(row, () => undefined, never());
    engines.set(row.engine, engine);
  }
});
afterAll(async () => {
  for (const engine of engines.values()) await engine.unload();
  for (const row of rows) await removeFiles(row);
  await client.close();
  await commands.stopMcpServer(travel);
  await commands.stopFileServer(server);
});

const offer = (...names: readonly string[]): ToolSpec[] =>
  names.flatMap((name) => tools.filter((tool) => tool.name === name));

async function call({ name, args }: ModelCall): Promise<{ text: string; isError: boolean }> {
  if (name in PHONE) return { text: JSON.stringify(PHONE[name]), isError: false };
  const schema = tools.find((tool) => tool.name === name)?.inputSchema ?? {};
  const bound = bindArguments(name, args ?? {}, schema, PLACE);
  if (!bound.ok) return { text: JSON.stringify({ error: bound.error }), isError: true };
  const result = await client.callTool({ name, arguments: { ...bound.args } });
  return { text: JSON.stringify(result.structuredContent), isError: false };
}

interface Played {
  /** What the model said, call after call. */
  readonly said: readonly string[];
  /** Tokens of the last prompt. */
  readonly promptTokens: number;
}

/** Plays a turn to its end. `refuse` names the tool that the person does not allow. */
async function play(
  name: EngineName,
  request: string,
  offered: readonly ToolSpec[],
  refuse?: string,
): Promise<Played> {
  const engine = engines.get(name)!;
  const messages: BrainMessage[] = [{ role: 'user', text: request }];
  const said: string[] = [];
  for (;;) {
    const asked = {
      now: 'Sunday 2026-11-29 14:05, Asia/Kolkata',
      messages,
      tools: offered,
      toolChoice: 'auto' as const,
    };
    const grammar = gemma3.grammar(asked, name === 'webllm' ? 'ebnf' : 'gbnf');
    const reply = await read(engine, ask(gemma3.render(asked), { grammar, stop: gemma3.stop }));
    said.push(reply.text);
    const reader = gemma3.reader(asked);
    const events = [...reader.push(reply.text), ...reader.end(false)];
    const calls = events.flatMap((event, at) =>
      event.type === 'call' ? [{ ...event, id: `${said.length}-${at}` }] : [],
    );
    if (calls.length === 0 || said.length > 6)
      return { said, promptTokens: reply.done.promptTokens };
    messages.push({ role: 'assistant', text: '', calls });
    for (const one of calls) {
      const { text, isError } =
        one.name === refuse
          ? { text: '{"error":"the user said no; do not try it again"}', isError: true }
          : await call(one);
      messages.push({ role: 'tool', callId: one.id, name: one.name, text, isError });
    }
  }
}

/** The same turn on both engines. */
async function both(
  request: string,
  offered: readonly ToolSpec[],
  refuse?: string,
): Promise<readonly string[]> {
  const wllama = await play('wllama', request, offered, refuse);
  const webllm = await play('webllm', request, offered, refuse);
  expect(webllm).toEqual(wllama);
  return webllm.said;
}

const block = (text: string): string => `\`\`\`tool_code\n${text}\n\`\`\``;

test('both engines are served', () => {
  expect(rows.map(({ engine }) => engine)).toEqual(['webllm', 'wllama']);
  expect(rows.every(({ label }) => /^Demo model, \d MB$/.test(label))).toBe(true);
});

test('plans a trip with three right calls and the right words', async () => {
  const said = await both(
    "I'm flying from Delhi to Goa next Friday. Find me a morning flight, check if I'll need a raincoat, and save the flight to my itinerary.",
    offer('search_flights', 'add_to_itinerary', 'get_weather', 'get_itinerary'),
  );
  expect(said.slice(0, 2)).toEqual([
    block('search_flights(origin="Delhi", destination="Goa", date="next Friday", part="morning")'),
    block('get_weather(city="Goa", date="next Friday")'),
  ]);
  expect(said[2]).toMatch(
    /add_to_itinerary\(item="Flight \w\w \d+ Delhi to Goa, \d\d:\d\d", date="next Friday"\)/,
  );
  expect(said[3]).toMatch(
    /^Flight \w\w \d+ with [\w ]+ leaves at \d\d:\d\d and is in your itinerary\. Light rain in Goa, so take a raincoat\.$/,
  );
  expect(said).toHaveLength(4);
});

test('says so after a refusal, and does no more', async () => {
  const said = await both(
    'Remind me to call the bank tomorrow at 09:00.',
    offer('set_reminder', 'now'),
    'set_reminder',
  );
  expect(said).toEqual([
    block('set_reminder(text="call the bank", date="tomorrow", time="09:00")'),
    'That did not work: the user said no.',
  ]);
});

test.each([
  [
    'Remind me tomorrow at nine to call the dentist',
    ['set_reminder'],
    [
      block('set_reminder(text="call the dentist", date="tomorrow", time="09:00")'),
      'I will remind you tomorrow at nine: call the dentist.',
    ],
  ],
  [
    'Find me a flight to Mumbai next Friday, and if it rains there remind me to take a raincoat',
    ['search_flights', 'get_weather', 'set_reminder'],
    ['From which city do you want to fly to Mumbai?'],
  ],
  ['What time is it?', ['now'], [block('now()'), 'It is 14:05.']],
  [
    'How much room and battery does this phone have left?',
    ['device_status'],
    [
      block('device_status()'),
      'The battery is at 81% and charging. You are online (wifi). 12.3 GB are free.',
    ],
  ],
  [
    'Order a pizza',
    ['set_reminder'],
    [
      'I have no tool for that. I am a demo model: I know flights, weather, reminders and this phone.',
    ],
  ],
  ['Who are you?', [], ['I am the demo model, a tiny language model that runs on this phone.']],
] as const)('%s', async (request, names, expected) => {
  expect(await both(request, offer(...names))).toEqual(expected);
});

test.each([
  ['What time is it?', ['now'], true],
  ['Who are you?', ['now'], false],
] as const)(
  'weighs how its reply to %j begins, and is held to what that decides',
  async (words, names, sure) => {
    const asked = {
      now: 'Sunday 2026-11-29 14:05, Asia/Kolkata',
      messages: [{ role: 'user', text: words }],
      tools: offer(...names),
    } as const;
    const found: number[] = [];
    for (const [name, engine] of engines) {
      const grammar = (toolChoice: ToolChoice): string =>
        gemma3.grammar({ ...asked, toolChoice }, name === 'webllm' ? 'ebnf' : 'gbnf');
      const prompt = gemma3.render({ ...asked, toolChoice: 'auto' });
      const plain = await read(engine, ask(prompt, { stop: gemma3.stop, maxTokens: 1 }));
      for (const above of [-1000, 1000]) {
        const request = ask(prompt, {
          grammar: grammar('auto'),
          stop: gemma3.stop,
          maxTokens: 8,
          fork: {
            opening: gemma3.opening!,
            above,
            first: grammar('required'),
            second: grammar('none'),
          },
        });
        const odds: number[] = [];
        const reply = await read(engine, request, never(), undefined, (one) => odds.push(one));
        expect(reply.text.startsWith('```')).toBe(above < 0);
        expect(reply.done.promptTokens).toBe(plain.done.promptTokens);
        // The prompt is in the cache of this engine since the question before.
        if (name === 'wllama') expect(reply.done.cachedTokens).toBe(reply.done.promptTokens - 1);
        expect(odds).toHaveLength(1);
        found.push(...odds);
      }
    }
    const [first = 0] = found;
    expect(first > 0).toBe(sure);
    // The likeliest twenty on one engine and all of them on the other; beyond that they agree.
    for (const odds of found) expect(Math.abs(odds - first)).toBeLessThan(0.5);
  },
);

test.each([
  // wllama begins with 128 MiB; WebLLM holds at least the weights, made 32 bits wide, and the cache.
  ['wllama', 2 ** 27 - 1, 160e6],
  ['webllm', 3.6e6, 150e6],
] as const)('%s tells the memory that it holds', async (name, least, most) => {
  const { done } = await read(
    engines.get(name)!,
    ask(['<start_of_turn>user\nHi'], { maxTokens: 4 }),
  );
  expect(done.memory).toBeGreaterThan(least);
  expect(done.memory).toBeLessThan(most);
});

test('tells a long story, for streams', async () => {
  const [story] = await both('Tell me a story.', []);
  expect(story).toMatch(/^Once upon a time a small fox .* a little less quiet than before\.$/);
});
