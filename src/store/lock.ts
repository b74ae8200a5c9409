/**
 * The app lock: turning it on and off, opening it, and the ways that do. Loaded only where there is one,
 * or is to be.
 *
 * Promises: the key of the rows exists in the clear only in the memory of a tab that was opened; a lock
 * is on from the first row that is sealed to the last one that is opened, so that a rewrite which is
 * broken off at any point goes on after the next unlock, and there is never a row that nobody can read;
 * nothing of the lock is changed without opening it again; there is always a way left.
 */
import { deleteDB } from 'idb';
import { PLAIN, type Connection } from './connection.ts';
import { StoreError } from './errors.ts';
import { countTry, forgiveTries, waitLeft } from './lock-tries.ts';
import { unwrapKey, wrapKey } from './lock-ways.ts';
import { SEALED, type LockRow, type SealedName, type Writing } from './schema.ts';
import { KEY_BYTES, sealedStance } from './sealing.ts';
import type { Changes, Lock, LockChange, Locked, NewWay, Proof, Tried, Way } from './store.ts';

/** Characters of a passphrase, at least. */
const LEAST = 8;
/** Rows rewritten in one transaction. */
const BATCH = 32;

type Progress = (share: number) => void;

async function readLock(tx: Writing): Promise<LockRow | null> {
  const row = await tx.objectStore('lock').get('lock');
  return row?.key === 'lock' ? row : null;
}

const currentLock = (connection: Connection): Promise<LockRow | null> =>
  connection.read(['lock'], (tx) => readLock(tx as Writing));

function waysOf(row: LockRow | null): Way[] {
  return (row?.ways ?? []).map((way) =>
    way.kind === 'passkey'
      ? { kind: way.kind, credential: way.credential, salt: way.salt }
      : { kind: way.kind },
  );
}

/** Rewrites every row: it is read as it is and written as the connection writes now. */
async function sweep(connection: Connection, progress: Progress): Promise<void> {
  const counts = await connection.read(SEALED, (tx) =>
    Promise.all(SEALED.map((name) => tx.objectStore(name).count())),
  );
  const all = counts.reduce((sum, count) => sum + count, 0);
  let done = 0;
  for (const name of SEALED) {
    let after: IDBValidKey | undefined;
    for (;;) {
      const keys = await rewrite(connection, name, after);
      if (keys.length === 0) break;
      after = keys.at(-1);
      done += keys.length;
      progress(Math.min(1, done / all));
    }
  }
}

/** Rewrites the rows behind `after`, as many as one transaction takes, and gives their keys. */
function rewrite(
  connection: Connection,
  name: SealedName,
  after: IDBValidKey | undefined,
): Promise<IDBValidKey[]> {
  const { opening } = connection.stance;
  return connection.write([name], 'relaxed', async (tx) => {
    const store = tx.objectStore<SealedName>(name);
    const range = after === undefined ? null : IDBKeyRange.lowerBound(after, true);
    const keys = await store.getAllKeys(range, BATCH);
    const move = async (key: (typeof keys)[number]): Promise<void> => {
      const record = await store.get(key as never);
      if (record !== undefined) await store.put(record);
      // It does not open, and soon nothing could tell that it is no row of the app's.
      else if (opening) await store.delete(key as never);
    };
    await Promise.all(keys.map(move));
    return keys;
  });
}

/** Brings a rewrite to its end that was begun here or broken off earlier. */
async function settle(
  connection: Connection,
  changes: Changes,
  progress: Progress = () => {},
): Promise<void> {
  const row = await currentLock(connection);
  if (!row || row.phase === 'on') return;
  await sweep(connection, progress);
  const { stance } = connection;
  if (row.phase === 'sealing') {
    await connection.turn(stance, async (tx) => {
      const now = await readLock(tx);
      if (now?.id !== row.id || now.phase !== 'sealing') return false;
      await tx.objectStore('lock').put({ ...now, phase: 'on' });
      return true;
    });
  } else {
    await connection.turn(PLAIN, async (tx) => {
      const now = await readLock(tx);
      if (now?.id !== row.id || now.phase !== 'opening') return false;
      await tx.objectStore('lock').clear();
      return true;
    });
  }
  changes.announce('lock', row.id);
}

type Key = Uint8Array<ArrayBuffer>;

/** Tries to open the lock; a wrong passphrase is counted. Null: there is no lock any more. */
async function tryProof(
  connection: Connection,
  proof: Proof,
): Promise<Exclude<Tried, { ok: true }> | { ok: true; row: LockRow; key: Key }> {
  // A passkey cannot be guessed, and its own device slows those who try.
  const waitMs = proof.kind === 'passphrase' ? await countTry(connection) : 0;
  if (waitMs > 0) return { ok: false, why: 'wait', waitMs };
  const row = await currentLock(connection);
  if (!row) throw new StoreError('locked');
  const way = row.ways.find((it) => it.kind === proof.kind);
  const key = way ? await unwrapKey(row.id, way, proof) : null;
  if (!key) return { ok: false, why: 'wrong', waitMs: await waitLeft(connection) };
  await forgiveTries(connection);
  return { ok: true, row, key };
}

