/** Conversations: their list, the search over them, and deleting one with all that hangs on it. */
import type { Connection } from './connection.ts';
import { deleteMessages } from './messages.ts';
import type { Conversation } from './records.ts';
import type { PartRow, Reading } from './schema.ts';
import { excerptOf, fold, queryWords } from './search.ts';
import type { Changes, ConversationHit, ConversationTable } from './store.ts';
import { createTable } from './tables.ts';

/** Conversations read at once; between two batches a search can be aborted. */
const BATCH = 16;

const newestFirst = (a: Conversation, b: Conversation): number =>
  Number(b.pinned) - Number(a.pinned) || b.updatedAt - a.updatedAt || a.id.localeCompare(b.id);

const textOf = (row: PartRow): string => (row.part.kind === 'text' ? row.part.text : '');

/** The conversation's texts, in order, without reading results and receipts. */
const readTexts = async (tx: Reading, conversation: string): Promise<string[]> => {
  const rows = await tx.objectStore('parts').index('kind').getAll(['text', conversation]);
  return rows.map(textOf);
};

const readLastText = async (tx: Reading, conversation: string): Promise<string> => {
  const index = tx.objectStore('parts').index('kind');
  const cursor = await index.openCursor(['text', conversation], 'prev');
  return cursor ? textOf(cursor.value) : '';
};

async function match(
  tx: Reading,
  conversation: Conversation,
  words: readonly string[],
): Promise<ConversationHit | null> {
  if (words.length === 0)
    return { conversation, excerpt: excerptOf(await readLastText(tx, conversation.id), []) };
  const texts = await readTexts(tx, conversation.id);
  const folded = texts.map(fold);
  const title = fold(conversation.title);
  const missing = words.some(
    (word) => !title.includes(word) && !folded.some((text) => text.includes(word)),
  );
  if (missing) return null;
  // The first text that holds most of the words is shown.
  const counts = folded.map((text) => words.filter((word) => text.includes(word)).length);
  const most = Math.max(0, ...counts);
  const shown = (most > 0 ? texts[counts.indexOf(most)] : texts.at(-1)) ?? '';
  return { conversation, excerpt: excerptOf(shown, words) };
}

export function createConversations(connection: Connection, changes: Changes): ConversationTable {
  const { read, write } = connection;
  const table = createTable(connection, changes, 'conversations', (it) => it.id);

  const deleteWhole = async (id: string): Promise<void> => {
    const gone = await write(
      ['conversations', 'messages', 'parts', 'decisions', 'grants'],
      'relaxed',
      async (tx) => {
        const decisions = tx.objectStore('decisions');
        const grants = tx.objectStore('grants');
        const [calls, grantIds] = await Promise.all([
          decisions.index('conversation').getAllKeys(id),
          grants.index('conversation').getAllKeys(id),
        ]);
        await Promise.all([
          tx.objectStore('conversations').delete(id),
          deleteMessages(tx, id, 0),
          ...calls.map((call) => decisions.delete(call)),
          ...grantIds.map((grant) => grants.delete(grant)),
        ]);
        return grantIds;
      },
    );
    changes.announce('messages', id);
    changes.announce('conversations', id);
    for (const grant of gone) changes.announce('grants', grant);
  };

  return {
    ...table,
    delete: deleteWhole,
    deleteWhole,
    list: async () => (await table.all()).sort(newestFirst),

    search: (query, signal) =>
      read(['conversations', 'parts'], async (tx) => {
        const words = queryWords(query);
        const all = (await tx.objectStore('conversations').getAll()).sort(newestFirst);
        const hits: ConversationHit[] = [];
        for (let at = 0; at < all.length; at += BATCH) {
          signal?.throwIfAborted();
          const batch = all.slice(at, at + BATCH);
          const found = await Promise.all(batch.map((it) => match(tx, it, words)));
          for (const hit of found) if (hit) hits.push(hit);
        }
        signal?.throwIfAborted();
        return hits;
      }),
  };
}
