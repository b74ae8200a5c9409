/**
 * The connections to servers while they live: made when something needs one, shared by all that is
 * under way, let go when unused, when the page is hidden, and when the person changes the server.
 *
 * Promise: a connection that carries a call is never cut for tidiness, because a call that was cut
 * could not say whether it ran.
 */
import type { ServerRecord } from '../store/records.ts';
import type { Connection, Opened } from './connection-types.ts';
import { stoppedByPerson } from './errors.ts';
import type { Ears, Open } from './opening.ts';
import { soon, type Page } from './page.ts';
import type { ServerLogEntry, ServerView } from './types.ts';

/** Lines of a server's log that are kept. */
const LOG_LINES = 200;

export interface LivesOptions {
  readonly open: Open;
  readonly page: Page;
  readonly now: () => number;
  /** After this many milliseconds without use a connection is closed. */
  readonly idleMs: number;
  /** Called when a server's status changes, and once a frame at most when its log does. */
  readonly onChange: () => void;
  /** The server says that one of its lists changed. */
  readonly onListChanged: (id: string) => void;
  /** How an attempt to connect ended, to be noted. */
  readonly onOpened: (record: ServerRecord, opened: Opened) => Promise<void>;
  /** The server as it is stored, if it is there and on. */
  readonly recordOf: (id: string) => Promise<ServerRecord | undefined>;
  /** In the page itself: it costs the phone nothing to keep. */
  readonly isLocal: (id: string) => boolean;
}

interface Live {
  status: ServerView['status'];
  connection: Connection | null;
  /** The server as it was when the connection was made. */
  record: ServerRecord | null;
  opening: Promise<Opened> | null;
  idle: ReturnType<typeof setTimeout> | null;
  /** Calls under way over the connection. */
  calls: number;
  /** The connection is to be let go when no call is under way. */
  stale: boolean;
  /** When it was let go because the page was hidden; null: it was not. */
  asleep: number | null;
  /** The newest lines, oldest first. */
  readonly log: ServerLogEntry[];
  /** Listeners by the address of the resource that they watch. */
  readonly watches: Map<string, Watch>;
}

interface Watch {
  readonly listeners: Set<() => void>;
  /** Ends it at the server; null while there is no connection. */
  stop: (() => void) | null;
}

export interface Lives {
  /** The connection to a stored server: the open one, or a new one. */
  connect(record: ServerRecord): Promise<Opened>;
  /** Takes over a connection that was made with `ears(id)`. */
  adopt(record: ServerRecord, connection: Connection): void;
  /** Where what a server says goes. */
  ears(id: string): Ears;
  /** The server as it was when its open connection was made; null where there is none. */
  madeFor(id: string): ServerRecord | null;
  /** The open connection, if there is one. */
  current(id: string): Connection | null;
  /** Counts `work` as a call: meanwhile the connection is not let go for tidiness. */
  during<T>(id: string, work: () => Promise<T>): Promise<T>;
  /** The connection has been of use. */
  touch(id: string): void;
  /** Cuts the connection, also one that is being made; the next use makes a new one. */
  drop(id: string): Promise<void>;
  /**
   * Takes away a connection that is of no use for anything new, unless another one has taken its
   * place; what is under way over it goes on.
   */
  retire(id: string, connection: Connection): Promise<void>;
  /** The same once no call is under way. */
  release(id: string): void;
  /** Lets go of it and of all that is known of the server. */
  forget(id: string): Promise<void>;
  /** Watches a resource over this connection and those to come, until the result is called. */
  watch(record: ServerRecord, uri: string, listener: () => void): Promise<() => void>;
  status(id: string): ServerView['status'];
  log(id: string): readonly ServerLogEntry[];
  close(): Promise<void>;
}

/** Runs behind what is going on; whoever looks at the server sees how it ended. */
export function behind(work: Promise<unknown>): void {
  work.catch(() => undefined);
}

