/** The person's own proxy: the host reaches servers through it, streams and all. */
import { describe, expect, it } from 'vitest';
import { startLegacy } from '../../servers/legacy.ts';
import { startProxy } from '../../servers/proxy.ts';
import { startTravel } from '../../servers/travel.ts';
import { never, newHost, started, toolOf } from './setup.ts';

describe("a server behind the person's own proxy", () => {
  it('is added and called through it alone, and keeps its own address', async () => {
    const travel = await started(startTravel());
    const proxy = await started(startProxy());
    const { host } = await newHost();
    const added = await host.add({ url: travel.url, proxy: proxy.url });
    if (!added.ok) throw new Error(added.error.message);
    expect(added.server).toMatchObject({ url: travel.url, proxy: proxy.url });
    const place = { city: 'Goa', date: '2026-12-04' };
    const outcome = await host.callTool(toolOf(added.server.id, 'get_weather'), place, never());
    expect(outcome).toMatchObject({ kind: 'result' });
    expect(new Set(proxy.asked())).toEqual(new Set([travel.url]));
    expect(travel.counts()['tools/call']).toBe(1);
  });

  it('with sessions tells how far a call is, while it runs', async () => {
    const legacy = await started(startLegacy());
    const proxy = await started(startProxy());
    const { host } = await newHost();
    const added = await host.add({ url: legacy.url, proxy: proxy.url });
    if (!added.ok) throw new Error(added.error.message);
    const steps: number[] = [];
    const outcome = await host.callTool(
      toolOf(added.server.id, 'slow'),
      { steps: 3, ms: 20 },
      never(),
      { progress: ({ progress }) => void steps.push(progress) },
    );
    expect(outcome).toMatchObject({ kind: 'result' });
    expect(steps).toEqual([1, 2, 3]);
  });

  it('that is dead is told from a proxy that is dead', async () => {
    const travel = await startTravel();
    await travel.close();
    const proxy = await started(startProxy());
    const { host } = await newHost();
    expect(await host.add({ url: travel.url, proxy: proxy.url })).toMatchObject({
      ok: false,
      error: { code: 'server' },
    });
  });
});

describe('the proxy', () => {
  it('passes on to http and https and to nothing else', async () => {
    const proxy = await started(startProxy());
    for (const path of ['', 'file%3A%2F%2F%2Fetc%2Fpasswd', 'nonsense', '%E0%A4%A'])
      expect((await fetch(`${proxy.url}/${path}`)).status).toBe(400);
    expect(proxy.asked()).toEqual([]);
  });

  it('lets the one page in that it is for, and shows it every header', async () => {
    const travel = await started(startTravel());
    const proxy = await started(startProxy({ origin: 'https://app.example' }));
    const address = `${proxy.url}/${encodeURIComponent(travel.url)}`;
    const preflight = await fetch(address, {
      method: 'OPTIONS',
      headers: { 'access-control-request-headers': 'mcp-method, authorization' },
    });
    expect(preflight.headers.get('access-control-allow-origin')).toBe('https://app.example');
    expect(preflight.headers.get('access-control-allow-headers')).toBe('mcp-method, authorization');
    const answer = await fetch(address);
    expect(answer.headers.get('access-control-allow-origin')).toBe('https://app.example');
    expect(answer.headers.get('access-control-expose-headers')).toContain('content-type');
  });
});
