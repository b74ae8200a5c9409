/** A journal over the store's messages table. Readers see a change at once; the loop waits until it is durable. */
import type { CallPart, Message, Part } from '../store/records.ts';
import type { MessageTable } from '../store/store.ts';
import { isLogged } from './action-notes.ts';
import { TakenOver, type Journal } from './journal.ts';

/**
 * `onChange` is called with the parts after every change; `note` before a call goes on from a state
 * that the action log keeps. Rejections are the table's (QuotaError), and the note's.
 */
export function createJournal(
  messages: Pick<MessageTable, 'putPart' | 'claim'>,
  message: Message,
  initial: readonly Part[],
  onChange: (parts: readonly Part[]) => void,
  note: (call: CallPart, parts: readonly Part[]) => Promise<void>,
): Journal {
  let parts = initial;
  /** Growing parts that are not durable yet, and the write that is on its way. */
  const dirty = new Map<number, Part>();
  let writing: Promise<void> | null = null;
  let failure: { error: unknown } | null = null;

  const set = (index: number, part: Part): void => {
    parts = parts.with(index, part);
    onChange(parts);
  };

  /** A call that reached a state of the log is in the log before anything more happens with it. */
  const log = async (part: Part, before: Part | undefined): Promise<void> => {
    if (part.kind !== 'call' || !isLogged(part)) return;
    if (before?.kind === 'call' && before.state === part.state) return;
    await note(part, parts);
  };

  const drain = async (): Promise<void> => {
    while (dirty.size > 0) {
      const [index, part] = [...dirty][0] as [number, Part];
      dirty.delete(index);
      await messages.putPart(message, index, part);
    }
  };

  const startDrain = (): void => {
    writing ??= drain()
      .catch((error: unknown) => {
        failure = { error };
      })
      .finally(() => {
        writing = null;
      });
  };

  const flush = async (): Promise<void> => {
    while ((dirty.size > 0 || writing) && !failure) {
      startDrain();
      await writing;
    }
    if (failure) {
      const { error } = failure;
      failure = null;
      throw error;
    }
  };

  return {
    parts: () => parts,
    flush,
    async append(part) {
      await flush();
      const index = parts.length;
      parts = [...parts, part];
      onChange(parts);
      if (!(await messages.putPart(message, index, part))) throw new TakenOver();
      return index;
    },
    async replace(index, part) {
      await flush();
      const before = parts[index];
      if (!(await messages.putPart(message, index, part))) throw new TakenOver();
      set(index, part);
      await log(part, before);
    },
    grow(index, part) {
      set(index, part);
      dirty.set(index, part);
      startDrain();
    },
    async claim(index, startedAt) {
      await flush();
      const claimed = await messages.claim(message, index, startedAt);
      const part = parts[index];
      if (!claimed || part?.kind !== 'call') return claimed;
      const running: CallPart = { ...part, state: 'running', startedAt };
      set(index, running);
      await log(running, part);
      return true;
    },
  };
}
