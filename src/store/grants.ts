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
  };
}
