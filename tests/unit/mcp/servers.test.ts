/** Servers as the person has them: looked at, added, limited, paused, removed, and what is asked of them. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fromJsonSchema, McpServer } from '@modelcontextprotocol/server';
import { describe, expect, it } from 'vitest';
import { openSession } from '../../../src/agent/session.ts';
import type { SignIn } from '../../../src/mcp/auth/types.ts';
import type { HostOptions } from '../../../src/mcp/host.ts';
import { limitsOf } from '../../../src/mcp/opening.ts';
import type { Host, ServerAsks } from '../../../src/mcp/types.ts';
import type { ServerRecord } from '../../../src/store/records.ts';
import { startAsking } from '../../servers/asking.ts';
import { startBroken } from '../../servers/broken.ts';
import { startLegacy } from '../../servers/legacy.ts';
import { closeServer, listen, serveMcp } from '../../servers/mcp-http.ts';
import { startTravel } from '../../servers/travel.ts';
import { afterTest, newHost, never, started, toolOf, until } from './setup.ts';

async function addTo(host: Host, input: Parameters<Host['add']>[0]): Promise<string> {
  const added = await host.add(input);
  if (!added.ok) throw new Error(`${added.error.message} ${added.error.detail ?? ''}`);
  return added.server.id;
}

describe('a server that is given up while it is added', () => {
  it.each(['secrets', 'lists', 'servers'] as const)(
    'leaves nothing, wherever it was: after its %s',
    async (topic) => {
      const legacy = await started(startLegacy());
      const { host, store } = await newHost();
      const input = { url: legacy.url, key: 'sk-12345' };
      const seen = await host.look(input);
      if (!seen.ok) throw new Error(seen.error.message);
      const stop = new AbortController();
      const secrets = new Set<string>();
      const stopListening = store.changes.subscribe((change) => {
        if (change.topic === 'secrets') secrets.add(change.key);
        if (change.topic === topic) stop.abort();
      });
      const added = await host.add({ ...input, preview: seen.preview }, stop.signal);
      stopListening();
      expect(stop.signal.aborted).toBe(true);
      expect(added).toMatchObject({ ok: false });
      expect(await store.servers.all()).toEqual([]);
      expect(await store.lists.all()).toEqual([]);
      expect(secrets.size).toBe(1);
      for (const name of secrets) expect(await store.vault.get(name)).toBeUndefined();
    },
  );

  it('leaves one that was there before as it was', async () => {
    const legacy = await started(startLegacy());
    const { host, store } = await newHost();
    const id = await addTo(host, { url: legacy.url, key: 'sk-old-123' });
    const before = [await store.servers.get(id), await store.lists.get(id)];
    const input = { url: legacy.url, key: 'sk-new-456' };
    const seen = await host.look(input);
    if (!seen.ok) throw new Error(seen.error.message);
    const stop = new AbortController();
    afterTest(store.changes.subscribe(({ topic }) => topic === 'servers' && stop.abort()));
    const add = await host.add({ ...input, name: 'New', preview: seen.preview }, stop.signal);
    expect(add).toMatchObject({ ok: false });
    expect([await store.servers.get(id), await store.lists.get(id)]).toEqual(before);
    expect(await store.vault.get(`server:${id}`)).toBe('sk-old-123');
  });

  it('before it wanted a sign-in, too', async () => {
    const { host, store } = await newHost({ signIn: fakeSignIn({}) });
    const input = { url: 'https://far.example/mcp', auth: 'oauth' } as const;
    expect(await host.add(input, AbortSignal.abort())).toMatchObject({ ok: false });
    expect(await store.servers.all()).toEqual([]);
  });
});

describe('a server that is added by sign-in', () => {
  async function signedIn(rename?: string) {
    const legacy = await started(startLegacy());
    const { host, store } = await newHost({ signIn: fakeSignIn({}) });
    const id = await addTo(host, { url: legacy.url, auth: 'oauth' });
    expect(await store.servers.get(id)).toMatchObject({ name: new URL(legacy.url).host });
    if (rename !== undefined) await host.update(id, { name: rename });
    expect(await host.signIn(id, never())).toEqual({ ok: true });
    return { host, id, record: await store.servers.get(id) };
  }

  it('has its host for a name until it says its own', async () => {
    const { record } = await signedIn();
    expect(record).toMatchObject({ name: 'notes' });
    expect(record).not.toHaveProperty('unnamed');
  });

  it('keeps the name that the person gave it, be it that of its host', async () => {
    const { record } = await signedIn('localhost');
    expect(record).toMatchObject({ name: 'localhost' });
    expect(record).not.toHaveProperty('unnamed');
  });
});

describe('a look at a server', () => {
  it('shows what it offers, stores nothing, and keeps no connection', async () => {
    const legacy = await started(startLegacy());
    const { host, store } = await newHost();
    const seen = await host.look({ url: legacy.url, key: 'sk-12345' });
    expect(seen).toMatchObject({
      ok: true,
      preview: {
        url: legacy.url,
        host: new URL(legacy.url).host,
        name: 'notes',
        stored: null,
        era: 'legacy',
        prompts: [],
        cut: [],
      },
    });
    if (!seen.ok) return;
    expect(seen.preview.tools.map(({ name }) => name)).toEqual(['echo', 'add_note', 'slow']);
    expect(await store.servers.all()).toEqual([]);
    expect(await store.lists.all()).toEqual([]);
    expect(legacy.sessions()).toBe(0);
    expect(JSON.stringify(seen)).not.toContain('sk-12345');
  });

  it('is what is added, without another request, however long the person thought', async () => {
    const keys = new Set<unknown>();
    const travel = await started(
      startTravel({
        before: (_, request) => {
          keys.add(request.headers['x-api-key']);
          return false;
        },
      }),
    );
    const { host, store } = await newHost();
    const input = { url: travel.url, key: 'sk-12345', keyHeader: 'X-API-Key' };
    const seen = await host.look(input);
    if (!seen.ok) throw new Error(seen.error.message);
    expect(seen.preview.tools.length).toBeGreaterThan(0);
    travel.resetCounts();
    const id = await addTo(host, { ...input, name: 'Trips', preview: seen.preview });
    expect(travel.counts()).toEqual({});
    expect(keys).toEqual(new Set(['sk-12345']));
    expect(await store.servers.get(id)).toMatchObject({ name: 'Trips', keyHeader: 'X-API-Key' });
    expect((await store.lists.get(id))?.tools).toEqual(seen.preview.tools);
    const call = host.callTool(toolOf(id, 'get_itinerary'), {}, never());
    expect(await call).toMatchObject({ kind: 'result' });
  });

  it('knows a server that is there already, under its name', async () => {
    const travel = await started(startTravel());
    const { host } = await newHost();
    const id = await addTo(host, { url: travel.url, name: 'Trips' });
    expect(await host.look({ url: travel.url })).toMatchObject({
      preview: { stored: id, name: 'Trips' },
    });
  });

  it('that fails says why, and one that is given up closes its connection', async () => {
    const broken = await started(startBroken({ fault: { kind: 'status', status: 503 } }));
    const legacy = await started(startLegacy());
    const { host } = await newHost();
    expect(await host.look({ url: broken.url })).toMatchObject({
      ok: false,
      error: { code: 'server' },
    });
    expect(await host.look({ url: legacy.url }, AbortSignal.abort())).toMatchObject({ ok: false });
    await until(() => legacy.sessions() === 0);
  });
});

describe('the era that a server speaks', () => {
  it('is believed no longer once a connection has failed', async () => {
    const legacy = await started(startLegacy());
    const { host, store } = await newHost();
    const id = await addTo(host, { url: legacy.url });
    let down = true;
    const next = await newHost({
      store,
      fetch: (input, init) =>
        down ? Promise.resolve(new Response('', { status: 503 })) : fetch(input, init),
    });
    expect(await next.host.refresh(id)).toMatchObject({ ok: false });
    expect((await store.servers.get(id))?.era).toBeUndefined();
    const probes = legacy.counts()['server/discover'] ?? 0;
    down = false;
    expect(await next.host.refresh(id)).toEqual({ ok: true });
    expect(legacy.counts()['server/discover']).toBe(probes + 1);
    expect((await store.servers.get(id))?.era?.kind).toBe('legacy');
  });
});

describe('a server that the person', () => {
  it('pauses keeps its list, is asked nothing, and goes on when it is turned on again', async () => {
    const travel = await started(startTravel());
    let clock = Date.now();
    const { host } = await newHost({ now: () => clock });
    const id = await addTo(host, { url: travel.url });
    await host.update(id, { enabled: false });
    travel.resetCounts();
    clock += 9e8;
    host.renewStale();
    await host.stock();
    expect((await host.list())[0]?.tools).toHaveLength(4);
    expect(await host.readResource(id, 'a:b', never())).toMatchObject({
      ok: false,
      error: { message: expect.stringMatching(/is turned off/) },
    });
    expect(travel.counts()).toEqual({});
    await host.update(id, { enabled: true });
    const call = host.callTool(toolOf(id, 'get_itinerary'), {}, never());
    expect(await call).toMatchObject({ kind: 'result' });
  });

  it('renames is called by that name in every sentence', async () => {
    const broken = await started(startBroken({ phase: 'call', fault: { kind: 'hang' } }));
    const { host } = await newHost({ limits: { call: 300 } });
    const id = await addTo(host, { url: broken.url });
    await host.update(id, { name: 'My notes' });
    const outcome = await host.callTool(toolOf(id, 'read', { readOnly: true }), {}, never());
    expect(outcome).toMatchObject({ message: expect.stringMatching(/^My notes did not answer/) });
  });

  it('gives limits of its own keeps to them from the next connection on', async () => {
    const broken = await started(
      startBroken({ phase: 'call', eras: 'modern', fault: { kind: 'hang' } }),
    );
    const { host } = await newHost();
    const id = await addTo(host, { url: broken.url });
    await host.update(id, { limits: { callMs: 250 } });
    const outcome = await host.callTool(toolOf(id, 'read', { readOnly: true }), {}, never());
    expect(outcome).toMatchObject({ kind: 'timeout' });
    const hanging = await started(startBroken({ fault: { kind: 'hang' } }));
    const { store, host: other } = await newHost();
    await store.servers.put({ ...PLAIN, url: hanging.url, limits: { connectMs: 250 } });
    expect(await other.refresh(PLAIN.id)).toMatchObject({ ok: false, error: { code: 'timeout' } });
  });

  it('gives more time than calls have otherwise is taken at their word', () => {
    expect(limitsOf({ limits: { callMs: 1_200_000 } })).toMatchObject({
      call: 1_200_000,
      ceiling: 1_200_000,
    });
    expect(limitsOf({ limits: { callMs: 30_000 } }, { connect: 5 })).toEqual({
      connect: 5,
      call: 30_000,
      ceiling: 600_000,
    });
  });

  it('removes leaves its calls in the conversations, and nothing else', async () => {
    const travel = await started(startTravel());
    const out: string[] = [];
    const signIn = fakeSignIn({
      signOut: async ({ id }) => {
        out.push(id);
        return { revoked: true };
      },
    });
    const { host, store } = await newHost({ signIn });
    const id = await addTo(host, { url: travel.url, key: 'sk-12345' });
    await store.servers.update(id, (old) => ({ ...old, auth: 'oauth' }));
    const call = {
      kind: 'call',
      step: 1,
      callId: 'c1',
      server: id,
      serverName: 'Travel',
      tool: 'get_weather',
      title: 'Get weather',
      modelName: 'get_weather',
      pin: 'p',
      args: { city: 'Goa' },
      days: [],
      readOnly: true,
      state: 'done',
      outcome: { kind: 'result', content: [{ type: 'text', text: 'Rain.' }] },
    } as const;
    await store.conversations.put(TALK);
    await store.messages.add(
      { id: 'm1', conversation: TALK.id, role: 'assistant', createdAt: 1, state: 'done' },
      [call],
    );
    await host.remove(id);
    expect(await host.list()).toEqual([]);
    expect(await store.lists.all()).toEqual([]);
    expect(await store.vault.has(`server:${id}`)).toBe(false);
    expect(out).toEqual([id]);
    const session = await openSession(TALK.id, {
      store,
      locks: {
        tryRun: async () => false,
        held: async () => false,
        free: async () => undefined,
      },
    } as unknown as Parameters<typeof openSession>[1]);
    expect(session?.view().messages[0]?.parts).toEqual([call]);
    session?.close();
    expect(await host.callTool(toolOf(id, 'get_weather'), {}, never())).toMatchObject({
      kind: 'unavailable',
      code: 'removed',
    });
  });
});

describe("a server behind the person's own proxy", () => {
  it('is reached through it alone, with the key, and says so to nobody else', async () => {
    const travel = await started(startTravel());
    const paths: string[] = [];
    const keys = new Set<unknown>();
    const proxy = createServer((request, response) => {
      paths.push(request.url ?? '');
      keys.add(request.headers.authorization);
      const target = decodeURIComponent((request.url ?? '').slice('/to/'.length));
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const { host: _, connection: __, 'content-length': ___, ...headers } = request.headers;
        const body = Buffer.concat(chunks);
        void fetch(target, {
          method: request.method ?? 'GET',
          headers: headers as Record<string, string>,
          ...(body.length > 0 ? { body } : {}),
        }).then(async (answer) => {
          response.writeHead(answer.status, {
            'content-type': answer.headers.get('content-type') ?? '',
          });
          response.end(Buffer.from(await answer.arrayBuffer()));
        });
      });
    });
    await listen(proxy, 0);
    afterTest(() => closeServer(proxy));
    const through = `http://localhost:${(proxy.address() as AddressInfo).port}/to/`;
    const asked: string[] = [];
    const { host, store } = await newHost({
      fetch: (input, init) => {
        asked.push(String(input));
        return fetch(input, init);
      },
    });
    const id = await addTo(host, { url: travel.url, key: 'sk-12345', proxy: through });
    const call = host.callTool(toolOf(id, 'get_itinerary'), {}, never());
    expect(await call).toMatchObject({ kind: 'result' });
    expect(new Set(paths)).toEqual(new Set([`/to/${encodeURIComponent(travel.url)}`]));
    expect(keys).toEqual(new Set(['Bearer sk-12345']));
    expect(asked.filter((url) => !url.startsWith(through))).toEqual([]);
    await host.update(id, { proxy: 'http://localhost:9/' });
    expect(await host.refresh(id)).toMatchObject({ ok: false });
    expect(asked.at(-1)).toBe(`http://localhost:9/${encodeURIComponent(travel.url)}`);
    expect(asked.filter((url) => url.startsWith(travel.url))).toEqual([]);
    expect((await store.servers.get(id))?.proxy).toBe('http://localhost:9/');
  });
});

describe('what a server may ask', () => {
  const asks = (asked: string[]): ServerAsks => ({
    elicit: async ({ name, host }, { message }) => {
      asked.push(`${name} at ${host}: ${message}`);
      return { action: 'accept', content: { name: 'Mira' } };
    },
    sample: async ({ name }) => {
      asked.push(`${name} wants the model`);
      return { ok: true, text: 'Short.', model: 'small', stopReason: 'endTurn' };
    },
  });

  it('goes to the person with its name and its host', async () => {
    const asked: string[] = [];
    const asking = await started(startAsking());
    const { host } = await newHost({ asks: asks(asked) });
    const id = await addTo(host, { url: asking.url, name: 'Kitchen' });
    expect(await host.callTool(toolOf(id, 'greet'), {}, never())).toMatchObject({
      kind: 'result',
      content: [{ text: expect.stringMatching(/^accept Mira/) }],
    });
    expect(asked).toEqual([`Kitchen at ${new URL(asking.url).host}: What is your name?`]);
  });

  it('of the model is nothing until the person allows it, and at once when they do', async () => {
    const asked: string[] = [];
    const asking = await started(startAsking());
    const { host } = await newHost({ asks: asks(asked) });
    const id = await addTo(host, { url: asking.url });
    const call = () => host.callTool(toolOf(id, 'summarise'), {}, never());
    expect((await call()).kind).not.toBe('result');
    expect(asked).toEqual([]);
    await host.update(id, { sampling: true });
    expect(await call()).toMatchObject({ kind: 'result' });
    expect(asked).toEqual(['asking wants the model']);
  });
});

describe('resources and prompts', () => {
  it('are read, filled in and completed over the connection', async () => {
    const served = await started(
      serveMcp(() => {
        const server = new McpServer({ name: 'kitchen', version: '1' });
        server.registerResource('menu', 'menu://today', {}, async (uri) => ({
          contents: [{ uri: uri.href, text: 'Soup' }],
        }));
        server.registerPrompt(
          'letter',
          {
            argsSchema: fromJsonSchema({ type: 'object', properties: { to: { type: 'string' } } }),
          },
          async (args) => ({
            messages: [
              {
                role: 'user' as const,
                content: { type: 'text' as const, text: `Dear ${(args as { to: string }).to}` },
              },
            ],
          }),
        );
        return server;
      }),
    );
    const { host } = await newHost();
    const id = await addTo(host, { url: served.url });
    expect(await host.readResource(id, 'menu://today', never())).toEqual({
      ok: true,
      value: [{ uri: 'menu://today', text: 'Soup' }],
    });
    expect(await host.getPrompt(id, 'letter', { to: 'Mira' }, never())).toMatchObject({
      ok: true,
      value: { messages: [{ role: 'user', content: { text: 'Dear Mira' } }] },
    });
    expect(await host.readResource(id, 'menu://tomorrow', never())).toMatchObject({ ok: false });
    expect(await host.readResource('none', 'menu://today', never())).toMatchObject({ ok: false });
  });

  it('are asked for again where the session was forgotten', async () => {
    const legacy = await started(startLegacy());
    const { host } = await newHost();
    const id = await addTo(host, { url: legacy.url });
    legacy.forgetSessions();
    await host.readResource(id, 'note://none', never());
    expect(legacy.counts().initialize).toBe(2);
  });
});

describe('the tools to check a doubtful call with', () => {
  it('are those of its server that are on and say that they only read', async () => {
    const legacy = await started(startLegacy());
    const travel = await started(startTravel());
    const { host } = await newHost();
    const id = await addTo(host, { url: legacy.url });
    await addTo(host, { url: travel.url });
    expect((await host.readersOf(id)).map(({ name }) => name)).toEqual(['echo', 'slow']);
    await host.setTool(id, 'slow', false);
    expect((await host.readersOf(id)).map(({ name }) => name)).toEqual(['echo']);
  });
});

describe('a sign-in', () => {
  it('is noted, renews the list, and its state is shown', async () => {
    const travel = await started(startTravel());
    let state: 'wanted' | 'signed-in' | 'expired' = 'wanted';
    const signIn = fakeSignIn({
      state: async () => state,
      signIn: async () => {
        state = 'signed-in';
        return { ok: true };
      },
    });
    const { host, store } = await newHost({ signIn });
    const id = await addTo(host, { url: travel.url, auth: 'oauth' });
    expect(travel.counts()).toEqual({});
    expect((await host.list())[0]).toMatchObject({ auth: 'wanted', tools: [], listedAt: null });
    expect(await host.signIn(id, never())).toEqual({ ok: true });
    expect((await host.list())[0]).toMatchObject({ auth: 'signed-in' });
    expect((await host.list())[0]?.tools).toHaveLength(4);
    expect(await store.servers.get(id)).toMatchObject({ auth: 'oauth' });
    // What has run out keeps the tools listed.
    state = 'expired';
    expect((await host.list())[0]).toMatchObject({ auth: 'expired' });
    expect((await host.list())[0]?.tools).toHaveLength(4);
  });

  it('that fails says why and changes nothing', async () => {
    const travel = await started(startTravel());
    const error = { code: 'auth', message: 'No.', advice: 'Ask.' } as const;
    const signIn = fakeSignIn({ signIn: async () => ({ ok: false, error }) });
    const { host, store } = await newHost({ signIn });
    const id = await addTo(host, { url: travel.url });
    expect(await host.signIn(id, never())).toMatchObject({ ok: false, error });
    expect((await store.servers.get(id))?.auth).toBeUndefined();
  });

  it('that is ended leaves the tools listed, and stale where they were of one person alone', async () => {
    const served = await started(
      serveMcp(() => {
        const server = new McpServer(
          { name: 'own', version: '1' },
          { cacheHints: { 'tools/list': { ttlMs: 900_000, cacheScope: 'private' } } },
        );
        server.registerTool('a', {}, async () => ({ content: [] }));
        return server;
      }),
    );
    const { host } = await newHost({ signIn: fakeSignIn({}) });
    const id = await addTo(host, { url: served.url });
    await host.signIn(id, never());
    expect((await host.list())[0]).toMatchObject({ stale: false });
    expect(await host.signOut(id)).toEqual({ revoked: true });
    expect((await host.list())[0]).toMatchObject({ stale: true, tools: [{ name: 'a' }] });
  });
});

describe('a sign-out', () => {
  it('says when nobody could be told, and forgets all the same', async () => {
    const out: string[] = [];
    const signIn = fakeSignIn({
      signOut: async ({ id }) => {
        out.push(id);
        return { revoked: false };
      },
    });
    const { host } = await newHost({ signIn });
    const id = await addTo(host, { url: 'https://far.example/mcp', auth: 'oauth' });
    expect(await host.signOut(id)).toEqual({ revoked: false });
    expect(out).toEqual([id]);
  });
});

const PLAIN: ServerRecord = {
  id: 's',
  name: 'Plain',
  url: 'https://plain.example/mcp',
  addedAt: 1,
  enabled: true,
  trustHints: false,
  private: false,
};

const TALK = {
  id: 'c',
  title: 'Goa',
  createdAt: 1,
  updatedAt: 1,
  mode: 'phone',
  draft: '',
  queue: [],
  private: false,
  pinned: false,
} as const;

/** Stands for the sign-in, which has tests of its own: what the host makes of it is the matter here. */
function fakeSignIn(
  parts: Partial<Pick<SignIn, 'signIn' | 'signOut' | 'state'>>,
): NonNullable<HostOptions['signIn']> {
  return {
    provider: () => ({ token: async () => undefined }),
    secrets: () => [],
    signIn: async () => ({ ok: true }),
    signOut: async () => ({ revoked: true }),
    state: async () => 'signed-in',
    wantScope: async () => true,
    ...parts,
  };
}
