/** What the rest of a conversation has to know of undos: turns that make one call, and ask no model. Pure. */
import type { CallPart, Part } from '../store/records.ts';

/** Whether nothing more becomes of a call. */
export const isSettled = ({ state }: CallPart): boolean =>
  state === 'denied' || state === 'refused' || state === 'done';

/** Whether an answer is no model's, but an undo: to ask for it again would be to undo again. */
export const isUndo = (parts: readonly Part[]): boolean =>
  parts.some((part) => part.kind === 'call' && part.undoes !== undefined);

/** How a model reads that the person wanted an undo. They did not say it, so no word of it is a yes. */
export const UNDO_WORDS = 'Undo that.';
