/** The one place where the rooms are joined. The screens know this surface and nothing beneath it. */
import type { Cloud } from './brain/cloud/types.ts';
import type { Models } from './brain/local/types.ts';
import type { CallProgress, Host } from './mcp/types.ts';
import type { Answer } from './policy/types.ts';
import type {
  CallPart,
  Conversation,
  Message,
  Mode,
  NoticeAction,
  Part,
  Settings,
} from './store/records.ts';
import type { Archive, ConversationHit, Store } from './store/store.ts';

export interface MessageView {
  readonly message: Message;
  readonly parts: readonly Part[];
}

/** What a running turn is doing right now; for the status line. */
export type Activity =
  | { readonly kind: 'idle' }
  | { readonly kind: 'routing' }
  /** A model is being loaded or reads the prompt. */
  | {
      readonly kind: 'preparing';
      readonly phase: 'load' | 'prefill';
      readonly fraction: number | null;
    }
  | { readonly kind: 'thinking' }
  | { readonly kind: 'writing' }
  | { readonly kind: 'asking'; readonly callId: string }
  | { readonly kind: 'calling'; readonly callId: string; readonly progress?: CallProgress }
  /** Another tab is at work on this conversation. */
  | { readonly kind: 'elsewhere' };

export interface Question {
  readonly call: CallPart;
  readonly message: string;
}

export interface SessionView {
  readonly conversation: Conversation;
  /** A message keeps its identity while it does not change. */
  readonly messages: readonly MessageView[];
  readonly activity: Activity;
  /** Open questions in order, those found after a restart included. */
  readonly questions: readonly Question[];
  /** Set where the last turn was cut off (killed tab) and can go on. */
  readonly interrupted: boolean;
}

/** One open conversation. */
export interface Session {
  view(): SessionView;
  /** Called after every change, at most once a frame. */
  subscribe(listener: (view: SessionView) => void): () => void;
  /** Stores the words, then runs a turn; while one runs they queue. */
  send(text: string, options?: { place?: 'phone' | 'cloud' }): Promise<void>;
  /** Takes a queued message out, e.g. to edit it. */
  unqueue(index: number): Promise<void>;
  stop(): void;
  /** Goes on with a turn that was cut off, stopped, or ended by a limit or an error. */
  resume(options?: { place?: 'phone' | 'cloud' }): Promise<void>;
  answer(callId: string, answer: Answer): Promise<boolean>;
  setMode(mode: Mode): Promise<void>;
  setDraft(text: string): Promise<void>;
  rename(title: string): Promise<void>;
  /** Drops the last turn and runs it again, perhaps elsewhere. */
  regenerate(options?: { place?: 'phone' | 'cloud' }): Promise<void>;
  /** Lets go of it; a running turn goes on. */
  close(): void;
}

export interface Conversations {
  list(): Promise<Conversation[]>;
  search(query: string, signal?: AbortSignal): Promise<ConversationHit[]>;
  create(): Promise<Conversation>;
  open(id: string): Promise<Session | null>;
  delete(id: string): Promise<void>;
  pin(id: string, pinned: boolean): Promise<void>;
  /** Called when the list changes, in any tab. */
  subscribe(listener: () => void): () => void;
}

export interface GrantView {
  readonly id: string;
  readonly serverName: string;
  readonly tool: string;
  readonly verdict: 'allow' | 'deny';
  readonly conversation: string | null;
  readonly createdAt: number;
}

export interface DueReminder {
  readonly id: string;
  readonly text: string;
  readonly at: number;
}

export interface App {
  readonly conversations: Conversations;
  readonly models: Models;
  readonly cloud: Cloud;
  readonly host: Host;
  readonly settings: {
    get(): Promise<Settings>;
    set(change: Partial<Settings>): Promise<void>;
    subscribe(listener: () => void): () => void;
  };
  readonly grants: {
    list(): Promise<GrantView[]>;
    revoke(id: string): Promise<void>;
    /** Takes back what lets this tool run without asking. */
    revokeTool(server: string, tool: string): Promise<void>;
    subscribe(listener: () => void): () => void;
  };
  readonly reminders: {
    list(): Promise<DueReminder[]>;
    dismiss(id: string): Promise<void>;
    /** The reminder as an iCalendar file, to hand over to the phone's calendar. */
    ics(id: string): Promise<Blob | null>;
    /** Called with those that have become due while the app is open. */
    subscribe(listener: (due: readonly DueReminder[]) => void): () => void;
  };
  readonly archive: Archive;
  readonly storage: {
    estimate(): Promise<{ used: number; quota: number }>;
    /** Asks the browser to keep the data; the answer is stored in the settings. */
    persist(): Promise<boolean>;
  };
  /** The demo server offered on the first screen, from `demo.json` beside the app; null where there is none. */
  demoServer(): Promise<{ url: string; name: string } | null>;
}

export type { Answer, NoticeAction, Store };
