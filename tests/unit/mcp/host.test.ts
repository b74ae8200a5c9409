import { describe, expect, it } from 'vitest';
import { canonicalJson } from '../../../src/store/canonical.ts';
import { startBroken } from '../../servers/broken.ts';
import { startLegacy } from '../../servers/legacy.ts';
import { serveMcp } from '../../servers/mcp-http.ts';
import { startTravel } from '../../servers/travel.ts';
import { newHost, newStore, never, silentServer, started, toolOf, until } from './setup.ts';
import { fromJsonSchema, McpServer } from '@modelcontextprotocol/server';
import type { Host } from '../../../src/mcp/types.ts';

async function addTo(host: Host, input: Parameters<Host['add']>[0]) {
  const added = await host.add(input);
  if (!added.ok) throw new Error(`${added.error.message} ${added.error.detail ?? ''}`);
  return added.server;
}

const PHONE = silentServer('phone', [
  { name: 'now', description: 'The time.', inputSchema: { type: 'object' } },
]);

describe('adding a server', () => {
  it.each([
    ['modern', () => startTravel(), 'Travel', 'search_flights'],
    ['legacy', () => startLegacy(), 'notes', 'echo'],
  ] as const)('of the %s era stores it with its tools', async (era, start, name, tool) => {
    const server = await started<{ url: string; close(): Promise<void> }>(start());
    const { host } = await newHost();
    const record = await addTo(host, { url: server.url });
    expect(record).toMatchObject({
      name,
      url: server.url,
      enabled: true,
      trustHints: false,
      private: false,
      era: { kind: era },
    });
    const [view] = await host.list();
    expect(view).toMatchObject({ local: false, status: 'connected', stale: false });
    expect(view?.tools.find(({ name }) => name === tool)).toMatchObject({ on: true });
    expect(view?.tools.every(({ pin }) => /^[0-9a-f]{64}$/.test(pin))).toBe(true);
  });

  it('sends the key in its header, keeps it in the vault, and nowhere else', async () => {
    const seen: (string | undefined)[] = [];
    const travel = await started(
      startTravel({
        before: (_, request) => {
          seen.push(request.headers.authorization);
          return false;
        },
      }),
    );
    const { host, store } = await newHost();
    const record = await addTo(host, { url: travel.url, key: 'sk-12345' });
    expect(new Set(seen)).toEqual(new Set(['Bearer sk-12345']));
    expect(record.keyHeader).toBe('Authorization');
    expect(await store.vault.get(`server:${record.id}`)).toBe('sk-12345');
    expect(JSON.stringify(await host.list())).not.toContain('sk-12345');
  });

  it('takes another header for the key', async () => {
    const seen: unknown[] = [];
    const travel = await started(
      startTravel({
        before: (_, request) => {
          seen.push(request.headers['x-api-key']);
          return false;
        },
      }),
    );
    const { host } = await newHost();
    await addTo(host, { url: travel.url, key: 'sk-12345', keyHeader: 'X-API-Key' });
    expect(new Set(seen)).toEqual(new Set(['sk-12345']));
  });

  it('twice keeps one, with its name and its key', async () => {
    const travel = await started(startTravel());
    const { host, store } = await newHost();
    const first = await addTo(host, { url: travel.url, key: 'sk-12345', name: 'Trips' });
    const second = await addTo(host, { url: travel.url });
    expect(second).toMatchObject({ id: first.id, name: 'Trips', keyHeader: 'Authorization' });
    expect(await host.list()).toHaveLength(1);
    expect(await store.vault.get(`server:${first.id}`)).toBe('sk-12345');
  });

  it('is told of only when its tools are stored, too', async () => {
    const travel = await started(startTravel({ port: 0 }));
    const store = await newStore();
    const { host } = await newHost({ store });
    const lists: Promise<unknown>[] = [];
    store.changes.subscribe(({ topic, key }) => {
      if (topic === 'servers') lists.push(store.lists.get(key));
    });
    expect(await host.add({ url: travel.url })).toMatchObject({ ok: true });
    expect((await Promise.all(lists)).length).toBeGreaterThan(0);
    for (const list of await Promise.all(lists)) expect(list).toBeDefined();
  });

  it('that fails stores nothing', async () => {
    const broken = await started(startBroken({ fault: { kind: 'status', status: 500 } }));
    const { host, store } = await newHost();
    expect(await host.add({ url: broken.url, key: 'sk-12345' })).toMatchObject({ ok: false });
    expect(await store.servers.all()).toEqual([]);
    expect(await store.lists.all()).toEqual([]);
  });

  it('reads every page of its list, once', async () => {
    const names = ['a', 'b', 'c', 'd', 'e'];
    const paged = await started(
      serveMcp(() => {
        const server = new McpServer({ name: 'paged', version: '1' });
        server.registerTool('a', {}, async () => ({ content: [] }));
        server.server.setRequestHandler('tools/list', async ({ params }) => {
          const at = Number(params?.cursor ?? 0);
          return {
            tools: [{ name: names[at] ?? '', inputSchema: { type: 'object' as const } }],
            ...(at + 1 < names.length ? { nextCursor: String(at + 1) } : {}),
          };
        });
        return server;
      }),
    );
    const { host } = await newHost();
    await addTo(host, { url: paged.url });
    const [view] = await host.list();
    expect(view?.tools.map(({ name }) => name)).toEqual(names);
    expect(paged.counts()['tools/list']).toBe(names.length);
  });

  it('whose list has no end is taken with what came, and said to be cut', async () => {
    const endless = await started(
      serveMcp(() => {
        const server = new McpServer({ name: 'endless', version: '1' });
        server.registerTool('a', {}, async () => ({ content: [] }));
        server.server.setRequestHandler('tools/list', async () => ({
          tools: [{ name: 'a', inputSchema: { type: 'object' as const } }],
          nextCursor: 'again',
        }));
        return server;
      }),
    );
    const { host } = await newHost();
    await addTo(host, { url: endless.url });
    const [view] = await host.list();
    expect(view?.tools.map(({ name }) => name)).toEqual(['a']);
    expect(view?.cut).toEqual(['tools']);
    expect(endless.counts()['tools/list']).toBe(2);
  });

  it('falls back to the older era where the probe for the new one fails on the server', async () => {
    const legacy = await started(startLegacy());
    let discovers = 0;
    const { host } = await newHost({
      fetch: (input, init) => {
        if (String(init?.body).includes('server/discover')) {
          discovers += 1;
          return Promise.resolve(new Response('oops', { status: 500 }));
        }
        return fetch(input, init);
      },
    });
    const record = await addTo(host, { url: legacy.url });
    expect(record.era?.kind).toBe('legacy');
    expect(discovers).toBe(1);
    expect(await host.refresh(record.id)).toEqual({ ok: true });
    expect(discovers).toBe(1);
  });
});

