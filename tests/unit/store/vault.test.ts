import { openDB } from 'idb';
import { describe, expect, test } from 'vitest';
import { openStore } from '../../../src/store/open.ts';
import { freshName, freshStore } from './helpers.ts';

const SECRET = 'sk-very-secret-ключ-0123456789';

describe('the vault', () => {
  test('gives back what it was given', async () => {
    const { vault } = await freshStore();
    expect(await vault.get('a')).toBeUndefined();
    expect(await vault.has('a')).toBe(false);
    await vault.set('a', SECRET);
    await vault.set('empty', '');
    expect(await vault.get('a')).toBe(SECRET);
    expect(await vault.get('empty')).toBe('');
    expect(await vault.has('a')).toBe(true);
    await vault.delete('a');
    expect(await vault.get('a')).toBeUndefined();
  });

  test('has one key for all tabs, also when two make it at the same time', async () => {
    const name = freshName();
    const [here, there] = await Promise.all([openStore({ name }), openStore({ name })]);
    await Promise.all([here.vault.set('a', 'one'), there.vault.set('b', 'two')]);
    expect(await there.vault.get('a')).toBe('one');
    expect(await here.vault.get('b')).toBe('two');
    here.close();
    there.close();
  });

  test('writes the same secret differently each time', async () => {
    const name = freshName();
    const store = await freshStore({ name });
    const db = await openDB(name);
    const read = async () =>
      (await db.get('secrets', 'a')) as { iv: Uint8Array; data: ArrayBuffer };
    await store.vault.set('a', SECRET);
    const first = await read();
    await store.vault.set('a', SECRET);
    const second = await read();
    expect(second.iv).not.toEqual(first.iv);
    expect(Buffer.from(second.data).equals(Buffer.from(first.data))).toBe(false);
    db.close();
  });

  test('does not open a row under another name, nor one that was changed', async () => {
    const name = freshName();
    const store = await freshStore({ name });
    await store.vault.set('a', SECRET);
    const db = await openDB(name);
    const row = (await db.get('secrets', 'a')) as { iv: Uint8Array; data: ArrayBuffer };
    await db.put('secrets', { ...row, name: 'b' });
    expect(await store.vault.get('b')).toBeUndefined();
    expect(await store.vault.has('b')).toBe(false);
    const damaged = new Uint8Array(row.data.slice(0));
    damaged[0] = (damaged[0] ?? 0) ^ 1;
    await db.put('secrets', { ...row, name: 'a', data: damaged.buffer });
    expect(await store.vault.get('a')).toBeUndefined();
    db.close();
  });
});
