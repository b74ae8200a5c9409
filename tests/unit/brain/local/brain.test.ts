import { describe, expect, test } from 'vitest';
import type { BrainEvent, BrainMessage, BrainRequest } from '../../../../src/brain/brain.ts';
import { createLocalBrain } from '../../../../src/brain/local/brain.ts';
import { EngineError, type EngineErrorKind } from '../../../../src/brain/local/errors.ts';
import type {
  CatalogueRow,
  EngineEvent,
  GenerateRequest,
  LocalEngine,
} from '../../../../src/brain/local/types.ts';
import { acceptor } from './accepts.ts';
import { CLOCK, getWeather, setReminder } from './tools.ts';

const ROW: CatalogueRow = {
  id: 'gemma3-270m-tools.wllama',
  label: 'Gemma 3 270M, tools',
  engine: 'wllama',
  family: 'gemma3',
  note: '',
  files: [],
  base: 'http://127.0.0.1/',
  licence: { name: '', url: '' },
  contextTokens: 2048,
  maxTools: 6,
  memory: 1,
  beside: true,
};

const done = (reason: 'stop' | 'length' | 'aborted' = 'stop'): EngineEvent => ({
  type: 'done',
  reason,
  promptTokens: 120,
  cachedTokens: 20,
  outputTokens: 5,
});

interface Script {
  readonly load?: LocalEngine['load'];
  readonly replies: readonly (
    string | ((request: GenerateRequest) => AsyncIterable<EngineEvent>)
  )[];
}

/** An engine that says what it is told to, a few letters at a time. */
function scripted({ load, replies }: Script): LocalEngine & { requests: GenerateRequest[] } {
  const requests: GenerateRequest[] = [];
  return {
    requests,
    load: load ?? (() => Promise.resolve()),
    async *generate(request, signal) {
      const reply = replies[requests.push(request) - 1] ?? '';
      if (typeof reply !== 'string') return yield* reply(request);
      yield { type: 'prefill', fraction: 1 };
      for (const text of reply.match(/[^]{1,5}/g) ?? []) {
        if (signal.aborted) return yield done('aborted');
        yield { type: 'token', text };
      }
      yield done();
    },
    unload: () => Promise.resolve(),
  };
}

const user = (text: string): BrainMessage => ({ role: 'user', text });
const request = (messages: readonly BrainMessage[], more: Partial<BrainRequest> = {}) => ({
  system: 'Be kind.',
  now: CLOCK,
  messages,
  tools: [getWeather, setReminder],
  toolChoice: 'auto' as const,
  maxTokens: 200,
  ...more,
});

async function stream(
  engine: LocalEngine,
  messages: readonly BrainMessage[] = [user('Weather in Goa tomorrow?')],
  signal: AbortSignal = new AbortController().signal,
  brain = createLocalBrain({ row: ROW, engine }),
): Promise<BrainEvent[]> {
  const events: BrainEvent[] = [];
  for await (const event of brain.stream(request(messages), signal)) events.push(event);
  return events;
}

const CALL = '```tool_code\nget_weather(city="Goa", date="2026-11-30")\n```';
const textOf = (events: readonly BrainEvent[]): string =>
  events.map((event) => (event.type === 'text' ? event.text : '')).join('');
const callsOf = (events: readonly BrainEvent[]) =>
  events.flatMap((event) => (event.type === 'call' ? [event.call] : []));

