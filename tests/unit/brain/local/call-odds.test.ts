/** Whether to call: decided by the engine's odds and the tools' match, where that was measured. */
import { describe, expect, test } from 'vitest';
import type { BrainEvent, BrainRequest } from '../../../../src/brain/brain.ts';
import { createLocalBrain } from '../../../../src/brain/local/brain.ts';
import { oddsOf } from '../../../../src/brain/local/engines/odds.ts';
import type {
  CatalogueRow,
  GenerateRequest,
  LocalEngine,
} from '../../../../src/brain/local/types.ts';
import { acceptor } from './accepts.ts';
import { CLOCK, getWeather } from './tools.ts';

const row = (more: Partial<CatalogueRow> = {}): CatalogueRow => ({
  id: 'gemma3.test',
  label: 'gemma3',
  engine: 'wllama',
  family: 'gemma3',
  note: '',
  files: [],
  base: 'http://127.0.0.1/',
  licence: { name: '', url: '' },
  contextTokens: 4096,
  maxTools: 6,
  memory: 1,
  beside: true,
  callsFrom: 10,
  ...more,
});

const CALL = '```tool_code\nget_weather(city="Goa", date="tomorrow")\n```';
const SAID = 'I have no tool for that.';

/** An engine whose model has these odds, and then does as it is let. */
function weighing(odds: number): LocalEngine & { requests: GenerateRequest[] } {
  const requests: GenerateRequest[] = [];
  return {
    requests,
    load: () => Promise.resolve(),
    async *generate(request) {
      requests.push(request);
      const { fork } = request;
      if (fork) yield { type: 'odds', odds };
      const call = fork ? odds > fork.above : odds > 0;
      yield { type: 'token', text: call ? CALL : SAID };
      yield { type: 'done', reason: 'stop', promptTokens: 9, cachedTokens: 0, outputTokens: 9 };
    },
    unload: () => Promise.resolve(),
  };
}

const REQUEST: BrainRequest = {
  system: '',
  now: CLOCK,
  messages: [{ role: 'user', text: 'Weather in Goa tomorrow?' }],
  tools: [getWeather],
  toolChoice: 'auto',
  match: 7,
  maxTokens: 100,
};

async function answer(
  engine: LocalEngine,
  request: BrainRequest,
  of: CatalogueRow = row(),
): Promise<BrainEvent[]> {
  const events: BrainEvent[] = [];
  const brain = createLocalBrain({ row: of, engine });
  for await (const event of brain.stream(request, new AbortController().signal)) events.push(event);
  return events;
}
const decisions = (events: readonly BrainEvent[]): string[] =>
  events.flatMap((event) => (event.type === 'decision' ? [event.text] : []));

describe('a model whose sureness was measured', () => {
  test('calls where its odds and the match of the tools are high enough together, and says so', async () => {
    const events = await answer(weighing(3.5), REQUEST);
    expect(decisions(events)).toEqual([
      'Sure enough that a tool is needed: 10.5, where it calls from 10.0 on.',
    ]);
    expect(events.at(-1)).toEqual({ type: 'end', reason: 'calls' });
  });

  test('answers in words where they are not, and says so', async () => {
    const events = await answer(weighing(2.5), REQUEST);
    expect(decisions(events)).toEqual([
      'Not sure enough that a tool is needed, so it answered in words: 9.5, where it calls from 10.0 on.',
    ]);
    expect(events.at(-1)).toEqual({ type: 'end', reason: 'stop' });
  });

  test('may then do the one thing and not the other', async () => {
    const engine = weighing(0);
    await answer(engine, REQUEST);
    const fork = engine.requests[0]?.fork;
    expect(fork).toMatchObject({ opening: '```tool_code\n', above: 3 });
    const may = (grammar = '') => [acceptor(grammar)(CALL), acceptor(grammar)(SAID)];
    expect(may(fork?.first)).toEqual([true, false]);
    expect(may(fork?.second)).toEqual([false, true]);
    expect(may(engine.requests[0]?.grammar ?? '')).toEqual([true, true]);
  });

  const results: BrainRequest['messages'] = [
    ...REQUEST.messages,
    { role: 'assistant', text: '', calls: [] },
    { role: 'tool', callId: '1', name: 'get_weather', text: '{}', isError: false },
  ];
  const { match: _match, ...unmatched } = REQUEST;
  test.each<[string, BrainRequest, Partial<CatalogueRow>]>([
    ['after the first step of a turn', { ...REQUEST, messages: results }, {}],
    ['where a call is asked for', { ...REQUEST, toolChoice: 'required' }, {}],
    ['where none may be made', { ...REQUEST, toolChoice: 'none' }, {}],
    ['where there are no tools', { ...REQUEST, tools: [] }, {}],
    ['where the match is not known', unmatched, {}],
    ['of a family that says nothing of how a call begins', REQUEST, { family: 'qwen3' }],
  ])('decides by itself %s', async (_where, request, more) => {
    const engine = weighing(1);
    expect(decisions(await answer(engine, request, row(more)))).toEqual([]);
    expect(engine.requests[0]?.fork).toBeUndefined();
  });
});

test('a model of which nothing was measured decides by itself', async () => {
  const engine = weighing(1);
  const { callsFrom: _callsFrom, ...unmeasured } = row();
  expect(decisions(await answer(engine, REQUEST, unmeasured))).toEqual([]);
  expect(engine.requests[0]?.fork).toBeUndefined();
});

describe('the odds of a first token', () => {
  const at = (token: string, p: number) => ({ token, logprob: Math.log(p) });

  test('are those of all tokens that the opening may begin with, against all others', () => {
    const likeliest = [at('```', 0.5), at('`', 0.1), at('I', 0.3), at('What', 0.1)];
    expect(oddsOf(likeliest, '```tool_code\n')).toBeCloseTo(Math.log(0.6 / 0.4), 5);
  });

  test('are finite where one side is not among the likeliest', () => {
    expect(oddsOf([at('```', 1)], '```tool_code\n')).toBeGreaterThan(15);
    expect(oddsOf([at('I', 1)], '```tool_code\n')).toBeLessThan(-15);
    expect(oddsOf([], '```tool_code\n')).toBe(0);
  });
});
