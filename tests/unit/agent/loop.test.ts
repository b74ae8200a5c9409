import { describe, expect, test } from 'vitest';
import { runTurn } from '../../../src/agent/loop.ts';
import type { Brain } from '../../../src/brain/brain.ts';
import type { CallPart, NoticePart, Part } from '../../../src/store/records.ts';
import {
  gateOf,
  inputOf,
  kinds,
  LIMITS,
  memoryJournal,
  portsOf,
  roles,
  routerOf,
  scriptedBrain,
  textResult,
  toolboxOf,
} from './world.ts';

const live = (): AbortSignal => new AbortController().signal;
const calls = (parts: readonly Part[]): CallPart[] => parts.filter((part) => part.kind === 'call');
const notice = (parts: readonly Part[]): NoticePart | undefined =>
  parts.find((part) => part.kind === 'notice');

describe('a turn', () => {
  test('calls what the model asks for, shows it the result and ends with the answer', async () => {
    const brain = scriptedBrain([
      { calls: [{ name: 'look', args: { at: 'sky' } }] },
      { text: 'It is blue.' },
    ]);
    const toolbox = toolboxOf({ look: { readOnly: true, run: async () => textResult('blue') } });
    const ports = portsOf({ router: routerOf(brain), toolbox });
    expect(await runTurn(inputOf(), ports, live())).toBe('done');
    expect(kinds(ports.journal.parts())).toEqual([
      'route',
      'call',
      'step',
      'route',
      'text',
      'step',
    ]);
    expect(brain.requests[1]?.messages).toEqual([
      { role: 'user', text: 'Do it.' },
      { role: 'assistant', text: '', calls: [expect.objectContaining({ name: 'look' })] },
      expect.objectContaining({ role: 'tool', text: 'blue', isError: false }),
    ]);
  });

  test('that was ended because it repeated itself is an answer, and says why it ends there', async () => {
    const brain: Brain = {
      ...scriptedBrain([]),
      async *stream() {
        yield { type: 'text', text: 'I am sure. I am sure.' };
        yield { type: 'end', reason: 'stop', looped: true };
      },
    };
    const ports = portsOf({ router: routerOf(brain) });
    expect(await runTurn(inputOf(), ports, live())).toBe('done');
    const parts = ports.journal.parts();
    expect(kinds(parts)).toEqual(['route', 'text', 'step', 'notice']);
    expect(notice(parts)).toMatchObject({
      step: 1,
      code: 'looped',
      text: expect.stringContaining('repeat itself'),
      advice: expect.stringContaining('other words'),
    });
  });

  test('runs read-only calls of one step side by side and others in order', async () => {
    let together = 0;
    let most = 0;
    const run = async () => {
      most = Math.max(most, ++together);
      await new Promise((resolve) => setImmediate(resolve));
      together -= 1;
      return textResult('ok');
    };
    const ask = (name: string) =>
      scriptedBrain([
        {
          calls: [
            { name, args: { n: 1 } },
            { name, args: { n: 2 } },
          ],
        },
        { text: 'Done.' },
      ]);
    const toolbox = toolboxOf({ read: { readOnly: true, run }, write: { run } });
    await runTurn(inputOf(), portsOf({ router: routerOf(ask('read')), toolbox }), live());
    expect(most).toBe(2);
    most = 0;
    await runTurn(inputOf(), portsOf({ router: routerOf(ask('write')), toolbox }), live());
    expect(most).toBe(1);
  });

  test('asks before a write; a no reaches the model with its reason and nothing runs', async () => {
    const brain = scriptedBrain([
      { calls: [{ name: 'pay', args: { sum: 5 } }] },
      { text: 'I did not pay.' },
    ]);
    const toolbox = toolboxOf({ pay: { run: async () => textResult('paid') } });
    const gate = gateOf(
      () => 'ask',
      async () => ({ allow: false, scope: 'once', reason: 'too dear' }),
    );
    const ports = portsOf({ router: routerOf(brain), toolbox, gate });
    expect(await runTurn(inputOf(), ports, live())).toBe('done');
    expect(toolbox.ran).toEqual([]);
    expect(calls(ports.journal.parts())[0]).toMatchObject({ state: 'denied', reason: 'too dear' });
    expect(brain.requests[1]?.messages.at(-1)).toMatchObject({ isError: true });
    expect(JSON.stringify(brain.requests[1]?.messages.at(-1))).toContain('too dear');
  });

  test('stores the question before it waits, and `running` before anything is sent', async () => {
    const brain = scriptedBrain([
      { calls: [{ name: 'pay', args: { sum: 5 } }] },
      { text: 'Paid.' },
    ]);
    const journal = memoryJournal();
    const seen: string[] = [];
    const state = (): string => calls(journal.parts())[0]?.state ?? '';
    const gate = gateOf(
      () => 'ask',
      async () => {
        seen.push(state());
        return { allow: true, scope: 'once' };
      },
    );
    const toolbox = toolboxOf({
      pay: {
        run: async () => {
          seen.push(state());
          return textResult('paid');
        },
      },
    });
    await runTurn(inputOf(), portsOf({ router: routerOf(brain), toolbox, gate, journal }), live());
    expect(seen).toEqual(['asked', 'running']);
  });

  test('refuses what the gate refuses, and tells the model why', async () => {
    const brain = scriptedBrain([{ calls: [{ name: 'pay', args: {} }] }, { text: 'Not allowed.' }]);
    const toolbox = toolboxOf({ pay: { run: async () => textResult('paid') } });
    const ports = portsOf({ router: routerOf(brain), toolbox, gate: gateOf(() => 'refuse') });
    await runTurn(inputOf(), ports, live());
    expect(toolbox.ran).toEqual([]);
    expect(calls(ports.journal.parts())[0]?.state).toBe('refused');
  });

  test('goes on after a tool error or an unreachable server', async () => {
    const brain = scriptedBrain([
      { calls: [{ name: 'look', args: {} }] },
      { text: 'It cannot be reached.' },
    ]);
    const toolbox = toolboxOf({
      look: {
        readOnly: true,
        run: async () => ({
          kind: 'unavailable',
          code: 'offline',
          message: 'No network.',
          advice: '',
        }),
      },
    });
    const ports = portsOf({ router: routerOf(brain), toolbox });
    expect(await runTurn(inputOf(), ports, live())).toBe('done');
    expect(brain.requests[1]?.messages.at(-1)).toMatchObject({
      text: 'error: No network.',
      isError: true,
    });
  });

  test('marks the conversation private before a private result can be read', async () => {
    const brain = scriptedBrain([{ calls: [{ name: 'look', args: {} }] }, { text: 'Seen.' }]);
    const journal = memoryJournal();
    const order: string[] = [];
    const router = routerOf(brain);
    const toolbox = toolboxOf({
      look: { readOnly: true, private: true, run: async () => textResult('secret') },
    });
    const ports = portsOf({
      router,
      toolbox,
      journal,
      keepPrivate: async () => void order.push(calls(journal.parts())[0]?.state ?? ''),
    });
    await runTurn(inputOf(), ports, live());
    expect(order).toEqual(['running']);
    expect(router.asked.map((context) => context.private)).toEqual([false, true]);
  });
});

