/**
 * Closes the app lock when the app has been out of sight for the chosen time: the page is loaded anew,
 * so that the key leaves its memory, and then asks.
 *
 * Promises: what was typed is stored first; a turn at work is let end, unless the person comes back
 * before; nothing of the app is drawn once the time is over, since it is covered from the moment it goes
 * out of sight. The last picture that the system itself keeps of a page is not in a page's hands.
 */
import type { App } from '../../app.ts';

export const LOCK_AFTER_MS = 5 * 60_000;
/** How often it is looked whether a turn has ended. */
const AGAIN_MS = 1_000;
/** The longest time that a timer takes (a signed 32-bit number). */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Hides or shows all of the page, sheets included. */
function cover(covered: boolean): void {
  document.documentElement.style.visibility = covered ? 'hidden' : '';
}

/** The next task, so that what others do as the page goes out of sight has begun. */
const nextTask = (): Promise<void> => new Promise((resolve) => setTimeout(resolve));

/** Returns what ends it. */
export function lockWhenAway(
  app: Pick<App, 'lock' | 'settings' | 'conversations'>,
  reload: () => void = () => location.reload(),
): () => void {
  let after: number | null = LOCK_AFTER_MS;
  /** When it went out of sight, by a clock that can be set and by one that may stand in sleep. */
  let since: { wall: number; ticks: number } | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let locking = false;

  const left = (): number => {
    if (!since || after === null || !app.lock.on()) return Infinity;
    const away = Math.max(Date.now() - since.wall, performance.now() - since.ticks);
    return after - away;
  };

  async function lock(): Promise<void> {
    if (locking) return;
    locking = true;
    await nextTask();
    // Stands behind the writes that were begun before it.
    await app.conversations.list().catch(() => undefined);
    reload();
  }

  function look(): void {
    clearTimeout(timer);
    const ms = left();
    if (!since || ms === Infinity) return;
    if (ms <= 0 && !app.conversations.working()) void lock();
    else timer = setTimeout(look, Math.min(Math.max(ms, AGAIN_MS), LONGEST_TIMER_MS));
  }

  function changed(): void {
    if (document.hidden) {
      since ??= { wall: Date.now(), ticks: performance.now() };
      if (app.lock.on()) cover(true);
      look();
      return;
    }
    if (locking) return;
    clearTimeout(timer);
    if (left() <= 0) {
      locking = true;
      reload();
      return;
    }
    since = null;
    cover(false);
  }

  const read = (): void => {
    app.settings.get().then(
      ({ lockAfterMs = LOCK_AFTER_MS }) => {
        after = lockAfterMs;
        look();
      },
      // The time that was known, or the usual one.
      () => undefined,
    );
  };
  const release = app.settings.subscribe(read);
  read();
  document.addEventListener('visibilitychange', changed);
  if (document.hidden) changed();
  return () => {
    document.removeEventListener('visibilitychange', changed);
    clearTimeout(timer);
    release();
    cover(false);
  };
}
