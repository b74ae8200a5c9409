/**
 * What a server says by itself: that a list or a resource changed, and its log. Until 2025-11-25 it
 * just comes; from 2026-07-28 on it has to be listened for (`subscriptions/listen`), with one stream
 * that is opened again when it breaks.
 */
import {
  fromJsonSchema,
  type Client,
  type McpSubscription,
  type SubscriptionFilter,
} from '@modelcontextprotocol/client';
import type { ListKind } from '../store/records.ts';
import { redact } from '../store/redact.ts';
import type { ConnectOptions, Patience } from './connection-types.ts';
import { PATIENCE } from './transports.ts';

/** Changes that come within this many milliseconds of each other are told once. */
const TOGETHER_MS = 300;
/** What a log may hold in one line, in characters. */
const LONGEST_LINE = 2_000;

/** That a task moved on: of 2025-11-25, and of the extension `io.modelcontextprotocol/tasks`. */
const TASK_STATUS = ['notifications/tasks/status', 'notifications/tasks'] as const;
const OF_TASK = fromJsonSchema<{ taskId: string }>({
  type: 'object',
  properties: { taskId: { type: 'string' } },
  required: ['taskId'],
});

/** The extension for tasks adds to what is listened for. */
type Filter = SubscriptionFilter & { readonly taskIds?: string[] };

export interface Hearing {
  /** Listens for what the server offers. Called once, when the connection stands. */
  begin(): void;
  /** Calls `onUpdate` at each change of the resource, until the function that it gives is called. */
  watch(uri: string, onUpdate: () => void, ms: number): Promise<() => void>;
  /** Calls `onStatus` when the server says how a task stands, until what it gives is called. */
  task(taskId: string, onStatus: () => void): () => void;
  /** Resolves when the server says that the person is done at a page, or when the signal aborts. */
  elicited(elicitationId: string, signal: AbortSignal): Promise<void>;
  end(): void;
}

type Told = Pick<ConnectOptions, 'onChanged' | 'onLog' | 'secrets' | 'now' | 'patience'>;