test('a turn sent to the cloud stays there only until a private result comes in', async () => {
  const asked = async (place: 'phone' | 'cloud', isPrivate: boolean, result: boolean) => {
    const brain = scriptedBrain([{ calls: [{ name: 'look', args: {} }] }, { text: 'Done.' }]);
    const toolbox = toolboxOf({
      look: { readOnly: true, private: result, run: async () => textResult('secret') },
    });
    const router = routerOf(brain);
    const input = inputOf({ place, private: isPrivate });
    await runTurn(input, portsOf({ router, toolbox }), live());
    return router.asked.map(({ forced }) => forced);
  };
  expect(await asked('cloud', false, true)).toEqual(['cloud', undefined]);
  expect(await asked('cloud', false, false)).toEqual(['cloud', 'cloud']);
  expect(await asked('phone', false, true)).toEqual(['phone', 'phone']);
  // Here the person knew, when they sent it.
  expect(await asked('cloud', true, true)).toEqual(['cloud', 'cloud']);
});

test('a private conversation goes on: its calls are settled, too', async () => {
  const brain = scriptedBrain([{ calls: [{ name: 'look', args: {} }] }, { text: 'Seen.' }]);
  const toolbox = toolboxOf({ look: { readOnly: true, run: async () => textResult('x') } });
  const ports = portsOf({ router: routerOf(brain), toolbox });
  expect(await runTurn(inputOf({ private: true }), ports, live())).toBe('done');
  expect(toolbox.ran).toEqual(['look']);
});

