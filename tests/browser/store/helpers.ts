import { onTestFinished } from 'vitest';
import { deleteDB } from 'idb';
import { openStore } from '../../../src/store/open.ts';
import type { CallPart, Conversation, Message, Part } from '../../../src/store/records.ts';
import type { Store } from '../../../src/store/store.ts';
import type { Order } from './other-tab.ts';

/** A store of its own in the real IndexedDB, erased when the test is over. */
export async function freshStore(): Promise<{ store: Store; name: string }> {
  const name = `test-${crypto.randomUUID()}`;
  const store = await openStore({ name });
  onTestFinished(async () => {
    store.close();
    await deleteDB(name);
  });
  return { store, name };
}

export interface OtherTab {
  ask(order: Order): Promise<unknown>;
  readonly outdated: Promise<void>;
  /** Ends it at once, as the system ends a tab. */
  kill(): void;
}

export async function otherTab(name: string, secret?: Uint8Array<ArrayBuffer>): Promise<OtherTab> {
  const worker = new Worker(new URL('./other-tab.ts', import.meta.url), { type: 'module' });
  onTestFinished(() => worker.terminate());
  let count = 0;
  const waiting = new Map<number, (answer: { result?: unknown; error?: string }) => void>();
  let markOutdated = () => {};
  const outdated = new Promise<void>((resolve) => (markOutdated = resolve));
  worker.onmessage = ({
    data,
  }: MessageEvent<{ id: number; result?: unknown; error?: string; outdated?: true }>) => {
    if (data.outdated) markOutdated();
    else waiting.get(data.id)?.(data);
  };
  const ask = (order: Order) =>
    new Promise<unknown>((resolve, reject) => {
      const id = count++;
      waiting.set(id, ({ result, error }) =>
        error === undefined ? resolve(result) : reject(new Error(error)),
      );
      worker.postMessage({ id, order });
    });
  await ask({ do: 'open', name, ...(secret ? { secret } : {}) });
  return { ask, outdated, kill: () => worker.terminate() };
}

export const conversation = (id: string, title = 'A title'): Conversation => ({
  id,
  title,
  createdAt: 1,
  updatedAt: 1,
  mode: 'auto',
  draft: '',
  queue: [],
  private: false,
  pinned: false,
});

export const draft = (id: string, inside: string): Omit<Message, 'seq'> => ({
  id,
  conversation: inside,
  role: 'assistant',
  createdAt: 1,
  state: 'running',
});

export const text = (words: string): Part => ({ kind: 'text', step: 0, text: words });

export const allowedCall: CallPart = {
  kind: 'call',
  step: 0,
  callId: 'k',
  server: 's',
  serverName: 'S',
  tool: 't',
  title: 'T',
  modelName: 's_t',
  pin: 'p',
  args: {},
  days: [],
  readOnly: false,
  state: 'allowed',
};
