/** The store's surface: tables as small typed objects. `openStore` (open.ts) makes one. */
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

/** Names of the tables whose changes other tabs hear of. */
export type Topic =
  | 'conversations'
  | 'messages'
  | 'servers'
  | 'lists'
  | 'grants'
  | 'decisions'
  | 'reminders'
  | 'accounts'
  | 'models'
  | 'figures'
  | 'settings'
  | 'secrets'
  | 'actions'
  | 'lock';

export interface Change {
  readonly topic: Topic;
  /** Key of what changed: a conversation's id for messages, a call id for decisions, … */
  readonly key: string;
  /** True where another tab made it. */
  readonly remote: boolean;
}

/** Keeps tabs in step: every write is announced here and, over BroadcastChannel, in other tabs. */
export interface Changes {
  subscribe(listener: (change: Change) => void): () => void;
  announce(topic: Topic, key: string): void;
}

/** The browser refused a write for want of room. Nothing was stored by that write. */
export class QuotaError extends Error {
  override readonly name = 'QuotaError';
}

export interface Table<T> {
  get(key: string): Promise<T | undefined>;
  all(): Promise<T[]>;
  put(record: T): Promise<void>;
  delete(key: string): Promise<void>;
  /**
   * Reads, changes and writes in one transaction; undefined from `change` leaves it as it is.
   * Resolves with the record as it is then; undefined where there is none.
   */
  update(key: string, change: (old: T) => T | undefined): Promise<T | undefined>;
}

export interface ConversationHit {
  readonly conversation: Conversation;
  /** Words around the first match, or the first words of the last message. */
  readonly excerpt: string;
}

export interface ConversationTable extends Table<Conversation> {
  /** Newest first, pinned before others. */
  list(): Promise<Conversation[]>;
  /** Conversations whose title or text holds every word of the query, in any case. */
  search(query: string, signal?: AbortSignal): Promise<ConversationHit[]>;
  /** Deletes it with its messages, parts and decisions. */
  deleteWhole(id: string): Promise<void>;
}

export interface MessageTable {
  /** Messages of a conversation in order, without their parts. */
  list(conversation: string): Promise<Message[]>;
  /** The parts of every message of a conversation, by message id, in order. */
  partsOf(conversation: string): Promise<Map<string, Part[]>>;
  parts(message: string): Promise<Part[]>;
  /**
   * Adds a message behind the last one, with its parts, in one transaction; the store gives the seq.
   * `change` is made to the conversation in the same transaction; where it throws, nothing is written.
   */
  add(
    message: Omit<Message, 'seq'>,
    parts: readonly Part[],
    change?: (conversation: Conversation) => Conversation,
  ): Promise<Message>;
  setState(id: string, state: Message['state']): Promise<void>;
  /**
   * Writes one part of a message; the promise resolves when it is durable. False, and nothing is
   * written, where the same call has come further meanwhile: then somebody else runs it.
   */
  putPart(message: Message, index: number, part: Part): Promise<boolean>;
  /**
   * Moves a call from `allowed` to `running` in one transaction. False where it was not `allowed`
   * any more: then somebody else runs it.
   */
  claim(message: Message, index: number, startedAt: number): Promise<boolean>;
  /** Removes a message and all behind it (edit, regenerate). */
  truncate(conversation: string, fromSeq: number): Promise<void>;
}

export interface DecisionTable {
  get(callId: string): Promise<Decision | undefined>;
  /**
   * Writes it if there is none for this call id, and what it settles for later calls in the same write;
   * false, with nothing written, where there was one.
   */
  add(decision: Decision, grant?: Grant): Promise<boolean>;
}

export interface GrantTable extends Table<Grant> {
  for(server: string, tool: string): Promise<Grant[]>;
  /** Puts `next` in the place of those of a tool that it replaces, in one write; null: nothing. */
  replace(
    of: { readonly server: string; readonly tool: string },
    isReplaced: (grant: Grant) => boolean,
    next: Grant | null,
  ): Promise<void>;
}

export interface SettingsTable {
  get(): Promise<Settings>;
  set(change: Partial<Settings>): Promise<void>;
  /** Adds to what cloud models have cost on a day, whichever tab adds at the same time. */
  spend(day: string, cost: number): Promise<void>;
}

/** Secrets, AES-GCM encrypted under a non-extractable key. Never exported, never logged. */
export interface Vault {
  get(name: string): Promise<string | undefined>;
  set(name: string, secret: string): Promise<void>;
  delete(name: string): Promise<void>;
  has(name: string): Promise<boolean>;
}

/** What is said of a call; its place and its hashes are the log's. */
export type ActionDraft = Omit<ActionEntry, 'seq' | 'prev' | 'hash'>;

