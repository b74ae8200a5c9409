/**
 * The database: its tables, and the migrations that lead to them from any earlier version.
 *
 * A migration is never edited once it has been released; a change is a new one at the end.
 *
 * Where the app lock is on, a migration meets rows that it cannot read: of those in the stores that
 * `SEALED` names, only what a key or an index needs is plain (sealing.ts), and the key comes later, with
 * the person. So a migration changes the content of such a row nowhere but where it is read or written
 * next, and a new index goes over fields that are plain; a field that becomes plain needs a rule in
 * sealing.ts and a new write of every row after the unlock.
 */
import type {
  DBSchema,
  IDBPDatabase,
  IDBPIndex,
  IDBPObjectStore,
  IDBPTransaction,
  IndexNames,
  StoreNames,
} from 'idb';
import type {
  ActionEntry,
  CloudAccount,
  Conversation,
  Decision,
  FigureRecord,
  Grant,
  Message,
  ModelRecord,
  Part,
  Reminder,
  ServerRecord,
  Settings,
  ToolListRecord,
} from './records.ts';

/** A part is a row of its own, so that an event writes one small row. */
export interface PartRow {
  readonly conversation: string;
  readonly seq: number;
  readonly index: number;
  readonly part: Part;
}

export interface SecretRow {
  readonly name: string;
  readonly iv: Uint8Array<ArrayBuffer>;
  readonly data: ArrayBuffer;
}

/** What was set, and nothing else: defaults are the code's, so that a new default reaches everyone. */
export interface SettingsRow {
  readonly key: 'settings';
  readonly value: Partial<Settings>;
}

/** A way to the key that the rows are sealed with. All bytes are made by lock-ways.ts. */
export type WayRow =
  | {
      readonly kind: 'passphrase';
      readonly salt: Uint8Array<ArrayBuffer>;
      readonly iterations: number;
      readonly iv: Uint8Array<ArrayBuffer>;
      readonly wrapped: Uint8Array<ArrayBuffer>;
    }
  | {
      readonly kind: 'passkey';
      readonly credential: Uint8Array<ArrayBuffer>;
      readonly salt: Uint8Array<ArrayBuffer>;
      readonly iv: Uint8Array<ArrayBuffer>;
      readonly wrapped: Uint8Array<ArrayBuffer>;
    };

/** The app lock; there is a row where it is on. */
export interface LockRow {
  readonly key: 'lock';
  /** Another lock has another key. */
  readonly id: string;
  /** sealing, opening: rows are being rewritten, and some are still as they were. */
  readonly phase: 'sealing' | 'on' | 'opening';
  /** At least one, at most one of a kind. */
  readonly ways: readonly WayRow[];
}

/** Wrong tries to open the lock since the last right one. */
export interface TriesRow {
  readonly key: 'tries';
  readonly wrong: number;
  /** When the last one was, by this phone's clock. */
  readonly at: number;
}

export interface Schema extends DBSchema {
  conversations: { key: string; value: Conversation };
  messages: { key: string; value: Message; indexes: { place: [string, number] } };
  parts: {
    key: [string, number, number];
    value: PartRow;
    /** Lets a search read texts without reading results and receipts. */
    indexes: { kind: [string, string] };
  };
  decisions: { key: string; value: Decision; indexes: { conversation: string } };
  grants: {
    key: string;
    value: Grant;
    indexes: { tool: [string, string]; conversation: string };
  };
  servers: { key: string; value: ServerRecord };
  lists: { key: string; value: ToolListRecord };
  reminders: { key: string; value: Reminder };
  accounts: { key: string; value: CloudAccount };
  models: { key: string; value: ModelRecord };
  figures: { key: string; value: FigureRecord };
  actions: { key: number; value: ActionEntry };
  settings: { key: string; value: SettingsRow };
  secrets: { key: string; value: SecretRow };
  /** The vault's key: a CryptoKey that no script can read out. */
  keys: { key: string; value: CryptoKey };
  lock: { key: 'lock' | 'tries'; value: LockRow | TriesRow };
}

export type StoreName = StoreNames<Schema>;
export type Database = IDBPDatabase<Schema>;

