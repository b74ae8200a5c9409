/** A database as plain JSON: its version, its tables and their rows. For fixtures of old versions. */
import { openDB } from 'idb';

export interface RawStore {
  readonly name: string;
  readonly keyPath: string | string[] | null;
  readonly indexes: readonly {
    readonly name: string;
    readonly keyPath: string | string[];
    readonly unique: boolean;
  }[];
  readonly rows: readonly unknown[];
}

export interface RawDatabase {
  readonly version: number;
  readonly stores: readonly RawStore[];
}

interface Bytes {
  readonly $bytes: readonly number[];
  readonly $as: 'Uint8Array' | 'ArrayBuffer';
}

const isBytes = (value: unknown): value is Bytes =>
  typeof value === 'object' && value !== null && '$bytes' in value;

function fromJson(value: unknown): unknown {
  if (isBytes(value)) {
    const bytes = Uint8Array.from(value.$bytes);
    return value.$as === 'ArrayBuffer' ? bytes.buffer : bytes;
  }
  if (Array.isArray(value)) return value.map(fromJson);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, it]) => [key, fromJson(it)]));
}

function toJson(value: unknown): unknown {
  if (value instanceof Uint8Array) return { $bytes: [...value], $as: 'Uint8Array' };
  if (value instanceof ArrayBuffer)
    return { $bytes: [...new Uint8Array(value)], $as: 'ArrayBuffer' };
  if (Array.isArray(value)) return value.map(toJson);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, it]) => [key, toJson(it)]));
}

/** Makes the database exactly as it is described, without the product's own code. */
export async function restore(name: string, raw: RawDatabase): Promise<void> {
  const db = await openDB(name, raw.version, {
    upgrade(made) {
      for (const { name: store, keyPath, indexes } of raw.stores) {
        const added = made.createObjectStore(store, { keyPath });
        for (const index of indexes)
          added.createIndex(index.name, index.keyPath, { unique: index.unique });
      }
    },
  });
  for (const store of raw.stores)
    for (const row of store.rows) await db.put(store.name, fromJson(row));
  db.close();
}

/** Describes a database; rows of tables without a key path (keys of the vault) are left out. */
export async function dump(name: string): Promise<RawDatabase> {
  const db = await openDB(name);
  const stores: RawStore[] = [];
  for (const store of db.objectStoreNames) {
    const tx = db.transaction(store);
    const { keyPath, indexNames } = tx.store;
    const indexes = [...indexNames].map((index) => {
      const { keyPath: path, unique } = tx.store.index(index);
      return { name: index, keyPath: path, unique };
    });
    const rows = keyPath === null ? [] : (await tx.store.getAll()).map(toJson);
    stores.push({ name: store, keyPath, indexes, rows });
  }
  const { version } = db;
  db.close();
  return { version, stores };
}
