/** What servers of 2026-07-28 ask before they answer, and the tasks that they make of calls. */
import type { ServerResponse } from 'node:http';
import { describe, expect, it, vi } from 'vitest';
import type { BoundAsks, CallEnd, CallTarget } from '../../../src/mcp/connection.ts';
import type { ElicitAnswer, ElicitRequest } from '../../../src/mcp/types.ts';
import { startAsking } from '../../servers/asking.ts';
import type { ServeOptions } from '../../servers/mcp-http.ts';
import { connected, type Given } from './connecting.ts';
import { afterTest, never, started, until } from './setup.ts';

const tool = (name: string): CallTarget => ({ name, inputSchema: { type: 'object' } });
const text = (end: CallEnd) => (end.kind === 'answer' ? end.content[0]?.text : end);

/** Asks that answer the same each time and keep what was asked. */
function answering(answer: ElicitAnswer) {
  const asked: ElicitRequest[] = [];
  const asks: BoundAsks = {
    async elicit(request) {
      asked.push(request);
      return answer;
    },
  };
  return { asked, asks };
}

const MIRA = { action: 'accept', content: { name: 'Mira' } } as const;

async function world(given: Given = {}, options: ServeOptions = {}) {
  const server = await started(startAsking(options));
  return { server, ...(await connected(server.url, given)) };
}

describe('a server that asks before it answers', () => {
  it.each<[ElicitAnswer, string]>([
    [MIRA, 'accept Mira kept as it is: ünï'],
    [{ action: 'decline' }, 'decline undefined kept as it is: ünï'],
    [{ action: 'cancel' }, 'cancel undefined kept as it is: ünï'],
  ])('gets %j and its own state back', async (answer, said) => {
    const { asked, asks } = answering(answer);
    const { connection } = await world({ asks });
    expect(connection.era).toBe('modern');
    expect(text(await connection.call(tool('greet'), {}, never()))).toBe(said);
    expect(asked).toMatchObject([{ mode: 'form', message: 'What is your name?' }]);
  });

  it('may ask for a visit to a page', async () => {
    const { asked, asks } = answering({ action: 'accept' });
    const { connection } = await world({ asks });
    expect(text(await connection.call(tool('visit'), {}, never()))).toBe('visit: accept');
    expect(asked).toMatchObject([{ mode: 'url', url: 'https://pay.example/order/1' }]);
  });

  it('may ask the model where that is allowed, and is refused where it is not', async () => {
    const sample: BoundAsks['sample'] = async ({ messages }) => ({
      ok: true,
      text: `Short: ${String(messages[0]?.content[0]?.text)}`,
      model: 'small',
      stopReason: 'endTurn',
    });
    const { elicit } = answering(MIRA).asks;
    const allowed = await world({ asks: { elicit, sample } });
    const end = await allowed.connection.call(tool('summarise'), {}, never());
    expect(text(end)).toMatch(/Short: Sum this up\./);
    const { connection } = await world({ asks: { elicit } });
    expect(await connection.call(tool('summarise'), {}, never())).toMatchObject({
      kind: 'refused',
    });
  });

  it('is not asked to ask where nobody is there to be asked, and gets no roots', async () => {
    const { connection } = await world();
    for (const name of ['greet', 'where'])
      expect(await connection.call(tool(name), {}, never())).toMatchObject({ kind: 'refused' });
  });

  it('is asked again where it only wants that', async () => {
    const { connection } = await world();
    expect(text(await connection.call(tool('again'), {}, never()))).toBe('done');
  });

  it('is given up where it asks without end', async () => {
    const { asked, asks } = answering(MIRA);
    const { connection } = await world({ asks });
    expect(await connection.call(tool('endless'), {}, never())).toMatchObject({
      kind: 'refused',
      message: 'The server asks without end.',
    });
    expect(asked).toHaveLength(11);
  });

  it('takes its question back when the call is stopped', async () => {
    const stop = new AbortController();
    let taken: AbortSignal | undefined;
    const asks: BoundAsks = {
      elicit(_request, signal) {
        taken = signal;
        stop.abort();
        return new Promise((_, reject) => {
          reject(new Error('stopped'));
        });
      },
    };
    const { connection } = await world({ asks });
    expect(await connection.call(tool('greet'), {}, stop.signal)).toEqual({ kind: 'aborted' });
    expect(taken?.aborted).toBe(true);
  });

  it('may ask before it gives a prompt', async () => {
    const { connection } = await world(answering(MIRA));
    expect(await connection.getPrompt('letter', { to: 'Ravi' }, never())).toMatchObject({
      ok: true,
      value: { messages: [{ content: { text: 'Dear Ravi, yours, Mira' } }] },
    });
  });

  it('sends its log along with a call, with secrets struck out', async () => {
    const { connection, log } = await world({ secrets: ['hunter2-hunter2'] });
    await connection.call(tool('chatty'), {}, never());
    await until(() => log.length > 0);
    expect(log).toMatchObject([
      { level: 'warning', logger: 'kitchen', text: '{"key":"[secret]"}' },
    ]);
  });
});

