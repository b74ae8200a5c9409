/** Which messages of a conversation are undos, and of what. Pure. */
import type { MessageView } from '../../app.ts';
import type { CallPart } from '../../store/records.ts';

/** The newest call by which the person wanted an earlier one undone. */
export function undoFor(callId: string, messages: readonly MessageView[]): CallPart | undefined {
  for (const { parts } of messages.toReversed())
    for (const part of parts) if (part.kind === 'call' && part.undoes === callId) return part;
  return undefined;
}

/** A turn that is an undo holds no answer that could be made again. */
export const isUndoTurn = ({ parts }: MessageView): boolean =>
  parts.some((part) => part.kind === 'call' && part.undoes !== undefined);
