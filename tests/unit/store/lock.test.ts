import { openDB } from 'idb';
import { readFile } from 'node:fs/promises';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { openStore } from '../../../src/store/open.ts';
import type { LockChange, Store } from '../../../src/store/store.ts';
import * as content from './content.ts';
import { conversation, draft, freshName, text } from './helpers.ts';
import {
  everything,
  fullStore,
  PASSKEY,
  passkey,
  passphrase,
  rawRows,
  reopen,
  SECRET,
  sealedRows,
  wordsIn,
} from './locked.ts';
import { restore, type RawDatabase } from './raw.ts';

async function changing(store: Store): Promise<LockChange> {
  const proved = await store.lock.prove(passkey);
  if (!proved.ok) throw new Error(proved.why);
  return proved.change;
}

/** Words of the person's that no row may hold, wherever they are stored. */
const WORDS = [
  ...[
    'Mumbai',
    'half a sen',
    'And book it.',
    'The weather.',
    'light rain',
    'no such city',
    '29 °C',
  ],
  ...['Pack a raincoat', 'Water plant 7', 'Ravi Shastri', 'because of Diwali', 'Book a flight'],
  ...['api.example.test', 'That took 8 steps', 'waiting', SECRET],
];

describe('while the lock is on', () => {
  test('no word of the person is in any row, and only what a key or an index needs is plain', async () => {
    const { store, name } = await fullStore();
    await store.lock.turnOn(PASSKEY);
    // What is written later is sealed as well.
    await store.conversations.put(conversation('c2', { title: 'Kolkata by night' }));
    await store.messages.add(draft('m9', 'c2'), [text('Howrah Bridge')]);
    await store.decisions.add({
      callId: 'k9',
      conversation: 'c2',
      allow: false,
      scope: 'once',
      reason: 'too dear',
      at: 1,
    });
    await store.vault.set('server:s9', 'another-secret-987654');

    const rows = await rawRows(name);
    expect(sealedRows(rows)).toMatchObject({ plain: 0 });
    const kept = (store: string): string[][] =>
      [...new Set((rows.get(store) ?? []).map((row) => Object.keys(row).sort().join()))].map((it) =>
        it.split(','),
      );
    expect(kept('conversations')).toEqual([['id', 'sealed']]);
    expect(kept('parts')).toEqual([['conversation', 'index', 'part', 'sealed', 'seq']]);
    expect(kept('decisions')).toEqual([['callId', 'conversation', 'sealed']]);
    expect(kept('reminders')).toEqual([['id', 'sealed']]);
    expect(kept('actions')).toEqual([['sealed', 'seq']]);
    expect(kept('secrets')).toEqual([['name', 'sealed']]);
    for (const [, found] of rows)
      for (const row of found)
        if ('sealed' in row)
          for (const word of [...WORDS, 'Kolkata', 'Howrah', 'too dear', 'another-secret'])
            expect(wordsIn(row).includes(word), `${word} in a row`).toBe(false);
    // The same search finds them where they are not sealed.
    const change = await changing(store);
    await change.turnOff();
    const open = wordsIn([...(await rawRows(name)).values()]);
    for (const word of WORDS.filter((it) => it !== SECRET))
      expect(open.includes(word), word).toBe(true);
  });

  test('everything reads as before, here and after a restart, and everything as before once it is off', async () => {
    const { store, name } = await fullStore();
    const before = await everything(store);
    const rowsBefore = await rawRows(name);
    const shares: number[] = [];
    await store.lock.turnOn(PASSKEY, (share) => shares.push(share));
    expect(shares.at(-1)).toBe(1);
    expect(shares).toEqual(shares.toSorted((a, b) => a - b));
    expect(store.lock.on()).toBe(true);
    expect(await everything(store)).toEqual(before);
    store.close();

    const again = await reopen(name);
    expect(await everything(again)).toEqual(before);
    await (await changing(again)).turnOff();
    expect(again.lock.on()).toBe(false);
    expect(await everything(again)).toEqual(before);
    expect(await rawRows(name)).toEqual(rowsBefore);
    again.close();

    const unlocked = await openStore({ name, channel: false });
    onTestFinished(() => unlocked.close());
    expect(await everything(unlocked)).toEqual(before);
  });

  test('nothing opens without the right proof, and a wrong one says so', async () => {
    const { store, name } = await fullStore();
    await store.lock.turnOn(passphrase('four words and more'));
    store.close();
    await expect(openStore({ name, channel: false })).rejects.toMatchObject({ kind: 'locked' });
    // Somebody who does not ask at all has no store.
    await expect(openStore({ name, channel: false, unlock: async () => {} })).rejects.toMatchObject(
      { kind: 'locked' },
    );
    await expect(reopen(name, passphrase('four words and less'))).rejects.toThrow('wrong');
    await expect(reopen(name)).rejects.toThrow('wrong');
    const again = await reopen(name, passphrase('four words and more'));
    expect(await again.vault.get(content.secret.name)).toBe(SECRET);
  });

  test('the fourth try waits, after a restart as well, and even the right one is not heard then', async () => {
    const now = vi.spyOn(Date, 'now').mockReturnValue(1_000_000);
    onTestFinished(() => now.mockRestore());
    const { store, name } = await fullStore();
    await store.lock.turnOn(passphrase('four words and more'));
    store.close();
    for (let n = 0; n < 3; n++)
      await expect(reopen(name, passphrase(`wrong words ${n}`))).rejects.toThrow('wrong');
    await expect(reopen(name, passphrase('four words and more'))).rejects.toThrow('wait');
    now.mockReturnValue(1_005_000);
    const again = await reopen(name, passphrase('four words and more'));
    expect(await again.lock.wait()).toBe(0);
  });

  test('an export holds everything, and an import writes sealed rows', async () => {
    const { store, name } = await fullStore();
    const plain = JSON.parse(await (await store.archive.export()).text()) as object;
    await store.lock.turnOn(PASSKEY);
    const file = await store.archive.export();
    expect(JSON.parse(await file.text())).toEqual({ ...plain, exportedAt: expect.any(Number) });

    const target = freshName();
    const empty = await openStore({ name: target, channel: false });
    onTestFinished(() => empty.close());
    await empty.lock.turnOn(PASSKEY);
    expect(await empty.archive.import(file)).toMatchObject({
      ok: true,
      summary: { conversations: 1, reminders: 41 },
    });
    const here = await store.messages.list('c1');
    expect(await empty.messages.list('c1')).toMatchObject(here);
    const rows = await rawRows(target);
    expect(sealedRows(rows).plain).toBe(0);
    for (const word of ['half a sen', 'Pack a raincoat', 'light rain'])
      expect(wordsIn([...rows.values()]).includes(word)).toBe(false);
    expect(sealedRows(await rawRows(name)).plain).toBe(0);
  });

  test('a row that was changed from outside hides no other, and the log tells of it', async () => {
    const { store, name } = await fullStore();
    await store.lock.turnOn(PASSKEY);
    const db = await openDB(name);
    onTestFinished(() => db.close());
    const spoil = async (at: string, key: IDBValidKey): Promise<void> => {
      const row = (await db.get(at, key)) as { sealed: Uint8Array };
      await db.put(at, { ...row, sealed: row.sealed.map((byte) => byte ^ 1) });
    };
    await spoil('parts', ['c1', 1, 2]);
    await spoil('reminders', 'more-3');
    await spoil('actions', 1);
    const parts = await store.messages.parts('m2');
    expect(parts).toHaveLength(content.parts.m2?.length ?? 0);
    expect(parts[2]).toMatchObject({ kind: 'notice', code: 'damaged' });
    expect(parts[3]).toEqual(content.parts.m2?.[3]);
    expect(await store.reminders.all()).toHaveLength(40);
    expect(await store.actions.verify()).toBe(1);
    expect(await store.actions.search('ravi', 10)).toHaveLength(2);
    // Turned off, nothing is left that could not be read.
    await (await changing(store)).turnOff();
    expect(sealedRows(await rawRows(name)).sealed).toBe(0);
    expect(await store.reminders.all()).toHaveLength(40);
  });

  test('a row under the key of another is not taken for it', async () => {
    const { store, name } = await fullStore();
    await store.conversations.put(conversation('c2', { title: 'Other' }));
    await store.vault.set('server:s2', 'another-secret');
    await store.lock.turnOn(PASSKEY);
    const db = await openDB(name);
    onTestFinished(() => db.close());
    const swap = async (at: string, key: string, other: string, field: string): Promise<void> => {
      const row = (await db.get(at, other)) as object;
      await db.put(at, { ...row, [field]: key });
    };
    await swap('conversations', 'c1', 'c2', 'id');
    await swap('secrets', content.secret.name, 'server:s2', 'name');
    expect(await store.conversations.get('c1')).toBeUndefined();
    expect(await store.vault.get(content.secret.name)).toBeUndefined();
  });
});

