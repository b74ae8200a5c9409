/** Servers that change the era of the protocol under a connection that stands. */
import { describe, expect, it } from 'vitest';
import { countingServer } from '../../servers/counting.ts';
import { startLegacy, type LegacyOptions } from '../../servers/legacy.ts';
import { serveMcp } from '../../servers/mcp-http.ts';
import { newHost, never, started, toolOf } from './setup.ts';

/** One address, behind which first one server stands and then another. */
async function moving(first: string) {
  let current = first;
  const { host, store } = await newHost({ fetch: (_, init) => fetch(current, init) });
  const added = await host.add({ url: 'http://localhost/mcp' });
  if (!added.ok) throw new Error(added.error.message);
  const { id } = added.server;
  return {
    id,
    host,
    era: async () => (await store.servers.get(id))?.era?.kind,
    move: (to: string) => (current = to),
  };
}

async function modern() {
  const ran = { read: 0, write: 0 };
  const server = await started(serveMcp(() => countingServer('new', ran), { eras: 'modern' }));
  return { url: server.url, counts: server.counts, ran };
}

const legacy = (options: LegacyOptions = {}) => started(startLegacy(options));

describe('a server that is newer than it was', () => {
  it('refuses the old revision, and the write runs once in the new one', async () => {
    const [before, after] = [await legacy(), await modern()];
    const { id, host, era, move } = await moving(before.url);
    expect(await era()).toBe('legacy');
    move(after.url);
    expect(await host.callTool(toolOf(id, 'write'), {}, never())).toMatchObject({ kind: 'result' });
    expect(after.ran.write).toBe(1);
    expect(await era()).toBe('modern');
  });

  it('is listed and read from in the new era, too', async () => {
    const [before, after] = [await legacy(), await modern()];
    const { id, host, era, move } = await moving(before.url);
    move(after.url);
    expect(await host.refresh(id)).toEqual({ ok: true });
    expect(await era()).toBe('modern');
    const [server] = await host.list();
    expect(server?.tools.map(({ name }) => name)).toEqual(['read', 'write']);
  });
});

describe('a server that is older than it was', () => {
  it('refuses the new revision, and the write runs once in the old one', async () => {
    const [before, after] = [await modern(), await legacy({ stateless: true })];
    const { id, host, era, move } = await moving(before.url);
    expect(await era()).toBe('modern');
    move(after.url);
    const write = host.callTool(toolOf(id, 'add_note'), { text: 'once' }, never());
    expect(await write).toMatchObject({ kind: 'result' });
    expect(after.notes()).toEqual(['once']);
    expect(await era()).toBe('legacy');
  });

  it('and only misses a session gets no write twice, and a read once more', async () => {
    const [before, after] = [await modern(), await legacy()];
    const { id, host, era, move } = await moving(before.url);
    move(after.url);
    const note = () => host.callTool(toolOf(id, 'add_note'), { text: 'a' }, never());
    expect(await note()).toMatchObject({ kind: 'unknown' });
    expect(after.counts()['tools/call']).toBe(1);
    expect(await era()).toBeUndefined();
    expect(await note()).toMatchObject({ kind: 'result' });
    expect(await era()).toBe('legacy');

    move(before.url);
    const read = toolOf(id, 'read', { readOnly: true });
    expect(await host.callTool(read, {}, never())).toMatchObject({ kind: 'result' });
  });
});

describe('a server that refuses every revision', () => {
  it('is asked twice and no more, and that is said', async () => {
    const ran = { read: 0, write: 0 };
    const server = await started(
      serveMcp(() => countingServer('never', ran), {
        eras: 'modern',
        before(message, _request, response) {
          if (message?.method !== 'tools/call') return false;
          const { id } = message as { id?: unknown };
          const error = { code: -32_022, message: 'No.', data: { supported: ['2099-01-01'] } };
          response.writeHead(400, { 'content-type': 'application/json' });
          response.end(JSON.stringify({ jsonrpc: '2.0', id, error }));
          return true;
        },
      }),
    );
    const { id, host } = await moving(server.url);
    expect(await host.callTool(toolOf(id, 'write'), {}, never())).toMatchObject({
      kind: 'unavailable',
      code: 'era',
      detail: { seen: { status: 400, code: -32_022 } },
    });
    expect(server.counts()['tools/call']).toBe(2);
    expect(ran.write).toBe(0);
  });
});
