/** The phone's brain with the other families, on an engine that says what it is told to. */
import { describe, expect, test } from 'vitest';
import type { Brain, BrainEvent, BrainMessage, BrainRequest } from '../../../../src/brain/brain.ts';
import { createLocalBrain } from '../../../../src/brain/local/brain.ts';
import { DIALECTS } from '../../../../src/brain/local/dialect/families.ts';
import type {
  CatalogueRow,
  EngineName,
  Family,
  GenerateRequest,
  LocalEngine,
} from '../../../../src/brain/local/types.ts';
import { acceptor } from '../local/accepts.ts';
import { CLOCK, getWeather, setReminder } from '../local/tools.ts';
import { SYSTEM, user } from './conversations.ts';

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

function scripted(...replies: string[]): LocalEngine & { requests: GenerateRequest[] } {
  const requests: GenerateRequest[] = [];
  return {
    requests,
    load: () => Promise.resolve(),
    async *generate(request) {
      const reply = replies[requests.push(request) - 1] ?? '';
      for (const text of reply.match(/[^]{1,3}/g) ?? []) yield { type: 'token', text };
      yield { type: 'done', reason: 'stop', promptTokens: 9, cachedTokens: 0, outputTokens: 9 };
    },
    unload: () => Promise.resolve(),
  };
}

const asked = (
  messages: readonly BrainMessage[],
  more: Partial<BrainRequest> = {},
): BrainRequest => ({
  system: SYSTEM,
  now: CLOCK,
  messages,
  tools: [getWeather, setReminder],
  toolChoice: 'auto',
  maxTokens: 500,
  ...more,
});

async function stream(brain: Brain, request: BrainRequest): Promise<BrainEvent[]> {
  const events: BrainEvent[] = [];
  for await (const event of brain.stream(request, new AbortController().signal)) events.push(event);
  return events;
}

const textOf = (events: readonly BrainEvent[], type: 'text' | 'thinking'): string =>
  events.map((event) => (event.type === type ? event.text : '')).join('');
const callsOf = (events: readonly BrainEvent[]) =>
  events.flatMap((event) => (event.type === 'call' ? [event.call] : []));
const called = (args: Record<string, unknown>): BrainMessage => ({
  role: 'assistant',
  text: '',
  calls: [{ id: '1', name: 'get_weather', args, raw: '' }],
});
const weather: BrainMessage = {
  role: 'tool',
  callId: '1',
  name: 'get_weather',
  text: '{"rain":true}',
  isError: false,
};

const THOUGHTS = {
  qwen3: '<think>\nGoa. The tool knows.\n</think>\n\n',
  gemma4: '<|channel>thought\nGoa. The tool knows.\n<channel|>',
} as const;
const CALLS = {
  qwen3:
    '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Goa", "date": "tomorrow"}}\n</tool_call>',
  gemma4: '<|tool_call>call:get_weather{city:<|"|>Goa<|"|>,date:<|"|>tomorrow<|"|>}<tool_call|>',
} as const;
const QUESTION = user('Weather in Goa tomorrow?');

