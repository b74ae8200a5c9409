/**
 * Rows under the app lock: what of them stays plain, how the rest is sealed, and transactions that open
 * and seal on the way. Loaded only where there is a lock.
 *
 * Promises: what no key or index needs is encrypted, with XChaCha20-Poly1305 (RFC 8439, and
 * draft-irtf-cfrg-xchacha for the 24-byte nonce, which may be random); a row is bound to its store and
 * to its plain fields, so that it opens nowhere else. A row that is plain is read as it is, since a lock
 * that is being turned on or off leaves both kinds. A row that does not open was changed from outside:
 * it counts as absent, or a sentence stands in its place where the places of others hang on it.
 *
 * The cipher is not Web Crypto's: that one answers later, and a transaction does not wait.
 */
import { xchacha20poly1305 } from '@noble/ciphers/chacha.js';
import type { Stance } from './connection.ts';
import type { ActionEntry, Conversation, Decision, Grant, Reminder } from './records.ts';
import {
  SEALED,
  type PartRow,
  type Reading,
  type ReadingIndex,
  type ReadingStore,
  type RowCursor,
  type Schema,
  type SealedName,
  type SecretRow,
  type StoreName,
  type WritingStore,
} from './schema.ts';

/** Bytes of the key that rows are sealed with. */
export const KEY_BYTES = 32;
const NONCE_BYTES = 24;

/** A row as it lies in the database: its plain fields, and the nonce and the ciphertext of all of it. */
type SealedRow = Readonly<Record<string, unknown>> & { readonly sealed: Uint8Array };

interface Rule<T> {
  /** What stays plain, of a record or of a sealed row: no more than its key and its indexes need. */
  plain(row: T): Readonly<Record<string, unknown>>;
  encode(record: T): string;
  decode(text: string): T;
  /** What stands in the place of a row that does not open; absent: nothing does. */
  instead?(row: T): T;
}

const json = {
  encode: (record: unknown): string => JSON.stringify(record),
  decode: <T>(text: string): T => JSON.parse(text) as T,
};

const RULES: { readonly [N in SealedName]: Rule<Schema[N]['value']> } = {
  conversations: { ...json, plain: ({ id }: Conversation) => ({ id }) },
  parts: {
    ...json,
    plain: ({ conversation, seq, index, part }: PartRow) => ({
      conversation,
      seq,
      index,
      part: { kind: part.kind },
    }),
    instead: ({ conversation, seq, index }) => ({
      conversation,
      seq,
      index,
      part: {
        kind: 'notice',
        step: 0,
        code: 'damaged',
        text: 'This part was changed or damaged outside of Deft and cannot be read.',
        advice: 'What stands around it is as it was.',
      },
    }),
  },
  decisions: { ...json, plain: ({ callId, conversation }: Decision) => ({ callId, conversation }) },
  grants: {
    ...json,
    plain: ({ id, server, tool, conversation }: Grant) => ({
      id,
      server,
      tool,
      ...(conversation === undefined ? {} : { conversation }),
    }),
  },
  reminders: { ...json, plain: ({ id }: Reminder) => ({ id }) },
  actions: {
    ...json,
    plain: ({ seq }: ActionEntry) => ({ seq }),
    // It fits into no chain, so that the check of the log finds it.
    instead: ({ seq }) => ({
      seq,
      at: 0,
      event: 'ended',
      callId: '',
      conversation: '',
      server: '',
      serverName: '',
      tool: '',
      title: 'This line was changed or damaged outside of Deft and cannot be read',
      args: {},
      decision: { by: 'rule', allowed: false },
      brain: '',
      prev: '',
      hash: '',
    }),
  },
  secrets: {
    plain: ({ name }: SecretRow) => ({ name }),
    encode: ({ name, iv, data }) =>
      JSON.stringify({ name, iv: [...iv], data: [...new Uint8Array(data)] }),
    decode(text) {
      const { name, iv, data } = JSON.parse(text) as { name: string; iv: number[]; data: number[] };
      return { name, iv: Uint8Array.from(iv), data: Uint8Array.from(data).buffer };
    },
  },
};

const utf8 = new TextEncoder();

const isSealed = (row: unknown): row is SealedRow =>
  typeof row === 'object' && row !== null && 'sealed' in row && row.sealed instanceof Uint8Array;

interface RowCipher {
  seal<N extends SealedName>(name: N, record: Schema[N]['value']): SealedRow;
  /** Undefined where it does not open and nothing stands in its place. */
  open<N extends SealedName>(name: N, row: Schema[N]['value']): Schema[N]['value'] | undefined;
}