describe('a rewrite that is broken off', () => {
  /** Breaks it off at every batch in turn, until it comes through. */
  async function* breaks(
    work: (store: Store, progress: (share: number) => void) => Promise<void>,
    start: () => Promise<{ store: Store; name: string }>,
  ): AsyncGenerator<string> {
    for (let at = 0; ; at++) {
      const { store, name } = await start();
      let left = at;
      const outcome = await work(store, () => {
        if (left-- === 0) store.close();
      }).then(
        () => 'done',
        () => 'broken',
      );
      store.close();
      if (outcome === 'done' && left >= 0) return;
      yield name;
    }
  }

  /** Resolves once the rewrite behind the app's back has ended. */
  const settled = (name: string, sealed: boolean): Promise<void> =>
    vi.waitFor(async () => {
      const rows = await rawRows(name);
      const lock = rows.get('lock')?.find((row) => row.key === 'lock');
      expect(lock?.phase).toBe(sealed ? 'on' : undefined);
      expect(sealedRows(rows)).toMatchObject(sealed ? { plain: 0 } : { sealed: 0 });
    });

  test('while the lock is turned on goes on after the next unlock, and all can be read meanwhile', async () => {
    const before = await everything((await fullStore()).store);
    let count = 0;
    for await (const name of breaks(
      (store, progress) => store.lock.turnOn(PASSKEY, progress),
      fullStore,
    )) {
      count++;
      await expect(openStore({ name, channel: false })).rejects.toMatchObject({ kind: 'locked' });
      const store = await reopen(name);
      const { found, ...read } = await everything(store);
      const { found: _found, ...expected } = before;
      expect(found).toHaveLength(1);
      expect(read).toEqual({ ...expected, actions: read.actions });
      await settled(name, true);
      store.close();
    }
    expect(count).toBeGreaterThan(7);
  });

  test('while it is turned off goes on after the next unlock, and no row is left that nobody can read', async () => {
    let count = 0;
    for await (const name of breaks(
      async (store, progress) => (await changing(store)).turnOff(progress),
      async () => {
        const full = await fullStore();
        await full.store.lock.turnOn(PASSKEY);
        return full;
      },
    )) {
      count++;
      const store = await reopen(name);
      await store.reminders.put({ id: 'new', text: 'New', at: 1, createdAt: 1, state: 'waiting' });
      expect(await store.reminders.all()).toHaveLength(42);
      expect(Object.fromEntries(await store.messages.partsOf('c1'))).toEqual(content.parts);
      expect(await store.vault.get(content.secret.name)).toBe(SECRET);
      await settled(name, false);
      store.close();
      const open = await openStore({ name, channel: false });
      expect(await open.reminders.all()).toHaveLength(42);
      expect(await open.actions.verify()).toBeNull();
      open.close();
    }
    expect(count).toBeGreaterThan(7);
  });
});

