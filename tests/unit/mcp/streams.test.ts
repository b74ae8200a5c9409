/** Streams that break, end and are taken up again, and what becomes of the calls over them. */
import { describe, expect, it } from 'vitest';
import type { CallEnd, CallTarget } from '../../../src/mcp/connection.ts';
import { startResuming, type ResumingOptions } from '../../servers/resuming.ts';
import { connected, type Given } from './connecting.ts';
import { never, newHost, started, toolOf, until } from './setup.ts';

const WAIT: CallTarget = { name: 'wait', inputSchema: { type: 'object' } };
const QUICKLY = { firstMs: 5, longestMs: 20 };
const text = (end: CallEnd) => (end.kind === 'answer' ? end.content[0]?.text : end);

async function world(options: ResumingOptions, given: Given = {}) {
  const server = await started(startResuming(options));
  return { server, ...(await connected(server.url, { patience: QUICKLY, ...given })) };
}

describe.each(['http', 'sse'] as const)('a server of the older era over %s', (kind) => {
  it('that asks for roots all the same hears that there is no such thing', async () => {
    const { connection } = await world({ kind });
    const end = await connection.call({ ...WAIT, name: 'roots' }, {}, never());
    expect(text(end)).toMatch(/-32601/);
  });
});

describe('a stream of Streamable HTTP', () => {
  it('that breaks in the midst of a call is taken up after the last event, and the call ends well', async () => {
    const { server, connection } = await world({ kind: 'http' });
    let calling: Promise<CallEnd> | undefined;
    const begun = new Promise<unknown>((progress) => {
      calling = connection.call(WAIT, {}, never(), { progress });
    });
    await begun;
    server.cut();
    await until(() => server.streams().some((last) => last !== null));
    server.finish();
    expect(calling && text(await calling)).toBe('let go');
    expect(server.runs()).toBe(1);
  });

  it('that breaks where no events are kept loses the answer, and that is said', async () => {
    const { server, connection } = await world({ kind: 'http', forgetful: true });
    const calling = connection.call(WAIT, {}, never());
    await until(() => server.runs() === 1);
    server.cut();
    expect(await calling).toMatchObject({ kind: 'lost', error: { code: 'unreachable' } });
  });

  it('that the server ends each time is asked for ever later', async () => {
    const { server } = await world(
      { kind: 'http', endsStreams: true },
      { patience: { firstMs: 1, longestMs: 1_000_000, times: 4 } },
    );
    // Pauses of 1, 1, 1, 1, 1, 2, 4 … milliseconds: after twenty streams it would be minutes.
    await until(() => server.streams().length > 8);
    expect(server.streams().length).toBeLessThan(25);
  });
});

describe('a stream of HTTP+SSE', () => {
  it('that breaks in the midst of a call loses its answer, and that is said', async () => {
    const { server, connection } = await world({ kind: 'sse' });
    expect(connection.transport).toBe('sse');
    const calling = connection.call(WAIT, {}, never());
    await until(() => server.runs() === 1);
    server.cut();
    expect(await calling).toMatchObject({ kind: 'lost', error: { code: 'unreachable' } });
  });

  it('that broke takes the session with it: the next call needs a new one', async () => {
    const { server, connection } = await world({ kind: 'sse' });
    server.cut();
    server.finish();
    await until(async () => (await connection.call(WAIT, {}, never())).kind === 'session-gone');
    expect(await connection.list()).toMatchObject({ ok: false, sessionGone: true });
    expect(await connection.readResource('a:b', never())).toMatchObject({ sessionGone: true });
    expect(await connection.knock()).toBe(false);
  });

  it('whose session the server forgot is answered with a new one', async () => {
    const { server, connection } = await world({ kind: 'sse' });
    server.forget();
    expect(await connection.call(WAIT, {}, never())).toEqual({ kind: 'session-gone' });
  });

  it('is found again at once by the host, with one call that runs once', async () => {
    const server = await started(startResuming({ kind: 'sse' }));
    server.finish();
    const { host, store } = await newHost();
    const added = await host.add({ url: server.url });
    if (!added.ok) throw new Error(added.error.message);
    expect(added.server.transport).toBe('sse');
    server.cut();
    const outcome = await host.callTool(toolOf(added.server.id, 'wait'), {}, never());
    expect(outcome).toMatchObject({ kind: 'result' });
    expect(server.runs()).toBe(1);
    expect(await store.servers.get(added.server.id)).toMatchObject({ transport: 'sse' });
  });
});
