/**
 * A value that is read from the app and read again whenever the app says that it has changed. Lives
 * as long as the component that made it; an older answer never overwrites a newer one.
 */

export interface Live<T> {
  /** Undefined until the first answer. */
  readonly value: T | undefined;
  /** What went wrong with the last read, if it did; the value before it is kept. */
  readonly error: unknown;
  /** Reads it again now. */
  reload(): Promise<void>;
}

/**
 * Call it in a component's script:
 * `const servers = live(() => app.host.list(), (changed) => app.host.subscribe(changed))`. Reactive values that `load` reads before its first await start it anew when they change.
 */
export function live<T>(
  load: () => Promise<T>,
  subscribe?: (listener: () => void) => () => void,
): Live<T> {
  let value = $state.raw<T>();
  let error = $state.raw<unknown>();
  let latest = 0;

  async function reload(): Promise<void> {
    const mine = ++latest;
    try {
      const loaded = await load();
      if (mine !== latest) return;
      value = loaded;
      error = undefined;
    } catch (cause) {
      if (mine === latest) error = cause;
    }
  }

  $effect(() => {
    const release = subscribe?.(() => void reload());
    void reload();
    return () => {
      latest++;
      release?.();
    };
  });

  return {
    get value() {
      return value;
    },
    get error() {
      return error;
    },
    reload,
  };
}
