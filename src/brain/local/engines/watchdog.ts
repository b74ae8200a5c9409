/**
 * A timer that fires where nothing happened for too long. A page that was frozen in the background
 * wakes up with every timer due at once, before it has read a single message: such a late timer is
 * set anew instead of being believed.
 */

/** Milliseconds by which a timer may be late on a page that is awake. */
const LATE = 2_000;

export class Watchdog {
  readonly #fire: () => void;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(fire: () => void) {
    this.#fire = fire;
  }

  /** Starts, or starts again: fires unless `set` or `clear` is called within `ms` milliseconds. */
  set(ms: number): void {
    this.clear();
    const due = performance.now() + ms;
    this.#timer = setTimeout(() => {
      if (performance.now() - due > LATE) this.set(ms);
      else this.#fire();
    }, ms);
  }

  clear(): void {
    clearTimeout(this.#timer);
  }
}