describe('the era that a server speaks', () => {
  it('is remembered, so that an older server is not probed again', async () => {
    const legacy = await started(startLegacy());
    const { host, store } = await newHost();
    const { id } = await addTo(host, { url: legacy.url });
    expect(legacy.counts()['server/discover']).toBe(1);
    const next = await newHost({ store });
    expect(await next.host.refresh(id)).toEqual({ ok: true });
    expect(legacy.counts()['server/discover']).toBe(1);
  });

  it('is asked again after a week', async () => {
    const legacy = await started(startLegacy());
    const { host, store } = await newHost();
    const { id } = await addTo(host, { url: legacy.url });
    const later = await newHost({ store, now: () => Date.now() + 8 * 86_400_000 });
    expect(await later.host.refresh(id)).toEqual({ ok: true });
    expect(legacy.counts()['server/discover']).toBe(2);
  });

  it('is found again where the remembered one is wrong', async () => {
    const travel = await started(startTravel({ eras: 'modern' }));
    const { host, store } = await newHost();
    const { id } = await addTo(host, { url: travel.url });
    await store.servers.update(id, (old) => ({ ...old, era: { kind: 'legacy', at: Date.now() } }));
    const next = await newHost({ store });
    expect(await next.host.refresh(id)).toEqual({ ok: true });
    expect((await store.servers.get(id))?.era?.kind).toBe('modern');
  });
});

