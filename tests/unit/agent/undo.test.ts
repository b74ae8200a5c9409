/**
 * Undo, as it runs: the real session, loop, gate, toolbox and host, over one database, and a server that
 * counts what it is made to do.
 */
import 'fake-indexeddb/auto';
import { createMcpHandler, fromJsonSchema, McpServer } from '@modelcontextprotocol/server';
import { expect, onTestFinished, test } from 'vitest';
import { openSession, type Locks, type Session } from '../../../src/agent/session.ts';
import { createHost } from '../../../src/mcp/host.ts';
import { resultText } from '../../../src/mcp/render.ts';
import { createToolbox } from '../../../src/mcp/toolbox.ts';
import { createGate } from '../../../src/policy/gate.ts';
import { openStore } from '../../../src/store/open.ts';
import type { CallPart } from '../../../src/store/records.ts';
import { conversation, freshName } from '../store/helpers.ts';
import { routerOf, scriptedBrain, type Say } from './world.ts';

function locksOverTabs(): Locks {
  const held = new Map<string, Promise<void>>();
  return {
    async tryRun(name, work) {
      if (held.has(name)) return false;
      const run = work().finally(() => held.delete(name));
      held.set(name, run.catch(() => undefined) as Promise<void>);
      await run;
      return true;
    },
    held: async (name) => held.has(name),
    free: async (name) => held.get(name),
  };
}

/** A calendar in which an event was made in a conversation; `answer` is what its delete tool says. */
async function calendar(
  answer: () => { content: { type: 'text'; text: string }[]; isError?: boolean } = () => ({
    content: [{ type: 'text', text: 'Deleted.' }],
  }),
) {
  const deleted: unknown[] = [];
  const handler = createMcpHandler(
    () => {
      const made = new McpServer({ name: 'calendar', title: 'Calendar', version: '1.0.0' });
      const schema = (properties: Record<string, { type: 'string' }>) =>
        fromJsonSchema<Record<string, unknown>>({ type: 'object', properties });
      const undo = { tool: 'delete_event', arguments: { id: '$result.id', why: '$args.title' } };
      made.registerTool(
        'create_event',
        { inputSchema: schema({ title: { type: 'string' } }), _meta: { 'deft/undo': undo } },
        async () => ({ content: [] }),
      );
      const properties = { id: { type: 'string' }, why: { type: 'string' } } as const;
      made.registerTool('delete_event', { inputSchema: schema(properties) }, async (args) => {
        deleted.push(args);
        return answer();
      });
      return made;
    },
    { legacy: 'reject' },
  );
  const name = freshName();
  const store = await openStore({ name, channel: true });
  let reachable = true;
  const host = createHost({
    store,
    inPage: [],
    online: () => reachable,
    fetch: async (input, init) => {
      if (!reachable) throw new TypeError('fetch failed');
      return handler.fetch(new Request(input, init));
    },
  });
  onTestFinished(async () => {
    await host.close();
    await handler.close();
    store.close();
  });
  const added = await host.add({ url: 'https://calendar.example/mcp' });
  if (!added.ok) throw new Error(added.error.message);
  const server = added.server.id;
  const pinOf = async (tool: string) =>
    (await store.lists.get(server))?.tools.find((it) => it.name === tool)?.pin ?? '';
  await store.conversations.put(conversation('c1', { title: '' }));
  const put = (
    role: 'user' | 'assistant',
    id: string,
    parts: Parameters<typeof store.messages.add>[1],
  ) => store.messages.add({ id, conversation: 'c1', role, createdAt: 1, state: 'done' }, parts);
  await put('user', 'm0', [{ kind: 'text', step: 0, text: 'Put Lunch into my calendar' }]);
  await put('assistant', 'm1', [
    {
      ...{ kind: 'call', step: 1, callId: 'made', server, serverName: 'Calendar' },
      ...{ tool: 'create_event', title: 'create_event', modelName: 'calendar_create_event' },
      ...{ pin: await pinOf('create_event'), args: { title: 'Lunch' }, days: [], readOnly: false },
      state: 'done',
      outcome: { kind: 'result', content: [], structured: { id: 'event-4711' } },
    },
    { kind: 'step', step: 1, end: 'calls', usage: {} },
    { kind: 'text', step: 2, text: 'It is in.' },
    { kind: 'step', step: 2, end: 'stop', usage: {} },
  ]);
  const locks = locksOverTabs();
  const toolbox = createToolbox({ store, host, timeZone: () => 'UTC' });
  const brains: ReturnType<typeof scriptedBrain>[] = [];
  return {
    store,
    server,
    pinOf,
    deleted,
    brains,
    /** Breaks every connection; new ones are made, or not. */
    async setReachable(is: boolean) {
      reachable = is;
      await host.update(server, { limits: { callMs: is ? 50_000 : 40_000 } });
    },
    async tab(script: readonly Say[] = []): Promise<Session> {
      const own = await openStore({ name, channel: true });
      onTestFinished(() => own.close());
      const brain = scriptedBrain(script);
      brains.push(brain);
      const session = await openSession('c1', {
        store: own,
        toolbox,
        router: routerOf(brain),
        gate: createGate({ store: own }),
        resultText,
        locks,
        clock: () => Date.now(),
        breathe: () => new Promise((resolve) => setImmediate(resolve)),
        timeZone: () => 'UTC',
        undoOf: (call) => host.undoOf(call),
      });
      if (!session) throw new Error('no conversation');
      return session;
    },
  };
}