describe('a call to a server of 2026-07-28', () => {
  it('that is stopped, or takes too long, is stopped at the server as well', async () => {
    const { connection, server } = await world();
    const stop = new AbortController();
    const calling = connection.call(tool('hang'), {}, stop.signal);
    await until(() => server.hung().begun === 1);
    stop.abort();
    expect((await calling).kind).toBe('aborted');
    await until(() => server.hung().stopped === 1);
    const hasty = await connected(server.url, { limits: { call: 200 } });
    const late = await hasty.connection.call(tool('hang'), {}, never());
    expect(late).toMatchObject({ kind: 'timeout' });
    await until(() => server.hung().stopped === 2);
  });
});

describe('a task that a server of 2026-07-28 makes of a call', () => {
  it('is asked after until its result comes', async () => {
    const { connection, server } = await world();
    const ids: string[] = [];
    const messages: (string | undefined)[] = [];
    const end = await connection.call(tool('job'), {}, never(), {
      task: (id) => ids.push(id),
      progress: ({ message }) => messages.push(message),
    });
    expect(text(end)).toBe('finished null');
    expect(ids).toEqual([...server.tasks().keys()]);
    expect(messages).toContain('poll 1');
    // Gateways find the server of a task by this header.
    expect(new Set(server.taskNames())).toEqual(new Set([`tasks/get ${ids[0]}`]));
  });

  it('may ask in the midst of its work, each thing once', async () => {
    const { asked, asks } = answering(MIRA);
    const { connection } = await world({ asks });
    const end = await connection.call(tool('asking_job'), {}, never());
    expect(text(end)).toBe('finished {"who":{"action":"accept","content":{"name":"Mira"}}}');
    expect(asked).toHaveLength(1);
  });

  it('that fails says why', async () => {
    const { connection } = await world();
    expect(await connection.call(tool('failing_job'), {}, never())).toMatchObject({
      kind: 'refused',
      message: 'The oven is broken.',
    });
  });

  it('is cancelled when the call is stopped', async () => {
    const { connection, server } = await world();
    const stop = new AbortController();
    const calling = connection.call(tool('waiting_job'), {}, stop.signal, {
      progress: () => stop.abort(),
    });
    expect(await calling).toEqual({ kind: 'aborted' });
    expect([...server.tasks().values()]).toMatchObject([{ status: 'cancelled' }]);
  });

  it('outlives the connection, and its result is had over another', async () => {
    const { connection, server } = await world();
    const id = new Promise<string>((resolve) => {
      void connection.call(tool('waiting_job'), {}, never(), { task: resolve });
    });
    const taskId = await id;
    await connection.close();
    const later = await connected(server.url);
    server.finish();
    expect(text(await later.connection.resumeTask({}, taskId, never()))).toBe('finished null');
    expect(server.counts()['tools/call']).toBe(1);
  });

  it('is asked after over a network that fails for a while', async () => {
    let failures = 0;
    const { connection } = await world(
      {},
      {
        before(message, _request, response) {
          if (message?.method !== 'tasks/get' || failures > 0) return false;
          failures += 1;
          response.destroy();
          return true;
        },
      },
    );
    expect(text(await connection.call(tool('job'), {}, never()))).toBe('finished null');
    expect(failures).toBe(1);
  });

  it('that nobody knows any more is refused', async () => {
    const { connection } = await world();
    expect(await connection.resumeTask({}, 'gone', never())).toMatchObject({
      kind: 'refused',
      message: 'Task not found',
    });
  });
});

