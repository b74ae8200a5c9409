/** What may run, or may never run, without asking. */
import type { Connection } from './connection.ts';
import type { Changes, GrantTable } from './store.ts';
import { createTable } from './tables.ts';

export function createGrants(connection: Connection, changes: Changes): GrantTable {
  return {
    ...createTable(connection, changes, 'grants', (grant) => grant.id),
    for: (server, tool) =>
      connection.read(['grants'], (tx) =>
        tx.objectStore('grants').index('tool').getAll([server, tool]),
      ),

    async replace({ server, tool }, isReplaced, next) {
      const gone = await connection.write(['grants'], 'strict', async (tx) => {
        const store = tx.objectStore('grants');
        const old = (await store.index('tool').getAll([server, tool])).filter(isReplaced);
        await Promise.all(old.map(({ id }) => store.delete(id)));
        if (next) await store.put(next);
        return old;
      });
      for (const id of new Set([...gone, ...(next ? [next] : [])].map((it) => it.id)))
        changes.announce('grants', id);
    },
  };
}
