/** How calls end, over real HTTP: the one kind each, and how often the tool ran. */
import { describe, expect, it } from 'vitest';
import type { HostOptions } from '../../../src/mcp/host.ts';
import type { Outcome } from '../../../src/store/records.ts';
import { startAsking } from '../../servers/asking.ts';
import { startBroken, type BrokenOptions, type Fault } from '../../servers/broken.ts';
import { startLegacy, type LegacyOptions } from '../../servers/legacy.ts';
import { startTravel } from '../../servers/travel.ts';
import { newHost, never, started, toolOf, until } from './setup.ts';

async function broken(options: BrokenOptions, hostOptions: Partial<HostOptions> = {}) {
  const server = await started(startBroken({ phase: 'call', eras: 'modern', ...options }));
  const world = await newHost(hostOptions);
  const added = await world.host.add({ url: server.url });
  if (!added.ok) throw new Error(added.error.message);
  const { id } = added.server;
  return {
    ...world,
    server,
    read: () => world.host.callTool(toolOf(id, 'read', { readOnly: true }), {}, never()),
    write: () => world.host.callTool(toolOf(id, 'write'), {}, never()),
  };
}

async function legacy(options: LegacyOptions = {}, hostOptions: Partial<HostOptions> = {}) {
  const server = await started(startLegacy(options));
  const world = await newHost(hostOptions);
  const added = await world.host.add({ url: server.url });
  if (!added.ok) throw new Error(added.error.message);
  return { ...world, server, id: added.server.id };
}

const DROP: Fault = { kind: 'drop' };
const EMPTY: Fault = { kind: 'empty-stream' };
const HANG: Fault = { kind: 'hang' };
const status = (code: number, more: Partial<Extract<Fault, { kind: 'status' }>> = {}): Fault => ({
  kind: 'status',
  status: code,
  ...more,
});

describe('a call that went well', () => {
  it('ends with its content and its structured content', async () => {
    const travel = await started(startTravel({ weather: 'rain' }));
    const { host } = await newHost();
    const added = await host.add({ url: travel.url });
    if (!added.ok) throw new Error(added.error.message);
    const outcome = await host.callTool(
      toolOf(added.server.id, 'get_weather'),
      { city: 'Goa', date: '2026-12-04' },
      never(),
    );
    const structured = { city: 'Goa', sky: 'light rain', high_c: expect.any(Number) };
    expect(outcome).toMatchObject({ kind: 'result', structured });
  });
});

describe('a call whose answer repeats the server’s own key', () => {
  it('ends without the key and with all other words', async () => {
    const server = await started(startLegacy());
    const { host } = await newHost();
    const key = 'own-key-12345';
    const added = await host.add({ url: `${server.url}?team=marketing`, key });
    if (!added.ok) throw new Error(added.error.message);
    const echo = toolOf(added.server.id, 'echo', { readOnly: true });
    const text = `token: abcdefgh, ${key}, marketing`;
    expect(await host.callTool(echo, { text }, never())).toMatchObject({
      kind: 'result',
      content: [{ type: 'text', text: 'token: abcdefgh, [secret], marketing' }],
    });
  });
});

describe('a call that the server refuses', () => {
  it('because the tool failed is a tool error', async () => {
    const travel = await started(startTravel());
    const { host } = await newHost();
    const added = await host.add({ url: travel.url });
    if (!added.ok) throw new Error(added.error.message);
    const { id } = added.server;
    const call = (name: string, args: Record<string, unknown>) =>
      host.callTool(toolOf(id, name), args, never());
    expect(await call('get_weather', { city: 'Goa', date: 'soon' })).toMatchObject({
      kind: 'tool_error',
      content: [{ text: 'The date must be a day as YYYY-MM-DD.' }],
    });
    expect(await call('get_weather', {})).toMatchObject({ kind: 'tool_error' });
  });

  it('because it does not know the tool is a tool error, and the list is renewed', async () => {
    const { host, id, server } = await legacy();
    const lists = server.counts()['tools/list'] ?? 0;
    expect(await host.callTool(toolOf(id, 'vanished'), {}, never())).toMatchObject({
      kind: 'tool_error',
    });
    await until(() => (server.counts()['tools/list'] ?? 0) > lists);
  });
});

