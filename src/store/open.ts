/** Opens the store: one connection, its tables, and the changes that keep tabs in step. */
import { createActionLog } from './action-log.ts';
import { createChanges } from './changes.ts';
import { connect } from './connection.ts';
import { createConversations } from './conversations.ts';
import { createDecisions } from './decisions.ts';
import { createGrants } from './grants.ts';
import { createMessages } from './messages.ts';
import { MIGRATIONS } from './schema.ts';
import { createSettings } from './settings.ts';
import type { Store } from './store.ts';
import { createTable } from './tables.ts';
import { createVault } from './vault.ts';

export interface OpenOptions {
  /** Name of the database and of the channel; `deft` by default. */
  readonly name?: string;
  /** False: other tabs neither hear of changes nor are heard. */
  readonly channel?: boolean;
  /** Called once when a newer version in another tab took over: this one has to be reloaded. */
  readonly onOutdated?: () => void;
  /** Milliseconds to wait for tabs with an older version to let go; 5,000 by default. */
  readonly blockedMs?: number;
}

const loadArchive = () => import('./archive.ts');

/** Rejects with a `StoreError` or a `QuotaError`, whose words are for the person. */
export async function openStore(options: OpenOptions = {}): Promise<Store> {
  const { name = 'deft', channel = true, onOutdated, blockedMs = 5_000 } = options;
  const connection = await connect({ name, migrations: MIGRATIONS, blockedMs, onOutdated });
  const changes = createChanges(channel ? `${name}-changes` : null);
  return {
    changes,
    conversations: createConversations(connection, changes),
    messages: createMessages(connection, changes),
    decisions: createDecisions(connection, changes),
    grants: createGrants(connection, changes),
    servers: createTable(connection, changes, 'servers', (server) => server.id),
    lists: createTable(connection, changes, 'lists', (list) => list.server),
    reminders: createTable(connection, changes, 'reminders', (reminder) => reminder.id),
    accounts: createTable(connection, changes, 'accounts', (account) => account.id),
    models: createTable(connection, changes, 'models', (model) => model.id),
    figures: createTable(connection, changes, 'figures', (record) => record.id),
    settings: createSettings(connection, changes),
    vault: createVault(connection, changes),
    actions: createActionLog(connection, changes),
    // Comes when it is asked for: it is large, and no screen waits for it.
    archive: {
      export: async (passphrase) =>
        (await loadArchive()).createArchive(connection, changes).export(passphrase),
      import: async (file, passphrase) =>
        (await loadArchive()).createArchive(connection, changes).import(file, passphrase),
    },
    close() {
      connection.close();
      changes.close();
    },
  };
}