test('a model cannot choose the id of a call, and so cannot reuse an earlier yes', async () => {
  const brain = scriptedBrain([{ calls: [{ name: 'pay', args: {} }] }, { text: 'Paid.' }]);
  const toolbox = toolboxOf({ pay: { run: async () => textResult('paid') } });
  const ports = portsOf({ router: routerOf(brain), toolbox });
  await runTurn(inputOf(), ports, live());
  expect(calls(ports.journal.parts())[0]?.callId).toMatch(/^[A-Za-z0-9]{9}$/);
});

describe('the gate is told which tools the model has been offered', () => {
  const hands = {
    pay: { run: async () => textResult('paid') },
    see: { run: async () => textResult('seen') },
    off: { run: async () => textResult('never') },
  };

  async function offeredTo(journal: ReturnType<typeof memoryJournal>, earlier: readonly string[]) {
    const told: (readonly string[])[] = [];
    const toolbox = toolboxOf(hands);
    const { offer } = toolbox;
    // What a turn is offered is less than what there is.
    toolbox.offer = async (request, budget) => {
      const all = await offer(request, budget);
      const bounded = budget.maxTools !== Infinity;
      return bounded ? { ...all, tools: all.tools.filter(({ name }) => name === 'pay') } : all;
    };
    const gate = gateOf(() => 'run');
    gate.judge = async (_, { offered = [] }) => {
      told.push(offered.map(({ name }) => name).sort());
      return { verdict: 'run', why: 'A test rule.' };
    };
    const brain = scriptedBrain([{ calls: [{ name: 'pay', args: {} }] }, { text: 'Done.' }]);
    const heard = { said: [], untrusted: [], offered: earlier };
    const ports = portsOf({ router: routerOf(brain), toolbox, gate, journal });
    await runTurn(inputOf({ heard }), ports, live());
    return told;
  }

  test('in this turn and in those before it, and of no others', async () => {
    expect(await offeredTo(memoryJournal(), [])).toEqual([['pay']]);
    expect(await offeredTo(memoryJournal(), ['see', 'gone'])).toEqual([['pay', 'see']]);
  });

  test('also where the page was closed in between', async () => {
    const first = memoryJournal();
    await offeredTo(first, []);
    const asked = first.log.find((parts) => parts.some(({ kind }) => kind === 'step')) ?? [];
    expect(calls(asked)[0]?.state).toBe('proposed');
    const told = await offeredTo(memoryJournal(asked), []);
    expect(told[0]).toEqual(['pay']);
  });
});

describe('a bad call', () => {
  const good = { text: 'Fine.' } as const;
  const bad = { calls: [{ name: 'nonsense', args: {} }] } as const;

  test('goes back once with the error', async () => {
    const brain = scriptedBrain([{ calls: [...bad.calls] }, good]);
    const ports = portsOf({ router: routerOf(brain) });
    expect(await runTurn(inputOf(), ports, live())).toBe('done');
    expect(brain.requests[1]?.messages.at(-1)).toMatchObject({
      role: 'tool',
      text: '{"error":"There is no tool nonsense."}',
    });
  });

  test('twice in a row is handed over to the cloud, which may', async () => {
    const phone = scriptedBrain([{ calls: [...bad.calls] }, { calls: [...bad.calls] }]);
    const cloud = scriptedBrain([good], 'cloud');
    const ports = portsOf({ router: routerOf(phone, cloud) });
    expect(await runTurn(inputOf(), ports, live())).toBe('done');
    expect(cloud.requests).toHaveLength(1);
  });

  test('twice in a row with no cloud ends in a plain sentence', async () => {
    const phone = scriptedBrain([{ calls: [...bad.calls] }, { calls: [...bad.calls] }, good]);
    const ports = portsOf({ router: routerOf(phone) });
    expect(await runTurn(inputOf({ mode: 'phone' }), ports, live())).toBe('paused');
    expect(notice(ports.journal.parts())?.code).toBe('bad-call');
    expect(phone.requests).toHaveLength(2);
  });

  test('with arguments that are no object never runs', async () => {
    const brain = scriptedBrain([{ calls: [{ name: 'pay', args: null }] }, good]);
    const toolbox = toolboxOf({ pay: { run: async () => textResult('paid') } });
    await runTurn(inputOf(), portsOf({ router: routerOf(brain), toolbox }), live());
    expect(toolbox.ran).toEqual([]);
  });
});

