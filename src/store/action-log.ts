/**
 * The action log: what became of every call, in lines that are only added.
 *
 * Promises: each line holds the hash of the one before, so a line that was changed, moved or taken out
 * is found; lines of several tabs form one chain; deleting a conversation leaves them; no secret that
 * looks like one is in them.
 */
import { canonicalJson, fingerprint } from './canonical.ts';
import type { Connection } from './connection.ts';
import { redact } from './redact.ts';
import type { ActionEntry } from './records.ts';
import { fold, queryWords } from './search.ts';
import type { ActionDraft, ActionLog, Changes } from './store.ts';

/** Characters that are kept of one text of a call. */
const LONGEST_TEXT = 2_000;
/** Levels of arguments that are kept. */
const DEEPEST = 12;
/** Lines read at once. */
const BATCH = 500;

function cut(text: string): string {
  const struck = redact(text);
  const left = struck.length - LONGEST_TEXT;
  return left > 0 ? `${struck.slice(0, LONGEST_TEXT)}… (${left} more characters)` : struck;
}

/** A value as it is kept: texts cut and without what looks like a secret. */
function kept(value: unknown, levels = DEEPEST, name = ''): unknown {
  if (typeof value === 'string') return name === '' ? cut(value) : struckUnder(name, value);
  if (typeof value === 'number' && name !== '') {
    const struck = struckUnder(name, String(value));
    return struck === String(value) ? value : struck;
  }
  if (typeof value !== 'object' || value === null) return value;
  if (levels === 0) return '…';
  if (Array.isArray(value)) return value.map((item) => kept(item, levels - 1, name));
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, kept(member, levels - 1, name)]),
  );
}

/** Some secrets are known only by the name that they stand under. */
function struckUnder(name: string, text: string): string {
  const pair = `${name}: ${text}`;
  const struck = redact(pair);
  return struck === pair ? cut(text) : cut(struck.slice(name.length + 2));
}

function textOf({ title, tool, serverName, args, brain, words, outcome }: ActionEntry): string {
  return fold([title, tool, serverName, canonicalJson(args), brain, words, outcome].join('\n'));
}

export function createActionLog(connection: Connection, changes: Changes): ActionLog {
  const newest = (): Promise<ActionEntry | undefined> =>
    connection.read(
      ['actions'],
      async (tx) => (await tx.objectStore('actions').openCursor(null, 'prev'))?.value,
    );

  /** Adds a line behind `last`; false where another tab was faster. */
  async function added(draft: ActionDraft, last: ActionEntry | undefined): Promise<boolean> {
    const line = { ...draft, seq: (last?.seq ?? -1) + 1, prev: last?.hash ?? '' };
    const entry: ActionEntry = { ...line, hash: await fingerprint(line) };
    return connection.write(['actions'], 'strict', async (tx) => {
      const store = tx.objectStore('actions');
      const now = await store.openCursor(null, 'prev');
      if (now?.value.hash !== last?.hash) return false;
      await store.add(entry);
      return true;
    });
  }

  /** Lines from `from` on, oldest first. */
  const batch = (from: number): Promise<ActionEntry[]> =>
    connection.read(['actions'], (tx) =>
      tx.objectStore('actions').getAll(IDBKeyRange.lowerBound(from), BATCH),
    );

  async function* lines(): AsyncGenerator<ActionEntry> {
    for (let from = 0; ;) {
      const found = await batch(from);
      yield* found;
      const last = found.at(-1);
      if (!last || found.length < BATCH) return;
      from = last.seq + 1;
    }
  }

  return {
    async append(draft) {
      const args = kept(draft.args) as ActionDraft['args'];
      const { why } = draft.decision;
      const clean: ActionDraft = {
        ...draft,
        args,
        decision: { ...draft.decision, ...(why === undefined ? {} : { why: cut(why) }) },
        ...(draft.words === undefined ? {} : { words: cut(draft.words) }),
      };
      while (!(await added(clean, await newest())));
      changes.announce('actions', draft.callId);
    },

    search: (query, limit) =>
      connection.read(['actions'], async (tx) => {
        const words = queryWords(query);
        const found: ActionEntry[] = [];
        let cursor = await tx.objectStore('actions').openCursor(null, 'prev');
        for (; cursor && found.length < limit; cursor = await cursor.continue()) {
          const text = words.length > 0 ? textOf(cursor.value) : '';
          if (words.every((word) => text.includes(word))) found.push(cursor.value);
        }
        return found;
      }),

    async verify() {
      let seq = 0;
      let prev = '';
      for await (const { hash, ...line } of lines()) {
        const whole = line.seq === seq && line.prev === prev && (await fingerprint(line)) === hash;
        if (!whole) return seq;
        seq += 1;
        prev = hash;
      }
      return null;
    },

    async export() {
      const blobs: Blob[] = [];
      for await (const line of lines()) blobs.push(new Blob([`${JSON.stringify(line)}\n`]));
      return new Blob(blobs, { type: 'application/jsonl' });
    },

    async clear() {
      await connection.write(['actions'], 'strict', (tx) => tx.objectStore('actions').clear());
      changes.announce('actions', '');
    },
  };
}