describe('a call whose answer is lost', () => {
  it.each<[string, Fault]>([
    ['the connection breaks', DROP],
    ['the stream ends without it', EMPTY],
    ['the gateway fails', status(502)],
    ['the gateway gave up waiting', status(504)],
    ['the server fails', status(500)],
    ['the service is down', status(503)],
    ['the service says when to come back', status(503, { headers: { 'retry-after': '1' } })],
  ])('because %s: a write is unknown and never sent again', async (_, fault) => {
    const { write, server } = await broken({ fault });
    const outcome = await write();
    expect(outcome).toMatchObject({
      kind: 'unknown',
      message: expect.stringMatching(/^Outcome unknown: /),
      advice: expect.stringMatching(/may have taken effect/i),
    });
    if (fault.kind === 'status')
      expect(outcome).toMatchObject({ message: expect.stringContaining('has a fault of its own') });
    expect(server.counts()['tools/call']).toBe(1);
  });

  it.each<[string, Fault]>([
    ['the connection breaks', DROP],
    ['the stream ends without it', EMPTY],
    ['the gateway fails', status(502)],
    ['the service says when to come back', status(503, { headers: { 'retry-after': '1' } })],
  ])('because %s: a read is sent again, and answers', async (_, fault) => {
    const { read, server } = await broken({ fault, times: 2 });
    expect(await read()).toMatchObject({ kind: 'result' });
    expect(server.counts()['tools/call']).toBe(3);
  });

  it('a read is sent three times at most, after pauses that chance makes longer or shorter', async () => {
    let drawn = 0;
    const random = () => {
      drawn += 1;
      return 0;
    };
    const { read, server } = await broken({ fault: DROP }, { random });
    expect(await read()).toMatchObject({ kind: 'unavailable', code: 'unreachable' });
    expect(server.counts()['tools/call']).toBe(3);
    expect(drawn).toBe(2);
  });

  it('an idempotent write counts as a read', async () => {
    const { host, server, store } = await broken({ fault: DROP, times: 1 });
    const [record] = await store.servers.all();
    const tool = toolOf(record?.id ?? '', 'write', { idempotent: true });
    expect(await host.callTool(tool, {}, never())).toMatchObject({ kind: 'result' });
    expect(server.counts()['tools/call']).toBe(2);
  });

  it('because it is too large says so', async () => {
    const { write, read, server } = await broken({ fault: { kind: 'huge', bytes: 12_000_000 } });
    expect(await write()).toMatchObject({
      kind: 'unknown',
      message: expect.stringMatching(/larger than 10 MB/),
    });
    expect(await read()).toMatchObject({ kind: 'unavailable', code: 'too-large' });
    expect(server.counts()['tools/call']).toBe(2);
  });
});

describe('a call that certainly did not run', () => {
  it.each<[string, Fault, string]>([
    ['the key is refused', status(401), 'auth'],
    ['it is forbidden', status(403), 'forbidden'],
    ['there were too many', status(429), 'rate'],
    ['the address is gone', status(404), 'not-mcp'],
  ])('because %s is unavailable, write or not', async (_, fault, code) => {
    const { write, server } = await broken({ fault });
    expect(await write()).toMatchObject({ kind: 'unavailable', code });
    expect(server.counts()['tools/call']).toBe(1);
  });

  it('because the server is gone is unavailable', async () => {
    const { write, server } = await broken({ fault: DROP });
    await server.close();
    expect(await write()).toMatchObject({ kind: 'unavailable', code: 'unreachable' });
  });

  it('because the connection was idle and the server died meanwhile is unavailable', async () => {
    let clock = Date.now();
    let dead = false;
    const { write } = await broken(
      { fault: DROP },
      {
        now: () => clock,
        // As a browser puts it: nothing tells whether anything was sent.
        fetch: (input, init) =>
          dead ? Promise.reject(new TypeError('Failed to fetch')) : fetch(input, init),
      },
    );
    dead = true;
    clock += 60_000;
    expect(await write()).toMatchObject({ kind: 'unavailable' });
  });

  it('because there is no network is unavailable, and the others go on', async () => {
    const { host } = await newHost({ online: () => false });
    const { store } = await newHost();
    await store.servers.put({
      id: 's',
      name: 'Far',
      url: 'https://far.example/mcp',
      addedAt: 1,
      enabled: true,
      trustHints: false,
      private: false,
    });
    const offline = await newHost({ store, online: () => false });
    expect(await offline.host.callTool(toolOf('s', 'x'), {}, never())).toEqual({
      kind: 'unavailable',
      code: 'offline',
      message: "There is no network, so Far can't be reached.",
      advice: expect.stringMatching(/online/),
    });
    expect(await host.callTool(toolOf('none', 'x'), {}, never())).toMatchObject({
      kind: 'unavailable',
      code: 'removed',
    });
  });
});

