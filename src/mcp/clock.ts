/**
 * Time limits of what is under way over one connection. Promise: no clock runs while a person is
 * asked on the server's behalf, and no question outlives the last call that it can belong to.
 */

/** Limits one call. */
export interface Clock {
  /** Aborts with the caller's reason, or when the time is up. */
  readonly signal: AbortSignal;
  /** True once the time was up. */
  late(): boolean;
  /** A sign of life: the time starts anew. */
  touch(): void;
  /** From here on only silence counts, not the time in all. */
  unbound(): void;
  /** The call is over. */
  end(): void;
}

export interface Clocks {
  /** `ms` of silence, or `ceilingMs` in all, are too long; both in milliseconds. */
  start(ms: number, ceilingMs: number, outer: AbortSignal): Clock;
  /** Does `work` while all clocks stand still; its signal follows `signal` and the calls. */
  during<T>(signal: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T>;
}

/** A timer that can be held and let go on. */
interface Timer {
  hold(): void;
  go(): void;
  restart(): void;
  clear(): void;
}

export function createClocks(): Clocks {
  const running = new Set<readonly Timer[]>();
  const quiet = new Set<AbortController>();
  let holds = 0;

  return {
    start(ms, ceilingMs, outer) {
      const over = new AbortController();
      let late = false;
      const onLate = () => {
        late = true;
        over.abort(new Error('The time is up.'));
      };
      const silence = createTimer(ms, onLate);
      const ceiling = createTimer(ceilingMs, onLate);
      const timers = [silence, ceiling];
      running.add(timers);
      if (holds === 0) timers.forEach((timer) => timer.go());
      return {
        signal: AbortSignal.any([outer, over.signal]),
        late: () => late,
        touch: () => silence.restart(),
        unbound: () => ceiling.clear(),
        end() {
          timers.forEach((timer) => timer.clear());
          running.delete(timers);
          if (running.size > 0) return;
          quiet.forEach((controller) => controller.abort());
          quiet.clear();
        },
      };
    },

    async during(signal, work) {
      const alone = new AbortController();
      // A question out of the blue belongs to no call, and may stay.
      if (running.size > 0) quiet.add(alone);
      holds += 1;
      if (holds === 1) running.forEach((timers) => timers.forEach((timer) => timer.hold()));
      try {
        return await work(AbortSignal.any([signal, alone.signal]));
      } finally {
        quiet.delete(alone);
        holds -= 1;
        if (holds === 0) running.forEach((timers) => timers.forEach((timer) => timer.go()));
      }
    },
  };
}

function createTimer(ms: number, onEnd: () => void): Timer {
  let left = ms;
  let since = 0;
  let timer: ReturnType<typeof setTimeout> | null = null;
  let cleared = false;
  const hold = () => {
    if (timer === null) return;
    clearTimeout(timer);
    timer = null;
    left -= performance.now() - since;
  };
  const go = () => {
    if (cleared || timer !== null) return;
    since = performance.now();
    timer = setTimeout(onEnd, Math.max(0, left));
  };
  return {
    hold,
    go,
    restart() {
      const held = timer === null;
      hold();
      left = ms;
      if (!held) go();
    },
    clear() {
      cleared = true;
      hold();
    },
  };
}