describe('another tab', () => {
  const twoTabs = async () => {
    const { store, name } = await fullStore();
    const onOutdated = vi.fn();
    const other = await openStore({ name, channel: false, onOutdated });
    onTestFinished(() => other.close());
    return { store, name, other, onOutdated };
  };

  test('that does not know of the lock can write nothing, is told to reload, and reads nothing', async () => {
    const { store, name, other, onOutdated } = await twoTabs();
    await store.lock.turnOn(PASSKEY);
    await expect(other.conversations.put(conversation('plain'))).rejects.toMatchObject({
      kind: 'locked',
      advice: 'Reload this tab to go on.',
    });
    await expect(other.conversations.list()).rejects.toMatchObject({ kind: 'locked' });
    expect(onOutdated).toHaveBeenCalledTimes(1);
    expect(sealedRows(await rawRows(name)).plain).toBe(0);
    expect(await store.conversations.get('plain')).toBeUndefined();
  });

  test('that still has the key of a lock that is gone can write nothing either', async () => {
    const { store, name } = await fullStore();
    await store.lock.turnOn(PASSKEY);
    const onOutdated = vi.fn();
    const other = await reopen(name, passkey, { onOutdated });
    await (await changing(store)).turnOff();
    await expect(other.conversations.put(conversation('sealed'))).rejects.toMatchObject({
      kind: 'locked',
    });
    expect(onOutdated).toHaveBeenCalledTimes(1);
    expect(sealedRows(await rawRows(name)).sealed).toBe(0);
  });

  test('that writes while the lock is turned on leaves nothing plain', async () => {
    const { store, name, other } = await twoTabs();
    const on = store.lock.turnOn(PASSKEY);
    let refused: unknown;
    for (let n = 0; refused === undefined && n < 1_000; n++)
      await other.reminders
        .put({ id: `late-${n}`, text: `Late ${n}`, at: 1, createdAt: 1, state: 'waiting' })
        .catch((error: unknown) => (refused = error));
    expect(refused).toMatchObject({ kind: 'locked' });
    await on;
    expect(sealedRows(await rawRows(name)).plain).toBe(0);
    expect((await store.reminders.all()).length).toBeGreaterThan(40);
  });

  test('cannot turn a second lock on', async () => {
    const { store, other } = await twoTabs();
    const both = await Promise.allSettled([
      store.lock.turnOn(PASSKEY),
      other.lock.turnOn({ ...PASSKEY, secret: PASSKEY.salt }),
    ]);
    expect(both.filter((it) => it.status === 'fulfilled')).toHaveLength(1);
  });

  test('hears of it, and what is written here meanwhile waits and is sealed', async () => {
    const name = freshName();
    const store = await openStore({ name });
    const onOutdated = vi.fn();
    const other = await openStore({ name, onOutdated });
    onTestFinished(() => (store.close(), other.close()));
    const on = store.lock.turnOn(PASSKEY);
    await Promise.all([store.conversations.put(conversation('meanwhile')), on]);
    await vi.waitFor(() => expect(onOutdated).toHaveBeenCalledTimes(1));
    expect(sealedRows(await rawRows(name))).toEqual({ sealed: 1, plain: 0 });
    expect(await store.conversations.list()).toHaveLength(1);
  });
});

