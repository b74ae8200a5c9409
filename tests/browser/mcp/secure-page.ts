/** What a page of an https origin does with a server that is stored: it renews its list. */
import { createHost } from '../../../src/mcp/host.ts';
import { openStore } from '../../../src/store/open.ts';

/** Gives how the renewal ended. */
export async function refreshStored(url: string): Promise<unknown> {
  const name = `mcp-${crypto.randomUUID()}`;
  const store = await openStore({ name, channel: false });
  const host = createHost({ store, inPage: [], limits: { connect: 15_000, list: 15_000 } });
  try {
    const server = {
      id: 'stored',
      name: 'Stored',
      url,
      addedAt: 0,
      enabled: true,
      trustHints: false,
      private: false,
    };
    await store.servers.put(server);
    return await host.refresh(server.id);
  } finally {
    await host.close();
    store.close();
    indexedDB.deleteDatabase(name);
  }
}
