/** Every way in which adding a server fails, over real HTTP: its kind and its sentences. */
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import type { HostErrorCode } from '../../../src/mcp/errors.ts';
import { startBroken, type Fault } from '../../servers/broken.ts';
import { startTravel } from '../../servers/travel.ts';
import { newHost, started } from './setup.ts';

const status = (code: number, more: Partial<Extract<Fault, { kind: 'status' }>> = {}): Fault => ({
  kind: 'status',
  status: code,
  ...more,
});

const HTML = { type: 'text/html', body: '<!doctype html><title>Welcome</title>' };

describe('adding a server that', () => {
  it.each<[string, Fault, HostErrorCode, RegExp]>([
    ['is a website', status(200, HTML), 'not-mcp', /web page.*path/],
    ['has nothing at this path', status(404, HTML), 'not-mcp', /no MCP server/],
    ['takes no POST', status(405), 'not-mcp', /no MCP server/],
    ['is gone', status(410), 'not-mcp', /no MCP server/],
    ['answers with nothing', status(200), 'not-mcp', /no MCP server/],
    [
      'answers JSON of its own kind',
      status(200, { type: 'application/json', body: '{"hello":"world"}' }),
      'not-mcp',
      /no MCP server/,
    ],
    [
      'answers broken JSON',
      status(200, { type: 'application/json', body: '{"jsonrpc":' }),
      'protocol',
      /cut off or broken.*tell whoever runs/,
    ],
    ['answers a bad request', status(400), 'protocol', /makes no sense/],
    ['wants a key', status(401), 'auth', /who is asking.*key/],
    ['forbids it', status(403), 'forbidden', /does not allow/],
    [
      'is asked too often',
      status(429, { headers: { 'retry-after': '30' } }),
      'rate',
      /too many requests.*in 30 seconds/,
    ],
    ['fails', status(500), 'server', /fault of its own/],
    ['is down behind its gateway', status(503, HTML), 'server', /fault of its own/],
    ['hangs', { kind: 'hang' }, 'timeout', /did not answer within 3 seconds/],
    ['cuts the connection', { kind: 'drop' }, 'unreachable', /did not answer.*Check the address/],
    ['ends its answer before it begins', { kind: 'empty-stream' }, 'unreachable', /did not answer/],
  ])('%s', async (_, fault, code, words) => {
    const broken = await started(startBroken({ fault }));
    const { host, store } = await newHost({ limits: { connect: 3_000, list: 3_000 } });
    const added = await host.add({ url: broken.url });
    expect(added).toMatchObject({ ok: false, error: { code } });
    if (added.ok) return;
    const { message, advice } = added.error;
    expect(`${message} ${advice}`).toMatch(words);
    expect(message).toMatch(/\.$/);
    expect(advice).toMatch(/\.$/);
    expect(await store.servers.all()).toEqual([]);
  });

  it.each<[string, Fault, HostErrorCode]>([
    ['hangs while it lists its tools', { kind: 'hang' }, 'timeout'],
    ['fails while it lists its tools', status(500), 'server'],
    ['cuts the connection while it lists its tools', { kind: 'drop' }, 'unreachable'],
    [
      'lists no tools but nonsense',
      status(200, { type: 'application/json', body: '{"jsonrpc":"2.0","id":0,"result":{}}' }),
      'protocol',
    ],
  ])('%s', async (_, fault, code) => {
    const broken = await started(startBroken({ fault, phase: 'list' }));
    const { host, store } = await newHost({ limits: { list: 2_000 } });
    expect(await host.add({ url: broken.url })).toMatchObject({ ok: false, error: { code } });
    expect(await store.servers.all()).toEqual([]);
  });

  it('answers without end', async () => {
    const broken = await started(startBroken({ fault: { kind: 'huge', bytes: 12_000_000 } }));
    const { host } = await newHost();
    expect(await host.add({ url: broken.url })).toMatchObject({
      ok: false,
      error: { code: 'too-large', message: expect.stringMatching(/larger than 10 MB/) },
    });
  });

  it('is not there', async () => {
    const free = createServer();
    await new Promise<void>((resolve) => free.listen(0, resolve));
    const { port } = free.address() as AddressInfo;
    await new Promise((resolve) => free.close(resolve));
    const { host } = await newHost();
    expect(await host.add({ url: `http://localhost:${port}/mcp` })).toMatchObject({
      ok: false,
      error: { code: 'unreachable', message: `localhost:${port} did not answer.` },
    });
  });

  it('has no such name', async () => {
    const { host } = await newHost();
    expect(await host.add({ url: 'https://nowhere.invalid/mcp' })).toMatchObject({
      ok: false,
      error: { code: 'dns' },
    });
  });

  it.each(['hello', 'ftp://example.com', 'https://u:p@example.com/mcp'])(
    'is no address: %s',
    async (url) => {
      const { host } = await newHost();
      expect(await host.add({ url })).toMatchObject({ ok: false, error: { code: 'bad-url' } });
    },
  );

  it('cannot be reached because there is no network, without a request', async () => {
    let requests = 0;
    const { host } = await newHost({
      online: () => false,
      fetch: () => {
        requests += 1;
        return Promise.reject(new TypeError('Failed to fetch'));
      },
    });
    expect(await host.add({ url: 'https://example.com/mcp' })).toMatchObject({
      ok: false,
      error: { code: 'offline', message: expect.stringMatching(/no network/) },
    });
    expect(requests).toBe(0);
  });

  it('is on this device can be reached without a network', async () => {
    const travel = await started(startTravel());
    const { host } = await newHost({ online: () => false });
    expect(await host.add({ url: travel.url })).toMatchObject({ ok: true });
  });

  it('refuses the key says so, and repeats it nowhere', async () => {
    const broken = await started(
      startBroken({ fault: status(401, { body: 'bad token sk-secret-1' }) }),
    );
    const { host } = await newHost();
    const added = await host.add({ url: `${broken.url}?token=sk-secret-2`, key: 'sk-secret-1' });
    expect(added).toMatchObject({
      ok: false,
      error: { code: 'auth', message: expect.stringMatching(/did not accept the key/) },
    });
    expect(JSON.stringify(added)).not.toContain('sk-secret');
  });

  it('repeats the key in its answer does not get it into the error', async () => {
    const broken = await started(
      startBroken({ fault: status(400, { body: 'what is sk-secret-1' }) }),
    );
    const { host } = await newHost();
    const added = await host.add({ url: broken.url, key: 'sk-secret-1' });
    expect(added.ok ? '' : added.error.detail).toContain('[secret]');
    expect(JSON.stringify(added)).not.toContain('sk-secret');
  });

  it('repeats a secret of its address does not get it into the error, without a key either', async () => {
    const broken = await started(
      startBroken({ fault: status(400, { body: 'what is sk-secret-2' }) }),
    );
    const { host } = await newHost();
    const added = await host.add({ url: `${broken.url}?token=sk-secret-2` });
    expect(added.ok ? '' : added.error.detail).toContain('[secret]');
    expect(JSON.stringify(added)).not.toContain('sk-secret');
  });

  it('sends elsewhere does not get the key there', async () => {
    const elsewhere: unknown[] = [];
    const travel = await started(
      startTravel({
        before: (_, request) => {
          elsewhere.push(request.headers['x-api-key']);
          return false;
        },
      }),
    );
    const broken = await started(
      startBroken({ fault: status(307, { headers: { location: travel.url } }) }),
    );
    const { host } = await newHost();
    expect(
      await host.add({ url: broken.url, key: 'sk-secret-1', keyHeader: 'X-API-Key' }),
    ).toMatchObject({ ok: false, error: { code: 'not-mcp' } });
    expect(elsewhere).toEqual([]);
    // Without a key there is nothing to lose.
    expect(await host.add({ url: broken.url })).toMatchObject({ ok: true });
  });

  it('afterwards can still be added once it is well', async () => {
    const broken = await started(startBroken({ fault: status(500), times: 2 }));
    const { host } = await newHost();
    expect(await host.add({ url: broken.url })).toMatchObject({ ok: false });
    expect(await host.add({ url: broken.url })).toMatchObject({ ok: true });
  });
});
