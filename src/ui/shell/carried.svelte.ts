/**
 * Words on their way into a composer that could not be stored on that way: the next composer that is
 * there takes them, and says why.
 */
import type { ForeignText } from '../../store/records.ts';

interface Carried {
  readonly words: string;
  /** What others wrote of them. */
  readonly foreign: readonly ForeignText[];
  readonly cause: unknown;
}

export const carried = $state<{ now: Carried | null }>({ now: null });
