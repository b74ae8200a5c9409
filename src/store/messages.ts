/**
 * Messages and their parts. A message's place is allotted in the transaction that adds it; a part is
 * one row, so an event of a turn is one small write; a late write to a deleted message is refused
 * (`StoreError`, kind gone) and never lands in the one that took its place.
 */
import type { Connection } from './connection.ts';
import { StoreError } from './errors.ts';
import type { CallPart, Message, Part } from './records.ts';
import type { PartRow, Reading, Writing } from './schema.ts';
import type { Changes, MessageTable } from './store.ts';

/** Keys of the messages of a conversation from `from` on, in the index `place`. */
export const placesFrom = (conversation: string, from = 0): IDBKeyRange =>
  IDBKeyRange.bound([conversation, from], [conversation, Infinity]);

/** Keys of the parts of a conversation's messages from `from` on. */
export const partsFrom = (conversation: string, from = 0): IDBKeyRange =>
  IDBKeyRange.bound([conversation, from], [conversation, Infinity, Infinity]);

const partsAt = (conversation: string, seq: number): IDBKeyRange =>
  IDBKeyRange.bound([conversation, seq], [conversation, seq, Infinity]);

async function mustExist(tx: Writing, message: Message): Promise<void> {
  const stored = await tx.objectStore('messages').get(message.id);
  if (stored?.seq !== message.seq || stored.conversation !== message.conversation)
    throw new StoreError('gone');
}

/** Removes messages and parts from `fromSeq` on. */
export async function deleteMessages(
  tx: Writing,
  conversation: string,
  fromSeq: number,
): Promise<void> {
  const messages = tx.objectStore('messages');
  const ids = await messages.index('place').getAllKeys(placesFrom(conversation, fromSeq));
  await Promise.all([
    ...ids.map((id) => messages.delete(id)),
    tx.objectStore('parts').delete(partsFrom(conversation, fromSeq)),
  ]);
}

async function partsOfMessage(tx: Reading, id: string): Promise<Part[]> {
  const message = await tx.objectStore('messages').get(id);
  if (!message) return [];
  const rows = await tx.objectStore('parts').getAll(partsAt(message.conversation, message.seq));
  return rows.map((row) => row.part);
}

const ENDED: ReadonlySet<CallPart['state']> = new Set(['denied', 'refused', 'done']);

/**
 * Whether a part would undo what another tab did with the same call meanwhile: what was sent can only
 * end, and what has ended stays, except that an unknown outcome may become known. Before it is sent, a
 * call may go back: it is judged anew after a restart.
 */
function isBehind(next: CallPart, stored: Part | undefined): boolean {
  if (stored?.kind !== 'call') return false;
  if (stored.callId !== next.callId) return true;
  // While it runs it may learn more, e.g. the task that its server made of it.
  if (stored.state === 'running') return next.state !== 'done' && next.state !== 'running';
  if (!ENDED.has(stored.state)) return next.state === 'running';
  return !(stored.outcome?.kind === 'unknown' && next.state === 'done');
}

export function createMessages(connection: Connection, changes: Changes): MessageTable {
  const { read, write } = connection;
  return {
    list: (conversation) =>
      read(['messages'], (tx) =>
        tx.objectStore('messages').index('place').getAll(placesFrom(conversation)),
      ),

    partsOf: (conversation) =>
      read(['messages', 'parts'], async (tx) => {
        const [messages, rows] = await Promise.all([
          tx.objectStore('messages').index('place').getAll(placesFrom(conversation)),
          tx.objectStore('parts').getAll(partsFrom(conversation)),
        ]);
        const byId = new Map<string, Part[]>(messages.map((message) => [message.id, []]));
        const bySeq = new Map(messages.map((message) => [message.seq, byId.get(message.id)]));
        for (const row of rows) bySeq.get(row.seq)?.push(row.part);
        return byId;
      }),

    parts: (message) => read(['messages', 'parts'], (tx) => partsOfMessage(tx, message)),

    async add(draft, parts, change = (conversation) => conversation) {
      const message = await write(['conversations', 'messages', 'parts'], 'relaxed', async (tx) => {
        const conversations = tx.objectStore('conversations');
        const [conversation, last] = await Promise.all([
          conversations.get(draft.conversation),
          tx
            .objectStore('messages')
            .index('place')
            .openKeyCursor(placesFrom(draft.conversation), 'prev'),
        ]);
        if (!conversation) throw new StoreError('gone');
        const added: Message = { ...draft, seq: last ? last.key[1] + 1 : 0 };
        const changed = change(conversation);
        const updatedAt = Math.max(conversation.updatedAt, added.createdAt);
        const rows = parts.map((part, index): PartRow => ({
          conversation: added.conversation,
          seq: added.seq,
          index,
          part,
        }));
        await Promise.all([
          tx.objectStore('messages').add(added),
          conversations.put({ ...changed, updatedAt }),
          ...rows.map((row) => tx.objectStore('parts').put(row)),
        ]);
        return added;
      });
      changes.announce('messages', message.conversation);
      changes.announce('conversations', message.conversation);
      return message;
    },

    async setState(id, state) {
      const conversation = await write(['messages'], 'relaxed', async (tx) => {
        const message = await tx.objectStore('messages').get(id);
        if (!message) throw new StoreError('gone');
        await tx.objectStore('messages').put({ ...message, state });
        return message.conversation;
      });
      changes.announce('messages', conversation);
    },

    async putPart(message, index, part) {
      const { conversation, seq } = message;
      // A call's state decides whether it may run again; a growing text does not.
      const durability = part.kind === 'call' ? 'strict' : 'relaxed';
      const written = await write(['messages', 'parts'], durability, async (tx) => {
        await mustExist(tx, message);
        const parts = tx.objectStore('parts');
        if (part.kind === 'call') {
          const stored = await parts.get([conversation, seq, index]);
          if (isBehind(part, stored?.part)) return false;
        }
        await parts.put({ conversation, seq, index, part });
        return true;
      });
      if (written) changes.announce('messages', conversation);
      return written;
    },

    async claim(message, index, startedAt) {
      const { conversation, seq } = message;
      const won = await write(['messages', 'parts'], 'strict', async (tx) => {
        await mustExist(tx, message);
        const row = await tx.objectStore('parts').get([conversation, seq, index]);
        if (row?.part.kind !== 'call' || row.part.state !== 'allowed') return false;
        const part: Part = { ...row.part, state: 'running', startedAt };
        await tx.objectStore('parts').put({ ...row, part });
        return true;
      });
      if (won) changes.announce('messages', conversation);
      return won;
    },

    async truncate(conversation, fromSeq) {
      await write(['messages', 'parts'], 'relaxed', (tx) =>
        deleteMessages(tx, conversation, fromSeq),
      );
      changes.announce('messages', conversation);
    },
  };
}
