import { openDB } from 'idb';
import { expect, test } from 'vitest';
import { freshStore } from './helpers.ts';

const SECRET = 'sk-very-secret-0123456789-ключ';

/** Every byte sequence in a value: texts as UTF-8 and UTF-16, buffers as they are. */
function* bytesIn(value: unknown): Generator<Uint8Array> {
  if (typeof value === 'string') {
    yield new TextEncoder().encode(value);
    yield new Uint8Array(Uint16Array.from(value, (char) => char.charCodeAt(0)).buffer);
  } else if (value instanceof ArrayBuffer) yield new Uint8Array(value);
  else if (ArrayBuffer.isView(value)) yield new Uint8Array(value.buffer);
  else if (typeof value === 'object' && value !== null)
    for (const [key, inner] of Object.entries(value)) {
      yield* bytesIn(key);
      yield* bytesIn(inner);
    }
}

const latin = (bytes: Uint8Array): string =>
  Array.from(bytes, (byte) => String.fromCharCode(byte)).join('');

async function find(name: string, needle: string): Promise<boolean> {
  const needles = [...bytesIn(needle)].map(latin);
  const db = await openDB(name);
  let rows = 0;
  let found = false;
  for (const store of db.objectStoreNames)
    for (const row of (await db.getAll(store)) as unknown[]) {
      rows += 1;
      for (const bytes of bytesIn(row))
        if (needles.some((it) => latin(bytes).includes(it))) found = true;
    }
  db.close();
  expect(rows).toBeGreaterThan(0);
  return found;
}

test('a secret is nowhere in the database, and what is no secret is found', async () => {
  const { store, name } = await freshStore();
  await store.vault.set('cloud:a1', SECRET);
  expect(await find(name, SECRET)).toBe(false);
  expect(await find(name, SECRET.slice(0, 12))).toBe(false);
  expect(await find(name, 'cloud:a1')).toBe(true);
  expect(await store.vault.get('cloud:a1')).toBe(SECRET);
});

test('the key of the vault cannot be read out', async () => {
  const { store, name } = await freshStore();
  await store.vault.set('a', SECRET);
  const db = await openDB(name);
  const [key] = (await db.getAll('keys')) as CryptoKey[];
  db.close();
  if (!key) throw new Error('there is no key');
  expect(key.extractable).toBe(false);
  for (const format of ['raw', 'jwk'] as const)
    await expect(crypto.subtle.exportKey(format, key)).rejects.toThrow();
});
