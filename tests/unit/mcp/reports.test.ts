/** What a failed call leaves for its report: its own exchange, and no secret. */
import { describe, expect, it } from 'vitest';
import { reportOf } from '../../../src/mcp/report.ts';
import type { Outcome } from '../../../src/store/records.ts';
import { reportedOf } from '../../../src/ui/conversation/reported.ts';
import { countingServer } from '../../servers/counting.ts';
import { serveMcp, type ServeOptions } from '../../servers/mcp-http.ts';
import { newHost, never, started, toolOf } from './setup.ts';

async function serving(options: ServeOptions) {
  const build = () => countingServer('reports', { read: 0, write: 0 });
  const server = await started(serveMcp(build, { eras: 'modern', ...options }));
  const world = await newHost();
  const added = await world.host.add({ url: server.url });
  if (!added.ok) throw new Error(added.error.message);
  const { id } = added.server;
  const call = (name: string) =>
    world.host.callTool(toolOf(id, name, { readOnly: name === 'read' }), {}, never());
  return { ...world, server: added.server, call };
}

const seenOf = (outcome: Outcome) => ('detail' in outcome ? outcome.detail?.seen : undefined);

describe('two calls of one server at the same time that fail differently', () => {
  it('are each told by their own answer', async () => {
    let second = () => {};
    const answered = new Promise<void>((resolve) => (second = resolve));
    const { call } = await serving({
      async before(message, _request, response) {
        if (message?.method !== 'tools/call') return false;
        if (message.params?.name === 'read') {
          // Begun first, and ended when the other has been answered.
          response.writeHead(429, { 'content-type': 'text/plain', 'retry-after': '30' });
          response.write('slow');
          await answered;
          response.end('er');
        } else {
          response.on('finish', second);
          response.writeHead(403, { 'content-type': 'text/html' }).end('no');
        }
        return true;
      },
    });
    const [read, write] = await Promise.all([call('read'), call('write')]);
    expect(read).toMatchObject({
      code: 'rate',
      advice: 'Try again in 30 seconds.',
      detail: {
        seen: { status: 429, headers: { 'content-type': 'text/plain', 'retry-after': '30' } },
      },
    });
    expect(write).toMatchObject({
      code: 'forbidden',
      detail: { seen: { status: 403, headers: { 'content-type': 'text/html' } } },
    });
    expect(seenOf(write)?.headers).not.toHaveProperty('retry-after');
  });
});

describe('the report of a call', () => {
  const failing = (status: number, headers: Record<string, string>, body = '') =>
    serving({
      before(message, _request, response) {
        if (message?.method !== 'tools/call') return false;
        response.writeHead(status, { 'content-type': 'text/plain', ...headers }).end(body);
        return true;
      },
    });

  it('has the status and the headers of its answer', async () => {
    const { call, server } = await failing(401, {
      'www-authenticate':
        'Bearer realm="files", error="invalid_token", nonce="n-4711", opaque="zzz-1234"',
    });
    const outcome = await call('write');
    const reported = reportedOf(outcome);
    if (!reported) throw new Error('There is nothing to report.');
    const report = reportOf(reported, { server, tried: 'Call write', at: 0 });
    expect(report).toMatch(/^Status: 401$/m);
    expect(report).toMatch(/^content-type: text\/plain$/m);
    expect(report).toMatch(/^access-control-allow-origin: \*$/m);
    expect(report).toMatch(/^www-authenticate: Bearer realm="files", error="invalid_token"/m);
    expect(report).not.toMatch(/n-4711|zzz-1234/);
  });

  it('has no token of a challenge that is one word', async () => {
    const { call } = await failing(401, { 'www-authenticate': 'Negotiate YIIabcdefghijklmnop==' });
    expect(seenOf(await call('write'))?.headers['www-authenticate']).toBe('Negotiate [secret]');
  });

  it('has the code of the error that the server answered with', async () => {
    const { call, server } = await serving({});
    const outcome = await call('vanished');
    expect(outcome).toMatchObject({ kind: 'tool_error', detail: { seen: { status: 200 } } });
    const reported = reportedOf(outcome);
    if (!reported) throw new Error('There is nothing to report.');
    expect(reportOf(reported, { server, tried: 'Call vanished', at: 0 })).toMatch(
      /^JSON-RPC error: -32602$/m,
    );
  });

  it('is there for a write whose outcome is unknown, and none for what a tool says itself', async () => {
    const { call } = await failing(502, {});
    const outcome = await call('write');
    expect(outcome).toMatchObject({ kind: 'unknown', detail: { seen: { status: 502 } } });
    expect(reportedOf(outcome)).toMatchObject({ code: 'unknown', seen: { status: 502 } });
    expect(reportedOf({ kind: 'tool_error', content: [] })).toBeNull();
    expect(reportedOf({ kind: 'result', content: [] })).toBeNull();
  });
});
