/**
 * The database: its tables, and the migrations that lead to them from any earlier version.
 *
 * A migration is never edited once it has been released; a change is a new one at the end.
 */
import type { DBSchema, IDBPDatabase, IDBPTransaction, StoreNames } from 'idb';
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
}

export type StoreName = StoreNames<Schema>;
export type Database = IDBPDatabase<Schema>;
export type Reading = IDBPTransaction<Schema, StoreName[], 'readonly'>;
export type Writing = IDBPTransaction<Schema, StoreName[], 'readwrite'>;

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
];
