/** Opens the store: one connection, its tables, and the changes that keep tabs in step. */
import { createChanges } from './changes.ts';
import { connect, type Connection } from './connection.ts';
import { createConversations } from './conversations.ts';
import { createDecisions } from './decisions.ts';
import { createGrants } from './grants.ts';
import { createMessages } from './messages.ts';
import { MIGRATIONS } from './schema.ts';
import { createSettings } from './settings.ts';
import type { ActionLog, Changes, Lock, Locked, Store } from './store.ts';
import { createTable } from './tables.ts';
import { createVault } from './vault.ts';

export interface OpenOptions {
  /** Name of the database and of the channel; `deft` by default. */
  readonly name?: string;
  /** False: other tabs neither hear of changes nor are heard. */
  readonly channel?: boolean;
  /**
   * Called once when another tab made this one useless, by a newer version or by turning the app lock
   * on or off: this one has to be reloaded.
   */
  readonly onOutdated?: () => void;
  /** Milliseconds to wait for tabs with an older version to let go; 5,000 by default. */
  readonly blockedMs?: number;
  /** Asked where the app lock is on; resolves once it has opened it. Without it the store stays shut. */
  readonly unlock?: (locked: Locked) => Promise<void>;
}

const loadArchive = () => import('./archive.ts');
const loadLock = () => import('./lock.ts');

/** The lock of an open store; its code comes when it is asked for. */
function createLazyLock(connection: Connection, changes: Changes): Lock {
  const load = async () => (await loadLock()).createLock(connection, changes);
  return {
    on: () => connection.stance.lock !== null,
    ways: async () => (await load()).ways(),
    wait: async () => (await load()).wait(),
    turnOn: async (...input) => (await load()).turnOn(...input),
    prove: async (proof) => (await load()).prove(proof),
  };
}

/** Rejects with a `StoreError` or a `QuotaError`, whose words are for the person. */
export async function openStore(options: OpenOptions = {}): Promise<Store> {
  const { name = 'deft', channel = true, onOutdated, blockedMs = 5_000 } = options;
  const connection = await connect({ name, migrations: MIGRATIONS, blockedMs, onOutdated });
  const changes = createChanges(channel ? `${name}-changes` : null);
  // Any use of a sealed store finds out whether the lock is still the one that is known here.
  changes.subscribe(({ topic, remote }) => {
    if (topic === 'lock' && remote)
      connection.read(['reminders'], (tx) => tx.objectStore('reminders').count()).catch(() => {});
  });
  try {
    const lock = await connection.read(['lock'], (tx) => tx.objectStore('lock').get('lock'));
    if (lock)
      await (await loadLock()).passLock(connection, changes, { name, blockedMs }, options.unlock);
  } catch (error) {
    connection.close();
    changes.close();
    throw error;
  }
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
    actions: createLazyLog(connection, changes),
    // Comes when it is asked for: it is large, and no screen waits for it.
    archive: {
      export: async (passphrase) =>
        (await loadArchive()).createArchive(connection, changes).export(passphrase),
      import: async (file, passphrase) =>
        (await loadArchive()).createArchive(connection, changes).import(file, passphrase),
    },
    lock: createLazyLock(connection, changes),
    close() {
      connection.close();
      changes.close();
    },
  };
}

/** The log, whose code comes with the first call or the screen that shows it. */
function createLazyLog(connection: Connection, changes: Changes): ActionLog {
  const load = async () => (await import('./action-log.ts')).createActionLog(connection, changes);
  return {
    append: async (draft) => (await load()).append(draft),
    search: async (query, limit) => (await load()).search(query, limit),
    verify: async () => (await load()).verify(),
    export: async () => (await load()).export(),
    clear: async () => (await load()).clear(),
  };
}
