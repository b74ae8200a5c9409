import { describe, expect, test, vi } from 'vitest';
import { openSession, type Locks, type Session } from '../../../src/agent/session.ts';
import { createGate } from '../../../src/policy/gate.ts';
import type { Brain } from '../../../src/brain/brain.ts';
import type { AttachmentPart } from '../../../src/store/records.ts';
import type { Store } from '../../../src/store/store.ts';
import { QuotaError } from '../../../src/store/store.ts';
import { conversation, freshName, freshStore } from '../store/helpers.ts';
import { routerOf, scriptedBrain, textResult, toolboxOf, type Hand, type Say } from './world.ts';

/** Locks within one process, as the browser keeps them over tabs. */
function memoryLocks(): Locks & { breakAll(): void } {
  let held = new Map<string, Promise<void>>();
  return {
    breakAll: () => (held = new Map()),
    async tryRun(name, work) {
      if (held.has(name)) return false;
      const run = work().finally(() => held.delete(name));
      held.set(
        name,
        run.catch(() => undefined),
      );
      await run;
      return true;
    },
    held: async (name) => held.has(name),
    free: async (name) => held.get(name),
  };
}

interface World {
  /** The newest tab's. */
  store: Store;
  readonly locks: Locks & { breakAll(): void };
  readonly ran: string[];
  open(script?: readonly Say[], brain?: Brain): Promise<Session>;
  /** Kills every tab so far: its connection closes, its locks are free. */
  kill(): Promise<void>;
  /** From here on sessions open in another tab. */
  otherTab(): Promise<void>;
}

async function world(hands: Record<string, Hand> = {}): Promise<World> {
  const name = freshName();
  const store = await freshStore({ name, channel: true });
  await store.conversations.put(conversation('c1', { title: '' }));
  const locks = memoryLocks();
  const toolbox = toolboxOf(hands);
  const it: World = {
    store,
    locks,
    ran: toolbox.ran,
    async otherTab() {
      it.store = await freshStore({ name, channel: true });
    },
    async kill() {
      it.store.close();
      locks.breakAll();
      it.store = await freshStore({ name, channel: true });
    },
    async open(script = [], brain = scriptedBrain(script)) {
      const { store } = it;
      const session = await openSession('c1', {
        store,
        toolbox,
        router: routerOf(brain),
        gate: createGate({ store }),
        resultText: (outcome) => JSON.stringify(outcome),
        locks,
        clock: () => Date.now(),
        breathe: () => new Promise((resolve) => setImmediate(resolve)),
        timeZone: () => 'UTC',
      });
      if (!session) throw new Error('no conversation');
      return session;
    },
  };
  return it;
}

const attached = (name: string): AttachmentPart => ({
  kind: 'attachment',
  step: 0,
  server: 's1',
  serverName: 'Files',
  uri: `file:///${name}`,
  name,
  content: [{ type: 'resource', resource: { uri: `file:///${name}`, text: `Text of ${name}.` } }],
  at: 1,
});

/** Resolves when the view satisfies the condition. */
function until(session: Session, met: (session: Session) => boolean): Promise<void> {
  return new Promise((resolve) => {
    if (met(session)) return resolve();
    const stop = session.subscribe(() => {
      if (!met(session)) return;
      stop();
      resolve();
    });
  });
}

const idle = (session: Session): boolean =>
  session.view().activity.kind === 'idle' && !session.view().interrupted;
const words = (session: Session): string[] =>
  session
    .view()
    .messages.map(({ parts }) =>
      parts.map((part) => (part.kind === 'text' ? part.text : '')).join(''),
    );

