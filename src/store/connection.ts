/**
 * One connection to the database, and the one way to read and write through it.
 *
 * Promises: a write resolves when its transaction is complete and leaves nothing behind where it
 * fails; want of room is a `QuotaError`; a tab that stands in the way of a newer version closes its
 * connection by itself; a connection that the browser dropped is opened again at the next use.
 *
 * Where the app lock is on, rows are opened and sealed here, on the way (sealing.ts), so that none slips
 * by. Each transaction over a store that is sealed looks, inside of itself, whether the lock is the one
 * that this connection knows. Where another tab has turned it on or off meanwhile, nothing of the
 * transaction stands, the connection ends, and the tab has to be reloaded: no row is ever written plain
 * under a lock, or sealed where there is none.
 */
import { openDB, type IDBPTransaction } from 'idb';
import {
  StoreError,
  isDeadConnection,
  openError,
  transactionError,
  upgradeError,
} from './errors.ts';
import {
  SEALED,
  type Database,
  type Migration,
  type Reading,
  type Schema,
  type StoreName,
  type Writing,
} from './schema.ts';

/**
 * relaxed: handed to the system, so it survives a killed tab or browser; loses at most the last
 * moments in a power cut. strict: on the disk; for what must never happen twice.
 */
export type Durability = 'relaxed' | 'strict';

/** How a connection takes the rows of the stores that are sealed under a lock. */
export interface Stance {
  /** Id of the lock; null: there is none. */
  readonly lock: string | null;
  /** The lock is being taken off: rows are written plain again. */
  readonly opening: boolean;
  /** The same transaction, with rows opened and sealed on the way. */
  readonly through: <Tx extends Reading>(tx: Tx) => Tx;
}

export const PLAIN: Stance = { lock: null, opening: false, through: (tx) => tx };

export interface Connection {
  read<T>(stores: readonly StoreName[], body: (tx: Reading) => Promise<T>): Promise<T>;
  write<T>(
    stores: readonly StoreName[],
    durability: Durability,
    body: (tx: Writing) => Promise<T>,
  ): Promise<T>;
  readonly stance: Stance;
  /**
   * Writes to the store `lock`, and takes another stance once that stands; transactions that are begun
   * meanwhile wait. False from `body`: nothing was to be changed, and the stance stays.
   */
  turn(next: Stance, body: (tx: Writing) => Promise<boolean>): Promise<boolean>;
  close(): void;
}

export interface ConnectionOptions {
  readonly name: string;
  readonly migrations: readonly Migration[];
  /** Milliseconds to wait for other tabs to let go of an older version. */
  readonly blockedMs: number;
  /** Called once when another tab closed this connection: by a newer version, or by the app lock. */
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

type RawTransaction = IDBPTransaction<Schema, StoreName[], IDBTransactionMode>;

/** A transaction with the stance that it was begun in. */
interface Begun {
  readonly tx: RawTransaction;
  readonly stance: Stance;
  /** Whether the lock is still the one that the stance stands for. */
  readonly fits: Promise<boolean>;
}

const isSealed = (name: StoreName): boolean => SEALED.some((it) => it === name);

async function fitsLock(tx: RawTransaction, stance: Stance): Promise<boolean> {
  const row = await tx.objectStore('lock').get('lock');
  const lock = row?.key === 'lock' ? row : null;
  return lock === null
    ? stance.lock === null
    : stance.lock === lock.id && stance.opening === (lock.phase === 'opening');
}

function beginIn(
  db: Database,
  stores: readonly StoreName[],
  stance: Stance,
  mode: 'readonly' | 'readwrite',
  durability: Durability = 'relaxed',
): Begun {
  const guarded = stores.some(isSealed);
  const scope: StoreName[] = guarded ? [...stores, 'lock'] : [...stores];
  const tx = db.transaction(scope, mode, { durability }) as RawTransaction;
  // The first request: its answer is there before that of any other.
  const fits = guarded ? fitsLock(tx, stance) : Promise.resolve(true);
  fits.catch(() => {});
  return { tx, stance, fits };
}

async function run<T>(
  { tx, stance, fits }: Begun,
  body: (tx: Writing) => Promise<T>,
  onOtherLock: () => StoreError,
): Promise<T> {
  const done = tx.done.then(
    () => undefined,
    (error: unknown) => error ?? new DOMException('The transaction was aborted.', 'AbortError'),
  );
  const abort = (): void => {
    try {
      tx.abort();
    } catch {
      // It has ended by itself.
    }
  };
  let other = false;
  void fits.then(
    (fit) => {
      other = !fit;
      if (!fit) abort();
    },
    () => {},
  );
  try {
    const result = await body(stance.through(tx as unknown as Writing));
    const fault = await done;
    if (fault !== undefined) throw fault;
    return result;
  } catch (error) {
    await fits.catch(() => {});
    abort();
    const fault = await done;
    throw other ? onOtherLock() : transactionError([error, fault]);
  }
}

/** Opens the database, brings it up to date, and keeps it open. */
export async function connect(options: ConnectionOptions): Promise<Connection> {
  let ended: StoreError | null = null;
  let open: Promise<Database> | null = null;
  let stance = PLAIN;
  /** The latest change of stance. */
  let turning: Promise<unknown> = Promise.resolve();

  const database = (): Promise<Database> => {
    if (ended) return Promise.reject(ended);
    if (open) return open;
    const opening = openDatabase(options, {
      outdated: () => outdate('outdated'),
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

  /** Another tab has made this connection useless. */
  function outdate(kind: 'outdated' | 'locked'): StoreError {
    const error = ended ?? new StoreError(kind);
    if (!ended) {
      end(error);
      options.onOutdated?.();
    }
    return error;
  }

  /** Nothing has been written yet when a transaction cannot be begun: so it is tried once more. */
  async function retried<T>(make: (db: Database) => T): Promise<T> {
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

  /** Begins a transaction while no change of stance is under way. */
  async function begin(make: (db: Database) => Begun): Promise<Begun> {
    for (;;) {
      const latest = turning;
      await latest;
      const begun = await retried((db) => (latest === turning ? make(db) : null));
      if (begun) return begun;
    }
  }

  const otherLock = (): StoreError => outdate('locked');

  await database();
  return {
    read: async (stores, body) =>
      run(await begin((db) => beginIn(db, stores, stance, 'readonly')), body, otherLock),
    write: async (stores, durability, body) =>
      run(
        await begin((db) => beginIn(db, stores, stance, 'readwrite', durability)),
        body,
        otherLock,
      ),
    get stance() {
      return stance;
    },
    turn(next, body) {
      const before = turning;
      const work = before
        .then(() => retried((db) => beginIn(db, ['lock'], PLAIN, 'readwrite', 'strict')))
        .then((begun) => run(begun, body, otherLock));
      turning = work.then(
        (turned) => {
          if (turned) stance = next;
        },
        () => {},
      );
      return work;
    },
    close: () => end(new StoreError('closed')),
  };
}