/**
 * Every call that was let run or kept from running. Lines are only added, each holds the hash of the
 * one before, and deleting a conversation leaves them.
 */
export interface ActionLog {
  append(draft: ActionDraft): Promise<void>;
  /** The newest first, at most `limit`, that hold every word of the query, in any case. */
  search(query: string, limit: number): Promise<readonly ActionEntry[]>;
  /** Place of the first line that was changed or is missing; null where the log is whole. */
  verify(): Promise<number | null>;
  /** JSON Lines, oldest first. */
  export(): Promise<Blob>;
  /** Deletes every line. */
  clear(): Promise<void>;
}

export interface ImportSummary {
  readonly conversations: number;
  readonly messages: number;
  readonly servers: number;
  readonly reminders: number;
  /** Records that were here already and were kept as they are. */
  readonly kept: number;
}

export interface Archive {
  /** Everything but secrets, as one file that only the passphrase opens; without one, as JSON. */
  export(passphrase?: string): Promise<Blob>;
  /**
   * Validates all of it before anything is written, then writes in one transaction. Takes over no
   * grant that allows, no trust in a server and no open call: a file never says yes for a person.
   */
  import(
    file: Blob,
    passphrase?: string,
  ): Promise<
    | { readonly ok: true; readonly summary: ImportSummary }
    | {
        readonly ok: false;
        readonly message: string;
        readonly advice: string;
        /** It is locked, and the passphrase is missing or wrong. */
        readonly sealed?: true;
      }
  >;
}

/** What opens the app lock. */
export type Proof =
  | { readonly kind: 'passphrase'; readonly passphrase: string }
  /** `secret`: the 32 bytes that the passkey's PRF answers with. */
  | { readonly kind: 'passkey'; readonly secret: Uint8Array<ArrayBuffer> };

/** What is to open it from now on. */
export type NewWay =
  /** At least eight characters. */
  | { readonly kind: 'passphrase'; readonly passphrase: string }
  | {
      readonly kind: 'passkey';
      /** Id of the credential, and the salt that its PRF was asked with. */
      readonly credential: Uint8Array<ArrayBuffer>;
      readonly salt: Uint8Array<ArrayBuffer>;
      readonly secret: Uint8Array<ArrayBuffer>;
    };

/** A way that there is, with what has to be known to take it. */
export type Way =
  | { readonly kind: 'passphrase' }
  | {
      readonly kind: 'passkey';
      readonly credential: Uint8Array<ArrayBuffer>;
      readonly salt: Uint8Array<ArrayBuffer>;
    };

/** What became of a try. `waitMs`: until another one is heard; after `wait` this one was not. */
export type Tried =
  | { readonly ok: true }
  | { readonly ok: false; readonly why: 'wrong' | 'wait'; readonly waitMs: number };

/** What may be done with the lock once it was opened again. Each rejects where another tab was faster. */
export interface LockChange {
  /** Adds a way, in the place of one of its kind. */
  setWay(way: NewWay): Promise<void>;
  /** Takes a way away; never the last one. */
  removeWay(kind: Way['kind']): Promise<void>;
  /** Writes everything plain again; `progress` hears how much is done, from 0 to 1. */
  turnOff(progress?: (share: number) => void): Promise<void>;
}

/** The app lock of a store that is open. */
export interface Lock {
  /** Whether there is a lock. */
  on(): boolean;
  /** None where there is no lock. */
  ways(): Promise<readonly Way[]>;
  /** Milliseconds until another passphrase is heard. */
  wait(): Promise<number>;
  /** Seals everything; `progress` hears how much is done, from 0 to 1. */
  turnOn(way: NewWay, progress?: (share: number) => void): Promise<void>;
  /** Opens it again, before anything about it is changed. */
  prove(
    proof: Proof,
  ): Promise<
    { readonly ok: true; readonly change: LockChange } | Exclude<Tried, { readonly ok: true }>
  >;
}

/** A store that is locked: all that can be done with it. */
export interface Locked extends Pick<Lock, 'ways' | 'wait'> {
  open(proof: Proof): Promise<Tried>;
  /** Deletes the whole database, for one who cannot open it. */
  erase(): Promise<void>;
}

export interface Store {
  readonly changes: Changes;
  readonly conversations: ConversationTable;
  readonly messages: MessageTable;
  readonly decisions: DecisionTable;
  readonly grants: GrantTable;
  readonly servers: Table<ServerRecord>;
  readonly lists: Table<ToolListRecord>;
  readonly reminders: Table<Reminder>;
  readonly accounts: Table<CloudAccount>;
  readonly models: Table<ModelRecord>;
  readonly figures: Table<FigureRecord>;
  readonly settings: SettingsTable;
  readonly vault: Vault;
  readonly actions: ActionLog;
  readonly archive: Archive;
  readonly lock: Lock;
  close(): void;
}