describe.each(['qwen3', 'gemma4'] as const)('a brain of the family %s that thinks', (family) => {
  const thinker = row(family, { thinking: true });

  test('tells its thoughts apart from its answer and its calls', async () => {
    const engine = scripted(`${THOUGHTS[family]}${CALLS[family]}`, `${THOUGHTS[family]}It rains.`);
    const brain = createLocalBrain({ row: thinker, engine });
    const first = await stream(brain, asked([QUESTION]));
    expect(textOf(first, 'thinking')).toBe('Goa. The tool knows.');
    expect(textOf(first, 'text')).toBe('');
    expect(callsOf(first)).toMatchObject([
      { name: 'get_weather', args: { city: 'Goa', date: 'tomorrow' } },
    ]);
    expect(first.at(-1)).toEqual({ type: 'end', reason: 'calls' });
    const second = await stream(brain, asked([QUESTION, called({}), weather]));
    expect(textOf(second, 'thinking')).toBe('Goa. The tool knows.');
    expect(textOf(second, 'text')).toBe('It rains.');
  });

  test('does not think where it is not to, and says so to the model', async () => {
    const engine = scripted('Hello.', 'Hello.');
    const brain = createLocalBrain({ row: thinker, engine });
    await stream(brain, asked([QUESTION]));
    await stream(brain, asked([QUESTION], { think: false }));
    const [on, off] = engine.requests;
    expect(on?.prompt).not.toEqual(off?.prompt);
    const thought = `${THOUGHTS[family]}Hello.`;
    expect(acceptor(on?.grammar ?? '')(thought)).toBe(true);
    expect(acceptor(off?.grammar ?? '')(thought)).toBe(false);
    const plain = createLocalBrain({ row: row(family), engine: scripted('Hello.') });
    expect(textOf(await stream(plain, asked([QUESTION])), 'text')).toBe('Hello.');
  });

  test('keeps its thoughts in the cache while the turn goes on, and no longer', async () => {
    const reply = `${THOUGHTS[family]}${CALLS[family]}`;
    const engine = scripted(reply, 'It rains.', 'You are welcome.');
    const brain = createLocalBrain({ row: thinker, engine });
    const resolved = called({ city: 'Goa', date: '2026-11-30' });
    const answer: BrainMessage = { role: 'assistant', text: 'It rains.', calls: [] };
    await stream(brain, asked([QUESTION]));
    await stream(brain, asked([QUESTION, resolved, weather]));
    await stream(brain, asked([QUESTION, resolved, weather, answer, user('Thanks')]));
    const [, second, third] = engine.requests.map(({ prompt }) => prompt);
    expect(second?.[1]).toBe(reply);
    expect(third?.join('')).not.toContain('The tool knows');
  });

  test('does not mistake a call that another model made in its place for its own', async () => {
    const engine = scripted(CALLS[family], 'It rains.', 'It rains.', 'It rains.');
    const brain = createLocalBrain({ row: row(family), engine });
    await stream(brain, asked([QUESTION]));
    for (const [city, date] of [
      ['Goa', '2026-11-30'],
      ['Pune', '2026-11-30'],
      ['Goa', 'Friday'],
    ])
      await stream(brain, asked([QUESTION, called({ city, date }), weather]));
    const [, own, elsewhere, later] = engine.requests.map(({ prompt }) => prompt[1]);
    expect(own).toBe(CALLS[family]);
    expect(elsewhere).toContain('Pune');
    expect(later).toContain('Friday');
  });

  test('forgets a reply that was repaired: the next is not read as the one before it', async () => {
    const wrong = CALLS[family].replace('tomorrow', '2026-12-25');
    const engine = scripted(CALLS[family], wrong, 'It rains.');
    const brain = createLocalBrain({ row: row(family), engine });
    await stream(brain, asked([QUESTION]));
    const [made] = callsOf(await stream(brain, asked([QUESTION])));
    expect(made?.mended).toContain('2026-12-25');
    const run = called({ city: 'Goa', date: '2026-12-01' });
    await stream(brain, asked([QUESTION, run, weather]));
    expect(engine.requests.at(-1)?.prompt[1]).toContain('2026-12-01');
  });

  test('an abort keeps what was thought and said', async () => {
    const engine = scripted();
    engine.generate = async function* () {
      yield { type: 'token', text: `${THOUGHTS[family].trimEnd()}\n\nIt rai` };
      yield { type: 'done', reason: 'aborted', promptTokens: 9, cachedTokens: 0, outputTokens: 9 };
    };
    const events = await stream(createLocalBrain({ row: thinker, engine }), asked([QUESTION]));
    expect(textOf(events, 'thinking')).toBe('Goa. The tool knows.');
    expect(textOf(events, 'text')).toBe('It rai');
  });
});