/** Seals and opens rows with a key of 32 bytes. */
export function createRowCipher(key: Uint8Array): RowCipher {
  const ruleOf = <N extends SealedName>(name: N) => RULES[name] as Rule<Schema[N]['value']>;
  const place = (name: SealedName, plain: object): Uint8Array =>
    utf8.encode(JSON.stringify([name, plain]));
  return {
    seal(name, record) {
      const rule = ruleOf(name);
      const plain = rule.plain(record);
      const nonce = crypto.getRandomValues(new Uint8Array(NONCE_BYTES));
      const cipher = xchacha20poly1305(key, nonce, place(name, plain));
      const text = cipher.encrypt(utf8.encode(rule.encode(record)));
      const sealed = new Uint8Array(NONCE_BYTES + text.length);
      sealed.set(nonce);
      sealed.set(text, NONCE_BYTES);
      return { ...plain, sealed };
    },
    open(name, row) {
      if (!isSealed(row)) return row;
      const rule = ruleOf(name);
      try {
        const nonce = row.sealed.subarray(0, NONCE_BYTES);
        const cipher = xchacha20poly1305(key, nonce, place(name, rule.plain(row)));
        const text = cipher.decrypt(row.sealed.subarray(NONCE_BYTES));
        return rule.decode(new TextDecoder().decode(text));
      } catch {
        return rule.instead?.(row);
      }
    },
  };
}

interface Way<N extends SealedName> {
  out(row: Schema[N]['value'] | undefined): Schema[N]['value'] | undefined;
  in(record: Schema[N]['value']): Schema[N]['value'];
}

async function cursorThrough<N extends SealedName>(
  found: Promise<RowCursor<N> | null>,
  way: Way<N>,
): Promise<RowCursor<N> | null> {
  for (let cursor = await found; cursor; cursor = await cursor.continue()) {
    const here = cursor;
    const value = way.out(here.value);
    if (value !== undefined) return { value, continue: () => cursorThrough(here.continue(), way) };
  }
  return null;
}

async function rowsThrough<N extends SealedName>(
  rows: Promise<Schema[N]['value'][]>,
  way: Way<N>,
): Promise<Schema[N]['value'][]> {
  return (await rows).flatMap((row) => {
    const value = way.out(row);
    return value === undefined ? [] : [value];
  });
}

function storeThrough<N extends SealedName>(store: WritingStore<N>, way: Way<N>): WritingStore<N> {
  const through: WritingStore<N> = {
    get: async (key) => way.out(await store.get(key)),
    getAll: (...range) => rowsThrough(store.getAll(...range), way),
    getKey: (key) => store.getKey(key),
    getAllKeys: (...range) => store.getAllKeys(...range),
    count: (...range) => store.count(...range),
    openCursor: (...at) => cursorThrough(store.openCursor(...at), way),
    index(name) {
      const index: ReadingIndex<N, typeof name> = store.index(name);
      return {
        getAll: (...range) => rowsThrough(index.getAll(...range), way),
        getAllKeys: (...range) => index.getAllKeys(...range),
        openKeyCursor: (...at) => index.openKeyCursor(...at),
        openCursor: (...at) => cursorThrough(index.openCursor(...at), way),
      };
    },
    put: async (record, ...key) => store.put(way.in(record), ...key),
    add: async (record, ...key) => store.add(way.in(record), ...key),
    delete: (key) => store.delete(key),
    clear: () => store.clear(),
  };
  return through;
}

const underLock = (name: StoreName): name is SealedName => SEALED.some((it) => it === name);

/** How a connection takes rows under a lock; `opening`: it writes them plain, since the lock goes. */
export function sealedStance(lock: string, key: Uint8Array, opening: boolean): Stance {
  const cipher = createRowCipher(key);
  return {
    lock,
    opening,
    through: <Tx extends Reading>(tx: Tx): Tx => {
      const objectStore = (name: StoreName): ReadingStore<StoreName> => {
        const store = tx.objectStore(name);
        if (!underLock(name)) return store;
        const way: Way<typeof name> = {
          out: (row) => (row === undefined ? undefined : cipher.open(name, row)),
          in: (record) =>
            opening ? record : (cipher.seal(name, record) as unknown as typeof record),
        };
        return storeThrough(store as unknown as WritingStore<typeof name>, way) as never;
      };
      return { objectStore } as unknown as Tx;
    },
  };
}
