/** A person's answers, each written once for all tabs: the first one stands. */
import type { Connection } from './connection.ts';
import type { Changes, DecisionTable } from './store.ts';

export function createDecisions(connection: Connection, changes: Changes): DecisionTable {
  return {
    get: (callId) =>
      connection.read(['decisions'], (tx) => tx.objectStore('decisions').get(callId)),

    async add(decision, grant) {
      const added = await connection.write(['decisions', 'grants'], 'strict', async (tx) => {
        const store = tx.objectStore('decisions');
        if ((await store.getKey(decision.callId)) !== undefined) return false;
        await Promise.all([
          store.add(decision),
          ...(grant ? [tx.objectStore('grants').put(grant)] : []),
        ]);
        return true;
      });
      if (added && grant) changes.announce('grants', grant.id);
      if (added) changes.announce('decisions', decision.callId);
      return added;
    },
  };
}
