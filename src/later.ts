/**
 * Stands in for an object whose code is fetched behind the first screen: no screen waits for it, and
 * nothing that is drawn first needs it.
 */

type Work = (...input: never[]) => unknown;

interface Watched {
  subscribe(listener: () => void): () => void;
}

/**
 * The object that `loaded` resolves with; all of its methods, but for `subscribe`, give promises. A
 * method that is called early waits for the code, and rejects where that cannot be had; `subscribe`
 * works at once; `own` are methods of the stand-in itself.
 */
export function later<T extends object>(loaded: Promise<T>, own: Partial<T> = {}): T {
  // Whoever calls for the object itself is told.
  loaded.catch(() => undefined);

  function subscribe(listener: () => void): () => void {
    let release: (() => void) | null = null;
    let over = false;
    loaded.then(
      (object) => {
        if (!over) release = (object as T & Watched).subscribe(listener);
      },
      () => undefined,
    );
    return () => {
      over = true;
      release?.();
    };
  }

  const methods = new Map<string | symbol, Work>();
  return new Proxy({ subscribe, ...own } as T, {
    get(at, name): unknown {
      // It is no promise, whoever awaits it.
      if (name === 'then') return undefined;
      if (Object.hasOwn(at, name)) return Reflect.get(at, name) as unknown;
      const known = methods.get(name);
      if (known) return known;
      const method = async (...input: never[]): Promise<unknown> => {
        const object = await loaded;
        return (object[name as keyof T] as Work).apply(object, input);
      };
      methods.set(name, method);
      return method;
    },
  });
}
