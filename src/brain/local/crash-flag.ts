/**
 * Remembers that a model is being loaded, or answers for the first time since. Found at the next start,
 * it means that the browser or the tab died of it: too little memory, mostly, which no page is told of.
 *
 * It is kept in two places. The database outlives a browser that is killed with all its processes, which
 * what was written to localStorage within the last five seconds does not; but only localStorage is
 * written at once, so that is where it says that the danger is over.
 */
import type { ModelAttempt } from '../../store/records.ts';
import type { TrialKey } from './trials.ts';

/** Where the flag is kept: the app's settings. */
export interface FlagStore {
  get(): Promise<{ readonly underWay?: ModelAttempt | null }>;
  set(change: { readonly underWay: ModelAttempt | null }): Promise<void>;
}

export interface CrashFlag {
  /** Resolves when it would be found after a crash. */
  raise(key: TrialKey, answering?: boolean): Promise<void>;
  lower(): void;
  /** What the last page died of, once; null where it did not. */
  take(): Promise<ModelAttempt | null>;
}

/** Holds the mark of the newest flag that is down. */
const OVER = 'deft.over';

export function createCrashFlag(store: FlagStore): CrashFlag {
  let raised: ModelAttempt | null = null;

  /** Where there is no room even for that, a crash goes unnoticed. */
  const keep = (underWay: ModelAttempt | null): Promise<void> =>
    store.set({ underWay }).catch(() => undefined);

  function over(): void {
    try {
      if (raised) localStorage.setItem(OVER, raised.mark);
    } catch {
      // Full or forbidden: the database says it a moment later.
    }
    void keep(null);
  }

  function lastOver(): string | null {
    try {
      return localStorage.getItem(OVER);
    } catch {
      return null;
    }
  }

  function up(): Promise<void> {
    try {
      localStorage.removeItem(OVER);
    } catch {
      // Then nothing is in there either.
    }
    return keep(raised);
  }

  /** A page that dies in the background was put away by the person or the phone: no crash of ours. */
  const update = (): void => void (document.visibilityState === 'visible' ? up() : over());

  return {
    async raise(key, answering = false) {
      raised = { ...key, answering, mark: crypto.randomUUID() };
      document.addEventListener('visibilitychange', update);
      // Nor is it one to leave the page in the midst of a load.
      addEventListener('pagehide', over);
      if (document.visibilityState === 'visible') await up();
    },

    lower() {
      if (!raised) return;
      document.removeEventListener('visibilitychange', update);
      removeEventListener('pagehide', over);
      over();
      raised = null;
    },

    async take() {
      const { underWay } = await store.get();
      if (!underWay) return null;
      await keep(null);
      return lastOver() === underWay.mark ? null : underWay;
    },
  };
}
