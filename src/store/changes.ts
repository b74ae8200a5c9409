/**
 * Keeps tabs in step: what one tab wrote is heard by its own listeners and, over BroadcastChannel,
 * by those of every other tab. Only names travel, never the data.
 */
import type { Change, Changes, Topic } from './store.ts';

const TOPICS: ReadonlySet<string> = new Set<Topic>([
  'conversations',
  'messages',
  'servers',
  'lists',
  'grants',
  'decisions',
  'reminders',
  'accounts',
  'models',
  'figures',
  'settings',
  'secrets',
  'actions',
  'lock',
]);

function readChange(data: unknown): Change | null {
  if (typeof data !== 'object' || data === null) return null;
  const { topic, key } = data as { topic?: unknown; key?: unknown };
  if (typeof topic !== 'string' || !TOPICS.has(topic) || typeof key !== 'string') return null;
  return { topic: topic as Topic, key, remote: true };
}

/** `channel` null: this tab only. */
export function createChanges(channel: string | null): Changes & { close(): void } {
  const listeners = new Set<(change: Change) => void>();
  const wire = channel === null ? null : new BroadcastChannel(channel);

  const tell = (change: Change) => {
    for (const listener of [...listeners])
      try {
        listener(change);
      } catch (error) {
        // A listener's fault is reported as an uncaught error; it is no failure of the write.
        queueMicrotask(() => {
          throw error;
        });
      }
  };
  if (wire) {
    wire.onmessage = (event: MessageEvent<unknown>) => {
      const change = readChange(event.data);
      if (change) tell(change);
    };
    // On Node a channel would keep the process alive.
    (wire as { unref?: () => void }).unref?.();
  }

  let closed = false;
  return {
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    announce(topic, key) {
      if (closed) return;
      wire?.postMessage({ topic, key });
      tell({ topic, key, remote: false });
    },
    close() {
      closed = true;
      listeners.clear();
      wire?.close();
    },
  };
}
