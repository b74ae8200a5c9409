/**
 * Over all tabs only one holds a model in memory. A tab that wants one says so; the tab that has one
 * gives it up when it is not at work.
 */

/** Held by the tab whose model is in memory. */
export const MODEL_LOCK = 'deft-model';

/** A tab that was not listening yet is asked again after this many milliseconds. */
const ASK_AGAIN = 2_000;

async function heldSomewhere(): Promise<boolean> {
  const { held = [] } = await navigator.locks.query();
  return held.some((lock) => lock.name === MODEL_LOCK);
}

export class TabLock {
  readonly #channel = new BroadcastChannel(MODEL_LOCK);
  #release: (() => void) | null = null;

  /** `onWanted` is called when another tab waits for the lock; it should come to `release` soon. */
  constructor(onWanted: () => void) {
    this.#channel.addEventListener('message', () => onWanted());
  }

  get held(): boolean {
    return this.#release !== null;
  }

  /** Whether this tab has the lock, or could have it at once. */
  async available(): Promise<boolean> {
    return this.held || !(await heldSomewhere());
  }

  /** Resolves when this tab holds the lock. Calls `onWait` where another tab has it. */
  async acquire(signal: AbortSignal, onWait: () => void): Promise<void> {
    if (this.#release) return;
    if (await heldSomewhere()) onWait();
    const ask = (): void => this.#channel.postMessage('wanted');
    ask();
    const asking = setInterval(ask, ASK_AGAIN);
    try {
      await new Promise<void>((resolve, reject) => {
        navigator.locks
          .request(MODEL_LOCK, { signal }, () => {
            resolve();
            return new Promise<void>((release) => {
              this.#release = release;
            });
          })
          .catch(reject);
      });
    } finally {
      clearInterval(asking);
    }
  }

  release(): void {
    this.#release?.();
    this.#release = null;
  }
}