describe('a brain on the phone', () => {
  test.each(Object.keys(DIALECTS) as Family[])(
    'speaks the language of %s: prompt, stops, markers, grammar of its engine',
    async (family) => {
      const grammars = new Set<string | null>();
      for (const name of ['webllm', 'wllama'] satisfies EngineName[]) {
        const engine = scripted('Hello.');
        const events = await stream(
          createLocalBrain({ row: row(family, { engine: name }), engine }),
          asked([QUESTION]),
        );
        expect(textOf(events, 'text')).toBe('Hello.');
        const [sent] = engine.requests;
        expect(sent?.stop).toEqual(DIALECTS[family].stop);
        expect(sent?.markers).toEqual(DIALECTS[family].markers);
        const prompt = sent?.prompt.join('') ?? '';
        expect(prompt).toContain('Weather in Goa tomorrow?');
        // The small ones were trained without a system text.
        const knowsSystem = !['gemma3', 'functiongemma'].includes(family);
        expect(prompt.includes(SYSTEM)).toBe(knowsSystem);
        grammars.add(sent?.grammar ?? null);
      }
      expect(grammars.size).toBe(2);
    },
  );

  test('tells a Gemma that was not trained for this app how tools are called', async () => {
    const engine = scripted('Hello.', 'Hello.');
    for (const more of [{}, { untaught: true }])
      await stream(createLocalBrain({ row: row('gemma3', more), engine }), asked([QUESTION]));
    const [trained, published] = engine.requests.map(({ prompt }) => prompt.join(''));
    expect(trained).not.toContain('You can call these functions');
    expect(published).toContain('You can call these functions');
    expect(published).toContain(SYSTEM);
  });

  test('samples as its makers advise, unless the request says otherwise', async () => {
    const engine = scripted('a', 'b', 'c', 'd');
    const sampling = { temperature: 0.6, topP: 0.95, topK: 20 };
    const advised = createLocalBrain({ row: row('qwen3', { sampling }), engine });
    await stream(advised, asked([QUESTION]));
    await stream(advised, asked([QUESTION], { seed: 7 }));
    await stream(advised, asked([QUESTION], { temperature: 0 }));
    await stream(createLocalBrain({ row: row('qwen3'), engine }), asked([QUESTION]));
    expect(engine.requests.map((request) => request.sampling)).toEqual([
      sampling,
      { ...sampling, seed: 7 },
      { temperature: 0 },
      { temperature: 0 },
    ]);
  });

  test('samples calls otherwise than words where its row says so', async () => {
    const engine = scripted('a', 'b', 'c');
    const sampling = { temperature: 1, topP: 0.95 };
    const toolSampling = { ...sampling, temperature: 0.2 };
    const brain = createLocalBrain({ row: row('gemma4', { sampling, toolSampling }), engine });
    await stream(brain, asked([QUESTION]));
    await stream(brain, asked([QUESTION], { tools: [] }));
    await stream(brain, asked([QUESTION], { toolChoice: 'none' }));
    expect(engine.requests.map((request) => request.sampling)).toEqual([
      toolSampling,
      sampling,
      sampling,
    ]);
  });

  test('notes what was mended in a call and what was put right in it', async () => {
    const wrong = "{'name': 'set_reminder', 'arguments': {'text': 'ring', 'time': '16:00',}}";
    const engine = scripted(`<tool_call>\n${wrong}\n</tool_call>`);
    const brain = createLocalBrain({ row: row('qwen3'), engine });
    const [made] = callsOf(await stream(brain, asked([user('Remind me to ring at 6pm')])));
    expect(made).toMatchObject({
      args: { text: 'ring', time: '18:00' },
      mended: 'single quotes, a trailing comma; time: "16:00" → "18:00"',
    });
  });

  test('has nothing to run for a tool that was not offered', async () => {
    const wish = '{"name": "delete_all", "arguments": {"really": true}}';
    const engine = scripted(`<tool_call>\n${wish}\n</tool_call>`);
    const events = await stream(createLocalBrain({ row: row('qwen3'), engine }), asked([QUESTION]));
    expect(callsOf(events)).toMatchObject([{ name: 'delete_all', args: null, raw: wish }]);
  });
});
