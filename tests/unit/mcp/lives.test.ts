/** Connections while they live: let go of behind a hidden page, taken up when it is shown again. */
import { McpServer } from '@modelcontextprotocol/server';
import { describe, expect, it } from 'vitest';
import type { HostOptions } from '../../../src/mcp/host.ts';
import { createLives } from '../../../src/mcp/lives.ts';
import type { Page } from '../../../src/mcp/page.ts';
import { startLegacy } from '../../servers/legacy.ts';
import { serveMcp } from '../../servers/mcp-http.ts';
import { newHost, never, started, toolOf, until } from './setup.ts';

/** A page that a test hides and shows. */
function testPage(): Page & { show(shown: boolean): void } {
  const listeners = new Set<() => void>();
  let hidden = false;
  return {
    hidden: () => hidden,
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    show(shown) {
      hidden = !shown;
      for (const listener of listeners) listener();
    },
  };
}

async function world(options: Partial<HostOptions> = {}) {
  const server = await started(startLegacy());
  const page = testPage();
  const { host, store } = await newHost({ page, ...options });
  const added = await host.add({ url: server.url });
  if (!added.ok) throw new Error(added.error.message);
  return { server, page, host, store, id: added.server.id };
}

describe('a server that logs without end', () => {
  it('is told of once a frame, with its newest lines', async () => {
    let draws = 0;
    const lives = createLives({
      open: () => Promise.reject(new Error('Nothing is opened here.')),
      page: testPage(),
      now: Date.now,
      idleMs: 1_000,
      onChange: () => (draws += 1),
      onListChanged: () => undefined,
      onOpened: async () => undefined,
      recordOf: async () => undefined,
      isLocal: () => false,
    });
    const { onLog } = lives.ears('s');
    const flood = (from: number) => {
      for (let line = from; line < from + 1_000; line += 1)
        onLog({ at: line, level: 'info', text: `line ${line}` });
    };
    flood(0);
    expect(draws).toBe(0);
    await until(() => draws === 1);
    expect(lives.log('s').map(({ text }) => text)).toEqual(
      Array.from({ length: 200 }, (_, at) => `line ${800 + at}`),
    );
    flood(1_000);
    flood(2_000);
    await until(() => draws === 2);
    expect(lives.log('s').at(-1)?.text).toBe('line 2999');
    // What is to be told when it is closed is told to nobody.
    flood(3_000);
    await lives.close();
    expect(draws).toBe(2);
  });
});

describe('when the page is hidden', () => {
  it('connections close, and open again when it is shown', async () => {
    const { server, page, host } = await world();
    expect(server.sessions()).toBe(1);
    page.show(false);
    await until(() => server.sessions() === 0);
    expect((await host.list())[0]?.status).toBe('idle');
    page.show(true);
    await until(() => server.sessions() === 1);
    expect(server.counts()['tools/list']).toBe(1);
  });

  it('those that were not open stay closed when it is shown', async () => {
    const { server, page, store } = await world();
    const next = await newHost({ store, page });
    page.show(false);
    await until(() => server.sessions() === 0);
    await next.host.list();
    page.show(true);
    await until(() => server.sessions() === 1);
    expect(server.counts().initialize).toBe(2);
  });

  it('for longer than an unused connection is kept, nothing opens again', async () => {
    let clock = Date.now();
    const { server, page, host, id } = await world({ now: () => clock, idleMs: 60_000 });
    page.show(false);
    await until(() => server.sessions() === 0);
    clock += 61_000;
    page.show(true);
    // The next use does connect, so whatever was under way has been counted then.
    const call = host.callTool(toolOf(id, 'echo'), { text: 'x' }, never());
    expect(await call).toMatchObject({ kind: 'result' });
    expect(server.counts().initialize).toBe(2);
  });

  it('a call under way goes on to its end, and its connection closes then', async () => {
    const { server, page, host, id } = await world();
    const outcome = await host.callTool(
      toolOf(id, 'slow', { readOnly: true }),
      { steps: 3, ms: 50 },
      never(),
      { progress: () => page.show(false) },
    );
    expect(outcome).toMatchObject({ kind: 'result' });
    expect(server.cancelled()).toBe(0);
    await until(() => server.sessions() === 0);
  });

  it('a server that was paused meanwhile is not connected when it is shown', async () => {
    const { server, page, host, id } = await world();
    page.show(false);
    await until(() => server.sessions() === 0);
    await host.update(id, { enabled: false });
    page.show(true);
    await host.list();
    expect(await host.callTool(toolOf(id, 'echo'), {}, never())).toMatchObject({
      code: 'disabled',
    });
    expect(server.counts().initialize).toBe(1);
  });
});

describe('while a connection is made', () => {
  it('a server that is paused is let go of, and told nothing more', async () => {
    const { store, server, page, id } = await world();
    page.show(false);
    await until(() => server.sessions() === 0);
    let go = () => {};
    const held = new Promise<void>((resolve) => (go = resolve));
    const next = await newHost({
      store,
      async fetch(input, init) {
        const answer = await fetch(input, init);
        await held;
        return answer;
      },
    });
    const renewing = next.host.refresh(id);
    await until(async () => (await next.host.list())[0]?.status === 'connecting');
    await next.host.update(id, { enabled: false });
    go();
    expect((await renewing).ok).toBe(false);
    expect((await next.host.list())[0]?.status).toBe('idle');
    await until(() => server.sessions() === 0);
    expect(server.counts()['tools/list']).toBe(1);
  });
});

describe('a resource that is watched', () => {
  async function watching() {
    const served = await started(
      serveMcp(() => {
        const server = new McpServer(
          { name: 'news', version: '1' },
          { capabilities: { resources: { subscribe: true } } },
        );
        server.registerResource('r', 'note://r', {}, async () => ({
          contents: [{ uri: 'note://r', text: 'News.' }],
        }));
        return server;
      }),
    );
    const page = testPage();
    const { host } = await newHost({ page, idleMs: 50 });
    const added = await host.add({ url: served.url });
    if (!added.ok) throw new Error(added.error.message);
    const listens = () => served.counts()['subscriptions/listen'] ?? 0;
    return { served, page, host, id: added.server.id, listens };
  }

  it('is heard of, also over a connection that was made anew, until the watch ends', async () => {
    const { served, page, host, id, listens } = await watching();
    let heard = 0;
    const stop = await host.watchResource(id, 'note://r', () => (heard += 1));
    await until(() => {
      served.notify.resourceUpdated('note://r');
      return heard > 0;
    });
    page.show(false);
    await until(async () => (await host.list())[0]?.status === 'idle');
    const before = listens();
    page.show(true);
    await until(() => listens() > before);
    const told = heard;
    await until(() => {
      served.notify.resourceUpdated('note://r');
      return heard > told;
    });
    stop();
    // Now it is unused, and let go of.
    await until(async () => (await host.list())[0]?.status === 'idle');
  });

  it('keeps its connection for as long as it is watched', async () => {
    const { host, id, served } = await watching();
    let heard = 0;
    await host.watchResource(id, 'note://r', () => (heard += 1));
    const begun = performance.now();
    await until(() => {
      served.notify.resourceUpdated('note://r');
      // Four times as long as an unused connection is kept.
      return heard > 0 && performance.now() - begun > 200;
    });
    expect((await host.list())[0]?.status).toBe('connected');
  });
});