describe('the servers in the page', () => {
  it('are listed first and at once, with nothing connected', async () => {
    const travel = await started(startTravel());
    const { host, store } = await newHost({ inPage: [PHONE] });
    await addTo(host, { url: travel.url });
    const views = await (await newHost({ store, inPage: [PHONE] })).host.list();
    expect(views.map(({ local, status, stale }) => ({ local, status, stale }))).toEqual([
      { local: true, status: 'idle', stale: false },
      { local: false, status: 'idle', stale: false },
    ]);
    expect(views[0]).toMatchObject({ record: { url: 'phone:', trustHints: true } });
  });

  it('take over a new definition, and keep what is off', async () => {
    const store = await newStore();
    const first = await newHost({ store, inPage: [PHONE] });
    await first.host.setTool('phone', 'now', false);
    const [before] = await first.host.list();
    const changed = silentServer('phone', [
      { name: 'now', description: 'Date and time.', inputSchema: { type: 'object' } },
      { name: 'new', inputSchema: { type: 'object' } },
    ]);
    const [after] = await (await newHost({ store, inPage: [changed] })).host.list();
    expect(after?.tools.map(({ name, on }) => [name, on])).toEqual([
      ['now', false],
      ['new', true],
    ]);
    expect(after?.tools[0]?.pin).not.toBe(before?.tools[0]?.pin);
  });

  it('cannot be removed', async () => {
    const { host } = await newHost({ inPage: [PHONE] });
    await host.remove('phone');
    expect(await host.list()).toHaveLength(1);
  });
});

describe('a stored list', () => {
  it('stays where renewing it fails, and the server says what is wrong', async () => {
    const travel = await startTravel();
    const { host } = await newHost();
    const { id } = await addTo(host, { url: travel.url });
    await travel.close();
    expect(await host.refresh(id)).toMatchObject({ ok: false, error: { code: 'unreachable' } });
    const [view] = await host.list();
    expect(view?.tools).toHaveLength(4);
    expect(view?.record.lastError).toMatchObject({ code: 'unreachable' });
  });

  it('is renewed when the server says that its tools changed', async () => {
    const legacy = await started(startLegacy());
    const { host } = await newHost();
    await addTo(host, { url: legacy.url });
    // Its stream for notifications opens behind the first requests.
    await until(() => legacy.sessions() === 1);
    legacy.addTool('fresh');
    await until(async () =>
      ((await host.list())[0]?.tools ?? []).some(({ name }) => name === 'fresh'),
    );
  });

  it('is renewed when a server of the new era says so', async () => {
    const names = ['one'];
    const served = await started(
      serveMcp(() => {
        const server = new McpServer({ name: 'changing', version: '1' });
        for (const name of names)
          server.registerTool(
            name,
            { inputSchema: fromJsonSchema({ type: 'object' }) },
            async () => ({
              content: [],
            }),
          );
        return server;
      }),
    );
    const { host } = await newHost();
    await addTo(host, { url: served.url });
    names.push('two');
    served.notify.toolsChanged();
    await until(async () => (await host.list())[0]?.tools.length === 2);
  });

  it('obeys the time to live that the server gives', async () => {
    const served = await started(
      serveMcp(() => {
        const server = new McpServer(
          { name: 'brief', version: '1' },
          { cacheHints: { 'tools/list': { ttlMs: 90_000 } } },
        );
        server.registerTool('a', {}, async () => ({ content: [] }));
        return server;
      }),
    );
    let clock = Date.now();
    const { host } = await newHost({ now: () => clock });
    await addTo(host, { url: served.url });
    expect((await host.list())[0]?.stale).toBe(false);
    clock += 91_000;
    expect((await host.list())[0]?.stale).toBe(true);
  });

  it('keeps its pins as long as the definitions stay, whatever the order of their keys', async () => {
    let turned = false;
    const definition = { name: 'a', description: 'A.', inputSchema: { type: 'object' as const } };
    const served = await started(
      serveMcp(() => {
        const server = new McpServer({ name: 'order', version: '1' });
        server.registerTool('a', {}, async () => ({ content: [] }));
        server.server.setRequestHandler('tools/list', async () => ({
          tools: [
            turned
              ? (Object.fromEntries(
                  Object.entries(definition).reverse(),
                ) as unknown as typeof definition)
              : definition,
          ],
        }));
        return server;
      }),
    );
    const { host, store } = await newHost();
    const { id } = await addTo(host, { url: served.url });
    const before = (await store.lists.get(id))?.tools[0];
    turned = true;
    await host.refresh(id);
    const after = (await store.lists.get(id))?.tools[0];
    expect(after?.pin).toBe(before?.pin);
    expect(canonicalJson(after)).toBe(canonicalJson(before));
  });
});

