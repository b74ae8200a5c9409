/**
 * The MCP host: the servers that the person added and those in the page, their stored tool lists,
 * and the connections to them.
 *
 * Promises: a connection is made for a call, a refresh or an add, never because a turn starts; a
 * stored list is used however old it is, and renewed behind the turn; a call that may have changed
 * something is never sent twice; nothing here throws for what a server or a network does.
 */
import type { Outcome, ServerRecord, ToolListRecord } from '../store/records.ts';
import type { Store } from '../store/store.ts';
import { keyHeaders, readAddress } from './address.ts';
import type { CallEnd, Connection, Limits, ListEnd, Listed, Opened } from './connection.ts';
import { internal, isLoopback, offline, type Peer } from './errors.ts';
import { pinOf } from './pin.ts';
import type {
  CallProgress,
  Host,
  HostError,
  InPageServer,
  ServerView,
  Tool,
  ToolCaller,
} from './types.ts';

const HOUR = 3_600_000;
/** A list without a time to live of its own is fresh for this long. */
const DEFAULT_TTL_MS = HOUR;
const LONGEST_TTL_MS = 24 * HOUR;
/** A list is not renewed more often than this, whatever its time to live. */
const RENEW_PAUSE_MS = 60_000;
/** An unused connection is closed, so that no stream keeps the phone's radio awake. */
const IDLE_MS = 300_000;
/** A connection silent for longer than this is tried before something is written through it. */
const SILENT_MS = 5_000;
/** Pauses before a safe call is sent again. */
const RETRY_PAUSES_MS = [300, 1_000];

export interface HostOptions {
  readonly store: Pick<Store, 'servers' | 'lists' | 'vault' | 'changes'>;
  /** The servers in the page: the phone's own tools. */
  readonly inPage: readonly InPageServer[];
  readonly fetch?: typeof globalThis.fetch;
  readonly now?: () => number;
  readonly online?: () => boolean;
  /** Time limits in milliseconds, where the defaults do not fit. */
  readonly limits?: Partial<Limits>;
  /** After this many milliseconds without use a connection is closed. */
  readonly idleMs?: number;
}

interface Live {
  status: ServerView['status'];
  connection: Connection | null;
  opening: Promise<Opened> | null;
  refreshing: Promise<Refreshed> | null;
  idle: ReturnType<typeof setTimeout> | null;
  triedAt: number;
  /** Calls under way over the connection. */
  calls: number;
  /** The connection is to be let go when no call is under way. */
  stale: boolean;
}

type Refreshed = { readonly ok: true } | { readonly ok: false; readonly error: HostError };

/** Runs behind what is going on; whoever looks at the server sees how it ended. */
function behind(work: Promise<unknown>): void {
  work.catch(() => undefined);
}

