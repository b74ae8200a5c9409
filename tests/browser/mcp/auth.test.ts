/**
 * Sign-in over several tabs of a real browser: Web Locks, BroadcastChannel, IndexedDB and CORS as
 * they are. A tab is a store of its own on the same database, with a channel to the others.
 */
import { commands } from 'vitest/browser';
import { afterEach, expect, test, vi } from 'vitest';
import { noteBearer } from '../../../src/mcp/auth/bearer.ts';
import { createSignIn } from '../../../src/mcp/auth/signin.ts';
import type { Received, SignIn } from '../../../src/mcp/auth/types.ts';
import { browserWindows } from '../../../src/mcp/auth/windows.ts';
import { openStore } from '../../../src/store/open.ts';
import type { ServerRecord } from '../../../src/store/records.ts';
import type { Store } from '../../../src/store/store.ts';

const cleanups: (() => Promise<unknown> | void)[] = [];
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean();
});

interface Tab {
  readonly store: Store;
  readonly signIn: SignIn;
  /** What became of the answer in the window that this tab opened. */
  readonly received: Received[];
}

/** `window`: which tab the answer comes back to; null: none, the person does nothing. */
async function openTab(name: string, window: () => Tab | null): Promise<Tab> {
  const store = await openStore({ name });
  cleanups.push(() => store.close());
  const received: Received[] = [];
  const signIn = createSignIn({
    store,
    origin: location.origin,
    locks: navigator.locks,
    windows: {
      popup: () => ({
        async go(address) {
          const tab = window();
          if (!tab) return;
          const back = await commands.visitSignIn(address, `${location.origin}/oauth/callback`);
          received.push(await tab.signIn.receive(new URL(back).searchParams));
        },
        close: () => undefined,
      }),
      leave: () => undefined,
      here: () => '/servers',
      onReturn: () => () => undefined,
    },
  });
  return { store, signIn, received };
}

async function tabs(): Promise<{
  first: Tab;
  second: Tab;
  record: ServerRecord;
  url: string;
  name: string;
}> {
  const url = await commands.startProtected();
  cleanups.push(() => commands.stopProtected(url));
  const name = `auth-${crypto.randomUUID()}`;
  cleanups.push(() => void indexedDB.deleteDatabase(name));
  const second: Tab = await openTab(name, () => null);
  const first = await openTab(name, () => second);
  const record: ServerRecord = {
    id: crypto.randomUUID(),
    name: 'Notebook',
    url,
    addedAt: 0,
    enabled: true,
    trustHints: false,
    private: false,
    auth: 'oauth',
  };
  await first.store.servers.put(record);
  return { first, second, record, url, name };
}

const never = (): AbortSignal => new AbortController().signal;

test('the window hands its answer to the tab that waits; two tabs that find the token refused renew it once', async () => {
  const { first, second, record, url, name } = await tabs();
  expect(await first.signIn.signIn(record, never())).toEqual({ ok: true });
  expect(first.received).toEqual([{ kind: 'handed-over' }]);
  const token = await second.signIn.provider(record).token();
  expect(token).toMatch(/^\S{20,}$/);

  // What lies in the database is not the token.
  const rows = await secretsIn(name);
  expect(rows.length).toBeGreaterThan(0);
  for (const row of rows) expect(row).not.toContain(token);

  await commands.expireProtected(url);
  const refuse = async (tab: Tab): Promise<void> => {
    const response = new Response(null, { status: 401 });
    noteBearer(response, { authorization: `Bearer ${token}` });
    const context = { response, serverUrl: new URL(url), fetchFn: fetch };
    await tab.signIn.provider(record).onUnauthorized?.(context);
  };
  await Promise.all([refuse(first), refuse(second), refuse(first), refuse(second)]);
  expect(await commands.grantsAsked(url, 'refresh_token')).toBe(1);
  const renewed = await first.signIn.provider(record).token();
  expect(renewed).not.toBe(token);
  expect(await second.signIn.provider(record).token()).toBe(renewed);
});

test('while one tab waits for a sign-in another says so, and hears of it when it is done', async () => {
  const { second, record, name } = await tabs();
  const stop = new AbortController();
  let heard = 0;
  const waiting = second.signIn.signIn(record, stop.signal);
  const third = await openTab(name, () => second);
  const held = async () => (await navigator.locks.query()).held?.map((lock) => lock.name);
  await expect.poll(held).toContain(`signin:${record.id}`);
  expect(await third.signIn.signIn(record, never())).toMatchObject({
    ok: false,
    error: { message: 'A sign-in at Notebook is under way in another tab.' },
  });
  stop.abort();
  expect(await waiting).toMatchObject({ ok: false });
  second.signIn.subscribe(() => (heard += 1));
  expect(await third.signIn.signIn(record, never())).toEqual({ ok: true });
  await expect.poll(() => heard).toBeGreaterThan(0);
  expect(await second.signIn.state(record)).toBe('signed-in');
});

test('an installed app opens no window, and a window that is not allowed is none', () => {
  const open = vi.spyOn(window, 'open').mockReturnValue(null);
  cleanups.push(() => open.mockRestore());
  expect(browserWindows().popup()).toBeNull();
  expect(open).toHaveBeenCalledTimes(1);
  const media = vi
    .spyOn(window, 'matchMedia')
    .mockImplementation((query) => ({ matches: query.includes('standalone') }) as MediaQueryList);
  cleanups.push(() => media.mockRestore());
  expect(browserWindows().popup()).toBeNull();
  expect(open).toHaveBeenCalledTimes(1);
});

test('coming back to the page is noticed, and not any more once nobody asks', () => {
  let times = 0;
  const stop = browserWindows().onReturn(() => (times += 1));
  window.dispatchEvent(new Event('focus'));
  window.dispatchEvent(new Event('pageshow'));
  expect(times).toBe(2);
  stop();
  window.dispatchEvent(new Event('focus'));
  expect(times).toBe(2);
});

/** The rows of the vault as they lie in the database, as text. */
async function secretsIn(name: string): Promise<string[]> {
  const database = await new Promise<IDBDatabase>((resolve, reject) => {
    const opening = indexedDB.open(name);
    opening.onsuccess = () => resolve(opening.result);
    opening.onerror = () => reject(opening.error);
  });
  const rows = await new Promise<{ data: ArrayBuffer }[]>((resolve, reject) => {
    const reading = database.transaction('secrets').objectStore('secrets').getAll();
    reading.onsuccess = () => resolve(reading.result as { data: ArrayBuffer }[]);
    reading.onerror = () => reject(reading.error);
  });
  database.close();
  return rows.map(({ data }) => new TextDecoder('latin1').decode(data));
}
