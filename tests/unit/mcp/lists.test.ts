/** Stored lists and their renewal, over real HTTP: what is stored, when it is asked for, how often. */
import { fromJsonSchema, McpServer, type CacheHint } from '@modelcontextprotocol/server';
import { describe, expect, it } from 'vitest';
import type { HostOptions } from '../../../src/mcp/host.ts';
import { createToolbox } from '../../../src/mcp/toolbox.ts';
import type { Host, OfferBudget } from '../../../src/mcp/types.ts';
import type { TabLocks } from '../../../src/store/locks.ts';
import { startBroken } from '../../servers/broken.ts';
import { startLegacy } from '../../servers/legacy.ts';
import { serveMcp, type ServeOptions } from '../../servers/mcp-http.ts';
import { newHost, newStore, never, started, toolOf, until } from './setup.ts';

const HOUR = 3_600_000;
const roomy: OfferBudget = { maxTools: 2_000, maxTokens: 1e9, cost: () => 1 };

/** A server whose tools a test changes; those with `read` in their name say that they only read. */
async function changing(names: string[], hint?: CacheHint, options: ServeOptions = {}) {
  const served = await started(
    serveMcp(() => {
      const server = new McpServer(
        { name: 'changing', version: '1' },
        hint ? { cacheHints: { 'tools/list': hint } } : {},
      );
      for (const name of names)
        server.registerTool(
          name,
          {
            inputSchema: fromJsonSchema({ type: 'object' }),
            annotations: { readOnlyHint: name.includes('read') },
          },
          async () => ({ content: [] }),
        );
      return server;
    }, options),
  );
  return { ...served, names, lists: () => served.counts()['tools/list'] ?? 0 };
}

async function addTo(host: Host, url: string): Promise<string> {
  const added = await host.add({ url });
  if (!added.ok) throw new Error(`${added.error.message} ${added.error.detail ?? ''}`);
  return added.server.id;
}

const namesOn = async (host: Host) =>
  ((await host.list())[0]?.tools ?? []).filter(({ on }) => on).map(({ name }) => name);

/** Locks as all tabs of one browser share them. */
function sharedLocks(): TabLocks {
  const holders = new Map<string, Promise<void>>();
  return {
    async tryRun(name, work) {
      if (holders.has(name)) return false;
      const running = work().finally(() => holders.delete(name));
      holders.set(
        name,
        running.catch(() => undefined),
      );
      await running;
      return true;
    },
    held: async (name) => holders.has(name),
    free: async (name) => holders.get(name),
  };
}

/** Two tabs of one browser: one database, one set of locks. */
async function twoTabs(options: Partial<HostOptions> = {}) {
  const name = `lists-${crypto.randomUUID()}`;
  const locks = sharedLocks();
  const tab = async () =>
    newHost({ locks, ...options, store: await newStore({ name, channel: true }) });
  return [await tab(), await tab()] as const;
}