describe('a session', () => {
  test('stores the words, answers, and shows the same after a reload', async () => {
    const { open } = await world();
    const session = await open([{ text: 'Hello back.' }]);
    await session.send('Hello there');
    await until(session, idle);
    expect(words(session)).toEqual(['Hello there', 'Hello back.']);
    expect(session.view().conversation.title).toBe('Hello there');
    const again = await open();
    expect(words(again)).toEqual(['Hello there', 'Hello back.']);
    expect(again.view().messages.map(({ message }) => message.state)).toEqual(['done', 'done']);
  });

  test('is at work from the tap on, and never looks cut off while it is', async () => {
    const { open } = await world();
    const session = await open([{ text: 'Hello back.' }]);
    const seen: boolean[] = [];
    session.subscribe((view) => seen.push(view.interrupted));
    const sent = session.send('Hello there');
    expect(session.view().activity.kind).toBe('routing');
    await sent;
    await until(session, (it) => idle(it) && it.view().messages.length === 2);
    expect(seen).not.toContain(true);
  });

  test('queues words sent during a turn and answers them in order', async () => {
    const { open } = await world();
    const session = await open([{ text: 'One.' }, { text: 'Two.' }, { text: 'Three.' }]);
    await Promise.all([session.send('first'), session.send('second'), session.send('third')]);
    await until(session, (it) => idle(it) && it.view().messages.length === 6);
    expect(words(session)).toEqual(['first', 'One.', 'second', 'Two.', 'third', 'Three.']);
    expect(session.view().conversation.queue).toEqual([]);
  });

  test('keeps the queue when the person stops, and lets a queued message be taken out', async () => {
    const { open } = await world();
    const session = await open([{ hang: true, text: 'Thinking' }]);
    await session.send('first');
    await until(session, (it) => it.view().activity.kind === 'writing');
    await session.send('second');
    expect(session.view().conversation.queue).toEqual(['second']);
    session.stop();
    await until(session, (it) => it.view().activity.kind === 'idle');
    expect(session.view().messages.at(-1)?.message.state).toBe('stopped');
    await session.unqueue(0);
    expect(session.view().conversation.queue).toEqual([]);
  });

  test('shows a turn of a killed tab as it was and resumes it', async () => {
    const { open, kill } = await world();
    const dead = await open([{ hang: true, text: 'Half an' }]);
    await dead.send('Tell me');
    await until(dead, (it) => words(it)[1] === 'Half an');
    await kill();
    const session = await open([{ text: 'A whole answer.' }]);
    expect(session.view().interrupted).toBe(true);
    expect(words(session)[1]).toContain('Half');
    await session.resume();
    await until(session, idle);
    expect(words(session)[1]).toContain('A whole answer.');
  });

  test('finds an open question after a restart; the answer goes on with the turn, once', async () => {
    const { open, kill, ran } = await world({ pay: { run: async () => textResult('paid') } });
    const dead = await open([{ calls: [{ name: 'pay', args: { sum: 5 } }] }]);
    await dead.send('Pay');
    await until(dead, (it) => it.view().questions.length === 1);
    await kill();
    const session = await open([{ text: 'Paid.' }]);
    const callId = session.view().questions[0]?.call.callId ?? '';
    expect(await session.answer(callId, { allow: true, scope: 'once' })).toBe(true);
    expect(await session.answer(callId, { allow: false, scope: 'once' })).toBe(false);
    await until(session, idle);
    expect(ran).toEqual(['pay']);
    expect(words(session)[1]).toBe('Paid.');
  });

  test('notes each call in the action log: that it was sent, how it ended, and who decided', async () => {
    const it = await world({ book: { run: async () => textResult('Booked.') } });
    const call = { calls: [{ name: 'book', args: { flight: '6E 2131' } }] };
    const session = await it.open([call, { text: 'Done.' }, call, { text: 'Not done.' }]);
    const asked = (): string | undefined => session.view().questions[0]?.call.callId;
    const answered = async (allow: boolean, reason?: string): Promise<void> => {
      await until(session, () => asked() !== undefined);
      const no = reason === undefined ? {} : { reason };
      await session.answer(asked() ?? '', { allow, scope: 'once', ...no });
      await until(session, idle);
    };
    await session.send('Book it');
    await answered(true);
    await session.send('Book it again');
    await answered(false, 'Too dear.');
    const log = (await it.store.actions.search('', 10)).toReversed();
    expect(log).toMatchObject([
      { event: 'sent', tool: 'book', brain: 'Test phone', args: { flight: '6E 2131' } },
      { event: 'ended', outcome: 'result', words: 'Booked.' },
      { event: 'ended', outcome: 'denied' },
    ]);
    expect(log.map(({ decision }) => decision)).toMatchObject([
      { by: 'person', allowed: true, scope: 'once' },
      { by: 'person', allowed: true, scope: 'once' },
      { by: 'person', allowed: false, why: 'Too dear.' },
    ]);
    expect(log[0]?.callId).toBe(log[1]?.callId);
    expect(await it.store.actions.verify()).toBeNull();
  });

  test('an allowed call is not asked again in its scope, and revoking asks again', async () => {
    const { open, ran, store } = await world({ pay: { run: async () => textResult('paid') } });
    const pay = { calls: [{ name: 'pay', args: { sum: 5 } }] };
    const session = await open([pay, { text: 'Once.' }, pay, { text: 'Twice.' }, pay]);
    await session.send('Pay 5');
    await until(session, (it) => it.view().questions.length === 1);
    const first = session.view().questions[0]?.call.callId ?? '';
    await session.answer(first, { allow: true, scope: 'conversation' });
    await until(session, idle);
    await session.send('Pay again');
    await until(session, (it) => idle(it) && it.view().messages.length === 4);
    expect(ran).toEqual(['pay', 'pay']);
    for (const grant of await store.grants.all()) await store.grants.delete(grant.id);
    await session.send('And again');
    await until(session, (it) => it.view().questions.length === 1);
    expect(ran).toEqual(['pay', 'pay']);
    session.stop();
  });

  test('a turn that another tab took over is not run here, and is shown as that tab left it', async () => {
    const { open, ran, locks, otherTab } = await world({
      pay: { run: async () => textResult('paid') },
    });
    const one = await open([{ calls: [{ name: 'pay', args: {} }] }, { text: 'Paid.' }]);
    await one.send('Pay');
    await until(one, (it) => it.view().questions.length === 1);
    locks.breakAll();
    await otherTab();
    const two = await open([{ text: 'Paid.' }]);
    const callId = two.view().questions[0]?.call.callId ?? '';
    await two.answer(callId, { allow: true, scope: 'once' });
    await Promise.all([until(one, idle), until(two, idle)]);
    expect(ran).toEqual(['pay']);
  });

  test('says so, keeps what was typed and stores nothing when there is no room', async () => {
    const { open, store } = await world();
    const session = await open([{ text: 'Never.' }]);
    const add = store.messages.add;
    Object.assign(store.messages, {
      add: async () => {
        throw new QuotaError('full');
      },
    });
    await expect(session.send('Hello')).rejects.toThrow(QuotaError);
    expect(words(session)).toEqual([]);
    Object.assign(store.messages, { add });
    await session.send('Hello');
    await until(session, idle);
    expect(words(session)).toEqual(['Hello', 'Never.']);
  });

  test('tells of a full phone in the middle of an answer and keeps the words on the screen', async () => {
    const { open, store } = await world();
    const session = await open([{ text: 'Some words' }, { text: 'All of them' }]);
    const putPart = store.messages.putPart;
    Object.assign(store.messages, {
      putPart: async (...input: Parameters<typeof putPart>) => {
        if (input[2].kind === 'step') throw new QuotaError('full');
        return putPart(...input);
      },
    });
    await session.send('Hello');
    await until(session, (it) => it.view().activity.kind === 'idle');
    const last = session.view().messages.at(-1);
    expect(last?.parts.at(-1)).toMatchObject({ kind: 'notice', code: 'storage-full' });
    expect(words(session)[1]).toBe('Some words');

    // What found no room leaves no gap: going on, each part has the place that a reload gives it.
    Object.assign(store.messages, { putPart });
    await session.resume();
    await until(session, idle);
    const again = await open();
    expect(again.view().messages).toEqual(session.view().messages);
    expect(words(again)[1]).toBe('Some wordsAll of them');
  });

  test('regenerates once where the button is tapped twice', async () => {
    const { open } = await world();
    const session = await open([{ text: 'First.' }, { text: 'Second.' }, { text: 'Third.' }]);
    await session.send('Ask');
    await until(session, idle);
    await Promise.all([session.regenerate(), session.regenerate()]);
    await until(session, (it) => idle(it) && words(it)[1] === 'Second.');
    expect(words(session)).toEqual(['Ask', 'Second.']);
    expect(words(await open())).toEqual(['Ask', 'Second.']);
  });

  test('does not drop an answer that another tab is at work on', async () => {
    const { open, otherTab } = await world();
    const owner = await open([{ hang: true, text: 'Working' }]);
    await owner.send('first');
    await until(owner, (it) => it.view().activity.kind === 'writing');
    await otherTab();
    const other = await open([{ text: 'Never.' }]);
    await other.regenerate();
    expect(words(other)).toEqual(['first', 'Working']);
    owner.stop();
    await until(other, (it) => it.view().activity.kind === 'idle');
  });

  test('takes out the queued message that was meant, whatever another tab did meanwhile', async () => {
    const { open, store } = await world();
    const session = await open([{ hang: true, text: 'Thinking' }]);
    await session.send('first');
    await until(session, (it) => it.view().activity.kind === 'writing');
    await session.send('second');
    await session.send('third');
    // Sent meanwhile, and one added: this tab has not heard of it.
    const taking = session.unqueue(1);
    await store.conversations.update('c1', (old) => ({ ...old, queue: [...old.queue, 'fourth'] }));
    expect(await taking).toBe('third');
    expect((await store.conversations.get('c1'))?.queue).toEqual(['second', 'fourth']);
    expect(await session.unqueue(7)).toBeNull();
    session.stop();
    await until(session, (it) => it.view().activity.kind === 'idle');
  });

  test('keeps what hangs on the words, and shows it to the model as text of its server', async () => {
    const { open, store } = await world();
    const brain = scriptedBrain([{ text: 'Read.' }, { text: 'Again.' }, { hang: true }]);
    const session = await open([], brain);
    await session.setDraft('What does it say?');
    await session.setAttached([attached('notes')]);
    await session.send('What does it say?', { attached: [attached('notes')] });
    await until(session, idle);
    const [message] = brain.requests[0]!.messages;
    expect(message?.text).toMatch(
      /^What does it say\?\n\n\[attached: notes; text of Files, not of/,
    );
    expect(message?.text).toContain('Text of notes.');
    expect(session.view().conversation).toMatchObject({ private: false, draft: '' });
    expect(session.view().conversation.attached).toBeUndefined();
    // Earlier turns are shown with it, too.
    await session.send('Say more');
    await until(session, idle);
    expect(brain.requests[1]!.messages[0]?.text).toContain('Text of notes.');
    const again = await open();
    expect(again.view().messages[0]?.parts.map(({ kind }) => kind)).toEqual(['text', 'attachment']);
    // Words that wait keep theirs.
    await session.send('Wait');
    await until(session, (it) => it.view().activity.kind === 'thinking');
    const queued = { text: 'And this', attached: [attached('more')] };
    await session.send(queued.text, { attached: queued.attached });
    await session.setDraft('Begun');
    await session.setAttached([attached('begun')]);
    expect(await session.unqueue(0)).toEqual(queued);
    // With nothing more to be done: back on the draft, behind what was begun meanwhile.
    expect(await store.conversations.get('c1')).toMatchObject({
      queue: [],
      draft: 'Begun\n\nAnd this',
      attached: [attached('begun'), attached('more')],
    });
    session.stop();
    await until(session, (it) => it.view().activity.kind === 'idle');
  });

  test('keeps a conversation on the phone from the message on that holds a private server’s text', async () => {
    const { open } = await world();
    const session = await open([{ text: 'Read.' }]);
    await session.send('', { attached: [{ ...attached('secret'), private: true }] });
    await until(session, idle);
    expect(session.view().conversation).toMatchObject({ private: true, title: 'secret' });
  });

  test('knows that a message is private in the same write that stores it, sent at once or queued', async () => {
    const { open, store } = await world();
    const session = await open([{ text: 'Read.' }, { text: 'Read again.' }]);
    // Whatever comes behind the message itself may not come to pass.
    const seen: (boolean | undefined)[] = [];
    const add = store.messages.add;
    Object.assign(store.messages, {
      add: async (...input: Parameters<typeof add>) => {
        const message = await add(...input);
        if (message.role === 'user') seen.push((await store.conversations.get('c1'))?.private);
        return message;
      },
    });
    await session.send('Tell me');
    await session.send('', { attached: [{ ...attached('secret'), private: true }] });
    await until(session, (it) => idle(it) && it.view().messages.length === 4);
    expect(seen).toEqual([false, true]);
  });

  test('keeps queued words and what hangs on them where there is no room to send them', async () => {
    const { open, store } = await world();
    const session = await open([{ text: 'One.' }, { text: 'Two.' }]);
    const add = store.messages.add;
    let full = true;
    Object.assign(store.messages, {
      add: async (...input: Parameters<typeof add>) => {
        const words = input[1].some((part) => part.kind === 'text' && part.text === 'second');
        if (full && words) throw new QuotaError('full');
        return add(...input);
      },
    });
    const queued = { text: 'second', attached: [attached('notes')] };
    await session.send('first');
    await session.send(queued.text, { attached: queued.attached });
    await until(session, (it) => it.view().activity.kind === 'idle');
    expect((await store.conversations.get('c1'))?.queue).toEqual([queued]);
    full = false;
    await session.resume();
    await until(session, (it) => idle(it) && it.view().messages.length === 4);
    expect(words(session)).toEqual(['first', 'One.', 'second', 'Two.']);
  });

  test('sends no words that were taken back in another tab as their turn came', async () => {
    const { open, store } = await world();
    const session = await open([{ text: 'One.' }, { text: 'Two.' }]);
    const add = store.messages.add;
    let taken = false;
    Object.assign(store.messages, {
      add: async (...input: Parameters<typeof add>) => {
        const words = input[1].some((part) => part.kind === 'text' && part.text === 'second');
        if (words && !taken) {
          taken = true;
          await store.conversations.update('c1', (old) => ({ ...old, queue: ['third'] }));
        }
        return add(...input);
      },
    });
    await Promise.all([session.send('first'), session.send('second'), session.send('third')]);
    await until(session, (it) => idle(it) && it.view().messages.length === 4);
    expect(words(session)).toEqual(['first', 'One.', 'third', 'Two.']);
  });

  test('is at rest again where what undoes a call could not be loaded', async () => {
    const { open } = await world();
    const session = await open([{ text: 'One.' }, { text: 'Two.' }]);
    await session.send('first');
    await until(session, idle);
    vi.doMock('../../../src/agent/undo-turn.ts', () => {
      throw new TypeError('Failed to fetch');
    });
    await expect(session.undo('a call')).rejects.toThrow();
    expect(session.view().activity.kind).toBe('idle');
    vi.doUnmock('../../../src/agent/undo-turn.ts');
    await session.send('second');
    await until(session, (it) => idle(it) && it.view().messages.length === 4);
  });

  test('sends words that were queued for another tab after its last look', async () => {
    const { open, locks, otherTab } = await world();
    const owner = await open([{ text: 'One.' }]);
    await owner.send('first');
    await until(owner, idle);
    owner.close();
    let release = (): void => undefined;
    const holding = locks.tryRun('deft-turn-c1', () => new Promise((done) => (release = done)));
    await otherTab();
    const other = await open([{ text: 'Two.' }]);
    expect(other.view().activity.kind).toBe('elsewhere');
    await other.send('second');
    release();
    await holding;
    await until(other, (it) => idle(it) && it.view().messages.length === 4);
    expect(words(other)).toEqual(['first', 'One.', 'second', 'Two.']);
  });

  test('offers to go on where a killed tab left words in the queue', async () => {
    const { open, store } = await world();
    const dead = await open([{ text: 'One.' }]);
    await dead.send('first');
    await until(dead, idle);
    dead.close();
    await store.conversations.update('c1', (old) => ({ ...old, queue: ['second'] }));
    const session = await open([{ text: 'Two.' }]);
    expect(session.view().interrupted).toBe(true);
    await session.resume();
    await until(session, (it) => idle(it) && it.view().messages.length === 4);
    expect(words(session)).toEqual(['first', 'One.', 'second', 'Two.']);
  });

  test('regenerates the last answer and keeps the question', async () => {
    const { open } = await world();
    const session = await open([{ text: 'First.' }, { text: 'Second.' }]);
    await session.send('Ask');
    await until(session, idle);
    await session.regenerate();
    await until(session, (it) => idle(it) && words(it)[1] === 'Second.');
    expect(words(session)).toEqual(['Ask', 'Second.']);
  });

  test('in a second tab follows a turn that another one runs, and queues for it', async () => {
    const { open, otherTab } = await world();
    const owner = await open([{ hang: true, text: 'Working' }, { text: 'Next.' }]);
    await owner.send('first');
    await until(owner, (it) => it.view().activity.kind === 'writing');
    await otherTab();
    const other = await open([]);
    expect(other.view().activity.kind).toBe('elsewhere');
    expect(other.view().interrupted).toBe(false);
    await other.send('second');
    expect(owner.view().conversation.queue ?? other.view().conversation.queue).toEqual(['second']);
    owner.stop();
    await until(other, (it) => it.view().activity.kind === 'idle');
  });
});

describe('a conversation that outgrows the window', () => {
  const long = (n: number): string => `${n} `.padEnd(2600, 'x');

  /** Five turns of some 900 tokens each, in a window of 4,096. */
  async function outgrown(after: readonly Say[] = []) {
    const { open } = await world();
    const brain = scriptedBrain([
      ...[1, 2, 3, 4, 5].map((n) => ({ text: `Answer ${n}.` })),
      ...after,
    ]);
    const session = await open([], brain);
    for (const n of [1, 2, 3, 4, 5]) {
      await session.send(long(n));
      await until(session, idle);
    }
    return { session, brain, open };
  }

  const dropped = (session: Session): number | undefined => {
    const route = session
      .view()
      .messages.at(-1)
      ?.parts.findLast(({ kind }) => kind === 'route');
    return route?.kind === 'route' ? route.context?.dropped : undefined;
  };

  test('keeps every message, and notes how many turns the model was not shown', async () => {
    const { session, brain } = await outgrown();
    expect(dropped(session)).toBe(2);
    expect(session.view().messages).toHaveLength(10);
    expect(brain.requests.at(-1)?.messages[0]?.text).toMatch(/^3 /);
  });

  test('has them summarised when asked, keeps that over a reload, and takes it back', async () => {
    const { session, brain, open } = await outgrown([{ text: 'In short.' }, { text: 'Answer 6.' }]);
    expect(await session.summarise()).toBeNull();
    expect(session.view().conversation.summary).toMatchObject({ turns: 2, text: 'In short.' });
    expect((await open()).view().conversation.summary).toMatchObject({ text: 'In short.' });

    await session.send('And now?');
    await until(session, idle);
    const shown = brain.requests.at(-1)?.messages ?? [];
    expect(shown[0]?.text).toContain('In short.');
    expect(shown.some(({ text }) => text.startsWith('1 ') || text.startsWith('2 '))).toBe(false);

    await session.forgetSummary();
    expect(session.view().conversation.summary).toBeUndefined();
    expect((await open()).view().conversation.summary).toBeUndefined();
  });

  test('says what went wrong, and changes nothing, where no summary comes', async () => {
    const { session } = await outgrown([{ error: 'gpu' }]);
    expect(await session.summarise()).toMatchObject({ message: 'It broke.', advice: 'Try again.' });
    expect(session.view().conversation.summary).toBeUndefined();
    expect(session.view().activity.kind).toBe('idle');
  });

  test('words sent during a summary wait for it, and are answered', async () => {
    const { session } = await outgrown([{ text: 'In short.' }, { text: 'Answer 6.' }]);
    const summary = session.summarise();
    await session.send('And now?');
    await summary;
    await until(session, (open) => idle(open) && open.view().messages.length === 12);
    expect(words(session).slice(-2)).toEqual(['And now?', 'Answer 6.']);
  });

  test('words sent during a summary are answered also where the turn before them was stopped', async () => {
    const { session } = await outgrown([
      { hang: true, text: 'Half' },
      { hang: true },
      { text: 'Answer 7.' },
    ]);
    await session.send(long(6));
    await until(session, (open) => open.view().activity.kind === 'writing');
    session.stop();
    await until(session, idle);
    const summary = session.summarise();
    await session.send('And now?');
    session.stop();
    expect(await summary).toBeNull();
    await until(session, (open) => idle(open) && open.view().messages.length === 14);
    expect(words(session).slice(-2)).toEqual(['And now?', 'Answer 7.']);
  });

  test('a stop during a summary leaves none', async () => {
    const { session } = await outgrown([{ hang: true, text: 'Half' }]);
    const summary = session.summarise();
    session.stop();
    expect(await summary).toBeNull();
    expect(session.view().conversation.summary).toBeUndefined();
  });
});
