/**
 * Slows wrong tries to open the app lock. They are counted in the database, before the answer is known:
 * so a reload, a killed tab or a second tab wins nothing.
 *
 * A clock that was set back neither shortens a wait nor makes it longer than it is from now on. One that
 * is set forward does shorten it: nothing in a page knows the true time. What the waits are for is a
 * person at the phone; against a copy of the data stand the passphrase and its 600,000 rounds.
 */
import type { Connection } from './connection.ts';
import type { TriesRow, Writing } from './schema.ts';

/** Wrong tries that cost nothing. */
const FREE = 3;
const FIRST_WAIT_MS = 5_000;
const LONGEST_WAIT_MS = 15 * 60_000;

/** Milliseconds to wait after that many wrong tries in a row. */
export const waitAfter = (wrong: number): number =>
  wrong < FREE ? 0 : Math.min(FIRST_WAIT_MS * 2 ** (wrong - FREE), LONGEST_WAIT_MS);

/** The tries as they count now, and what is left to wait. */
async function readTries(tx: Writing, now: number): Promise<{ tries: TriesRow; left: number }> {
  const store = tx.objectStore('lock');
  const row = await store.get('tries');
  const stored: TriesRow = row?.key === 'tries' ? row : { key: 'tries', wrong: 0, at: 0 };
  // The clock was set back: the wait begins anew, and ends.
  const tries = stored.at > now ? { ...stored, at: now } : stored;
  if (tries !== stored) await store.put(tries);
  return { tries, left: Math.max(0, tries.at + waitAfter(tries.wrong) - now) };
}

/** Milliseconds until another try is heard. */
export const waitLeft = (connection: Connection): Promise<number> =>
  connection.write(['lock'], 'strict', async (tx) => (await readTries(tx, Date.now())).left);

/** Counts a try as wrong until it is forgiven. Resolves with what is left to wait; then it was none. */
export const countTry = (connection: Connection): Promise<number> =>
  connection.write(['lock'], 'strict', async (tx) => {
    const now = Date.now();
    const { tries, left } = await readTries(tx, now);
    if (left === 0)
      await tx.objectStore('lock').put({ key: 'tries', wrong: tries.wrong + 1, at: now });
    return left;
  });

/** A right try: those before it count no more. */
export async function forgiveTries(connection: Connection): Promise<void> {
  await connection.write(['lock'], 'strict', (tx) => tx.objectStore('lock').delete('tries'));
}
