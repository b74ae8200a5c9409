/** What only a browser does: the same-origin policy, hidden headers, opaque failures. */
import { commands } from 'vitest/browser';
import { afterEach, describe, expect, it } from 'vitest';
import { never, openWorld, serve, tidy, toolOf } from './world.ts';
import type { McpServerSpec } from '../../servers/mcp-commands.ts';

afterEach(tidy);

const NO_CORS = {
  'access-control-allow-origin': null,
  'access-control-allow-methods': null,
  'access-control-allow-headers': null,
  'access-control-expose-headers': null,
} as const;

describe('a server that lets web apps in', () => {
  it.each<[string, McpServerSpec, string]>([
    ['of the new era', { kind: 'travel' }, 'modern'],
    ['of the older era, with sessions', { kind: 'legacy' }, 'legacy'],
  ])('%s is added and called from a page', async (_, spec, era) => {
    const url = await serve(spec);
    const { host } = await openWorld();
    const added = await host.add({ url });
    expect(added).toMatchObject({ ok: true, server: { era: { kind: era } } });
    if (!added.ok) return;
    const outcome =
      spec.kind === 'travel'
        ? await host.callTool(
            toolOf(added.server.id, 'get_weather'),
            { city: 'Goa', date: '2026-12-04' },
            never(),
          )
        : await host.callTool(toolOf(added.server.id, 'echo'), { text: 'hello' }, never());
    expect(outcome).toMatchObject({ kind: 'result' });
  });

  it('and sends on to another path is followed where no key is at stake', async () => {
    const target = await serve({ kind: 'travel' });
    const url = await serve({
      kind: 'broken',
      fault: { kind: 'status', status: 307, headers: { location: target } },
    });
    const { host } = await openWorld();
    expect(await host.add({ url })).toMatchObject({ ok: true });
    expect(await host.add({ url: `${url}?again`, key: 'sk-12345' })).toMatchObject({
      ok: false,
      error: { code: 'not-mcp', message: expect.stringMatching(/sends on to another address/) },
    });
  });
});

describe('a server that keeps web apps out', () => {
  it.each<[string, McpServerSpec, RegExp, RegExp]>([
    [
      'altogether',
      { kind: 'travel', headers: NO_CORS },
      /does not let web apps use it \(CORS\)/,
      /Access-Control-Allow-Origin: .*mcp-session-id/,
    ],
    [
      'by refusing every header',
      { kind: 'travel', headers: { 'access-control-allow-headers': null } },
      /refuses the headers that MCP needs \(CORS\)/,
      /Access-Control-Allow-Headers: content-type,.*mcp-method/,
    ],
    [
      'by refusing the headers of a session',
      { kind: 'legacy', allow: 'content-type, accept' },
      /refuses the headers that MCP needs \(CORS\)/,
      /Access-Control-Allow-Headers: .*mcp-protocol-version, mcp-session-id/,
    ],
    [
      'by hiding the id of its session',
      { kind: 'legacy', expose: null },
      /does not let web apps read its id \(CORS\)/,
      /Access-Control-Expose-Headers: Mcp-Session-Id/,
    ],
  ])('%s is told apart, with what it must send', async (_, spec, message, advice) => {
    const url = await serve(spec);
    const { host, store } = await openWorld();
    expect(await host.add({ url })).toMatchObject({
      ok: false,
      error: {
        code: 'cors',
        message: expect.stringMatching(message),
        advice: expect.stringMatching(advice),
      },
    });
    expect(await store.servers.all()).toHaveLength(1);
  });

  it('by refusing the header of the key names that header', async () => {
    const url = await serve({
      kind: 'travel',
      headers: {
        'access-control-allow-headers':
          'content-type, accept, mcp-protocol-version, mcp-session-id, mcp-method, mcp-name',
      },
    });
    const { host } = await openWorld();
    const added = await host.add({ url, key: 'sk-12345', keyHeader: 'X-My-Key' });
    expect(added).toMatchObject({ ok: false, error: { code: 'cors' } });
    expect(added.ok ? '' : added.error.advice).toContain('x-my-key');
    expect(JSON.stringify(added)).not.toContain('sk-12345');
  });
});

describe('a server that is not there', () => {
  it('is not mistaken for one that keeps web apps out', async () => {
    const url = await serve({ kind: 'dead' });
    const { host } = await openWorld();
    expect(await host.add({ url })).toMatchObject({ ok: false, error: { code: 'unreachable' } });
  });

  it('is unavailable for a write, after a pause in which it died', async () => {
    const url = await serve({ kind: 'travel' });
    let clock = Date.now();
    const { host } = await openWorld({ now: () => clock });
    const added = await host.add({ url });
    if (!added.ok) throw new Error(added.error.message);
    await commands.stopMcpServer(url);
    clock += 60_000;
    const call = host.callTool(
      toolOf(added.server.id, 'add_to_itinerary'),
      { item: 'x', date: '2026-12-04' },
      never(),
    );
    expect(await call).toMatchObject({ kind: 'unavailable', code: 'unreachable' });
  });
});

describe('a call whose connection breaks', () => {
  it('is unknown where it writes, and is sent once by the host', async () => {
    const url = await serve({ kind: 'broken', fault: { kind: 'drop' }, phase: 'call' });
    let sent = 0;
    const { host } = await openWorld({
      fetch: (input, init) => {
        if (String(init?.body).includes('"tools/call"')) sent += 1;
        return fetch(input, init);
      },
    });
    const added = await host.add({ url });
    if (!added.ok) throw new Error(added.error.message);
    const { id } = added.server;
    expect(await host.callTool(toolOf(id, 'write'), {}, never())).toMatchObject({
      kind: 'unknown',
    });
    // Counted here and not at the server: where a kept-alive connection dies before the first byte of
    // an answer, Chromium sends the request once more by itself, and no page can stop it.
    expect(sent).toBe(1);
  });
});

describe("the phone's hands in a real page", () => {
  it('answer through the client, from what the browser knows', async () => {
    const { host, store } = await openWorld();
    const call = (name: string, args = {}) => host.callTool(toolOf('phone', name), args, never());
    const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
    expect(await call('now')).toMatchObject({ kind: 'result', structured: { zone: timeZone } });
    expect(await call('device_status')).toMatchObject({
      kind: 'result',
      structured: { online: navigator.onLine, free_gb: expect.any(Number) },
    });
    expect(await call('set_reminder', { text: 'x' })).toMatchObject({ kind: 'result' });
    expect(await store.reminders.all()).toHaveLength(1);
  });
});
