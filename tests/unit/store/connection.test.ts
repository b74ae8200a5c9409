import { forceCloseDatabase } from 'fake-indexeddb';
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { connect } from '../../../src/store/connection.ts';
import { openStore } from '../../../src/store/open.ts';
import { MIGRATIONS } from '../../../src/store/schema.ts';
import { QuotaError } from '../../../src/store/store.ts';
import { conversation, freshName, freshStore } from './helpers.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

/** Databases opened while the test runs, as the browser would see them. */
function watchOpenings(): IDBDatabase[] {
  const opened: IDBDatabase[] = [];
  const open = indexedDB.open.bind(indexedDB);
  vi.spyOn(indexedDB, 'open').mockImplementation((name, version) => {
    const request = open(name, version);
    request.addEventListener('success', () => opened.push(request.result));
    return request;
  });
  return opened;
}

describe('a connection', () => {
  test('that the browser dropped is opened again at the next use', async () => {
    const opened = watchOpenings();
    const store = await freshStore();
    await store.conversations.put(conversation('a'));
    const [first] = opened;
    if (!first) throw new Error('nothing was opened');
    // Its types take the class for the object.
    (forceCloseDatabase as (db: unknown) => void)(first);
    expect(await store.conversations.get('a')).toEqual(conversation('a'));
    await store.conversations.put(conversation('b'));
    expect(opened).toHaveLength(2);
  });

  test('that died without a word is opened again at the next use', async () => {
    const opened = watchOpenings();
    const store = await freshStore();
    // As after a crash of the browser's storage process: every transaction is refused.
    opened[0]?.close();
    await store.conversations.put(conversation('a'));
    expect(await store.conversations.get('a')).toEqual(conversation('a'));
    expect(opened).toHaveLength(2);
  });

  test('that was closed stays closed and says so', async () => {
    const store = await openStore({ name: freshName(), channel: false });
    store.close();
    await expect(store.conversations.list()).rejects.toMatchObject({ kind: 'closed' });
  });

  test('that the browser refuses says what to do', async () => {
    vi.spyOn(indexedDB, 'open').mockImplementation(() => {
      throw new DOMException('denied', 'SecurityError');
    });
    await expect(openStore({ name: freshName(), channel: false })).rejects.toMatchObject({
      kind: 'unavailable',
      advice: 'Leave private browsing, or allow site data for this address, then reload.',
    });
  });

  test('leaves nothing of a write that failed', async () => {
    const connection = await connect({ name: freshName(), migrations: MIGRATIONS, blockedMs: 1 });
    onTestFinished(() => connection.close());
    const fault = new Error('half-way');
    await expect(
      connection.write(['conversations'], 'relaxed', async (tx) => {
        await tx.objectStore('conversations').put(conversation('a'));
        throw fault;
      }),
    ).rejects.toBe(fault);
    const all = await connection.read(['conversations'], (tx) =>
      tx.objectStore('conversations').getAll(),
    );
    expect(all).toEqual([]);
  });

  test('reports want of room as such, whichever way the browser says it', async () => {
    const connection = await connect({ name: freshName(), migrations: MIGRATIONS, blockedMs: 1 });
    onTestFinished(() => connection.close());
    const full = new DOMException('full', 'QuotaExceededError');
    await expect(
      connection.write(['conversations'], 'relaxed', () => Promise.reject(full)),
    ).rejects.toBeInstanceOf(QuotaError);
  });
});
