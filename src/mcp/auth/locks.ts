/** Web Locks where the browser has them: what one tab does, no other tab does at the same time. */

export interface Exclusive {
  /** Runs `work` when nobody else holds the name. */
  run<T>(name: string, work: () => Promise<T>): Promise<T>;
  /** Runs `work` unless somebody holds the name; then undefined, at once. */
  tryRun<T>(name: string, work: () => Promise<T>): Promise<T | undefined>;
  /** True where any tab holds the name. */
  held(name: string): Promise<boolean>;
}

/** Over all tabs by `locks`; without them, as on Node, in this process. */
export function createExclusive(locks: LockManager | undefined): Exclusive {
  return locks ? overTabs(locks) : inProcess();
}

function overTabs(locks: LockManager): Exclusive {
  return {
    run: (name, work) => locks.request(name, work),
    tryRun: (name, work) =>
      locks.request(name, { ifAvailable: true }, async (lock) => (lock ? work() : undefined)),
    async held(name) {
      const { held = [] } = await locks.query();
      return held.some((lock) => lock.name === name);
    },
  };
}

function inProcess(): Exclusive {
  const last = new Map<string, Promise<unknown>>();
  function run<T>(name: string, work: () => Promise<T>): Promise<T> {
    const before = last.get(name) ?? Promise.resolve();
    const mine = before.then(work, work);
    last.set(name, mine);
    const done = () => {
      if (last.get(name) === mine) last.delete(name);
    };
    mine.then(done, done);
    return mine;
  }
  return {
    run,
    tryRun: async (name, work) => (last.has(name) ? undefined : run(name, work)),
    held: async (name) => last.has(name),
  };
}
