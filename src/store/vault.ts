/**
 * Secrets, encrypted under an AES-GCM key that the browser keeps and no script can read out.
 *
 * Promises: no secret is ever in the database in the clear; every write has a fresh IV; a secret is
 * bound to its name, so that a row copied under another name does not open.
 */
import type { Connection } from './connection.ts';
import type { Changes, Vault } from './store.ts';

const KEY_NAME = 'vault';
/** NIST SP 800-38D, 8.2: 96 bits. */
const IV_BYTES = 12;

const utf8 = new TextEncoder();

export function createVault(connection: Connection, changes: Changes): Vault {
  let cached: Promise<CryptoKey> | null = null;

  /** The key of this database, made at first need; where two tabs make one, the first stands. */
  async function findKey(): Promise<CryptoKey> {
    const stored = await connection.read(['keys'], (tx) => tx.objectStore('keys').get(KEY_NAME));
    if (stored) return stored;
    const made = await crypto.subtle.generateKey({ name: 'AES-GCM', length: 256 }, false, [
      'encrypt',
      'decrypt',
    ]);
    return connection.write(['keys'], 'strict', async (tx) => {
      const store = tx.objectStore('keys');
      const other = await store.get(KEY_NAME);
      if (other) return other;
      await store.add(made, KEY_NAME);
      return made;
    });
  }

  function vaultKey(): Promise<CryptoKey> {
    if (!cached) {
      cached = findKey();
      cached.catch(() => (cached = null));
    }
    return cached;
  }

  async function get(name: string): Promise<string | undefined> {
    const row = await connection.read(['secrets'], (tx) => tx.objectStore('secrets').get(name));
    if (!row) return undefined;
    const key = await vaultKey();
    try {
      const additionalData = utf8.encode(name);
      const clear = await crypto.subtle.decrypt(
        { name: 'AES-GCM', iv: row.iv, additionalData },
        key,
        row.data,
      );
      return new TextDecoder().decode(clear);
    } catch {
      // Damaged, or of another key: it is as good as absent and has to be given again.
      return undefined;
    }
  }

  return {
    get,
    async set(name, secret) {
      const key = await vaultKey();
      const iv = crypto.getRandomValues(new Uint8Array(IV_BYTES));
      const additionalData = utf8.encode(name);
      const data = await crypto.subtle.encrypt(
        { name: 'AES-GCM', iv, additionalData },
        key,
        utf8.encode(secret),
      );
      await connection.write(['secrets'], 'strict', (tx) =>
        tx.objectStore('secrets').put({ name, iv, data }),
      );
      changes.announce('secrets', name);
    },
    async delete(name) {
      await connection.write(['secrets'], 'strict', (tx) => tx.objectStore('secrets').delete(name));
      changes.announce('secrets', name);
    },
    has: async (name) => (await get(name)) !== undefined,
  };
}