/** To be made before the client connects: what is said at once is heard. */
export function createHearing(client: Client, told: Told): Hearing {
  const patience: Patience = { ...PATIENCE, ...told.patience };
  const timers = new Map<ListKind, ReturnType<typeof setTimeout>>();
  const watchers = new Map<string, Set<() => void>>();
  const waiting = new Map<string, () => void>();
  const tasks = new Map<string, () => void>();
  /** Those of tasks. */
  const streams = new Set<Listening>();
  let listening: Listening | null = null;
  let ended = false;

  function changed(kind: ListKind): void {
    if (timers.has(kind)) return;
    const tell = () => {
      timers.delete(kind);
      told.onChanged(kind);
    };
    timers.set(kind, setTimeout(tell, TOGETHER_MS));
  }

  client.setNotificationHandler('notifications/tools/list_changed', () => changed('tools'));
  client.setNotificationHandler('notifications/prompts/list_changed', () => changed('prompts'));
  client.setNotificationHandler('notifications/resources/list_changed', () => changed('resources'));
  client.setNotificationHandler('notifications/resources/updated', ({ params }) => {
    watchers.get(params.uri)?.forEach((onUpdate) => onUpdate());
  });
  client.setNotificationHandler('notifications/elicitation/complete', ({ params }) => {
    waiting.get(params.elicitationId)?.();
  });
  for (const method of TASK_STATUS)
    client.setNotificationHandler(method, { params: OF_TASK }, ({ taskId }) => {
      tasks.get(taskId)?.();
    });
  client.setNotificationHandler('notifications/message', ({ params }) => {
    const { level, logger, data } = params;
    const text = typeof data === 'string' ? data : JSON.stringify(data);
    told.onLog?.({
      at: told.now(),
      level,
      text: line(text ?? ''),
      ...(logger === undefined ? {} : { logger: line(logger).slice(0, 100) }),
    });
  });

  /** Struck before it is cut: half a secret would not be known as one. */
  function line(text: string): string {
    return redact(text.slice(0, 2 * LONGEST_LINE), told.secrets).slice(0, LONGEST_LINE);
  }

  const isModern = () => client.getProtocolEra() === 'modern';

  function filter(): SubscriptionFilter {
    const { tools, prompts, resources } = client.getServerCapabilities() ?? {};
    return {
      ...(tools?.listChanged ? { toolsListChanged: true } : {}),
      ...(prompts?.listChanged ? { promptsListChanged: true } : {}),
      ...(resources?.listChanged ? { resourcesListChanged: true } : {}),
      ...(watchers.size > 0 ? { resourceSubscriptions: [...watchers.keys()] } : {}),
    };
  }

  /** One stream with all that is listened for; a change of it is a new stream. */
  function listen(): Promise<void> {
    listening?.end();
    listening = null;
    const wanted = filter();
    if (ended || Object.keys(wanted).length === 0) return Promise.resolve();
    listening = keepListening(client, wanted, patience);
    return listening.begun;
  }

  async function unwatch(uri: string, onUpdate: () => void): Promise<void> {
    const all = watchers.get(uri);
    all?.delete(onUpdate);
    if (!all || all.size > 0) return;
    watchers.delete(uri);
    if (isModern()) await listen();
    else await client.unsubscribeResource({ uri });
  }

  return {
    begin() {
      if (isModern()) listen().catch(() => undefined);
      // From 2026-07-28 on each call says for itself what it wants to hear.
      else if (told.onLog && client.getServerCapabilities()?.logging)
        client
          .request({ method: 'logging/setLevel', params: { level: 'info' } })
          .catch(() => undefined);
    },

    async watch(uri, onUpdate, ms) {
      const all = watchers.get(uri) ?? new Set();
      const isFirst = all.size === 0;
      all.add(onUpdate);
      watchers.set(uri, all);
      try {
        if (isFirst && isModern()) await listen();
        else if (isFirst) await client.subscribeResource({ uri }, { timeout: ms });
      } catch (cause) {
        all.delete(onUpdate);
        if (all.size === 0) watchers.delete(uri);
        // The stream without it is closed already, and all else is to be heard of still.
        if (isModern()) listen().catch(() => undefined);
        throw cause;
      }
      return () => void unwatch(uri, onUpdate).catch(() => undefined);
    },

    task(taskId, onStatus) {
      tasks.set(taskId, onStatus);
      // A stream of its own: a server that knows no such thing is to go on telling all else.
      const stream = isModern() ? keepListening(client, { taskIds: [taskId] }, patience) : null;
      stream?.begun.catch(() => undefined);
      if (stream) streams.add(stream);
      return () => {
        tasks.delete(taskId);
        stream?.end();
        if (stream) streams.delete(stream);
      };
    },

    elicited(elicitationId, signal) {
      return new Promise((resolve) => {
        const done = () => {
          waiting.delete(elicitationId);
          resolve();
        };
        waiting.set(elicitationId, done);
        signal.addEventListener('abort', done, { once: true });
      });
    },

    end() {
      ended = true;
      timers.forEach((timer) => clearTimeout(timer));
      listening?.end();
      streams.forEach((stream) => stream.end());
    },
  };
}

interface Listening {
  /** Rejects where the server does not let itself be listened to. */
  readonly begun: Promise<void>;
  end(): void;
}

/** Keeps one subscription open. One that the server ends again and again is asked for ever later. */
function keepListening(
  client: Client,
  filter: Filter,
  { firstMs, longestMs, times }: Patience,
): Listening {
  const over = new AbortController();
  let subscription: McpSubscription | null = null;
  let failures = 0;

  async function open(): Promise<void> {
    subscription = await client.listen(filter, { signal: over.signal });
    const since = performance.now();
    void subscription.closed.then((how) => {
      if (how === 'local' || over.signal.aborted) return;
      if (performance.now() - since > longestMs) failures = 0;
      later();
    });
  }

  function later(): void {
    if (failures >= times) return;
    const pause = Math.min(firstMs * 2 ** failures, longestMs);
    failures += 1;
    const timer = setTimeout(() => {
      open().catch(() => {
        if (!over.signal.aborted) later();
      });
    }, pause);
    over.signal.addEventListener('abort', () => clearTimeout(timer), { once: true });
  }

  return {
    begun: open(),
    end() {
      over.abort();
      subscription?.close().catch(() => undefined);
    },
  };
}
