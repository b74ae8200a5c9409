/** A person's answers, each written once for all tabs: the first one stands. */
import type { Connection } from './connection.ts';
import type { Changes, DecisionTable } from './store.ts';

export function createDecisions(connection: Connection, changes: Changes): DecisionTable {
  return {
    get: (callId) =>
      connection.read(['decisions'], (tx) => tx.objectStore('decisions').get(callId)),

    async add(decision) {
      const added = await connection.write(['decisions'], 'strict', async (tx) => {
        const store = tx.objectStore('decisions');
        if ((await store.getKey(decision.callId)) !== undefined) return false;
        await store.add(decision);
        return true;
      });
      if (added) changes.announce('decisions', decision.callId);
      return added;
    },
  };
}
