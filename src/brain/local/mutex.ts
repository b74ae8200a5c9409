/** Work that must not overlap, in the order in which it was asked for. */
export class Mutex {
  #last: Promise<void> = Promise.resolve();

  /**
   * Resolves with a function that lets the next one in, when it is one's turn. Rejects with the
   * signal's reason where that aborts first; the turn is then passed on.
   */
  async enter(signal?: AbortSignal): Promise<() => void> {
    signal?.throwIfAborted();
    const before = this.#last;
    let leave!: () => void;
    this.#last = new Promise((resolve) => {
      leave = resolve;
    });
    if (!signal) {
      await before;
      return leave;
    }
    let abort!: () => void;
    const aborted = new Promise<never>((_resolve, reject) => {
      abort = () => reject(signal.reason as Error);
      signal.addEventListener('abort', abort, { once: true });
    });
    try {
      await Promise.race([before, aborted]);
      return leave;
    } catch (error) {
      void before.then(leave);
      throw error;
    } finally {
      signal.removeEventListener('abort', abort);
    }
  }

  async run<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    const leave = await this.enter(signal);
    try {
      return await work();
    } finally {
      leave();
    }
  }
}