describe('the ways', () => {
  test('can be added, changed and taken away, but for the last one, and none without opening it again', async () => {
    const { store, name } = await fullStore();
    await store.lock.turnOn(PASSKEY);
    expect(await store.lock.prove(passphrase('four words and more'))).toMatchObject({ ok: false });
    const change = await changing(store);
    await change.setWay(passphrase('four words and more'));
    expect((await store.lock.ways()).map((way) => way.kind)).toEqual(['passkey', 'passphrase']);
    (await reopen(name, passphrase('four words and more'))).close();
    await change.setWay(passphrase('five other words here'));
    await expect(reopen(name, passphrase('four words and more'))).rejects.toThrow('wrong');
    (await reopen(name, passphrase('five other words here'))).close();
    (await reopen(name)).close();
    await change.removeWay('passkey');
    await expect(reopen(name)).rejects.toThrow('wrong');
    await change.removeWay('passphrase');
    expect(await store.lock.ways()).toEqual([{ kind: 'passphrase' }]);
  });

  test('of a passphrase take eight characters', async () => {
    const { store, name } = await fullStore();
    await expect(store.lock.turnOn(passphrase('seven77'))).rejects.toThrow('at least 8');
    expect(store.lock.on()).toBe(false);
    expect(sealedRows(await rawRows(name)).sealed).toBe(0);
  });
});

test('who cannot open it can delete everything, and nothing else', async () => {
  const { store, name } = await fullStore();
  await store.lock.turnOn(PASSKEY);
  store.close();
  await expect(
    openStore({ name, channel: false, unlock: (locked) => locked.erase() }),
  ).rejects.toMatchObject({ kind: 'locked' });
  const empty = await openStore({ name, channel: false });
  onTestFinished(() => empty.close());
  expect(await empty.conversations.list()).toEqual([]);
  expect(empty.lock.on()).toBe(false);
});

test('deleting everything names the other tab that does not let go of it', async () => {
  const { store, name } = await fullStore();
  await store.lock.turnOn(PASSKEY);
  store.close();
  const stubborn = await openDB(name);
  const erased = openStore({
    name,
    channel: false,
    blockedMs: 10,
    unlock: (locked) => locked.erase(),
  });
  await expect(erased).rejects.toMatchObject({
    kind: 'blocked',
    advice: 'Close the other tabs of Deft, then reload this one.',
  });
  stubborn.close();
});

test('a database that version 4 locked is still opened', async () => {
  const raw = JSON.parse(
    await readFile(new URL('versions/4-locked.json', import.meta.url), 'utf8'),
  ) as RawDatabase;
  for (const proof of [passkey, passphrase('four words and more')]) {
    const name = freshName();
    await restore(name, raw);
    const store = await reopen(name, proof);
    // In its own words: what content.ts holds today may be more than it did then.
    expect(await store.conversations.list()).toMatchObject([
      { id: 'c1', title: 'Mumbai', draft: 'half a sen', queue: ['And book it.'], private: true },
    ]);
    const parts = await store.messages.parts('m2');
    expect(parts).toHaveLength(12);
    expect(parts[2]).toMatchObject({ callId: 'k1', outcome: { structured: { high_c: 29 } } });
    expect(parts[11]).toEqual({ kind: 'text', step: 1, text: 'Light rain, up to 29 °C.' });
    expect(await store.grants.for('s1', 'book')).toMatchObject([{ id: 'g2', verdict: 'deny' }]);
    expect(await store.decisions.get('k6')).toMatchObject({ allow: false, reason: 'No' });
    expect(await store.reminders.all()).toMatchObject([{ text: 'Pack a raincoat' }]);
  }
});
