/** A simple table: records under a string key, each write announced once it is complete. */
import type { StoreKey, StoreValue } from 'idb';
import type { Connection } from './connection.ts';
import type { Schema, StoreName } from './schema.ts';
import type { Changes, Table, Topic } from './store.ts';

/** Stores whose records carry their own string key and whose name is their topic. */
type SimpleName = {
  [N in StoreName & Topic]: StoreKey<Schema, N> extends string ? N : never;
}[StoreName & Topic];

/** `keyOf` gives the key that the schema's key path reads from a record. */
export function createTable<N extends SimpleName>(
  connection: Connection,
  changes: Changes,
  name: N,
  keyOf: (record: StoreValue<Schema, N>) => string,
): Table<StoreValue<Schema, N>> {
  type Value = StoreValue<Schema, N>;
  return {
    get: (id) =>
      connection.read(
        [name],
        async (tx) => tx.objectStore<StoreName>(name).get(id) as Promise<Value | undefined>,
      ),
    all: () =>
      connection.read(
        [name],
        async (tx) => tx.objectStore<StoreName>(name).getAll() as Promise<Value[]>,
      ),
    async put(record) {
      await connection.write([name], 'relaxed', (tx) =>
        tx.objectStore<StoreName>(name).put(record),
      );
      changes.announce(name, keyOf(record));
    },
    async delete(id) {
      await connection.write([name], 'relaxed', (tx) => tx.objectStore<StoreName>(name).delete(id));
      changes.announce(name, id);
    },
    async update(id, change) {
      const { record, changed } = await connection.write([name], 'relaxed', async (tx) => {
        const store = tx.objectStore<StoreName>(name);
        const old = (await store.get(id)) as Value | undefined;
        const next = old === undefined ? undefined : change(old);
        if (next !== undefined) await store.put(next);
        return { record: next ?? old, changed: next !== undefined };
      });
      if (changed) changes.announce(name, id);
      return record;
    },
  };
}
