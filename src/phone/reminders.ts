/**
 * Watches the stored reminders and says when one is due, while the app is open. Each is said once,
 * by one tab; those that became due while the app was closed are said when it opens.
 */
import type { Reminder } from '../store/records.ts';
import type { Store } from '../store/store.ts';
import { toCalendar } from './calendar.ts';

/** Timers longer than this overflow in browsers, and drift while the phone sleeps. */
const LONGEST_TIMER_MS = 3_600_000;

export interface RemindersOptions {
  readonly store: Pick<Store, 'reminders' | 'changes'>;
  readonly now?: () => number;
  /** Calls back when the page comes back to view; returns what stops it. */
  readonly onVisible?: (listener: () => void) => () => void;
}

export interface Due {
  readonly id: string;
  readonly text: string;
  readonly at: number;
}

export interface Reminders {
  /** Those that wait and those that are due and not dismissed, earliest first. */
  list(): Promise<Due[]>;
  dismiss(id: string): Promise<void>;
  /** The reminder as an iCalendar file; null where there is none of this id. */
  ics(id: string): Promise<Blob | null>;
  /** Called with those that have become due. The watch runs while somebody listens. */
  subscribe(listener: (due: readonly Due[]) => void): () => void;
}

export function createReminders(options: RemindersOptions): Reminders {
  const { store, now = Date.now, onVisible = pageVisible } = options;
  const listeners = new Set<(due: readonly Due[]) => void>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let stop: (() => void)[] = [];
  let checks = Promise.resolve();

  function check(): void {
    checks = checks.then(checkOnce).catch(() => undefined);
  }

  async function checkOnce(): Promise<void> {
    clearTimeout(timer);
    if (listeners.size === 0) return;
    const waiting = (await store.reminders.all()).filter(({ state }) => state === 'waiting');
    const due: Due[] = [];
    for (const reminder of waiting.filter(({ at }) => at <= now()))
      if (await claim(reminder.id)) due.push(plain(reminder));
    if (due.length > 0) for (const listener of listeners) listener(due.sort((a, b) => a.at - b.at));
    const next = Math.min(...waiting.map(({ at }) => at).filter((at) => at > now()));
    if (Number.isFinite(next))
      timer = setTimeout(check, Math.min(Math.max(next - now(), 0), LONGEST_TIMER_MS));
  }

  /** True for the one tab that may say it. */
  async function claim(id: string): Promise<boolean> {
    let mine = false;
    await store.reminders.update(id, (old) => {
      mine = old.state === 'waiting';
      return mine ? { ...old, state: 'shown' } : undefined;
    });
    return mine;
  }

  function start(): void {
    const changes = store.changes.subscribe(({ topic }) => {
      if (topic === 'reminders') check();
    });
    stop = [changes, onVisible(check)];
  }

  return {
    async list() {
      const all = await store.reminders.all();
      return all
        .filter(({ state }) => state !== 'dismissed')
        .sort((a, b) => a.at - b.at)
        .map(plain);
    },
    async dismiss(id) {
      await store.reminders.update(id, (old) => ({ ...old, state: 'dismissed' }));
    },
    async ics(id) {
      const reminder = await store.reminders.get(id);
      return reminder ? new Blob([toCalendar(reminder)], { type: 'text/calendar' }) : null;
    },
    subscribe(listener) {
      if (listeners.size === 0) start();
      listeners.add(listener);
      check();
      return () => {
        listeners.delete(listener);
        if (listeners.size > 0) return;
        clearTimeout(timer);
        for (const end of stop) end();
        stop = [];
      };
    },
  };
}

function plain({ id, text, at }: Reminder): Due {
  return { id, text, at };
}

function pageVisible(listener: () => void): () => void {
  const onChange = () => {
    if (document.visibilityState === 'visible') listener();
  };
  document.addEventListener('visibilitychange', onChange);
  return () => document.removeEventListener('visibilitychange', onChange);
}
