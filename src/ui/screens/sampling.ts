/**
 * How changes of a model's sampling are saved: one after the other and in their order, so that a quick
 * second one is neither lost nor takes the first back.
 */
import type { Sampling } from '../../brain/local/types.ts';

/**
 * A function that saves what it is given, once what is being saved now is done; of several that wait
 * only the newest is saved. Resolves when nothing is left to save; rejects where the newest failed.
 */
export function savingLatest<T>(save: (value: T) => Promise<void>): (value: T) => Promise<void> {
  let waiting: { readonly value: T } | null = null;
  let running: Promise<void> | null = null;

  async function saveAll(): Promise<void> {
    try {
      while (waiting) {
        const { value } = waiting;
        waiting = null;
        try {
          await save(value);
        } catch (cause) {
          // One that was overtaken needs no saving any more.
          if (!waiting) throw cause;
        }
      }
    } finally {
      running = null;
    }
  }

  return (value) => {
    waiting = { value };
    running ??= saveAll();
    return running;
  };
}

/** Whether two choose words alike; null: as the model's makers advise. */
export function sameSampling(a: Sampling | null, b: Sampling | null): boolean {
  if (a === null || b === null) return a === b;
  return (
    a.temperature === b.temperature && a.topP === b.topP && a.topK === b.topK && a.seed === b.seed
  );
}
