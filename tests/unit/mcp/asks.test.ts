/** Questions of servers: in order, answered once, by the person alone; over when nobody waits. */
import { describe, expect, test } from 'vitest';
import { createAsks, type Asks, type SampleAsk, type Thought } from '../../../src/mcp/asks.ts';
import type { AskingServer, ElicitRequest, SampleRequest } from '../../../src/mcp/types.ts';

const travel: AskingServer = { id: 's1', name: 'Travel', host: 'travel.example' };
const other: AskingServer = { id: 's2', name: 'Other', host: 'other.example' };
const form = (message: string): ElicitRequest => ({
  mode: 'form',
  message,
  schema: { type: 'object', properties: {} },
});
const request: SampleRequest = {
  messages: [{ role: 'user', content: [{ type: 'text', text: 'Summarise this.' }] }],
  maxTokens: 100,
};
const thought: Thought = {
  ok: true,
  text: 'A summary.',
  model: 'm',
  label: 'Model',
  place: 'phone',
  stopReason: 'endTurn',
  promptTokens: 40,
  outputTokens: 5,
};
const never = (): AbortSignal => new AbortController().signal;

interface World extends Asks {
  readonly allowed: Set<string>;
  readonly thinks: { request: SampleRequest; mode: string; signal: AbortSignal }[];
  think_: (made: Thought) => void;
  fail_: (cause: Error) => void;
}

function world(allowed: readonly string[] = []): World {
  const may = new Set(allowed);
  const thinks: World['thinks'] = [];
  let time = 0;
  const it = {
    think_: (_: Thought): void => undefined,
    fail_: (_: Error): void => undefined,
  };
  const asks = createAsks({
    caller: (server) =>
      server === 's1' ? { conversation: 'c1', title: 'A trip', mode: 'auto' } : null,
    mayUseModel: async (server) => may.has(server),
    letUseModel: async (server) => void may.add(server),
    think: (_server, asked, mode, signal) => {
      thinks.push({ request: asked, mode, signal });
      return new Promise((resolve, reject) => {
        it.think_ = resolve;
        it.fail_ = reject;
      });
    },
    clock: () => (time += 10),
  });
  return Object.assign(it, asks, { allowed: may, thinks });
}

const first = (asks: Asks): SampleAsk => asks.pending()[0] as SampleAsk;
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('questions to the person', () => {
  test('wait in order and are answered one by one; declined and cancelled are told apart', async () => {
    const asks = world();
    let heard = 0;
    const stop = asks.subscribe(() => heard++);
    const answers = ['one', 'two', 'three'].map((words) =>
      asks.asks.elicit(travel, form(words), never()),
    );
    expect(asks.pending().map((ask) => ask.kind === 'elicit' && ask.request.message)).toEqual([
      'one',
      'two',
      'three',
    ]);
    expect(asks.pending()[0]?.caller?.title).toBe('A trip');
    const [a, b, c] = asks.pending().map(({ id }) => id) as [string, string, string];
    asks.answer(b, { action: 'decline' });
    asks.answer(a, { action: 'accept', content: { name: 'Asha' } });
    asks.answer(a, { action: 'decline' });
    asks.answer(c, { action: 'cancel' });
    expect(await Promise.all(answers)).toEqual([
      { action: 'accept', content: { name: 'Asha' } },
      { action: 'decline' },
      { action: 'cancel' },
    ]);
    expect(asks.pending()).toEqual([]);
    expect(heard).toBeGreaterThan(5);
    stop();
    // What became of them, once, and not a word of what was typed.
    const taken = asks.taken('s1');
    expect(taken.map(({ kind, message, answer }) => [kind, message, answer])).toEqual([
      ['form', 'two', 'declined'],
      ['form', 'one', 'sent'],
      ['form', 'three', 'cancelled'],
    ]);
    expect(taken.every(({ ms }) => ms > 0)).toBe(true);
    expect(JSON.stringify(taken)).not.toContain('Asha');
    expect(asks.taken('s1')).toEqual([]);
  });

  test('a question that nobody waits for any more says so, and an answer to it goes nowhere', async () => {
    const asks = world();
    const call = new AbortController();
    const answer = asks.asks.elicit(travel, form('Still there?'), call.signal);
    const { id } = asks.pending()[0]!;
    call.abort(new DOMException('late', 'TimeoutError'));
    expect(await answer).toEqual({ action: 'cancel' });
    expect(asks.pending()).toMatchObject([{ id, over: true }]);
    asks.answer(id, { action: 'accept', content: { secret: 'x' } });
    expect(asks.pending()).toEqual([]);
    expect(asks.taken('s1')).toMatchObject([{ answer: 'ended' }]);
    expect(await asks.asks.elicit(travel, form('Too late'), call.signal)).toEqual({
      action: 'cancel',
    });
    expect(asks.pending()).toEqual([]);
  });

  test('a server that asks without end is cut off, and others are still heard', async () => {
    const asks = world();
    for (let n = 0; n < 20; n++) void asks.asks.elicit(travel, form(`${n}`), never());
    expect(await asks.asks.elicit(travel, form('one more'), never())).toEqual({ action: 'cancel' });
    void asks.asks.elicit(other, form('me too'), never());
    expect(asks.pending()).toHaveLength(21);
  });
});