export function createHost(options: HostOptions): Host & ToolCaller {
  const { store, inPage, limits, idleMs = IDLE_MS } = options;
  const fetch = options.fetch ?? ((input, init) => globalThis.fetch(input, init));
  const now = options.now ?? Date.now;
  const online = options.online ?? (() => globalThis.navigator?.onLine !== false);
  const lives = new Map<string, Live>();
  const listeners = new Set<() => void>();
  let seeding: Promise<void> | null = null;
  let closed = false;

  const local = (id: string) => inPage.find((server) => server.id === id);
  const notify = () => listeners.forEach((listener) => listener());

  const stopListening = store.changes.subscribe((change) => {
    if (change.topic !== 'servers' && change.topic !== 'lists') return;
    if (change.topic === 'servers' && change.remote) release(change.key);
    notify();
  });

  function liveOf(id: string): Live {
    let live = lives.get(id);
    if (!live) {
      live = {
        status: 'idle',
        connection: null,
        opening: null,
        refreshing: null,
        idle: null,
        calls: 0,
        stale: false,
        triedAt: -Infinity,
      };
      lives.set(id, live);
    }
    return live;
  }

  function setStatus(id: string, status: ServerView['status']): void {
    const live = liveOf(id);
    if (live.status === status) return;
    live.status = status;
    notify();
  }

  /** Lets go of a server's connection; the next use makes a new one. */
  async function drop(id: string): Promise<void> {
    const live = lives.get(id);
    if (!live) return;
    if (live.idle) clearTimeout(live.idle);
    const { connection } = live;
    live.connection = null;
    live.idle = null;
    live.stale = false;
    if (live.status === 'connected') setStatus(id, 'idle');
    await connection?.close();
  }

  /** The same once no call is under way: a call that was cut could not say whether it ran. */
  function release(id: string): void {
    const live = lives.get(id);
    if (!live?.connection) return;
    if (live.calls > 0) live.stale = true;
    else behind(drop(id));
  }

  async function overConnection<T>(id: string, work: () => Promise<T>): Promise<T> {
    const live = liveOf(id);
    live.calls += 1;
    try {
      return await work();
    } finally {
      live.calls -= 1;
      if (live.calls === 0 && live.stale) behind(drop(id));
    }
  }

  function keep(id: string, connection: Connection): void {
    const live = liveOf(id);
    live.connection = connection;
    setStatus(id, 'connected');
    touch(id);
  }

  function touch(id: string): void {
    const live = liveOf(id);
    if (live.idle) clearTimeout(live.idle);
    live.idle = setTimeout(() => release(id), idleMs);
    // Node would wait for it; browsers return a number.
    (live.idle as { unref?: () => void }).unref?.();
  }

  /** Stores the in-page servers and their lists, where they are new or have changed. */
  async function seed(): Promise<void> {
    for (const server of inPage) {
      if (!(await store.servers.get(server.id)))
        await store.servers.put({
          id: server.id,
          name: server.name,
          url: `${server.id}:`,
          addedAt: 0,
          enabled: true,
          trustHints: true,
          private: false,
        });
      const old = await store.lists.get(server.id);
      const fresh = await listRecord(server.id, { tools: server.tools, ttlMs: null });
      const pins = (list: ToolListRecord) => list.tools.map((tool) => tool.pin).join();
      if (!old || pins(old) !== pins(fresh))
        await store.lists.put({ ...fresh, off: old?.off ?? [] });
    }
  }

  function ready(): Promise<void> {
    seeding ??= seed().catch((error: unknown) => {
      seeding = null;
      throw error;
    });
    return seeding;
  }

  async function listRecord(id: string, listed: Listed): Promise<ToolListRecord> {
    const tools = await Promise.all(
      listed.tools.map(async (tool) => ({ ...tool, pin: await pinOf(tool) })),
    );
    const ttlMs = Math.min(listed.ttlMs ?? DEFAULT_TTL_MS, LONGEST_TTL_MS);
    return { server: id, fetchedAt: now(), ttlMs, tools, off: [] };
  }

  async function storeList(id: string, listed: Listed): Promise<void> {
    const fresh = await listRecord(id, listed);
    const updated = await store.lists.update(id, (old) => ({ ...fresh, off: old.off }));
    if (!updated) await store.lists.put(fresh);
  }

  /** Makes a connection; changes nothing that is stored. */
  async function open(record: ServerRecord, key: string | undefined): Promise<Opened> {
    const inPageServer = local(record.id);
    const url = new URL(record.url);
    const peer: Peer = {
      name: record.name,
      url,
      keyHeader: key === undefined ? null : (record.keyHeader ?? 'Authorization'),
    };
    const onToolsChanged = () => behind(refresh(record.id));
    if (!inPageServer && !online() && !isLoopback(url)) return { ok: false, error: offline(peer) };
    const carried =
      key === undefined
        ? { ok: true as const, headers: {} }
        : keyHeaders(key, peer.keyHeader ?? 'Authorization');
    if (!carried.ok) return carried;
    try {
      const { openHttp, openInPage } = await import('./connection.ts');
      const shared = { peer, now, online, onToolsChanged, limits };
      if (inPageServer) return await openInPage(inPageServer.open(), shared);
      return await openHttp({
        ...shared,
        fetch,
        era: record.era,
        headers: carried.headers,
        secrets: [...(key === undefined ? [] : [key]), ...url.searchParams.values()],
      });
    } catch (cause) {
      return { ok: false, error: internal(cause instanceof Error ? cause.message : String(cause)) };
    }
  }

  /** The connection to a stored server: the open one, or a new one. */
  function connect(record: ServerRecord): Promise<Opened> {
    const live = liveOf(record.id);
    if (live.connection) {
      touch(record.id);
      return Promise.resolve({ ok: true, connection: live.connection });
    }
    live.opening ??= connectAnew(record).finally(() => {
      live.opening = null;
    });
    return live.opening;
  }

  async function connectAnew(record: ServerRecord): Promise<Opened> {
    setStatus(record.id, 'connecting');
    const opened = await open(record, await store.vault.get(vaultName(record.id)));
    if (!opened.ok) {
      setStatus(record.id, 'failed');
      await noted(noteError(record.id, opened.error));
      return opened;
    }
    if (closed || lives.get(record.id) === undefined) {
      await opened.connection.close();
      return { ok: false, error: internal('The server was removed.') };
    }
    keep(record.id, opened.connection);
    await noted(noteSuccess(record.id, opened.connection));
    return opened;
  }

  /** What is only worth knowing later may not stop what is going on, e.g. where there is no room. */
  const noted = (writing: Promise<void>): Promise<void> => writing.catch(() => undefined);

  async function noteError(id: string, error: HostError): Promise<void> {
    const { code, message, advice } = error;
    await store.servers.update(id, (old) => ({
      ...old,
      lastError: { at: now(), code, message, advice },
    }));
  }

  async function noteSuccess(id: string, { era }: Connection): Promise<void> {
    await store.servers.update(id, ({ lastError, ...old }) => {
      if (local(id) || (old.era?.kind === era && !lastError)) return undefined;
      return { ...old, era: old.era?.kind === era ? old.era : { kind: era, at: now() } };
    });
  }

  function refresh(id: string): Promise<Refreshed> {
    const live = liveOf(id);
    live.refreshing ??= refreshOnce(id).finally(() => {
      live.refreshing = null;
    });
    return live.refreshing;
  }

  async function refreshOnce(id: string): Promise<Refreshed> {
    await ready();
    if (local(id)) return { ok: true };
    const record = await store.servers.get(id);
    if (!record) return { ok: false, error: internal('There is no such server.') };
    liveOf(id).triedAt = now();
    let listed = await listOver(record);
    if (!listed.ok && listed.sessionGone) listed = await listOver(record);
    if (!listed.ok) {
      await noteError(id, listed.error);
      return { ok: false, error: listed.error };
    }
    await storeList(id, listed.list);
    return { ok: true };
  }

  async function listOver(record: ServerRecord): Promise<ListEnd> {
    const opened = await connect(record);
    if (!opened.ok) return { ...opened, sessionGone: false };
    const listed = await opened.connection.list();
    if (!listed.ok) release(record.id);
    return listed;
  }

  async function add(input: {
    url: string;
    key?: string;
    keyHeader?: string;
    name?: string;
  }): Promise<{ ok: true; server: ServerRecord } | { ok: false; error: HostError }> {
    await ready();
    const address = readAddress(input.url);
    if (!address.ok) return address;
    const url = address.url.href;
    const old = (await store.servers.all()).find((server) => server.url === url);
    const typedKey = input.key?.trim();
    const key = typedKey ? typedKey : old ? await store.vault.get(vaultName(old.id)) : undefined;
    const id = old?.id ?? crypto.randomUUID();
    const keyHeader = typedKey ? input.keyHeader?.trim() || 'Authorization' : old?.keyHeader;
    const draft: ServerRecord = {
      id,
      name: old?.name ?? address.url.host,
      url,
      addedAt: old?.addedAt ?? now(),
      enabled: true,
      trustHints: old?.trustHints ?? false,
      private: old?.private ?? false,
      ...(keyHeader ? { keyHeader } : {}),
    };
    await drop(id);
    const opened = await open(draft, key);
    if (!opened.ok) return opened;
    const { connection } = opened;
    const listed = await connection.list();
    if (!listed.ok) {
      await connection.close();
      return { ok: false, error: listed.error };
    }
    const name = input.name?.trim() || old?.name || shortName(connection.title) || draft.name;
    const server: ServerRecord = { ...draft, name, era: { kind: connection.era, at: now() } };
    if (typedKey) await store.vault.set(vaultName(id), typedKey);
    // Its tools first: a server that is there without them would be of no use to a page just opened.
    await storeList(id, listed.list);
    await store.servers.put(server);
    keep(id, connection);
    return { ok: true, server };
  }

  async function callTool(
    tool: Tool,
    args: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
    onProgress?: (progress: CallProgress) => void,
  ): Promise<Outcome> {
    await ready();
    const record = await store.servers.get(tool.server);
    if (!record)
      return unavailable('removed', `${tool.serverName} was removed.`, 'Add the server again.');
    if (!record.enabled)
      return unavailable('disabled', `${record.name} is turned off.`, 'Turn the server on again.');
    const safe = tool.readOnly || tool.idempotent;
    let attempts = 0;
    let sessions = 0;
    for (;;) {
      const opened = await unlessAborted(connectForCall(record, safe), signal);
      if (opened === 'aborted') return stopped(false);
      if (!opened.ok) return { kind: 'unavailable', ...sentence(opened.error) };
      const end = await overConnection(tool.server, () =>
        opened.connection.call(tool, args, signal, (progress) => {
          // A long call is a use of the connection all the while.
          touch(tool.server);
          onProgress?.(progress);
        }),
      );
      touch(tool.server);
      const broken = end.kind === 'lost' || end.kind === 'session-gone';
      if (broken) await drop(tool.server);
      if (end.kind === 'session-gone' && sessions < 1) {
        sessions += 1;
        continue;
      }
      const pause = RETRY_PAUSES_MS[attempts];
      if (end.kind === 'lost' && safe && pause !== undefined && isPassing(end.error)) {
        attempts += 1;
        if ((await unlessAborted(sleep(pause), signal)) === 'aborted') return stopped(false);
        continue;
      }
      if (isUnknownTool(end)) behind(refresh(tool.server));
      return outcomeOf(end, record.name, safe);
    }
  }

  /** A connection for a call; before a write, one that is known to be alive. */
  async function connectForCall(record: ServerRecord, safe: boolean): Promise<Opened> {
    const { connection } = liveOf(record.id);
    const silent = connection && now() - connection.heardAt() > SILENT_MS;
    if (silent && !safe && !local(record.id) && !(await connection.knock())) await drop(record.id);
    return connect(record);
  }

  async function renewAllStale(): Promise<void> {
    await ready();
    const [records, lists] = await Promise.all([store.servers.all(), store.lists.all()]);
    for (const record of records) {
      const list = lists.find((candidate) => candidate.server === record.id);
      const due = now() - liveOf(record.id).triedAt >= RENEW_PAUSE_MS;
      const reachable = online() || isLoopback(new URL(record.url));
      if (record.enabled && due && reachable && !local(record.id) && isStale(list))
        behind(refresh(record.id));
    }
  }

  function isStale(list: ToolListRecord | undefined): boolean {
    return !list || now() - list.fetchedAt >= list.ttlMs;
  }

  return {
    ready,
    add,
    refresh,
    callTool,

    renewStale() {
      renewAllStale().catch(() => undefined);
    },

    async list() {
      await ready();
      const [records, lists] = await Promise.all([store.servers.all(), store.lists.all()]);
      return inOrder(records, inPage).map((record) => {
        const list = lists.find((candidate) => candidate.server === record.id);
        return {
          record,
          local: local(record.id) !== undefined,
          status: lives.get(record.id)?.status ?? 'idle',
          tools: (list?.tools ?? []).map((tool) => ({
            ...tool,
            on: !list?.off.includes(tool.name),
          })),
          listedAt: list?.fetchedAt ?? null,
          stale: !local(record.id) && isStale(list),
        };
      });
    },

    async update(id, change) {
      await ready();
      await store.servers.update(id, (old) => ({ ...old, ...change }));
      if (change.enabled === false) await drop(id);
    },

    async remove(id) {
      if (local(id)) return;
      await ready();
      await drop(id);
      lives.delete(id);
      await store.servers.delete(id);
      await store.lists.delete(id);
      await store.vault.delete(vaultName(id));
    },

    async setTool(id, tool, on) {
      await ready();
      await store.lists.update(id, (old) => {
        const others = old.off.filter((name) => name !== tool);
        return { ...old, off: on ? others : [...others, tool] };
      });
    },

    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },

    async close() {
      closed = true;
      stopListening();
      listeners.clear();
      await Promise.all([...lives.keys()].map(drop));
    },
  };
}