describe('a limit', () => {
  const look = (n: number) => ({ calls: [{ name: 'look', args: { n } }] });
  const toolbox = () =>
    toolboxOf({ look: { readOnly: true, run: async () => textResult('seen') } });

  test.each([
    ['steps', { steps: 2 }, 'limit-steps'],
    ['calls', { calls: 2 }, 'limit-calls'],
    ['tokens', { tokens: 200 }, 'limit-tokens'],
    ['time', { ms: 30 }, 'limit-time'],
  ] as const)('on %s ends the turn with a sentence and Continue', async (_, limit, code) => {
    const brain = scriptedBrain(Array.from({ length: 20 }, (_, n) => look(n)));
    const ports = portsOf({ router: routerOf(brain), toolbox: toolbox() });
    const limits = { ...LIMITS, steps: 100, calls: 100, ...limit };
    expect(await runTurn(inputOf({ limits }), ports, live())).toBe('paused');
    expect(notice(ports.journal.parts())).toMatchObject({ code, action: 'continue' });
  });

  test('on calls holds back a step that asks for too many at once', async () => {
    const many = Array.from({ length: 5 }, (_, n) => ({ name: 'look', args: { n } }));
    const brain = scriptedBrain([{ calls: many }, { text: 'Done.' }]);
    const box = toolbox();
    const ports = portsOf({ router: routerOf(brain), toolbox: box });
    const limits = { ...LIMITS, calls: 4 };
    expect(await runTurn(inputOf({ limits }), ports, live())).toBe('paused');
    expect(notice(ports.journal.parts())?.code).toBe('limit-calls');
    expect(box.ran).toEqual([]);
    expect(await runTurn(inputOf({ limits }), ports, live())).toBe('done');
    expect(box.ran).toHaveLength(5);
  });

  test('gives a fresh measure when the person continues', async () => {
    const brain = scriptedBrain([look(1), look(2), look(3), { text: 'Enough.' }]);
    const ports = portsOf({ router: routerOf(brain), toolbox: toolbox() });
    const limits = { ...LIMITS, steps: 2 };
    expect(await runTurn(inputOf({ limits }), ports, live())).toBe('paused');
    expect(await runTurn(inputOf({ limits }), ports, live())).toBe('done');
  });

  test('on equal calls stops before the call is made once more', async () => {
    const brain = scriptedBrain([look(1), look(1), look(1), { text: 'Done.' }]);
    const box = toolbox();
    const ports = portsOf({ router: routerOf(brain), toolbox: box });
    expect(await runTurn(inputOf({ mode: 'phone' }), ports, live())).toBe('paused');
    expect(notice(ports.journal.parts())?.code).toBe('limit-equal');
    expect(box.ran).toHaveLength(2);
    expect(await runTurn(inputOf({ mode: 'phone' }), ports, live())).toBe('done');
    expect(box.ran).toHaveLength(3);
  });

  test('on equal calls hands a small model over to the cloud without running it again', async () => {
    const phone = scriptedBrain([look(1), look(1), look(1)]);
    const cloud = scriptedBrain([{ text: 'Done.' }], 'cloud');
    const box = toolbox();
    const ports = portsOf({ router: routerOf(phone, cloud), toolbox: box });
    expect(await runTurn(inputOf(), ports, live())).toBe('done');
    expect(box.ran).toHaveLength(2);
  });

  test('on time does not count while the person is asked', async () => {
    let now = 0;
    const brain = scriptedBrain([{ calls: [{ name: 'pay', args: {} }] }, { text: 'Paid.' }]);
    const box = toolboxOf({ pay: { run: async () => textResult('paid') } });
    const gate = gateOf(
      () => 'ask',
      async () => {
        now += 3_600_000;
        return { allow: true, scope: 'once' };
      },
    );
    const ports = portsOf({ router: routerOf(brain), toolbox: box, gate, clock: () => now });
    expect(await runTurn(inputOf(), ports, live())).toBe('done');
  });

  test('on length keeps the text and goes on from there', async () => {
    const brain = scriptedBrain([{ text: 'One two', end: 'length' }, { text: ' three.' }]);
    const ports = portsOf({ router: routerOf(brain) });
    expect(await runTurn(inputOf(), ports, live())).toBe('paused');
    expect(await runTurn(inputOf(), ports, live())).toBe('done');
    expect(roles(brain.requests[1]?.messages ?? [])).toEqual(['user', 'assistant', 'user']);
    expect(brain.requests.map(({ think }) => think)).toEqual([undefined, undefined]);
  });

  test('on length that thoughts alone took goes on without them, not the same way again', async () => {
    const brain = scriptedBrain([{ text: '', end: 'length' }, { text: 'An answer.' }]);
    const ports = portsOf({ router: routerOf(brain) });
    expect(await runTurn(inputOf(), ports, live())).toBe('paused');
    expect(await runTurn(inputOf(), ports, live())).toBe('done');
    expect(brain.requests.map(({ think }) => think)).toEqual([undefined, false]);
  });
});