export function createLives(options: LivesOptions): Lives {
  const { open, page, now, idleMs, onChange, onListChanged, onOpened, recordOf, isLocal } = options;
  const lives = new Map<string, Live>();
  /** Connections with calls under way. */
  const carrying = new Map<Connection, { readonly id: string; calls: number; retired: boolean }>();
  let closed = false;
  /** Takes back the news of a log that is to come; null: none is. */
  let forgetNews: (() => void) | null = null;

  /** A server that logs without end is drawn once a frame, however much it says. */
  function tellOfLog(): void {
    forgetNews ??= soon(() => {
      forgetNews = null;
      onChange();
    });
  }

  const stopWatchingPage = page.subscribe(() => {
    for (const id of lives.keys()) if (page.hidden()) sleep(id);
    if (!page.hidden()) for (const id of lives.keys()) behind(wake(id));
  });

  function liveOf(id: string): Live {
    let live = lives.get(id);
    if (!live) {
      live = {
        status: 'idle',
        connection: null,
        record: null,
        opening: null,
        idle: null,
        calls: 0,
        stale: false,
        asleep: null,
        log: [],
        watches: new Map(),
      };
      lives.set(id, live);
    }
    return live;
  }

  function setStatus(id: string, status: ServerView['status']): void {
    const live = liveOf(id);
    if (live.status === status) return;
    live.status = status;
    onChange();
  }

  function earsOf(id: string): Ears {
    return {
      onChanged: () => onListChanged(id),
      onLog: (entry) => {
        const { log } = liveOf(id);
        log.push(entry);
        if (log.length > LOG_LINES) log.shift();
        tellOfLog();
      },
    };
  }

  async function drop(id: string): Promise<void> {
    const live = lives.get(id);
    if (!live) return;
    const connection = detach(live);
    live.opening = null;
    if (live.status === 'connected' || live.status === 'connecting') setStatus(id, 'idle');
    const retired = [...carrying].filter(([, use]) => use.retired && use.id === id);
    await Promise.all([connection?.close(), ...retired.map(([old]) => old.close())]);
  }

  function detach(live: Live): Connection | null {
    if (live.idle) clearTimeout(live.idle);
    const { connection } = live;
    live.connection = null;
    live.record = null;
    live.idle = null;
    live.stale = false;
    for (const watch of live.watches.values()) watch.stop = null;
    return connection;
  }

  async function retire(id: string, connection: Connection): Promise<void> {
    const live = lives.get(id);
    if (live?.connection !== connection) return;
    detach(live);
    setStatus(id, 'idle');
    behind(watchOn(id));
    const use = carrying.get(connection);
    if (use) use.retired = true;
    else await connection.close();
  }

  function release(id: string): void {
    const live = lives.get(id);
    if (!live?.connection && !live?.opening) return;
    // One that is being made is so with what was known before.
    if (live.calls > 0 || live.opening) live.stale = true;
    else behind(drop(id).then(() => watchOn(id)));
  }

  /** What is watched is worth a new connection. */
  async function watchOn(id: string): Promise<void> {
    if (closed || page.hidden() || !lives.get(id)?.watches.size) return;
    const record = await recordOf(id);
    if (record && lives.has(id)) await connect(record);
  }

  /** Lets an open connection go, to be taken up when the page is shown again. */
  function sleep(id: string): void {
    const live = lives.get(id);
    if (!live?.connection || live.calls > 0 || isLocal(id)) return;
    live.asleep = now();
    behind(drop(id));
  }

  async function wake(id: string): Promise<void> {
    const live = lives.get(id);
    if (!live || live.asleep === null) return;
    const useful = live.watches.size > 0 || now() - live.asleep < idleMs;
    live.asleep = null;
    if (!useful) return;
    const record = await recordOf(id);
    if (record && lives.has(id)) await connect(record);
  }

  function touch(id: string): void {
    const live = lives.get(id);
    if (!live?.connection) return;
    if (live.idle) clearTimeout(live.idle);
    live.idle = setTimeout(() => {
      // Somebody looks at what is watched.
      if (live.watches.size === 0) release(id);
    }, idleMs);
    // Node would wait for it; browsers return a number.
    (live.idle as { unref?: () => void }).unref?.();
  }

  function connect(record: ServerRecord): Promise<Opened> {
    const live = liveOf(record.id);
    if (live.connection) {
      touch(record.id);
      return Promise.resolve({ ok: true, connection: live.connection });
    }
    if (live.opening) return live.opening;
    const isWanted = () => !closed && live.opening === opening;
    const opening: Promise<Opened> = connectAnew(record, isWanted).finally(() => {
      if (live.opening === opening) live.opening = null;
    });
    live.opening = opening;
    return opening;
  }

  /** Removed, paused or signed in to meanwhile, a server is not wanted the way it was. */
  async function connectAnew(record: ServerRecord, isWanted: () => boolean): Promise<Opened> {
    const { id } = record;
    const live = liveOf(id);
    live.stale = false;
    setStatus(id, 'connecting');
    const opened = await open(record, earsOf(id));
    if (!isWanted()) {
      if (opened.ok) await opened.connection.close();
      return { ok: false, error: stoppedByPerson() };
    }
    if (opened.ok) adopt(record, opened.connection);
    else setStatus(id, 'failed');
    // What is only worth knowing later may not stop what is going on, e.g. where there is no room.
    await onOpened(record, opened).catch(() => undefined);
    if (opened.ok)
      for (const [uri, watch] of live.watches) behind(begin(opened.connection, uri, watch));
    return opened;
  }

  function adopt(record: ServerRecord, connection: Connection): void {
    const { id } = record;
    const live = liveOf(id);
    if (live.connection) behind(retire(id, live.connection));
    live.connection = connection;
    live.record = record;
    live.asleep = null;
    touch(id);
    setStatus(id, 'connected');
  }

  async function begin(connection: Connection, uri: string, watch: Watch): Promise<void> {
    const watched = await connection.watch(uri, () => {
      for (const listener of watch.listeners) listener();
    });
    if (!watched.ok) return;
    if (watch.listeners.size === 0) watched.value();
    else watch.stop = watched.value;
  }

  return {
    connect,
    adopt,
    ears: earsOf,
    madeFor: (id) => lives.get(id)?.record ?? null,
    current: (id) => lives.get(id)?.connection ?? null,

    async during(id, work) {
      const live = liveOf(id);
      const { connection } = live;
      const use = connection && (carrying.get(connection) ?? { id, calls: 0, retired: false });
      live.calls += 1;
      if (use) {
        use.calls += 1;
        carrying.set(connection, use);
      }
      try {
        return await work();
      } finally {
        live.calls -= 1;
        if (use) {
          use.calls -= 1;
          if (use.calls === 0) carrying.delete(connection);
          if (use.calls === 0 && use.retired) behind(connection.close());
        }
        if (live.calls === 0) {
          if (live.stale) behind(drop(id));
          else if (page.hidden()) sleep(id);
        }
      }
    },

    touch,
    drop,
    retire,
    release,

    async forget(id) {
      await drop(id);
      lives.delete(id);
    },

    async watch(record, uri, listener) {
      const { id } = record;
      const live = liveOf(id);
      const watch = live.watches.get(uri) ?? { listeners: new Set(), stop: null };
      live.watches.set(uri, watch);
      const own = () => listener();
      watch.listeners.add(own);
      const first = watch.listeners.size === 1;
      const open = live.connection;
      // A connection that is made now takes up every watch by itself.
      if (!open) await connect(record);
      else if (first) await begin(open, uri, watch);
      return () => {
        watch.listeners.delete(own);
        if (watch.listeners.size > 0 || live.watches.get(uri) !== watch) return;
        live.watches.delete(uri);
        watch.stop?.();
        touch(id);
      };
    },

    status: (id) => lives.get(id)?.status ?? 'idle',
    log: (id) => [...(lives.get(id)?.log ?? [])],

    async close() {
      closed = true;
      forgetNews?.();
      stopWatchingPage();
      await Promise.all([...lives.keys()].map(drop));
    },
  };
}