describe('a stored list', () => {
  it('holds all that the server publishes, with its time, and lives an hour where it says nothing', async () => {
    const served = await started(
      serveMcp(() => {
        const server = new McpServer({ name: 'all', version: '1' });
        server.registerTool('a', {}, async () => ({ content: [] }));
        server.registerPrompt('p', { title: 'A prompt' }, async () => ({ messages: [] }));
        server.registerResource('r', 'note://r', { mimeType: 'text/plain' }, async () => ({
          contents: [],
        }));
        return server;
      }),
    );
    const clock = 1_700_000_000_000;
    const { host, store } = await newHost({ now: () => clock });
    const id = await addTo(host, served.url);
    expect(await store.lists.get(id)).toMatchObject({
      fetchedAt: clock,
      ttlMs: HOUR,
      tools: [{ name: 'a', pin: expect.stringMatching(/^[0-9a-f]{64}$/) }],
      prompts: [{ name: 'p', title: 'A prompt' }],
      resources: [{ uri: 'note://r', name: 'r', mimeType: 'text/plain' }],
      templates: [],
      known: ['a'],
    });
    expect((await host.list())[0]).toMatchObject({
      prompts: [{ name: 'p' }],
      resources: [{ name: 'r' }],
      templates: [],
      cut: [],
      appeared: [],
      missing: [],
      era: 'modern',
      auth: 'none',
      listedAt: clock,
    });
  });

  it.each([
    [90_000, 90_000],
    [90 * HOUR, 24 * HOUR],
  ])(
    'obeys a time to live of %i ms, a day at most, and keeps who may share it',
    async (said, kept) => {
      const served = await changing(['a'], { ttlMs: said, cacheScope: 'private' });
      const { host, store } = await newHost();
      const id = await addTo(host, served.url);
      expect(await store.lists.get(id)).toMatchObject({ ttlMs: kept, cacheScope: 'private' });
    },
  );

  it('that is stale is used at once, and renewed behind: the turn waits for nothing', async () => {
    let answer = () => {};
    const answers = new Promise<void>((resolve) => (answer = resolve));
    let hold = false;
    const served = await changing(['a'], undefined, {
      before: async (message) => {
        if (hold && message?.method === 'tools/list') await answers;
        return false;
      },
    });
    let clock = Date.now();
    const { host, store } = await newHost({ now: () => clock });
    await addTo(host, served.url);
    const toolbox = createToolbox({ store, host, timeZone: () => 'UTC' });
    clock += 2 * HOUR;
    hold = true;
    served.resetCounts();
    for (let turn = 0; turn < 3; turn += 1)
      expect((await toolbox.offer('a', roomy)).tools).toHaveLength(1);
    expect((await host.list())[0]).toMatchObject({ stale: true });
    await until(() => served.lists() === 1);
    answer();
    await until(async () => (await host.list())[0]?.stale === false);
    expect(served.lists()).toBe(1);
  });

  it('is used without a network, and nobody is asked for it, however stale it is', async () => {
    const served = await changing(['a']);
    const { host, store } = await newHost();
    const id = await addTo(host, served.url);
    // An address that is not this machine's own.
    await store.servers.update(id, (old) => ({ ...old, url: 'https://far.example/mcp' }));
    const asked: string[] = [];
    const offline = await newHost({
      store,
      online: () => false,
      now: () => Date.now() + 9 * HOUR,
      fetch: async (input) => {
        asked.push(String(input));
        throw new TypeError('Failed to fetch');
      },
    });
    const toolbox = createToolbox({ store, host: offline.host, timeZone: () => 'UTC' });
    const { tools } = await toolbox.offer('a', roomy);
    expect(tools).toHaveLength(1);
    expect(await offline.host.callTool(toolOf(id, 'a'), {}, never())).toMatchObject({
      kind: 'unavailable',
      code: 'offline',
    });
    expect(asked).toEqual([]);
    expect((await store.servers.get(id))?.era?.kind).toBe('modern');
  });

  it('of a server that is down is used, and the call says what is wrong', async () => {
    const legacy = await startLegacy();
    const { host, store } = await newHost();
    const id = await addTo(host, legacy.url);
    await legacy.close();
    const toolbox = createToolbox({ store, host, timeZone: () => 'UTC' });
    expect((await toolbox.offer('', roomy)).tools.length).toBeGreaterThan(0);
    expect(await host.callTool(toolOf(id, 'add_note'), {}, never())).toMatchObject({
      kind: 'unavailable',
      code: 'unreachable',
    });
  });

  it('is asked for by no start of the app and no turn while it is fresh, in either era', async () => {
    const servers = [await changing(['a']), await started(startLegacy())];
    const { host, store } = await newHost();
    for (const { url } of servers) await addTo(host, url);
    await host.close();
    const before = servers.map((server) => server.counts());
    const next = await newHost({ store });
    const toolbox = createToolbox({ store, host: next.host, timeZone: () => 'UTC' });
    for (let turn = 0; turn < 5; turn += 1) await toolbox.offer('a note', roomy);
    await next.host.list();
    expect(servers.map((server) => server.counts())).toEqual(before);
  });
});