describe('a brain on the phone', () => {
  test('says what it is', () => {
    expect(createLocalBrain({ row: ROW, engine: scripted({ replies: [] }) }).describe()).toEqual({
      id: 'phone:gemma3-270m-tools.wllama',
      place: 'phone',
      model: 'gemma3-270m-tools.wllama',
      label: 'Gemma 3 270M, tools',
      contextTokens: 2048,
      maxTools: 6,
      turns: 3,
      can: { tools: true, images: false, schema: true },
    });
  });

  test('counts what it writes before any message: no system text where it shows none', () => {
    const brain = createLocalBrain({ row: ROW, engine: scripted({ replies: [] }) });
    const head = {
      system: 'Be brief. '.repeat(100),
      now: 'Sunday 2026-11-29 14:05, UTC',
      tools: [],
    };
    const none = brain.headTokens!(head);
    expect(none.system).toBeLessThan(60);
    expect(none.tools).toBe(0);
    const tool = {
      name: 'get_weather',
      description: 'Get the weather.',
      inputSchema: { type: 'object', properties: { city: { type: 'string' } } },
    };
    const one = brain.headTokens!({ ...head, tools: [tool] });
    expect(one.system).toBe(none.system);
    expect(one.tools).toBeGreaterThan(5);
    expect(one.tools).toBeLessThan(brain.countTokens(JSON.stringify(tool)));
  });

  test('loads, reads, answers, counts and ends, in this order', async () => {
    const engine = scripted({
      load: async (_row, onProgress) => {
        onProgress(0.5);
        onProgress(1);
      },
      replies: ['Hello! How can I help?'],
    });
    const events = await stream(engine);
    expect(events.map((event) => event.type)).toEqual([
      'progress',
      'progress',
      'progress',
      ...events.filter((event) => event.type === 'text').map(() => 'text'),
      'usage',
      'end',
    ]);
    expect(events[0]).toEqual({ type: 'progress', phase: 'load', fraction: 0.5 });
    expect(events[2]).toEqual({ type: 'progress', phase: 'prefill', fraction: 1 });
    expect(textOf(events)).toBe('Hello! How can I help?');
    expect(events.at(-2)).toMatchObject({
      usage: { promptTokens: 120, cachedTokens: 20, outputTokens: 5 },
    });
    expect(events.at(-1)).toEqual({ type: 'end', reason: 'stop' });
  });

  test('measures the time to the first token and the speed after it', async () => {
    let time = 1000;
    const engine = scripted({
      replies: [
        async function* () {
          time += 400;
          for (let token = 0; token < 5; token += 1) {
            yield { type: 'token', text: 'a ' } as const;
            time += 100;
          }
          yield done();
        },
      ],
    });
    const brain = createLocalBrain({ row: ROW, engine, clock: () => time });
    const events = await stream(engine, undefined, undefined, brain);
    expect(events.find((event) => event.type === 'usage')).toMatchObject({
      usage: { firstTokenMs: 400, tokensPerSecond: 10 },
    });
  });

  test('calls tools, with ids that never come twice', async () => {
    const engine = scripted({ replies: [CALL, CALL] });
    const first = await stream(engine);
    const second = await stream(engine);
    expect(callsOf(first)).toMatchObject([
      {
        name: 'get_weather',
        args: { city: 'Goa', date: '2026-11-30' },
        raw: 'get_weather(city="Goa", date="2026-11-30")',
      },
    ]);
    expect(first.at(-1)).toEqual({ type: 'end', reason: 'calls' });
    expect(callsOf(first)[0]?.id).not.toBe(callsOf(second)[0]?.id);
  });

  test('hands the engine a prompt, a grammar that allows the reply, and its limits', async () => {
    const engine = scripted({ replies: [CALL] });
    await stream(engine);
    const sent = engine.requests[0] as GenerateRequest;
    expect(sent.prompt).toHaveLength(1);
    expect(sent.maxTokens).toBe(200);
    expect(sent.sampling).toEqual({ temperature: 0 });
    const accepts = acceptor(sent.grammar ?? '');
    expect([accepts(CALL), accepts('```tool_code\npay()\n```')]).toEqual([true, false]);
  });

  test('drops the same call when it comes twice in one step', async () => {
    const line = 'get_weather(city="Goa", date="2026-11-30")';
    const engine = scripted({ replies: [`\`\`\`tool_code\n${line}\n${line}\n\`\`\``] });
    expect(callsOf(await stream(engine))).toHaveLength(1);
  });

  test('puts a known slip right, and keeps what was written', async () => {
    const raw = 'set_reminder(text="call mom", time="16:00")';
    const engine = scripted({ replies: [`\`\`\`tool_code\n${raw}\n\`\`\``] });
    const events = await stream(engine, [user('Remind me to call mom at 6pm')]);
    expect(callsOf(events)).toMatchObject([{ args: { text: 'call mom', time: '18:00' }, raw }]);
  });

  test('stops a model that goes round in circles', async () => {
    const engine = scripted({ replies: ['Well. ' + 'I am sure. '.repeat(500)] });
    const events = await stream(engine);
    expect(textOf(events).length).toBeLessThan(120);
    expect(events.at(-1)).toEqual({ type: 'end', reason: 'stop', looped: true });
  });

  test('says of no other answer that it went round in circles', async () => {
    const events = await stream(scripted({ replies: ['I am sure. I am sure.'] }));
    expect(events.at(-1)).toEqual({ type: 'end', reason: 'stop' });
  });

  test('a call that goes round in circles is no call', async () => {
    const engine = scripted({
      replies: ['```tool_code\nget_weather(city="' + 'Goa, '.repeat(500)],
    });
    const events = await stream(engine);
    expect(callsOf(events)).toMatchObject([{ name: 'get_weather', args: null }]);
    expect(callsOf(events)[0]?.raw.length).toBeLessThan(120);
    expect(events.at(-1)).toEqual({ type: 'end', reason: 'calls' });
  });

  test('calls nothing where it may not, whatever the model writes', async () => {
    const brain = createLocalBrain({ row: ROW, engine: scripted({ replies: [CALL] }) });
    const events: BrainEvent[] = [];
    const asked = request([user('Hi')], { toolChoice: 'none' });
    for await (const event of brain.stream(asked, new AbortController().signal)) events.push(event);
    expect(callsOf(events)).toEqual([]);
    expect(textOf(events)).toBe(CALL);
  });

  test('stops a model that makes up the result of its call', async () => {
    const engine = scripted({ replies: [`${CALL}\nResult: ${'x'.repeat(500)}`] });
    const events = await stream(engine);
    expect(textOf(events)).toBe('');
    expect(events.at(-1)).toEqual({ type: 'end', reason: 'calls' });
  });

  test('a reply that was cut has no half call taken for a whole one', async () => {
    const engine = scripted({
      replies: [
        async function* () {
          yield { type: 'token', text: '```tool_code\nget_weather(city="Goa"' } as const;
          yield done('length');
        },
      ],
    });
    const events = await stream(engine);
    expect(callsOf(events)).toMatchObject([{ name: 'get_weather', args: null }]);
    expect(events.at(-1)).toEqual({ type: 'end', reason: 'length' });
  });

  test('counts tokens rather too high than too low', () => {
    const brain = createLocalBrain({ row: ROW, engine: scripted({ replies: [] }) });
    expect(brain.countTokens('')).toBe(0);
    expect(brain.countTokens('What is the weather in Mumbai tomorrow?')).toBeGreaterThanOrEqual(9);
  });
});