describe('a session that the server forgot', () => {
  it('is begun again, and the call runs once', async () => {
    const { host, id, server } = await legacy({ unknownSession: 404 });
    await host.callTool(toolOf(id, 'add_note'), { text: 'one' }, never());
    server.forgetSessions();
    const outcome = await host.callTool(toolOf(id, 'add_note'), { text: 'two' }, never());
    expect(outcome).toMatchObject({ kind: 'result' });
    expect(server.notes()).toEqual(['one', 'two']);
    expect(server.counts().initialize).toBe(2);
  });

  it('and that says so with 400 gets no write twice: a safe call is sent again, a write is unknown', async () => {
    const { host, id, server } = await legacy({ unknownSession: 400 });
    const echo = toolOf(id, 'echo', { readOnly: true });
    server.forgetSessions();
    expect(await host.callTool(echo, { text: 'a' }, never())).toMatchObject({ kind: 'result' });
    server.forgetSessions();
    const calls = server.counts()['tools/call'];
    const write = () => host.callTool(toolOf(id, 'add_note'), { text: 'b' }, never());
    expect(await write()).toMatchObject({
      kind: 'unknown',
      message: expect.stringContaining('broke before its answer came'),
    });
    expect(server.counts()['tools/call']).toBe((calls ?? 0) + 1);
    // The next one has a session again.
    expect(await write()).toMatchObject({ kind: 'result' });
    expect(server.notes()).toEqual(['b']);
  });

  it('is begun again once for calls at the same time, and none cuts the other off', async () => {
    let calls = 0;
    const { host, server, id } = await legacy(
      {},
      {
        async fetch(input, init) {
          if (!String(init?.body).includes('"tools/call"')) return fetch(input, init);
          calls += 1;
          const mine = calls;
          const answer = await fetch(input, init);
          // The second hears of the lost session when the first is under way again.
          if (mine === 2) await until(() => calls >= 3);
          if (mine === 3) await until(() => calls >= 4 || init?.signal?.aborted === true);
          init?.signal?.throwIfAborted();
          return answer;
        },
      },
    );
    server.forgetSessions();
    const note = (text: string) => host.callTool(toolOf(id, 'add_note'), { text }, never());
    expect(await Promise.all([note('a'), note('b')])).toMatchObject([
      { kind: 'result' },
      { kind: 'result' },
    ]);
    expect([...server.notes()].sort()).toEqual(['a', 'b']);
    expect(server.counts().initialize).toBe(2);
  });

  it('is begun again for a refresh, too', async () => {
    const { host, id, server } = await legacy();
    server.forgetSessions();
    expect(await host.refresh(id)).toEqual({ ok: true });
  });

  it('over and over is given up', async () => {
    const { host, id, server } = await legacy(
      {},
      {
        fetch: async (input, init) => {
          if (String(init?.body).includes('"tools/call"')) server.forgetSessions();
          return fetch(input, init);
        },
      },
    );
    expect(await host.callTool(toolOf(id, 'add_note'), { text: 'x' }, never())).toMatchObject({
      kind: 'unavailable',
      code: 'protocol',
    });
    expect(server.notes()).toEqual([]);
  });
});

describe('a call that its server makes a task of', () => {
  it('is told by its id, and is waited for again by another page, without being sent again', async () => {
    const server = await started(startAsking());
    const { host, store } = await newHost();
    const added = await host.add({ url: server.url });
    if (!added.ok) throw new Error(added.error.message);
    const tool = toolOf(added.server.id, 'waiting_job');
    const ids: string[] = [];
    void host.callTool(tool, {}, never(), { task: (id) => ids.push(id) });
    await until(() => ids.length === 1);
    const [id] = ids;
    // The page that made the call is gone; this one has only what was stored.
    const next = await newHost({ store });
    server.finish();
    expect(await next.host.resumeTask(tool, id ?? '', never())).toMatchObject({
      kind: 'result',
      content: [{ text: 'finished null' }],
    });
    expect(server.counts()['tools/call']).toBe(1);
  });

  it('and that the server has forgotten ends in words', async () => {
    const server = await started(startAsking());
    const { host } = await newHost();
    const added = await host.add({ url: server.url });
    if (!added.ok) throw new Error(added.error.message);
    const outcome = await host.resumeTask(toolOf(added.server.id, 'job'), 'gone', never());
    expect(outcome.kind).not.toBe('result');
    expect(server.counts()['tools/call']).toBeUndefined();
  });
});