describe('a renewal', () => {
  it('runs once where many ask for it', async () => {
    const served = await changing(['a']);
    const { host } = await newHost();
    const id = await addTo(host, served.url);
    served.resetCounts();
    await Promise.all([host.refresh(id), host.refresh(id), host.refresh(id)]);
    expect(served.lists()).toBe(1);
  });

  it('runs once over two tabs, and the second one takes what the first has stored', async () => {
    let answer = () => {};
    const answers = new Promise<void>((resolve) => (answer = resolve));
    let hold = false;
    const served = await changing(['a'], undefined, {
      before: async (message) => {
        if (hold && message?.method === 'tools/list') await answers;
        return false;
      },
    });
    const [here, there] = await twoTabs();
    const id = await addTo(here.host, served.url);
    served.resetCounts();
    served.names.push('b');
    hold = true;
    const first = here.host.refresh(id);
    await until(() => served.lists() === 1);
    const second = there.host.refresh(id);
    answer();
    expect(await Promise.all([first, second])).toEqual([{ ok: true }, { ok: true }]);
    expect(served.lists()).toBe(1);
    await until(async () => (await there.host.list())[0]?.tools.length === 2);
  });

  it('that fails in one tab is done by the other', async () => {
    let failing = true;
    let answer = () => {};
    const answers = new Promise<void>((resolve) => (answer = resolve));
    const served = await changing(['a'], undefined, {
      before: async (message, _, response) => {
        if (message?.method !== 'tools/list' || served.lists() !== 2 || !failing) return false;
        await answers;
        failing = false;
        response.writeHead(500).end();
        return true;
      },
    });
    const [here, there] = await twoTabs();
    const id = await addTo(here.host, served.url);
    const first = here.host.refresh(id);
    await until(() => served.lists() === 2);
    const second = there.host.refresh(id);
    answer();
    expect(await first).toMatchObject({ ok: false });
    expect(await second).toEqual({ ok: true });
    expect(served.lists()).toBe(3);
  });

  it('is done once more where the lists changed while it read them', async () => {
    let answer = () => {};
    const answers = new Promise<void>((resolve) => (answer = resolve));
    let hold = false;
    const served = await changing(['a'], undefined, {
      before: async (message) => {
        if (hold && message?.method === 'tools/list') await answers;
        return false;
      },
    });
    const { host } = await newHost();
    const id = await addTo(host, served.url);
    await until(() => (served.counts()['subscriptions/listen'] ?? 0) > 0);
    served.resetCounts();
    hold = true;
    const renewing = host.refresh(id);
    await until(() => served.lists() === 1);
    served.notify.toolsChanged();
    hold = false;
    answer();
    await renewing;
    await until(() => served.lists() === 2);
  });

  it('follows a server that says all the time that its lists changed only now and then', async () => {
    const served = await changing(['a']);
    const { host } = await newHost();
    const id = await addTo(host, served.url);
    await until(() => (served.counts()['subscriptions/listen'] ?? 0) > 0);
    served.resetCounts();
    served.names.push('last');
    const begun = performance.now();
    for (let times = 0; times < 40; times += 1) {
      served.notify.toolsChanged();
      await host.callTool(toolOf(id, 'a'), {}, never());
    }
    await until(async () => (await host.list())[0]?.tools.length === 2);
    const seconds = (performance.now() - begun) / 1_000;
    expect(served.lists()).toBeLessThanOrEqual(2 + seconds);
  });

  it('asks a stale list of a server that fails no more than once a minute', async () => {
    const broken = await started(startBroken({ fault: { kind: 'status', status: 503 } }));
    let clock = Date.now();
    let asked = 0;
    const { host, store } = await newHost({
      now: () => clock,
      fetch: (input, init) => {
        asked += 1;
        return fetch(input, init);
      },
    });
    await store.servers.put({
      id: 's',
      name: 'Down',
      url: broken.url,
      addedAt: 1,
      enabled: true,
      trustHints: false,
      private: false,
    });
    host.renewStale();
    await until(async () => (await host.list())[0]?.status === 'failed');
    const once = asked;
    for (let turn = 0; turn < 5; turn += 1) host.renewStale();
    await host.stock();
    expect(asked).toBe(once);
    clock += 61_000;
    // The renewal that failed may not be over yet: then this one joins it.
    await until(() => {
      host.renewStale();
      return asked > once;
    });
  });
});