const undos = (session: Session): CallPart[] =>
  session
    .view()
    .messages.flatMap(({ parts }) => parts)
    .filter((part): part is CallPart => part.kind === 'call' && part.undoes === 'made');

function until(session: Session, met: () => boolean): Promise<void> {
  return new Promise((resolve) => {
    if (met()) return resolve();
    const stop = session.subscribe(() => {
      if (!met()) return;
      stop();
      resolve();
    });
  });
}

const asked = (session: Session) => until(session, () => session.view().questions.length === 1);
const idle = (session: Session) =>
  until(session, () => session.view().activity.kind === 'idle' && !session.view().interrupted);

async function answerTo(session: Session, allow: boolean): Promise<void> {
  await asked(session);
  const { callId } = session.view().questions[0]!.call;
  await session.answer(callId, { allow, scope: 'once' });
  await idle(session);
}

test('a tap on Undo is a wish: the gate asks, names the words of the server, and only a yes sends it', async () => {
  const { tab, deleted, store, brains } = await calendar();
  const session = await tab();
  expect(await session.undo('made')).toBeNull();
  await asked(session);
  const { call } = session.view().questions[0]!;
  expect(call.args).toEqual({ id: 'event-4711', why: 'Lunch' });
  expect(call.why).toContain('words that came from Calendar');
  expect(call.origins).toContainEqual(
    expect.objectContaining({ path: 'id', from: 'untrusted', source: 'Calendar' }),
  );
  expect(call.origins).toContainEqual(expect.objectContaining({ path: 'why', from: 'person' }));
  expect(deleted).toEqual([]);

  await answerTo(session, true);
  expect(deleted).toEqual([{ id: 'event-4711', why: 'Lunch' }]);
  expect(undos(session)).toMatchObject([{ state: 'done', outcome: { kind: 'result' } }]);
  expect(brains[0]?.requests).toEqual([]);
  const log = await store.actions.search('delete_event', 10);
  expect(log.map(({ event }) => event).sort()).toEqual(['ended', 'sent']);
});

test('an always does not spare an undo its question: the value is not the person’s', async () => {
  const { tab, deleted, store, server, pinOf } = await calendar();
  const gate = createGate({ store });
  const pin = await pinOf('delete_event');
  await gate.setMode({ server, tool: 'delete_event', pin }, 'allow', true);
  const session = await tab();
  await session.undo('made');
  await asked(session);
  expect(deleted).toEqual([]);
  await answerTo(session, false);
  expect(deleted).toEqual([]);
});

test('a tool that is never to run does not run to undo either', async () => {
  const { tab, deleted, store, server, pinOf } = await calendar();
  const pin = await pinOf('delete_event');
  await createGate({ store }).setMode({ server, tool: 'delete_event', pin }, 'never');
  const session = await tab();
  await session.undo('made');
  await until(session, () => undos(session)[0]?.state === 'refused');
  await idle(session);
  expect(deleted).toEqual([]);
});

