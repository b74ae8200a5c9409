/** What only a browser has: locks over all tabs, and a page that is hidden and shown again. */
import { afterEach, expect, it, vi } from 'vitest';
import { createHost } from '../../../src/mcp/host.ts';
import { createTabLocks } from '../../../src/store/locks.ts';
import { openStore } from '../../../src/store/open.ts';
import { openWorld, serve, tidy } from './world.ts';

const cleanups: (() => Promise<unknown> | void)[] = [];

afterEach(async () => {
  vi.restoreAllMocks();
  for (const clean of cleanups.splice(0).reverse()) await clean();
  await tidy();
});

it('two tabs that renew a list at the same time ask its server once', async () => {
  const url = await serve({ kind: 'travel' });
  const name = `tabs-${crypto.randomUUID()}`;
  const locks = createTabLocks(navigator.locks);
  let lists = 0;
  let answer = () => {};
  const answers = new Promise<void>((resolve) => (answer = resolve));
  let held = false;
  const tab = async () => {
    const store = await openStore({ name });
    const host = createHost({
      store,
      inPage: [],
      locks,
      fetch: async (input, init) => {
        const listing = String(init?.body).includes('"tools/list"');
        if (listing) lists += 1;
        if (listing && held) await answers;
        return fetch(input, init);
      },
    });
    cleanups.push(async () => {
      await host.close();
      store.close();
    });
    return { host, store };
  };
  const [here, there] = [await tab(), await tab()];
  const added = await here.host.add({ url });
  if (!added.ok) throw new Error(added.error.message);
  const { id } = added.server;
  lists = 0;
  held = true;
  const first = here.host.refresh(id);
  await expect.poll(() => lists).toBe(1);
  const second = there.host.refresh(id);
  await expect.poll(async () => (await navigator.locks.query()).pending?.length).toBe(1);
  answer();
  expect(await Promise.all([first, second])).toEqual([{ ok: true }, { ok: true }]);
  expect(lists).toBe(1);
  cleanups.unshift(() => void indexedDB.deleteDatabase(name));
});

it('a hidden or frozen page keeps no connection, and one that is shown has it again', async () => {
  const url = await serve({ kind: 'legacy' });
  const { host } = await openWorld();
  const added = await host.add({ url });
  if (!added.ok) throw new Error(added.error.message);
  const status = async () => (await host.list()).find(({ local }) => !local)?.status;
  expect(await status()).toBe('connected');

  const visible = vi.spyOn(document, 'visibilityState', 'get').mockReturnValue('hidden');
  document.dispatchEvent(new Event('visibilitychange'));
  await expect.poll(status).toBe('idle');
  visible.mockRestore();
  document.dispatchEvent(new Event('visibilitychange'));
  await expect.poll(status).toBe('connected');

  document.dispatchEvent(new Event('freeze'));
  await expect.poll(status).toBe('idle');
  document.dispatchEvent(new Event('resume'));
  await expect.poll(status).toBe('connected');
});
