/** The faults that only a browser sees, or sees differently: each with its words, and no turn harmed. */
import { commands } from 'vitest/browser';
import { afterEach, describe, expect, it } from 'vitest';
import type { McpServerSpec } from '../../servers/mcp-commands.ts';
import type { FaultName } from '../../servers/unruly.ts';
import { never, openWorld, serve, tidy, toolOf } from './world.ts';

afterEach(tidy);

const limits = { connect: 15_000, list: 15_000, call: 15_000 };

describe('in a page, a server that commits the fault', () => {
  it.each<[FaultName, string, RegExp, RegExp]>([
    ['cors-none', 'cors', /does not let web apps use it/, /Access-Control-Allow-Origin: http/],
    ['cors-headers', 'cors', /refuses the headers that MCP needs/, /mcp-protocol-version/],
    ['cors-exposed', 'cors', /does not let web apps read its id/, /Expose-Headers: Mcp-Session-Id/],
    ['sign-in-wanted', 'auth', /wants you to sign in/, /account/],
    // The page may not read Retry-After, so that no time is told.
    ['rate-seconds', 'rate', /too many requests/, /Try again later/],
    ['page', 'not-mcp', /answers with a web page/, /\/mcp/],
    ['huge-stream', 'too-large', /larger than 10 MB/, /less at once/],
    ['drop', 'unreachable', /did not answer/, /local network/],
  ])('%s is not added, in words', async (fault, code, message, advice) => {
    const url = await serve({ kind: 'unruly', fault });
    const { host } = await openWorld({ limits });
    expect(await host.add({ url })).toMatchObject({
      ok: false,
      error: {
        code,
        message: expect.stringMatching(message),
        advice: expect.stringMatching(advice),
      },
    });
  });

  it('a name that nobody knows and a certificate that does not hold look the same: both are named', async () => {
    const { host } = await openWorld({ limits });
    const named = await host.add({ url: 'https://nobody.invalid/mcp' });
    expect(named).toMatchObject({
      ok: false,
      error: {
        code: 'unreachable',
        message: 'nobody.invalid did not answer.',
        advice: expect.stringMatching(
          /^The browser does not say why\. .*\(DNS\).*\(TLS\).*check how the name is spelled, the certificate and that the server is running\. Opened in a tab/,
        ),
      },
    });
    // It speaks no TLS at all.
    const url = (await serve({ kind: 'travel' })).replace('http:', 'https:');
    const error = await host.add({ url }).then((added) => (added.ok ? null : added.error));
    expect(error).toMatchObject({ code: 'unreachable' });
    expect(error?.advice).toMatch(/\(TLS\).*check the certificate and that the server is running/);
    // Of this device's own name there is no doubt.
    expect(error?.advice).not.toContain('DNS');
  });

  it.each<[FaultName, 'unavailable' | 'unknown']>([
    ['cors-none', 'unknown'],
    ['rate-seconds', 'unavailable'],
    ['drop', 'unknown'],
  ])('%s when it is called ends the call as it is, and nothing else', async (fault, kind) => {
    const url = await serve({ kind: 'unruly', fault, onCall: true });
    const { host } = await openWorld({ limits });
    const added = await host.add({ url });
    if (!added.ok) throw new Error(added.error.message);
    const { id } = added.server;
    const outcome = await host.callTool(toolOf(id, 'write'), {}, never());
    expect(outcome).toMatchObject({ kind, message: expect.stringMatching(/\.$/) });
    const view = (await host.list()).find(({ record }) => record.id === id);
    expect(view?.tools.map(({ name }) => name)).toEqual(['read', 'write']);
  });
});

describe("the person's own proxy", () => {
  it.each<[string, McpServerSpec]>([
    ['of the new era', { kind: 'unruly', fault: 'cors-none' }],
    ['with sessions', { kind: 'legacy', expose: null, allow: 'content-type' }],
  ])('makes of a server %s that keeps web apps out one that can be used', async (_, spec) => {
    const url = await serve(spec);
    const proxy = await serve({ kind: 'proxy', origin: location.origin });
    const { host } = await openWorld({ limits });
    expect(await host.add({ url })).toMatchObject({ ok: false, error: { code: 'cors' } });
    const added = await host.add({ url, proxy });
    expect(added).toMatchObject({ ok: true, server: { url, proxy } });
    if (!added.ok) return;
    const name = spec.kind === 'legacy' ? 'echo' : 'read';
    const outcome = await host.callTool(toolOf(added.server.id, name), { text: 'read' }, never());
    expect(outcome).toMatchObject({ kind: 'result', content: [{ type: 'text', text: 'read' }] });
  });
});

describe('in a page that came over https', () => {
  it('a server on http is named as what the browser blocks', async () => {
    expect(await commands.refreshFromSecurePage('http://plain.example/mcp', false)).toMatchObject({
      ok: false,
      error: {
        code: 'mixed-content',
        message: expect.stringMatching(/keeps it from plain\.example, which is http only/),
        advice: expect.stringMatching(/https address/),
      },
    });
  });

  it('a device near by that the browser keeps it from is told from one that is dead', async () => {
    const url = await serve({ kind: 'dead' });
    expect(await commands.refreshFromSecurePage(url, false)).toMatchObject({
      error: { code: 'unreachable' },
    });
    expect(await commands.refreshFromSecurePage(url, true)).toMatchObject({
      error: {
        code: 'local-network',
        message: expect.stringMatching(/does not let this app reach localhost/),
        advice: expect.stringMatching(/browser's settings/),
      },
    });
  });
});
