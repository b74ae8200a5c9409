/** The one place where the rooms are joined. The screens know this surface and nothing beneath it. */
import type { Cloud } from './brain/cloud/types.ts';
import type { Models } from './brain/local/types.ts';
import type { Session } from './agent/session.ts';
import type { Host } from './mcp/types.ts';
import type { Conversation, Settings } from './store/records.ts';
import type { Archive, ConversationHit } from './store/store.ts';

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

export type { Activity } from './agent/activity.ts';
export type { MessageView, Question, SendOptions, Session, SessionView } from './agent/session.ts';
export type { Answer } from './policy/types.ts';
