/**
 * Undoing a call: a turn of its own that makes one other call, and asks no model. Promise: of a call's
 * undos at most one can have run, in whichever tab; each goes the way of every call, through the gate,
 * the question and the log.
 */
import type { UndoOffer } from '../mcp/types.ts';
import type { CallPart, Message, Part } from '../store/records.ts';
import type { Store } from '../store/store.ts';
import { actionOf } from './action-notes.ts';
import { newCallId } from './ids.ts';
import type { Trouble } from './session.ts';
import { isSettled } from './undo.ts';

export const BUSY: Trouble = {
  message: 'The last turn of this conversation has not ended, so nothing was undone.',
  advice: 'Let it end, or stop it, then tap Undo again.',
};
const NO_UNDO: Trouble = {
  message: 'This cannot be undone from here any more, so nothing was done.',
  advice: 'Look at the newest messages, or ask for it in your own words.',
};

export interface Undoing {
  /** Id of the conversation. */
  readonly id: string;
  readonly store: Pick<Store, 'messages' | 'actions'>;
  readonly clock: () => number;
  /** What would undo a call, if anything. */
  readonly undoOf?: (call: CallPart) => Promise<UndoOffer | null>;
  readonly setMessage: (message: Message, parts: readonly Part[]) => void;
  readonly addMessage: (
    role: Message['role'],
    state: Message['state'],
    parts: readonly Part[],
  ) => Promise<Message>;
}

/** Stores the turn that undoes a call, while no tab runs one; else says why there is none. */
export async function addUndo(
  { id, store, clock, undoOf, setMessage, addMessage }: Undoing,
  callId: string,
): Promise<Message | Trouble> {
  // What is stored, not what is shown: another tab may have undone it meanwhile.
  const [list, parts] = await Promise.all([store.messages.list(id), store.messages.partsOf(id)]);
  const newest = list.at(-1);
  if (newest?.role !== 'assistant' || newest.state === 'running') return BUSY;
  const calls = list.flatMap((message) =>
    (parts.get(message.id) ?? []).flatMap((part, index) =>
      part.kind === 'call' ? [{ message, index, part }] : [],
    ),
  );
  const wanted = calls.find(({ part }) => part.callId === callId);
  const before = calls.filter(({ part }) => part.undoes === callId);
  if (!wanted || !before.every(({ part }) => hasNotRun(part))) return NO_UNDO;
  const offer = (await undoOf?.(wanted.part)) ?? null;
  if (!offer) return NO_UNDO;
  for (const { message, index, part } of before.filter((it) => !isSettled(it.part))) {
    const over = { ...part, state: 'refused', why: 'You asked for it once more.' } as const;
    if (!(await store.messages.putPart(message, index, over))) return NO_UNDO;
    setMessage(message, (parts.get(message.id) ?? []).with(index, over));
    const context = { conversation: id, parts: [], answer: undefined, now: clock() };
    await store.actions.append(actionOf(over, context));
  }
  return addMessage('assistant', 'running', undoTurn(offer, callId, newCallId()));
}

/** Whether a call is known to have changed nothing: it was not sent, or never arrived. */
function hasNotRun({ state, outcome }: CallPart): boolean {
  return state === 'done' ? outcome?.kind === 'unavailable' : state !== 'running';
}

/**
 * A turn whose first step asks for the call, as a model's would, and whose second has nothing to add:
 * the loop settles the call, and is done.
 */
function undoTurn({ tool, args }: UndoOffer, undoes: string, callId: string): Part[] {
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