describe('a failing brain', () => {
  test('is followed by the cloud where the router allows', async () => {
    const phone = scriptedBrain([{ error: 'gpu', text: 'Half an ans' }]);
    const cloud = scriptedBrain([{ text: 'A whole answer.' }], 'cloud');
    const ports = portsOf({ router: routerOf(phone, cloud) });
    expect(await runTurn(inputOf(), ports, live())).toBe('done');
    expect(roles(cloud.requests[0]?.messages ?? [])).toEqual(['user']);
  });

  test('ends the turn with its sentence, keeps its text and can be tried again', async () => {
    const brain = scriptedBrain([{ error: 'server', text: 'Half' }, { text: 'Whole.' }]);
    const ports = portsOf({ router: routerOf(brain) });
    expect(await runTurn(inputOf(), ports, live())).toBe('paused');
    expect(notice(ports.journal.parts())).toMatchObject({ text: 'It broke.', action: 'retry' });
    expect(await runTurn(inputOf(), ports, live())).toBe('done');
  });

  test('that says nothing at all is a visible error, never a blank answer', async () => {
    const ports = portsOf({ router: routerOf(scriptedBrain([{ text: '' }])) });
    expect(await runTurn(inputOf(), ports, live())).toBe('paused');
    expect(notice(ports.journal.parts())?.text).toContain('empty answer');
  });

  test('does not exist: the sentence says what to do', async () => {
    const ports = portsOf({ router: routerOf(null) });
    expect(await runTurn(inputOf(), ports, live())).toBe('paused');
    expect(notice(ports.journal.parts())).toMatchObject({ text: 'No model.', action: 'models' });
  });
});

test('a fast stream lets others have the thread at least every few milliseconds', async () => {
  let now = 0;
  let breaths = 0;
  const brain = scriptedBrain([{ text: 'word '.repeat(200) }]);
  const ports = portsOf({
    router: routerOf(brain),
    clock: () => (now += 0.5),
    breathe: async () => void breaths++,
  });
  await runTurn(inputOf(), ports, live());
  expect(breaths).toBeGreaterThan(5);
});