/** Stores that hold what the person wrote, did and keeps secret: sealed where the app lock is on. */
export const SEALED = [
  'conversations',
  'parts',
  'decisions',
  'grants',
  'reminders',
  'actions',
  'secrets',
] as const satisfies readonly StoreName[];
export type SealedName = (typeof SEALED)[number];

type RawStore<N extends StoreName, M extends IDBTransactionMode> = IDBPObjectStore<
  Schema,
  StoreName[],
  N,
  M
>;
type RawIndex<N extends StoreName, I extends IndexNames<Schema, N>> = IDBPIndex<
  Schema,
  StoreName[],
  N,
  I,
  'readonly'
>;

/** A place in a store or an index. */
export interface RowCursor<N extends StoreName> {
  readonly value: Schema[N]['value'];
  continue(): Promise<RowCursor<N> | null>;
}

export interface ReadingIndex<N extends StoreName, I extends IndexNames<Schema, N>> extends Pick<
  RawIndex<N, I>,
  'getAll' | 'getAllKeys' | 'openKeyCursor'
> {
  openCursor(...at: Parameters<RawIndex<N, I>['openCursor']>): Promise<RowCursor<N> | null>;
}

/**
 * What can be read of a store. It is less than IndexedDB offers: every way in which a row comes out, or
 * goes in, is one that sealing.ts opens and seals it on.
 */
export interface ReadingStore<N extends StoreName> extends Pick<
  RawStore<N, 'readonly'>,
  'get' | 'getAll' | 'getKey' | 'getAllKeys' | 'count'
> {
  openCursor(
    ...at: Parameters<RawStore<N, 'readonly'>['openCursor']>
  ): Promise<RowCursor<N> | null>;
  index<I extends IndexNames<Schema, N>>(name: I): ReadingIndex<N, I>;
}

export type WritingStore<N extends StoreName> = ReadingStore<N> & {
  put(row: Schema[N]['value'], key?: Schema[N]['key']): Promise<Schema[N]['key']>;
  add(row: Schema[N]['value'], key?: Schema[N]['key']): Promise<Schema[N]['key']>;
  delete(key: Schema[N]['key'] | IDBKeyRange): Promise<void>;
  clear(): Promise<void>;
};

export interface Reading {
  objectStore<N extends StoreName>(name: N): ReadingStore<N>;
}
export interface Writing extends Reading {
  objectStore<N extends StoreName>(name: N): WritingStore<N>;
}

/** Each speaks of tables as they were in its own time, so none is typed by today's schema. */
export type Migration = (
  db: IDBPDatabase,
  tx: IDBPTransaction<unknown, string[], 'versionchange'>,
) => void | Promise<void>;

/** The one at index n leads from version n to n + 1; the version of the database is their number. */
export const MIGRATIONS: readonly Migration[] = [
  function first(db) {
    db.createObjectStore('conversations', { keyPath: 'id' });
    const messages = db.createObjectStore('messages', { keyPath: 'id' });
    messages.createIndex('place', ['conversation', 'seq'], { unique: true });
    const parts = db.createObjectStore('parts', { keyPath: ['conversation', 'seq', 'index'] });
    parts.createIndex('kind', ['part.kind', 'conversation']);
    const decisions = db.createObjectStore('decisions', { keyPath: 'callId' });
    decisions.createIndex('conversation', 'conversation');
    const grants = db.createObjectStore('grants', { keyPath: 'id' });
    grants.createIndex('tool', ['server', 'tool']);
    grants.createIndex('conversation', 'conversation');
    db.createObjectStore('servers', { keyPath: 'id' });
    db.createObjectStore('lists', { keyPath: 'server' });
    db.createObjectStore('reminders', { keyPath: 'id' });
    db.createObjectStore('accounts', { keyPath: 'id' });
    db.createObjectStore('models', { keyPath: 'id' });
    db.createObjectStore('settings', { keyPath: 'key' });
    db.createObjectStore('secrets', { keyPath: 'name' });
    db.createObjectStore('keys');
  },
  function figures(db) {
    db.createObjectStore('figures', { keyPath: 'id' });
  },
  function actions(db) {
    db.createObjectStore('actions', { keyPath: 'seq' });
  },
  function lock(db) {
    db.createObjectStore('lock', { keyPath: 'key' });
  },
];