function checkWay(way: NewWay): void {
  if (way.kind === 'passphrase' && [...way.passphrase.normalize('NFKC')].length < LEAST)
    throw new RangeError(`A passphrase has at least ${LEAST} characters.`);
}

/** What one who has opened the lock again may do with it. */
function changing(connection: Connection, changes: Changes, lock: string, key: Key): LockChange {
  const rewriteWays = async (change: (ways: LockRow['ways']) => LockRow['ways']): Promise<void> => {
    await connection.turn(connection.stance, async (tx) => {
      const row = await readLock(tx);
      if (row?.id !== lock) throw new StoreError('locked');
      await tx.objectStore('lock').put({ ...row, ways: change(row.ways) });
      return true;
    });
    changes.announce('lock', lock);
  };
  return {
    async setWay(way) {
      checkWay(way);
      const made = await wrapKey(lock, key, way);
      await rewriteWays((ways) => [...ways.filter((it) => it.kind !== made.kind), made]);
    },
    removeWay: (kind) =>
      rewriteWays((ways) => {
        const left = ways.filter((it) => it.kind !== kind);
        return left.length > 0 ? left : ways;
      }),
    async turnOff(progress) {
      const turned = await connection.turn(sealedStance(lock, key, true), async (tx) => {
        const row = await readLock(tx);
        if (row?.id !== lock) return false;
        await tx.objectStore('lock').put({ ...row, phase: 'opening' });
        return true;
      });
      if (!turned) throw new StoreError('locked');
      changes.announce('lock', lock);
      await settle(connection, changes, progress);
    },
  };
}

/** Everything about the lock but whether it is on, which the connection knows. */
export function createLock(connection: Connection, changes: Changes): Omit<Lock, 'on'> {
  return {
    ways: async () => waysOf(await currentLock(connection)),
    wait: () => waitLeft(connection),

    async turnOn(way, progress) {
      checkWay(way);
      const id = crypto.randomUUID();
      const key = crypto.getRandomValues(new Uint8Array(KEY_BYTES));
      const made = await wrapKey(id, key, way);
      const turned = await connection.turn(sealedStance(id, key, false), async (tx) => {
        if (await readLock(tx)) return false;
        await tx.objectStore('lock').put({ key: 'lock', id, phase: 'sealing', ways: [made] });
        return true;
      });
      if (!turned) throw new StoreError('locked');
      changes.announce('lock', id);
      await settle(connection, changes, progress);
    },

    async prove(proof) {
      const tried = await tryProof(connection, proof);
      return tried.ok
        ? { ok: true, change: changing(connection, changes, tried.row.id, tried.key) }
        : tried;
    },
  };
}

/** Opens the lock of a connection that has just been made, and ends a rewrite that was broken off. */
async function open(connection: Connection, changes: Changes, proof: Proof): Promise<Tried> {
  const tried = await tryProof(connection, proof);
  if (!tried.ok) return tried;
  const { id, phase } = tried.row;
  const opened = await connection.turn(
    sealedStance(id, tried.key, phase === 'opening'),
    async (tx) => (await readLock(tx))?.id === id,
  );
  if (!opened) throw new StoreError('locked');
  // Behind the app's back: both kinds of rows can be read. What fails is taken up at the next start.
  settle(connection, changes).catch(() => {});
  return { ok: true };
}

/** Deletes a database; rejects with a `StoreError` where another tab does not let go of it in time. */
function erase(name: string, blockedMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const blocked = (): void => {
      timer = setTimeout(() => reject(new StoreError('blocked')), blockedMs);
    };
    deleteDB(name, { blocked })
      .finally(() => clearTimeout(timer))
      .then(resolve, reject);
  });
}

/**
 * Waits until the person has opened the lock of the database of that name. Rejects with a `StoreError`,
 * kind locked, where that does not come to pass.
 */
export async function passLock(
  connection: Connection,
  changes: Changes,
  { name, blockedMs }: { readonly name: string; readonly blockedMs: number },
  unlock: ((locked: Locked) => Promise<void>) | undefined,
): Promise<void> {
  const { ways, wait } = createLock(connection, changes);
  await unlock?.({
    ways,
    wait,
    open: (proof) => open(connection, changes, proof),
    async erase() {
      connection.close();
      await erase(name, blockedMs);
    },
  });
  if (connection.stance.lock === null) throw new StoreError('locked');
}