describe('questions to the model', () => {
  test('a server that is not allowed is refused after one no, and never asks again', async () => {
    const asks = world();
    const answer = asks.asks.sample(travel, request, never());
    await turn();
    expect(first(asks)).toMatchObject({ stage: 'off', mode: 'auto' });
    await asks.think(first(asks).id, request, 'phone');
    expect(asks.thinks).toEqual([]);
    asks.refuse(first(asks).id);
    expect(await answer).toEqual({ ok: false, refused: expect.stringContaining('not allowed') });
    expect(await asks.asks.sample(travel, request, never())).toMatchObject({ ok: false });
    expect(asks.pending()).toEqual([]);
  });

  test('the request and the answer both go as the person left them', async () => {
    const asks = world();
    const answer = asks.asks.sample(travel, request, never());
    await turn();
    await asks.allow(first(asks).id);
    expect(asks.allowed.has('s1')).toBe(true);
    const edited: SampleRequest = { ...request, systemPrompt: 'Be short.' };
    const thinking = asks.think(first(asks).id, edited, 'cloud');
    expect(first(asks)).toMatchObject({ stage: 'thinking', request: edited });
    asks.think_(thought);
    await thinking;
    expect(asks.thinks[0]).toMatchObject({ request: edited, mode: 'cloud' });
    expect(first(asks)).toMatchObject({ stage: 'answer', thought: { text: 'A summary.' } });
    asks.give(first(asks).id, 'A better summary.');
    expect(await answer).toEqual({
      ok: true,
      text: 'A better summary.',
      model: 'm',
      stopReason: 'endTurn',
    });
    expect(asks.taken('s1')).toMatchObject([
      { kind: 'model', answer: 'sent', label: 'Model', promptTokens: 40, outputTokens: 5 },
    ]);
  });

  test('a model that cannot even be asked is a sentence, and the request is shown again', async () => {
    const asks = world(['s1']);
    void asks.asks.sample(travel, request, never());
    await turn();
    const thinking = asks.think(first(asks).id, request, 'phone');
    asks.fail_(new Error('The module did not load.'));
    await thinking;
    expect(first(asks)).toMatchObject({
      stage: 'request',
      trouble: { message: 'The model could not be asked.' },
    });
  });

  test('an answer may be refused after it was written', async () => {
    const asks = world(['s1']);
    const answer = asks.asks.sample(travel, request, never());
    await turn();
    const thinking = asks.think(first(asks).id, request, 'phone');
    asks.think_(thought);
    await thinking;
    asks.refuse(first(asks).id);
    expect(await answer).toEqual({ ok: false, refused: 'The user refused.' });
    expect(asks.taken('s1')).toMatchObject([{ answer: 'declined', outputTokens: 5 }]);
    // Refusing one is not forbidding all.
    void asks.asks.sample(travel, request, never());
    await turn();
    expect(first(asks).stage).toBe('request');
  });

  test('a model that fails, or is stopped, leaves the request to be tried again', async () => {
    const asks = world(['s1']);
    void asks.asks.sample(travel, request, never());
    await turn();
    const { id } = first(asks);
    const failing = asks.think(id, request, 'phone');
    asks.think_({ ok: false, message: 'No model.', advice: 'Get one.' });
    await failing;
    expect(first(asks)).toMatchObject({ stage: 'request', trouble: { message: 'No model.' } });
    const stopped = asks.think(id, request, 'phone');
    expect(first(asks).trouble).toBeUndefined();
    asks.halt(id);
    expect(asks.thinks[1]?.signal.aborted).toBe(true);
    asks.think_(thought);
    await stopped;
    expect(first(asks).stage).toBe('request');
  });

  test('the model stops where the call ends', async () => {
    const asks = world(['s1']);
    const call = new AbortController();
    const answer = asks.asks.sample(travel, request, call.signal);
    await turn();
    void asks.think(first(asks).id, request, 'phone');
    call.abort();
    expect(await answer).toMatchObject({ ok: false });
    expect(asks.thinks[0]?.signal.aborted).toBe(true);
    expect(first(asks).over).toBe(true);
    asks.refuse(first(asks).id);
    expect(asks.pending()).toEqual([]);
  });
});
