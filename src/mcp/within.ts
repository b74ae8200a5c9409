/** Waiting that ends. */

/** What `within` rejects with. */
export const DEADLINE = 'deadline';

/** Rejects with `DEADLINE` when the promise takes longer than `ms` milliseconds. */
export async function within<T>(promise: Promise<T>, ms: number): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(DEADLINE), Math.max(0, ms));
  });
  promise.catch(() => undefined);
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