/** Servers as they are shown and named: those in the page first, then by age. */
export function inOrder(
  records: readonly ServerRecord[],
  inPage: readonly { readonly id: string }[],
): ServerRecord[] {
  const place = (record: ServerRecord) => {
    const index = inPage.findIndex((server) => server.id === record.id);
    return index < 0 ? inPage.length : index;
  };
  return [...records].sort(
    (a, b) => place(a) - place(b) || a.addedAt - b.addedAt || (a.id < b.id ? -1 : 1),
  );
}

function vaultName(id: string): string {
  return `server:${id}`;
}

function shortName(title: string | null): string {
  return (title ?? '').replace(/\s+/g, ' ').trim().slice(0, 60);
}

/** The list that the call was made from is out of date. Older servers say so in a result. */
function isUnknownTool(end: CallEnd): boolean {
  const text =
    end.kind === 'refused'
      ? end.message
      : end.kind === 'answer' && end.isError
        ? String(end.content[0]?.text ?? '')
        : '';
  return /unknown tool|\btool\b.{0,80}\bnot found/i.test(text.slice(0, 200));
}

/** Faults that may be gone a moment later. */
function isPassing(error: HostError): boolean {
  return error.code === 'unreachable' || error.code === 'server';
}

function unavailable(code: string, message: string, advice: string): Outcome {
  return { kind: 'unavailable', code, message, advice };
}

