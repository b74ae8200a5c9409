/** Exclusive locks over all tabs of this app, by the Web Locks API: a killed tab lets go by itself. */

export interface TabLocks {
  /** Runs `work` holding the lock; resolves with false, at once, where somebody else holds it. */
  tryRun(name: string, work: () => Promise<void>): Promise<boolean>;
  /** True where any tab, this one included, holds it. */
  held(name: string): Promise<boolean>;
  /** Resolves when nobody holds it. */
  free(name: string): Promise<void>;
}

export function createTabLocks(locks: LockManager): TabLocks {
  return {
    async tryRun(name, work) {
      let took = false;
      await locks.request(name, { ifAvailable: true }, async (lock) => {
        if (!lock) return;
        took = true;
        await work();
      });
      return took;
    },
    async held(name) {
      const { held = [] } = await locks.query();
      return held.some((lock) => lock.name === name);
    },
    async free(name) {
      await locks.request(name, async () => undefined);
    },
  };
}