describe('Stop', () => {
  test('ends a streaming answer at once and keeps its text', async () => {
    const controller = new AbortController();
    const brain = scriptedBrain([{ hang: true, text: 'So far' }]);
    const ports = portsOf({
      router: routerOf(brain),
      onActivity: ({ kind }) => kind === 'writing' && controller.abort(),
    });
    expect(await runTurn(inputOf(), ports, controller.signal)).toBe('stopped');
    expect(ports.journal.parts().find((part) => part.kind === 'text')).toBeDefined();
  });

  test('reaches the running call', async () => {
    const controller = new AbortController();
    const brain = scriptedBrain([{ calls: [{ name: 'pay', args: {} }] }]);
    const toolbox = toolboxOf({
      pay: {
        run: (_, signal) =>
          new Promise((resolve) => {
            signal.addEventListener('abort', () =>
              resolve({ kind: 'unknown', message: 'Outcome unknown.', advice: '' }),
            );
            controller.abort();
          }),
      },
    });
    const ports = portsOf({ router: routerOf(brain), toolbox });
    expect(await runTurn(inputOf(), ports, controller.signal)).toBe('stopped');
    expect(calls(ports.journal.parts())[0]?.outcome?.kind).toBe('unknown');
  });

  test('leaves an open question unanswered and runs nothing', async () => {
    const controller = new AbortController();
    const brain = scriptedBrain([{ calls: [{ name: 'pay', args: {} }] }]);
    const toolbox = toolboxOf({ pay: { run: async () => textResult('paid') } });
    const gate = gateOf(
      () => 'ask',
      (_, signal) =>
        new Promise((_, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason));
          controller.abort();
        }),
    );
    const ports = portsOf({ router: routerOf(brain), toolbox, gate });
    expect(await runTurn(inputOf(), ports, controller.signal)).toBe('stopped');
    expect(toolbox.ran).toEqual([]);
    expect(calls(ports.journal.parts())[0]?.state).toBe('asked');
  });
});

describe('a call that its server makes a task of', () => {
  const told = (part: CallPart): readonly Part[] => [
    {
      kind: 'route',
      step: 1,
      place: 'phone',
      brain: 'b',
      label: 'B',
      rule: 'r',
      reason: 'R.',
      offered: [],
    },
    part,
    { kind: 'step', step: 1, end: 'calls', usage: {} },
  ];
  const sent = (task?: string): CallPart => ({
    kind: 'call',
    step: 1,
    callId: 'c1',
    server: 'test',
    serverName: 'Test',
    tool: 'pay',
    title: 'Pay',
    modelName: 'pay',
    pin: 'pin',
    args: { sum: 5 },
    days: [],
    readOnly: false,
    state: 'running',
    startedAt: 1,
    ...(task === undefined ? {} : { task }),
  });

  test('has its id stored while it runs', async () => {
    const seen: (string | undefined)[] = [];
    const journal = memoryJournal();
    const toolbox = toolboxOf({
      pay: {
        run: async (_args, _signal, watch) => {
          watch?.task?.('t1');
          await new Promise((resolve) => setImmediate(resolve));
          const [part] = calls(journal.parts());
          seen.push(part?.state, part?.task);
          return textResult('paid');
        },
      },
    });
    const brain = scriptedBrain([{ calls: [{ name: 'pay', args: {} }] }, { text: 'Done.' }]);
    await runTurn(inputOf(), portsOf({ router: routerOf(brain), toolbox, journal }), live());
    expect(seen).toEqual(['running', 't1']);
    expect(calls(journal.parts())[0]).toMatchObject({ state: 'done', outcome: { kind: 'result' } });
  });

  test('is waited for after a restart, and not sent again; without an id nobody knows', async () => {
    for (const [task, ran, outcome] of [
      ['t1', ['pay t1'], 'result'],
      [undefined, [], 'unknown'],
    ] as const) {
      const toolbox = toolboxOf({ pay: { run: async () => textResult('paid') } });
      const journal = memoryJournal(told(sent(task)));
      const brain = scriptedBrain([{ text: 'Done.' }]);
      const ports = portsOf({ router: routerOf(brain), toolbox, journal });
      expect(await runTurn(inputOf(), ports, live())).toBe('done');
      expect(toolbox.ran).toEqual(ran);
      expect(calls(journal.parts())[0]?.outcome?.kind).toBe(outcome);
    }
  });

  test('found under way after a restart is sent again only where it just reads and may still run unasked', async () => {
    for (const [hand, verdict, ran, outcome] of [
      [{ readOnly: true }, 'run', ['pay'], 'result'],
      [{ readOnly: true }, 'refuse', [], 'unknown'],
      [{ readOnly: true }, 'ask', [], 'unknown'],
      [{ readOnly: false }, 'run', [], 'unknown'],
    ] as const) {
      const toolbox = toolboxOf({ pay: { ...hand, run: async () => textResult('paid') } });
      const find = toolbox.find.bind(toolbox);
      toolbox.find = async (...about) => {
        const tool = await find(...about);
        return tool && { ...tool, idempotent: true };
      };
      const journal = memoryJournal(told(sent(undefined)));
      const brain = scriptedBrain([{ text: 'Done.' }]);
      const gate = gateOf(() => verdict);
      await runTurn(
        inputOf(),
        portsOf({ router: routerOf(brain), toolbox, journal, gate }),
        live(),
      );
      expect(toolbox.ran).toEqual(ran);
      expect(calls(journal.parts())[0]?.outcome?.kind).toBe(outcome);
    }
  });
});