describe('in a turn of several steps', () => {
  const first = 'get_weather(city="Goa", date="next Friday",)';
  const steps = (args: Record<string, unknown>): BrainMessage[] => [
    user('Weather in Goa next Friday?'),
    { role: 'assistant', text: '', calls: [{ id: '1', name: 'get_weather', args, raw: '' }] },
    { role: 'tool', callId: '1', name: 'get_weather', text: '{"sky":"rain"}', isError: false },
  ];
  const reply = `\`\`\`tool_code\n${first}\n\`\`\``;

  test('the model’s own words come back unchanged, so that its cache holds', async () => {
    const engine = scripted({ replies: [reply, 'Rain.'] });
    const brain = createLocalBrain({ row: ROW, engine });
    await stream(engine, steps({}).slice(0, 1), undefined, brain);
    // The conversation keeps the day as it was resolved.
    await stream(engine, steps({ city: 'Goa', date: '2026-12-04' }), undefined, brain);
    const [before, after] = engine.requests.map(({ prompt }) => prompt);
    expect(after?.slice(0, 2)).toEqual([before?.[0], reply]);
  });

  test('but not where the call was put right, or the conversation is another one', async () => {
    const wrong = '```tool_code\nset_reminder(text="ring", time="16:00")\n```';
    const engine = scripted({ replies: [wrong, 'Done.', reply, 'Rain.'] });
    const brain = createLocalBrain({ row: ROW, engine });
    const words = user('Remind me to ring at 6pm');
    const args = { text: 'ring', time: '18:00' };
    await stream(engine, [words], undefined, brain);
    await stream(
      engine,
      [
        words,
        { role: 'assistant', text: '', calls: [{ id: '1', name: 'set_reminder', args, raw: '' }] },
      ],
      undefined,
      brain,
    );
    expect(engine.requests[1]?.prompt[1]).toContain('time="18:00"');

    await stream(engine, steps({}).slice(0, 1), undefined, brain);
    const other = [user('Weather in Pune?'), ...steps({ city: 'Pune', date: 'today' }).slice(1)];
    await stream(engine, other, undefined, brain);
    expect(engine.requests[3]?.prompt[1]).toContain('city="Pune"');
  });
});