describe('what a server of 2026-07-28 says by itself', () => {
  it('is heard: changes of its lists', async () => {
    const { server, changed } = await world();
    await until(() => server.counts()['subscriptions/listen'] === 1);
    // The server takes a moment to open the stream that it was asked for.
    await until(() => {
      server.notify.toolsChanged();
      server.notify.promptsChanged();
      server.notify.resourcesChanged();
      return new Set(changed).size === 3;
    });
    expect(new Set(changed)).toEqual(new Set(['tools', 'prompts', 'resources']));
  });

  it('is heard: a watched resource, and no longer when nobody watches it', async () => {
    const { server, connection } = await world();
    let updates = 0;
    const watched = await connection.watch('menu://today', () => {
      updates += 1;
    });
    if (!watched.ok) throw new Error(watched.error.message);
    server.notify.resourceUpdated('menu://tomorrow');
    server.notify.resourceUpdated('menu://today');
    await until(() => updates === 1);
    const before = server.counts()['subscriptions/listen'] ?? 0;
    watched.value();
    await until(() => (server.counts()['subscriptions/listen'] ?? 0) > before);
  });

  it('is listened for anew when the stream breaks, ever later, and not for ever', async () => {
    const pauses = heldPauses(FIRST_PAUSE);
    const streams: ServerResponse[] = [];
    let isDown = false;
    let refused = 0;
    const { server, connection, changed } = await world(
      {
        patience: { firstMs: FIRST_PAUSE, longestMs: 100 * FIRST_PAUSE, times: 3 },
        fetch: (input, init) =>
          fetch(input, init).catch((cause: unknown) => {
            refused += 1;
            throw cause;
          }),
      },
      {
        before(message, _request, response) {
          if (message?.method !== 'subscriptions/listen') return false;
          streams.push(response);
          if (isDown) response.destroy();
          return isDown;
        },
      },
    );
    /** Until the server is heard over a stream that stands. */
    const heard = (kind: 'tools' | 'prompts') =>
      until(() => {
        server.notify[`${kind}Changed`]();
        return changed.includes(kind);
      });
    await heard('tools');
    expect(streams).toHaveLength(1);

    streams[0]?.destroy();
    await until(() => pauses.length === 1);
    expect(streams).toHaveLength(1);
    pauses[0]?.end();
    await heard('prompts');
    expect(streams).toHaveLength(2);

    isDown = true;
    streams[1]?.destroy();
    await until(() => pauses.length === 2);
    pauses[1]?.end();
    await until(() => refused === 1 && pauses.length === 3);
    pauses[2]?.end();
    await until(() => refused === 2);
    // The connection stands, and its stream is not asked for any more.
    expect(await connection.list()).toMatchObject({ ok: true });
    expect(pauses.map(({ ms }) => ms / FIRST_PAUSE)).toEqual([1, 2, 4]);
    expect(streams).toHaveLength(4);
  });
});

/** In milliseconds; no other timer has a multiple of it. */
const FIRST_PAUSE = 7_777;

/** Holds the timers of pauses until the test ends each; all others run as ever. */
function heldPauses(firstMs: number) {
  const held: { readonly ms: number; readonly end: () => void }[] = [];
  const start = globalThis.setTimeout;
  const spy = vi.spyOn(globalThis, 'setTimeout').mockImplementation(((
    end: () => void,
    ms = 0,
    ...given: unknown[]
  ) => {
    if (ms === 0 || ms % firstMs !== 0) return start(end, ms, ...given);
    held.push({ ms, end });
    return start(() => undefined, 0);
  }) as typeof setTimeout);
  afterTest(() => spy.mockRestore());
  return held;
}