describe('the progress of calls', () => {
  test('that run side by side is told of each', async () => {
    const seen: unknown[] = [];
    let both = 0;
    const toolbox = toolboxOf({
      look: {
        readOnly: true,
        run: async ({ n }, _signal, watch) => {
          watch?.progress?.({ progress: Number(n), total: 9 });
          both += 1;
          while (both < 2) await new Promise((resolve) => setImmediate(resolve));
          return textResult('ok');
        },
      },
    });
    const brain = scriptedBrain([
      {
        calls: [
          { name: 'look', args: { n: 1 } },
          { name: 'look', args: { n: 2 } },
        ],
      },
      { text: 'Done.' },
    ]);
    await runTurn(
      inputOf(),
      portsOf({
        router: routerOf(brain),
        toolbox,
        onActivity: (activity) => {
          if (activity.kind === 'calling') seen.push(Object.values(activity.progress));
        },
      }),
      live(),
    );
    expect(seen.at(-1)).toEqual([
      { progress: 1, total: 9 },
      { progress: 2, total: 9 },
    ]);
  });
});

describe('a turn killed after any of its events', () => {
  const script = () => [
    { calls: [{ name: 'look', args: {} }] },
    { text: 'Now I pay.', calls: [{ name: 'pay', args: { sum: 5 } }] },
    { text: 'All done.' },
  ];
  const world = () => {
    const toolbox = toolboxOf({
      look: { readOnly: true, run: async () => textResult('seen') },
      pay: { run: async () => textResult('paid') },
    });
    const gate = gateOf((tool) => (tool === 'pay' ? 'ask' : 'run'));
    return { toolbox, gate };
  };

  test('goes on from there, loses nothing and pays at most once', async () => {
    const whole = memoryJournal();
    const first = world();
    await runTurn(
      inputOf(),
      portsOf({ router: routerOf(scriptedBrain(script())), journal: whole, ...first }),
      live(),
    );
    expect(whole.log.length).toBeGreaterThan(10);
    for (const snapshot of whole.log) {
      const again = world();
      const answered = new Set(
        snapshot
          .filter((part) => part.kind === 'step' && part.end === 'calls')
          .map((part) => part.step),
      ).size;
      const done = snapshot.some((part) => part.kind === 'step' && part.end === 'stop');
      const rest = script().slice(answered);
      const journal = memoryJournal(snapshot);
      const ports = portsOf({
        router: routerOf(scriptedBrain(done ? [] : rest)),
        journal,
        ...again,
      });
      expect(await runTurn(inputOf(), ports, live())).toBe('done');
      const paid = calls(snapshot).find(
        ({ tool, state }) => tool === 'pay' && state !== 'proposed',
      );
      const sentBefore = paid?.state === 'running' || paid?.state === 'done';
      expect(again.toolbox.ran.filter((name) => name === 'pay')).toHaveLength(sentBefore ? 0 : 1);
      const final = calls(journal.parts()).findLast(({ tool }) => tool === 'pay');
      expect(final?.outcome?.kind).toBe(paid?.state === 'running' ? 'unknown' : 'result');
      // Every part of the killed run is still there, in its place.
      expect(kinds(journal.parts()).slice(0, snapshot.length)).toEqual(kinds(snapshot));
    }
  });
});