function sentence(error: HostError): { code: string; message: string; advice: string } {
  return { code: error.code, message: error.message, advice: error.advice };
}

const MAY_HAVE_RUN = 'It may have taken effect. Check before you try it again.';

function stopped(mayHaveRun: boolean): Outcome {
  return mayHaveRun
    ? { kind: 'unknown', message: 'The call was stopped while it ran.', advice: MAY_HAVE_RUN }
    : unavailable('stopped', 'The call was stopped.', 'Nothing was changed by it.');
}

function outcomeOf(end: CallEnd, serverName: string, safe: boolean): Outcome {
  switch (end.kind) {
    case 'answer':
      return end.isError
        ? { kind: 'tool_error', content: end.content }
        : {
            kind: 'result',
            content: end.content,
            ...('structured' in end ? { structured: end.structured } : {}),
          };
    case 'refused':
      return { kind: 'tool_error', content: [{ type: 'text', text: end.message }] };
    case 'session-gone':
      return unavailable(
        'protocol',
        `${serverName} does not keep its sessions.`,
        'Try again in a while, or tell whoever runs the server.',
      );
    case 'not-run':
      return { kind: 'unavailable', ...sentence(end.error) };
    case 'lost':
      return safe
        ? { kind: 'unavailable', ...sentence(end.error) }
        : {
            kind: 'unknown',
            message: isPassing(end.error)
              ? `The connection to ${serverName} broke before its answer came.`
              : end.error.message,
            advice: MAY_HAVE_RUN,
          };
    case 'timeout':
      return {
        kind: 'timeout',
        message: `${serverName} did not answer within ${end.seconds} seconds.`,
        advice: safe ? 'Try again in a while.' : MAY_HAVE_RUN,
      };
    case 'aborted':
      return stopped(!safe);
  }
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** The promise's value, or 'aborted' as soon as the signal says so. */
async function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T | 'aborted'> {
  if (signal.aborted) {
    promise.catch(() => undefined);
    return 'aborted';
  }
  let onAbort = () => {};
  const aborted = new Promise<'aborted'>((resolve) => {
    onAbort = () => resolve('aborted');
    signal.addEventListener('abort', onAbort, { once: true });
  });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