describe('a write that its server made a task of', () => {
  it('is never sent again: its task is waited for over the next connection', async () => {
    const server = await started(startAsking());
    const { host } = await newHost();
    const added = await host.add({ url: server.url });
    if (!added.ok) throw new Error(added.error.message);
    let again: Promise<unknown> = Promise.resolve();
    const call = host.callTool(toolOf(added.server.id, 'waiting_job'), {}, never(), {
      // To add it once more closes the connection under the wait.
      task: () => (again = host.add({ url: server.url }).then(() => server.finish())),
    });
    expect(await call).toMatchObject({ kind: 'result' });
    await again;
    expect(server.counts()['tools/call']).toBe(1);
  });

  it('has an unknown outcome where its server is removed, and nothing more is sent', async () => {
    const server = await started(startAsking());
    const { host } = await newHost();
    const added = await host.add({ url: server.url });
    if (!added.ok) throw new Error(added.error.message);
    const { id } = added.server;
    let asked = 0;
    const call = host.callTool(toolOf(id, 'waiting_job'), {}, never(), {
      task: () => {
        void host.remove(id).then(() => (asked = server.counts()['tasks/get'] ?? 0));
      },
    });
    expect(await call).toMatchObject({
      kind: 'unknown',
      message: expect.stringMatching(/^Outcome unknown: /),
    });
    expect(server.counts()['tasks/get'] ?? 0).toBe(asked);
    expect(server.counts()['tools/call']).toBe(1);
  });

  it('has an unknown outcome where nobody can tell any more', async () => {
    const server = await started(startAsking());
    const { host, store } = await newHost();
    const added = await host.add({ url: server.url });
    if (!added.ok) throw new Error(added.error.message);
    await server.close();
    const next = await newHost({ store });
    const outcome = await next.host.resumeTask(toolOf(added.server.id, 'job'), 'known', never());
    expect(outcome).toMatchObject({ kind: 'unknown' });
  });
});

describe('a call that takes long', () => {
  it('ends at its time limit', async () => {
    const { read, write } = await broken({ fault: HANG }, { limits: { call: 400 } });
    expect(await read()).toMatchObject({ kind: 'timeout' });
    expect(await write()).toMatchObject({
      kind: 'unknown',
      message: expect.stringMatching(/^Outcome unknown: .* did not answer within/),
      advice: expect.stringMatching(/may have taken effect/i),
    });
  });

  it('goes on as long as it says how far it is', async () => {
    // Longer than an unused connection is kept.
    const limits = { call: 1_500, ceiling: 60_000 };
    const { host, id } = await legacy({}, { limits, idleMs: 1_500 });
    const steps: number[] = [];
    const outcome = await host.callTool(
      toolOf(id, 'slow', { readOnly: true }),
      { steps: 8, ms: 250 },
      never(),
      {
        progress: ({ progress, total, message }) => {
          expect([total, message]).toEqual([8, `step ${progress}`]);
          steps.push(progress);
        },
      },
    );
    expect(outcome).toMatchObject({ kind: 'result' });
    expect(steps).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  });

  it('but not beyond the ceiling', async () => {
    const { host, id } = await legacy({}, { limits: { call: 1_500, ceiling: 2_000 } });
    const tool = toolOf(id, 'slow', { readOnly: true });
    const outcome = await host.callTool(tool, { steps: 80, ms: 100 }, never(), {
      progress: () => undefined,
    });
    expect(outcome).toMatchObject({ kind: 'timeout' });
  });
});

describe('a call that the person stops', () => {
  it('is cancelled at the server', async () => {
    const { host, id, server } = await legacy();
    const stop = new AbortController();
    const tool = toolOf(id, 'slow', { readOnly: true });
    const calling = host.callTool(tool, { steps: 50, ms: 100 }, stop.signal, {
      progress: () => stop.abort(),
    });
    expect(await calling).toMatchObject({ kind: 'unavailable', code: 'stopped' });
    await until(() => server.cancelled() === 1);
    expect(server.counts()['notifications/cancelled']).toBe(1);
  });

  it('and that writes is unknown', async () => {
    const { host, store } = await broken({ fault: HANG });
    const [record] = await store.servers.all();
    const stop = new AbortController();
    const calling = host.callTool(toolOf(record?.id ?? '', 'write'), {}, stop.signal);
    setTimeout(() => stop.abort(), 50);
    expect(await calling).toMatchObject({ kind: 'unknown' });
  });

  it('before it was sent did not run', async () => {
    const { host, store, server } = await broken({ fault: HANG });
    const [record] = await store.servers.all();
    const outcome: Outcome = await host.callTool(
      toolOf(record?.id ?? '', 'write'),
      {},
      AbortSignal.abort(),
    );
    expect(outcome).toMatchObject({ kind: 'unavailable', code: 'stopped' });
    expect(server.counts()['tools/call']).toBeUndefined();
  });

  it('does not wait for a server that does not answer', async () => {
    const server = await started(startBroken({ fault: HANG }));
    const { host, store } = await newHost();
    await store.servers.put({
      id: 's',
      name: 'Hangs',
      url: server.url,
      addedAt: 1,
      enabled: true,
      trustHints: false,
      private: false,
    });
    const stop = new AbortController();
    const before = performance.now();
    setTimeout(() => stop.abort(), 100);
    expect(await host.callTool(toolOf('s', 'write'), {}, stop.signal)).toMatchObject({
      kind: 'unavailable',
      code: 'stopped',
    });
    expect(performance.now() - before).toBeLessThan(3_000);
  });
});