describe('it never throws:', () => {
  test.each<EngineErrorKind>(['absent', 'gpu', 'memory', 'context', 'stalled', 'internal'])(
    'an engine that fails with %s ends with a sentence',
    async (kind) => {
      const engine = scripted({
        load: () => Promise.reject(new EngineError(kind, 'the engine said so')),
        replies: [],
      });
      const events = await stream(engine);
      expect(events).toHaveLength(1);
      const [end] = events;
      if (end?.type !== 'end' || end.reason !== 'error') throw new Error('no error');
      expect(end.error).toMatchObject({ kind, detail: 'the engine said so' });
      expect(end.error.message).toMatch(/^[A-Z].*\.$/);
      expect(end.error.advice).toMatch(/^[A-Z].*\.$/);
      expect(end.error.message + end.error.advice).not.toContain('the engine said so');
    },
  );

  test('a failure in the middle of a reply ends it, after what was said', async () => {
    const engine = scripted({
      replies: [
        async function* () {
          yield { type: 'token', text: 'Light rain ' } as const;
          throw new Error('device lost');
        },
      ],
    });
    const events = await stream(engine);
    expect(textOf(events)).toBe('Light rain');
    expect(events.at(-1)).toMatchObject({ reason: 'error', error: { kind: 'internal' } });
  });

  test('an engine that just ends is a fault', async () => {
    const engine = scripted({ replies: [async function* () {}] });
    expect((await stream(engine)).at(-1)).toMatchObject({ error: { kind: 'internal' } });
  });

  test('an abort before, in loading and in answering ends it at once', async () => {
    const before = AbortSignal.abort();
    const ended = [{ type: 'end', reason: 'aborted' }];
    expect(await stream(scripted({ replies: ['x'] }), undefined, before)).toEqual(ended);

    const loading = new AbortController();
    const never = scripted({
      load: () => {
        queueMicrotask(() => loading.abort());
        return new Promise(() => undefined);
      },
      replies: [],
    });
    expect(await stream(never, undefined, loading.signal)).toEqual(ended);

    const answering = new AbortController();
    const talking = scripted({
      replies: [
        async function* () {
          yield { type: 'token', text: 'One moment. ```tool_code\nget_weather(city="G' } as const;
          answering.abort();
          yield done('aborted');
        },
      ],
    });
    const events = await stream(talking, undefined, answering.signal);
    expect(textOf(events)).toBe('One moment.');
    expect(callsOf(events)).toEqual([]);
    expect(events.at(-1)).toEqual({ type: 'end', reason: 'aborted' });
  });
});
