/** Stores on fake-indexeddb, each under a name of its own, and records to put in them. */
import 'fake-indexeddb/auto';
import { onTestFinished } from 'vitest';
import { openStore, type OpenOptions } from '../../../src/store/open.ts';
import type { CallPart, Conversation, Message, Part } from '../../../src/store/records.ts';
import type { Store } from '../../../src/store/store.ts';

let count = 0;
export const freshName = (): string => `test-${process.pid}-${count++}`;

export async function freshStore(options: OpenOptions = {}): Promise<Store> {
  const store = await openStore({ name: freshName(), channel: false, ...options });
  onTestFinished(() => store.close());
  return store;
}

export const conversation = (id: string, more: Partial<Conversation> = {}): Conversation => ({
  id,
  title: `Title of ${id}`,
  createdAt: 1,
  updatedAt: 1,
  mode: 'auto',
  draft: '',
  queue: [],
  private: false,
  pinned: false,
  ...more,
});

export const draft = (
  id: string,
  inside: string,
  more: Partial<Message> = {},
): Omit<Message, 'seq'> => ({
  id,
  conversation: inside,
  role: 'assistant',
  createdAt: 5,
  state: 'running',
  ...more,
});

export const text = (words: string): Part => ({ kind: 'text', step: 0, text: words });

export const call = (callId: string, more: Partial<CallPart> = {}): CallPart => ({
  kind: 'call',
  step: 0,
  callId,
  server: 'travel',
  serverName: 'Travel',
  tool: 'book',
  title: 'Book',
  modelName: 'travel_book',
  pin: 'p1',
  args: { city: 'Mumbai' },
  days: [],
  readOnly: false,
  state: 'asked',
  ...more,
});