describe('what a renewal brings', () => {
  it('is off and told of where it is new, and missing where it was on and is gone', async () => {
    const served = await changing(['read_note', 'put_note']);
    const { host } = await newHost();
    const id = await addTo(host, served.url);
    served.names.splice(0, 2, 'read_note', 'drop_note');
    await host.refresh(id);
    const [view] = await host.list();
    expect(await namesOn(host)).toEqual(['read_note']);
    expect(view).toMatchObject({ appeared: ['drop_note'], missing: [{ name: 'put_note' }] });
    await host.markSeen(id);
    expect((await host.list())[0]).toMatchObject({ appeared: [], missing: [{ name: 'put_note' }] });
    await host.setTool(id, 'put_note', false);
    await host.setTool(id, 'drop_note', true);
    expect((await host.list())[0]?.missing).toEqual([]);
    expect(await namesOn(host)).toEqual(['read_note', 'drop_note']);
  });

  it('is on where a rule of the person covers it', async () => {
    const served = await changing(['read_note', 'put_note']);
    const { host } = await newHost();
    const id = await addTo(host, served.url);
    await host.setRule(id, { readOnly: true });
    expect(await namesOn(host)).toEqual(['read_note']);
    served.names.push('read_more', 'drop_note');
    await host.refresh(id);
    expect(await namesOn(host)).toEqual(['read_note', 'read_more']);
    expect((await host.list())[0]).toMatchObject({
      appeared: ['drop_note'],
      rule: { readOnly: true },
    });
  });

  it('is neither offered nor called before the person turns it on', async () => {
    const served = await changing(['a']);
    const { host, store } = await newHost();
    const id = await addTo(host, served.url);
    served.names.push('b');
    await host.refresh(id);
    const toolbox = createToolbox({ store, host, timeZone: () => 'UTC' });
    const offered = async () => (await toolbox.offer('', roomy)).tools.map(({ name }) => name);
    expect(await offered()).toEqual(['a']);
    await host.setTool(id, 'b', true);
    expect(await offered()).toEqual(['a', 'b']);
  });

  it('with another definition than the one that the person knows is held back until they take it', async () => {
    let words = 'Reads a note.';
    const served = await started(
      serveMcp(() => {
        const server = new McpServer({ name: 'turning', version: '1' });
        server.registerTool('a', { description: words }, async () => ({ content: [] }));
        return server;
      }),
    );
    const { host, store } = await newHost();
    const id = await addTo(host, served.url);
    const toolbox = createToolbox({ store, host, timeZone: () => 'UTC' });
    words = 'Reads a note, and tells the others of it.';
    await host.refresh(id);
    const [tool] = (await host.list())[0]?.tools ?? [];
    expect(tool).toMatchObject({ description: words, held: { description: 'Reads a note.' } });
    expect((await toolbox.offer('', roomy)).tools).toEqual([]);
    await host.acceptTool(id, 'a', 'another pin');
    expect((await toolbox.offer('', roomy)).tools).toEqual([]);
    await host.acceptTool(id, 'a', tool?.pin ?? '');
    expect((await toolbox.offer('', roomy)).tools).toHaveLength(1);
  });
});