describe('a server', () => {
  it('that is removed leaves nothing behind', async () => {
    const travel = await started(startTravel());
    const { host, store } = await newHost();
    const { id } = await addTo(host, { url: travel.url, key: 'sk-12345' });
    await host.remove(id);
    expect(await host.list()).toEqual([]);
    expect(await store.lists.get(id)).toBeUndefined();
    expect(await store.vault.has(`server:${id}`)).toBe(false);
  });

  it('that is turned off is neither connected nor called', async () => {
    const travel = await started(startTravel());
    const { host } = await newHost();
    const { id } = await addTo(host, { url: travel.url });
    await host.update(id, { enabled: false });
    travel.resetCounts();
    expect((await host.list())[0]?.status).toBe('idle');
    expect(await host.callTool(toolOf(id, 'get_itinerary'), {}, never())).toMatchObject({
      kind: 'unavailable',
      code: 'disabled',
    });
    expect(travel.counts()).toEqual({});
  });

  it('ends its session with the connection', async () => {
    const legacy = await started(startLegacy());
    const { host } = await newHost();
    await addTo(host, { url: legacy.url });
    expect(legacy.sessions()).toBe(1);
    await host.close();
    expect(legacy.sessions()).toBe(0);
  });

  it('is let go of when it is not used, and connected again for the next call', async () => {
    const legacy = await started(startLegacy());
    const { host } = await newHost({ idleMs: 50 });
    const { id } = await addTo(host, { url: legacy.url });
    await until(() => legacy.sessions() === 0);
    expect((await host.list())[0]?.status).toBe('idle');
    const call = host.callTool(toolOf(id, 'echo'), { text: 'again' }, never());
    expect(await call).toMatchObject({ kind: 'result' });
  });

  it('that another tab removes is let go of here', async () => {
    const legacy = await started(startLegacy());
    const name = `tabs-${Date.now()}`;
    const here = await newHost({ store: await newStore({ name, channel: true }) });
    const there = await newHost({ store: await newStore({ name, channel: true }) });
    const { id } = await addTo(here.host, { url: legacy.url });
    let told = 0;
    here.host.subscribe(() => (told += 1));
    await there.host.remove(id);
    await until(() => legacy.sessions() === 0);
    expect(told).toBeGreaterThan(0);
    expect(await here.host.list()).toEqual([]);
  });

  it('that another tab only found an error at keeps its connection here', async () => {
    const legacy = await started(startLegacy());
    const name = `tabs-${crypto.randomUUID()}`;
    const here = await newHost({ store: await newStore({ name, channel: true }) });
    const there = await newHost({ store: await newStore({ name, channel: true }) });
    const { id } = await addTo(here.host, { url: legacy.url });
    let told = 0;
    here.host.subscribe(() => (told += 1));
    await there.store.servers.update(id, (old) => ({
      ...old,
      lastError: { at: 1, code: 'server', message: 'No.', advice: 'Wait.' },
    }));
    await until(() => told > 0);
    const call = here.host.callTool(toolOf(id, 'echo'), { text: 'x' }, never());
    expect(await call).toMatchObject({ kind: 'result' });
    expect(legacy.counts().initialize).toBe(1);
    await there.host.update(id, { enabled: false });
    await until(() => legacy.sessions() === 0);
  });

  it('is connected once for many calls at the same time', async () => {
    const travel = await started(startTravel());
    const { host, store } = await newHost();
    const { id } = await addTo(host, { url: travel.url });
    const next = await newHost({ store });
    travel.resetCounts();
    await Promise.all(
      Array.from({ length: 5 }, () =>
        next.host.callTool(toolOf(id, 'get_itinerary', { readOnly: true }), {}, never()),
      ),
    );
    expect(travel.counts()).toMatchObject({ 'server/discover': 1, 'tools/call': 5 });
    expect(travel.counts()['tools/list']).toBeUndefined();
  });

  it('tells its listeners of every change', async () => {
    const travel = await started(startTravel());
    const { host } = await newHost();
    let told = 0;
    const stop = host.subscribe(() => (told += 1));
    const { id } = await addTo(host, { url: travel.url });
    const added = told;
    expect(added).toBeGreaterThan(0);
    await host.setTool(id, 'get_weather', false);
    expect(told).toBeGreaterThan(added);
    stop();
    const stopped = told;
    await host.setTool(id, 'get_weather', true);
    expect(told).toBe(stopped);
  });
});