test('two tabs that tap Undo at once undo once', async () => {
  const { tab, deleted } = await calendar();
  const [one, two] = [await tab(), await tab()];
  const ends = await Promise.all([one.undo('made'), two.undo('made'), one.undo('made')]);
  expect(ends.filter((end) => end === null)).toHaveLength(1);
  const owner = ends[1] === null ? two : one;
  await answerTo(owner, true);
  expect(deleted).toHaveLength(1);
  for (const session of [one, two]) {
    await until(session, () => undos(session)[0]?.state === 'done');
    await idle(session);
    expect(await session.undo('made')).toMatchObject({
      message: expect.stringContaining('cannot'),
    });
  }
  const reloaded = await tab();
  expect(undos(reloaded)).toHaveLength(1);
  expect(await reloaded.undo('made')).not.toBeNull();
  expect(deleted).toHaveLength(1);
});

test('a no, and a server that was not reached, may be tried again; an error of the tool may not', async () => {
  let fails = true;
  const { tab, deleted, setReachable } = await calendar(() => {
    const isError = fails;
    fails = false;
    return { content: [{ type: 'text', text: 'No such event.' }], isError };
  });
  const session = await tab();
  await session.undo('made');
  await answerTo(session, false);
  await setReachable(false);
  expect(await session.undo('made')).toBeNull();
  await answerTo(session, true);
  expect(undos(session).at(-1)?.outcome?.kind).toBe('unavailable');
  await setReachable(true);
  expect(await session.undo('made')).toBeNull();
  await answerTo(session, true);
  expect(undos(session).map(({ outcome }) => outcome?.kind)).toEqual([
    undefined,
    'unavailable',
    'tool_error',
  ]);
  expect(await session.undo('made')).not.toBeNull();
  expect(deleted).toHaveLength(1);
});

test('an undo that was stopped at its question can be asked for anew, and the old one runs no more', async () => {
  const { tab, deleted } = await calendar();
  const session = await tab();
  await session.undo('made');
  await asked(session);
  session.stop();
  await idle(session);
  expect(await session.undo('made')).toBeNull();
  await answerTo(session, true);
  expect(undos(session).map(({ state }) => state)).toEqual(['refused', 'done']);
  expect(deleted).toHaveLength(1);
});

test('an undo is no answer to be made again, and what comes after it knows of it', async () => {
  const { tab, deleted, brains } = await calendar();
  const session = await tab([{ text: 'It is gone again.' }]);
  await session.undo('made');
  await answerTo(session, true);
  await session.regenerate();
  expect(undos(session)).toHaveLength(1);
  await session.send('Is it still there?');
  await until(session, () => session.view().messages.length === 5);
  await idle(session);
  const roles = brains[0]!.requests[0]!.messages.map(({ role }) => role);
  expect(roles).toEqual([
    'user',
    'assistant',
    'tool',
    'assistant',
    'user',
    'assistant',
    'tool',
    'user',
  ]);
  expect(deleted).toHaveLength(1);
});

test('nothing is undone while a turn is at work, nor behind one that was cut off', async () => {
  const { tab, store } = await calendar();
  const session = await tab([{ hang: true }]);
  await session.send('Wait');
  expect(await session.undo('made')).toMatchObject({
    message: expect.stringContaining('has not ended'),
  });
  session.stop();
  await idle(session);
  await store.messages.add(
    { id: 'cut', conversation: 'c1', role: 'assistant', createdAt: 2, state: 'running' },
    [],
  );
  const later = await tab();
  expect(await later.undo('made')).not.toBeNull();
  expect(undos(later)).toEqual([]);
});

test('where nothing names an inverse any more, it is said, and nothing is done', async () => {
  const { tab, store, server } = await calendar();
  await store.lists.update(server, (old) => ({ ...old, off: ['delete_event'] }));
  const session = await tab();
  expect(await session.undo('made')).not.toBeNull();
  expect(await session.undo('no such call')).not.toBeNull();
  expect(session.view().messages).toHaveLength(2);
});
