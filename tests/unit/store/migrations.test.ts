import { openDB } from 'idb';
import { readFile } from 'node:fs/promises';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { connect } from '../../../src/store/connection.ts';
import { openStore } from '../../../src/store/open.ts';
import { MIGRATIONS, type Migration } from '../../../src/store/schema.ts';
import { DEFAULT_SETTINGS } from '../../../src/store/settings.ts';
import * as content from './content.ts';
import { conversation, freshName } from './helpers.ts';
import { dump, restore, type RawDatabase } from './raw.ts';

const readVersion = async (version: number): Promise<RawDatabase> =>
  JSON.parse(
    await readFile(new URL(`versions/${version}.json`, import.meta.url), 'utf8'),
  ) as RawDatabase;

const shapeOf = ({ version, stores }: RawDatabase) => ({
  version,
  stores: stores.map(({ name, keyPath, indexes }) => ({ name, keyPath, indexes })),
});

describe.each(MIGRATIONS.map((_, index) => index + 1))('version %i', (version) => {
  test('is opened with all its data', async () => {
    const raw = await readVersion(version);
    expect(raw.version).toBe(version);
    const name = freshName();
    await restore(name, raw);
    const store = await openStore({ name, channel: false });
    onTestFinished(() => store.close());
    expect(await store.conversations.list()).toEqual(content.conversations);
    expect(await store.messages.list('c1')).toEqual(content.messages);
    expect(Object.fromEntries(await store.messages.partsOf('c1'))).toEqual(content.parts);
    expect(await store.servers.all()).toEqual(content.servers);
    expect(await store.lists.all()).toEqual(content.lists);
    expect(await store.grants.all()).toEqual(content.grants);
    expect(await store.grants.for('s1', 'book')).toEqual([content.grants[1]]);
    expect(await store.decisions.get('k6')).toEqual(content.decisions[0]);
    expect(await store.reminders.all()).toEqual(content.reminders);
    expect(await store.accounts.all()).toEqual(content.accounts);
    expect(await store.models.all()).toEqual(content.models);
    // Limits that came after that version have their defaults.
    const limits = { ...DEFAULT_SETTINGS.limits, ...content.settings.limits };
    const settings = { ...DEFAULT_SETTINGS, ...content.settings, limits };
    expect(await store.settings.get()).toEqual(settings);
    expect(await store.conversations.search('29 °c mumbai')).toHaveLength(1);
    const secrets = (await dump(name)).stores.find((it) => it.name === 'secrets');
    expect(secrets?.rows).toEqual([
      {
        name: content.secret.name,
        iv: { $bytes: content.secret.iv, $as: 'Uint8Array' },
        data: { $bytes: content.secret.data, $as: 'ArrayBuffer' },
      },
    ]);
  });

  test('becomes what a new database is', async () => {
    const [old, made] = [freshName(), freshName()];
    await restore(old, await readVersion(version));
    for (const name of [old, made]) (await openStore({ name, channel: false })).close();
    expect(shapeOf(await dump(old))).toEqual(shapeOf(await dump(made)));
  });
});

describe('an upgrade', () => {
  const connectTo = (name: string, migrations: readonly Migration[], blockedMs = 5_000) =>
    connect({ name, migrations, blockedMs });
  /** A migration that rewrites rows, as a later version may need. */
  const retitle: Migration = async (_db, tx) => {
    for await (const cursor of tx.objectStore('conversations').iterate()) {
      const record = cursor.value as { title: string };
      await cursor.update({ ...record, title: `${record.title}!` });
    }
  };

  async function withData(): Promise<string> {
    const name = freshName();
    const store = await openStore({ name, channel: false });
    await store.conversations.put(conversation('a', { title: 'Hello' }));
    store.close();
    return name;
  }

  test('runs only the migrations that are missing, in order', async () => {
    const name = await withData();
    const connection = await connectTo(name, [...MIGRATIONS, retitle, retitle]);
    onTestFinished(() => connection.close());
    const read = await connection.read(['conversations'], (tx) =>
      tx.objectStore('conversations').get('a'),
    );
    expect(read?.title).toBe('Hello!!');
  });

  test('that fails half-way leaves the data as it was', async () => {
    const name = await withData();
    const fail: Migration = async (db, tx) => {
      await retitle(db, tx);
      throw new Error('a fault in a migration');
    };
    await expect(connectTo(name, [...MIGRATIONS, fail])).rejects.toMatchObject({
      kind: 'upgrade',
      cause: { message: 'a fault in a migration' },
    });
    const store = await openStore({ name, channel: false });
    onTestFinished(() => store.close());
    expect((await store.conversations.get('a'))?.title).toBe('Hello');
  });

  test('makes an older tab let go and say so', async () => {
    const name = await withData();
    const onOutdated = vi.fn();
    const old = await openStore({ name, channel: false, onOutdated });
    const connection = await connectTo(name, [...MIGRATIONS, retitle]);
    onTestFinished(() => connection.close());
    expect(onOutdated).toHaveBeenCalledTimes(1);
    const failed = old.conversations.list();
    await expect(failed).rejects.toMatchObject({ kind: 'outdated' });
    await expect(failed).rejects.toThrow('updated, or its data erased, in another tab');
  });

  test('that another tab blocks says which tab to close, and works once it is', async () => {
    const name = await withData();
    const stubborn = await openDB(name);
    await expect(connectTo(name, [...MIGRATIONS, retitle], 20)).rejects.toMatchObject({
      kind: 'blocked',
      advice: 'Close the other tabs of Deft, then reload this one.',
    });
    stubborn.close();
    const connection = await connectTo(name, [...MIGRATIONS, retitle]);
    onTestFinished(() => connection.close());
  });

  test('is asked of the app where the data is newer than it', async () => {
    const name = await withData();
    (await connectTo(name, [...MIGRATIONS, retitle])).close();
    await expect(openStore({ name, channel: false })).rejects.toMatchObject({ kind: 'newer' });
  });
});
