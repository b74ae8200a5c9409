import { describe, expect, test } from 'vitest';
import type { Brain, BrainEvent, BrainRequest, ModelCall } from '../../../../src/brain/brain.ts';
import {
  isRight,
  ranked,
  runBenchmark,
  TASKS,
  type Candidate,
} from '../../../../src/brain/local/benchmark.ts';

const never = new AbortController().signal;
const call = (name: string, args: ModelCall['args']): ModelCall => ({
  id: 'c',
  name,
  args,
  raw: `${name}(…)`,
});

/** The call that a task wants. */
function wanted({ expected }: (typeof TASKS)[number]): ModelCall[] {
  if (!expected) return [];
  const args = Object.entries(expected.args).map(([name, values]) => [name, [values].flat()[0]]);
  return [call(expected.name, Object.fromEntries(args) as Record<string, unknown>)];
}

/** A brain that answers by a rule. */
function brain(answer: (request: BrainRequest) => BrainEvent[]): Brain {
  return {
    describe: () => ({ id: 'b' }) as never,
    countTokens: (text) => text.length,
    async *stream(request) {
      yield* answer(request);
    },
  };
}
const USAGE: BrainEvent = {
  type: 'usage',
  usage: { promptTokens: 200, outputTokens: 64, firstTokenMs: 4000, tokensPerSecond: 8 },
};
const END: BrainEvent = { type: 'end', reason: 'stop' };

/** Does as many of the tasks right as told, and talks otherwise. */
const able = (right: number): Brain =>
  brain((request) => {
    const words = request.messages[0];
    const index = TASKS.findIndex(({ ask }) => words?.role === 'user' && words.text === ask);
    const task = TASKS[index];
    const calls = task ? (index < right ? wanted(task) : [call('set_alarm', {})]) : [];
    return [
      { type: 'text', text: calls.length > 0 ? '' : 'Well.' },
      ...calls.map((one): BrainEvent => ({ type: 'call', call: one })),
      USAGE,
      END,
    ];
  });

const candidate = (id: string, which: Brain): Candidate => ({
  id,
  label: id,
  engine: 'wllama',
  memory: 1,
  storage: 1,
  brain: which,
});

describe('a task', () => {
  test('there are ten, each with its tool among those that it offers', () => {
    expect(TASKS).toHaveLength(10);
    for (const { expected, offered } of TASKS)
      if (expected) expect(offered).toContain(expected.name);
  });

  test.each(TASKS.map((task) => [task.ask, task] as const))('%s', (_ask, task) => {
    expect(isRight(task, wanted(task))).toBe(true);
    expect(isRight(task, [call('other', {})])).toBe(false);
    if (!task.expected) return;
    const [right] = wanted(task);
    expect(isRight(task, [])).toBe(false);
    expect(isRight(task, [right!, right!])).toBe(false);
    expect(isRight(task, [call(task.expected.name, null)])).toBe(false);
    expect(isRight(task, [call(task.expected.name, { ...right!.args, more: 1 })])).toBe(false);
    const [name] = Object.keys(task.expected.args);
    expect(isRight(task, [call(task.expected.name, { ...right!.args, [name!]: 'x' })])).toBe(false);
  });

  test('is right whatever the case, the closing full stop, and a number as text', () => {
    const message = TASKS.find(({ expected }) => expected?.name === 'send_message')!;
    const args = { to: 'ASHA', text: 'i am running late.' };
    expect(isRight(message, [call('send_message', args)])).toBe(true);
    const timer = TASKS.find(({ expected }) => expected?.name === 'set_timer')!;
    expect(isRight(timer, [call('set_timer', { minutes: '12' })])).toBe(true);
  });
});

describe('a benchmark', () => {
  test('measures each model on the same prompt and the ten tasks, and ranks them', async () => {
    const steps: number[] = [];
    const report = await runBenchmark(
      [candidate('some', able(4)), candidate('all', able(10))],
      'this phone',
      ({ done, of }) => {
        expect(of).toBe(22);
        steps.push(done);
      },
      never,
    );
    expect(report.models.map(({ id, right, of }) => [id, right, of])).toEqual([
      ['all', 10, 10],
      ['some', 4, 10],
    ]);
    expect(report.models[0]).toMatchObject({
      prefillRate: 50,
      decodeRate: 8,
      firstTokenMs: 4000,
    });
    expect(steps).toEqual(steps.toSorted((a, b) => a - b));
    expect(JSON.parse(JSON.stringify(report))).toEqual(report);
  });

  test('goes on behind a model that fails, and says why that one has no figures', async () => {
    const broken = brain(() => [
      {
        type: 'end',
        reason: 'error',
        error: { kind: 'memory', message: 'There is not enough memory.', advice: 'Close tabs.' },
      },
    ]);
    const { models } = await runBenchmark(
      [candidate('broken', broken), candidate('some', able(1))],
      'this phone',
      () => undefined,
      never,
    );
    expect(models).toMatchObject([
      { id: 'some', right: 1 },
      { id: 'broken', right: 0, error: 'There is not enough memory.' },
    ]);
  });

  test('that is stopped holds the models that were done', async () => {
    const stop = new AbortController();
    const slow = brain(() => {
      stop.abort();
      return [{ type: 'end', reason: 'aborted' }];
    });
    const { models } = await runBenchmark(
      [candidate('done', able(2)), candidate('slow', slow), candidate('never', able(10))],
      'this phone',
      () => undefined,
      stop.signal,
    );
    expect(models.map(({ id }) => id)).toEqual(['done']);
  });

  test('asks for no thoughts, and takes no failed answer for a right one', async () => {
    const thoughts = new Set<boolean | undefined>();
    const fails = brain(({ think, messages }) => {
      thoughts.add(think);
      const task = TASKS.some(({ ask }) => messages[0]?.text === ask);
      const error = { kind: 'internal', message: 'It broke.', advice: '' } as const;
      return task ? [{ type: 'end', reason: 'error', error }] : [USAGE, END];
    });
    const { models } = await runBenchmark([candidate('a', fails)], 'here', () => undefined, never);
    expect(models[0]?.right).toBe(0);
    expect([...thoughts]).toEqual([false]);
  });

  test('ranks the quicker one first where both are as good', () => {
    const one = { label: '', engine: '', memory: 1, storage: 1, of: 10, tasks: [], right: 5 };
    const order = ranked([
      { ...one, id: 'slow', decodeRate: 2 },
      { ...one, id: 'unknown' },
      { ...one, id: 'quick', decodeRate: 9 },
    ]);
    expect(order.map(({ id }) => id)).toEqual(['quick', 'slow', 'unknown']);
  });
});
