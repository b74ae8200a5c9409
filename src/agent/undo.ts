/**
 * Undoing a call: a turn of its own that makes one other call, and asks no model. Promise: of a call's
 * undos at most one can have run, in whichever tab; each goes the way of every call, through the gate,
 * the question and the log. Pure.
 */
import type { UndoOffer } from '../mcp/types.ts';
import type { CallPart, Part } from '../store/records.ts';

/** Whether nothing more becomes of a call. */
export const isSettled = ({ state }: CallPart): boolean =>
  state === 'denied' || state === 'refused' || state === 'done';

/** Whether a call is known to have changed nothing: it was not sent, or never arrived. */
export function hasNotRun({ state, outcome }: CallPart): boolean {
  return state === 'done' ? outcome?.kind === 'unavailable' : state !== 'running';
}

/** Whether an answer is no model's, but an undo: to ask for it again would be to undo again. */
export const isUndo = (parts: readonly Part[]): boolean =>
  parts.some((part) => part.kind === 'call' && part.undoes !== undefined);

/** How a model reads that the person wanted an undo. They did not say it, so no word of it is a yes. */
export const UNDO_WORDS = 'Undo that.';

/**
 * A turn whose first step asks for the call, as a model's would, and whose second has nothing to add:
 * the loop settles the call, and is done.
 */
export function undoTurn({ tool, args }: UndoOffer, undoes: string, callId: string): Part[] {
  const call: CallPart = {
    kind: 'call',
    step: 1,
    callId,
    server: tool.server,
    serverName: tool.serverName,
    tool: tool.name,
    title: tool.title,
    modelName: tool.modelName,
    pin: tool.pin,
    args,
    days: [],
    readOnly: tool.readOnly,
    state: 'proposed',
    undoes,
  };
  return [
    call,
    { kind: 'step', step: 1, end: 'calls', usage: {} },
    { kind: 'step', step: 2, end: 'stop', usage: {} },
  ];
}
