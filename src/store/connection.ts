/**
 * One connection to the database, and the one way to read and write through it.
 *
 * Promises: a write resolves when its transaction is complete and leaves nothing behind where it
 * fails; want of room is a `QuotaError`; a tab that stands in the way of a newer version closes its
 * connection by itself; a connection that the browser dropped is opened again at the next use.
 */
import { openDB } from 'idb';
import {
  StoreError,
  isDeadConnection,
  openError,
  transactionError,
  upgradeError,
} from './errors.ts';
import type { Database, Migration, Reading, Schema, StoreName, Writing } from './schema.ts';

/**
 * relaxed: handed to the system, so it survives a killed tab or browser; loses at most the last
 * moments in a power cut. strict: on the disk; for what must never happen twice.
 */
export type Durability = 'relaxed' | 'strict';

export interface Connection {
  read<T>(stores: readonly StoreName[], body: (tx: Reading) => Promise<T>): Promise<T>;
  write<T>(
    stores: readonly StoreName[],
    durability: Durability,
    body: (tx: Writing) => Promise<T>,
  ): Promise<T>;
  close(): void;
}

export interface ConnectionOptions {
  readonly name: string;
  readonly migrations: readonly Migration[];
  /** Milliseconds to wait for other tabs to let go of an older version. */
  readonly blockedMs: number;
  /** Called once when another tab's newer version closed this connection. */
  readonly onOutdated?: (() => void) | undefined;
}

interface Events {
  readonly outdated: () => void;
  readonly lost: () => void;
}

function openDatabase(options: ConnectionOptions, events: Events): Promise<Database> {
  const { name, migrations, blockedMs } = options;
  return new Promise((resolve, reject) => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let gaveUp = false;
    let fault: unknown;
    // Async, because some browsers refuse by throwing.
    const opening = async () =>
      openDB<Schema>(name, migrations.length, {
        upgrade(typed, from, _to, typedTx) {
          const db = typed as unknown as Parameters<Migration>[0];
          const tx = typedTx as unknown as Parameters<Migration>[1];
          // The opening itself reports a failed upgrade.
          tx.done.catch(() => {});
          const migrate = async () => {
            for (const step of migrations.slice(from)) await step(db, tx);
          };
          migrate().catch((error: unknown) => {
            fault = error;
            tx.abort();
          });
        },
        blocked() {
          timer = setTimeout(() => {
            gaveUp = true;
            reject(new StoreError('blocked'));
          }, blockedMs);
        },
        blocking: events.outdated,
        terminated: events.lost,
      });
    opening().then(
      (db) => {
        clearTimeout(timer);
        if (gaveUp) db.close();
        else resolve(db);
      },
      (error: unknown) => {
        clearTimeout(timer);
        reject(fault === undefined ? openError(error) : upgradeError(fault));
      },
    );
  });
}

async function run<Tx extends Reading | Writing, T>(
  tx: Tx,
  body: (tx: Tx) => Promise<T>,
): Promise<T> {
  const done = tx.done.then(
    () => undefined,
    (error: unknown) => error ?? new DOMException('The transaction was aborted.', 'AbortError'),
  );
  try {
    const result = await body(tx);
    const fault = await done;
    if (fault !== undefined) throw fault;
    return result;
  } catch (error) {
    try {
      tx.abort();
    } catch {
      // It has ended by itself.
    }
    throw transactionError([error, await done]);
  }
}

/** Opens the database, brings it up to date, and keeps it open. */
export async function connect(options: ConnectionOptions): Promise<Connection> {
  let ended: StoreError | null = null;
  let open: Promise<Database> | null = null;

  const database = (): Promise<Database> => {
    if (ended) return Promise.reject(ended);
    if (open) return open;
    const opening = openDatabase(options, {
      outdated() {
        end(new StoreError('outdated'));
        options.onOutdated?.();
      },
      lost() {
        if (open === opening) open = null;
      },
    });
    open = opening;
    opening.catch(() => {
      if (open === opening) open = null;
    });
    return opening;
  };

  function end(error: StoreError): void {
    if (ended) return;
    ended = error;
    open?.then(
      (db) => db.close(),
      () => {},
    );
  }

  /** Nothing has been written yet when a transaction cannot be begun: so it is tried once more. */
  async function begin<Tx>(make: (db: Database) => Tx): Promise<Tx> {
    const opened = database();
    try {
      return make(await opened);
    } catch (error) {
      if (ended) throw ended;
      if (!isDeadConnection(error)) throw error;
      if (open === opened) open = null;
      return make(await database());
    }
  }

  await database();
  return {
    read: async (stores, body) =>
      run(await begin((db) => db.transaction([...stores], 'readonly') as Reading), body),
    write: async (stores, durability, body) =>
      run(
        await begin((db) => db.transaction([...stores], 'readwrite', { durability }) as Writing),
        body,
      ),
    close: () => end(new StoreError('closed')),
  };
}
