/**
 * Stored lists of what servers offer: how they are made, when they are stale, and their renewal.
 *
 * Promises: a stored list is used however old it is, and stays where its renewal fails; one renewal
 * of a server's list runs at a time over all open tabs, and the others take what it stored.
 */
import type { ServerRecord, ToolListRecord } from '../store/records.ts';
import type { TabLocks } from '../store/locks.ts';
import type { Store } from '../store/store.ts';
import { renewed } from './allow.ts';
import type { ListEnd, Listed } from './connection-types.ts';
import { internal, isLoopback } from './errors.ts';
import { holdBack } from './held.ts';
import { behind, type Lives } from './lives.ts';
import { pinOf } from './pin.ts';
import type { Done, HostError } from './types.ts';

const HOUR = 3_600_000;
/** A list without a time to live of its own is fresh for this long. */
const DEFAULT_TTL_MS = HOUR;
const LONGEST_TTL_MS = 24 * HOUR;
/** A stale list is not tried again more often than this, however short its time to live is. */
const RENEW_PAUSE_MS = 60_000;
/** A server that says over and over that its lists changed is asked no more often than this. */
const CHANGE_PAUSE_MS = 1_000;
/** Longer than any renewal takes: a tab that holds the lock for longer is not waited for. */
const LONGEST_RENEWAL_MS = 90_000;

export interface ListsOptions {
  readonly store: Pick<Store, 'servers' | 'lists'>;
  readonly lives: Lives;
  readonly recordOf: (id: string) => Promise<ServerRecord | undefined>;
  readonly isLocal: (id: string) => boolean;
  readonly now: () => number;
  readonly online: () => boolean;
  /** Over all tabs; without them this tab is taken for the only one. */
  readonly locks: Pick<TabLocks, 'tryRun' | 'free'> | undefined;
  readonly noteError: (id: string, error: HostError) => Promise<void>;
}

export interface Lists {
  /** Renews a server's list; whoever asks while that is under way gets the same end. */
  refresh(id: string): Promise<Done>;
  /** Renews it behind what is going on, because the server said that it changed. */
  changed(id: string): void;
  /** Renews the lists that are stale and due, behind what is going on. */
  renewStale(servers: readonly ServerRecord[], lists: ReadonlyMap<string, ToolListRecord>): void;
  /** Stores what was listed; the person's choices about the tools stay. */
  store(id: string, listed: Listed): Promise<void>;
  isStale(list: ToolListRecord | undefined): boolean;
  forget(id: string): void;
  close(): void;
}

/** A list as it is stored, with pins; what the person chose is not in it yet. */
export async function listRecord(
  id: string,
  listed: Listed,
  fetchedAt: number,
): Promise<ToolListRecord> {
  const { prompts, resources, templates, cacheScope, cut } = listed;
  const tools = await Promise.all(
    listed.tools.map(async (tool) => ({ ...tool, pin: await pinOf(tool) })),
  );
  const ttlMs = Math.min(listed.ttlMs ?? DEFAULT_TTL_MS, LONGEST_TTL_MS);
  return {
    server: id,
    fetchedAt,
    ttlMs,
    tools,
    off: [],
    prompts,
    resources,
    templates,
    ...(cacheScope ? { cacheScope } : {}),
    ...(cut.length > 0 ? { cut } : {}),
  };
}

interface Renewal {
  running: Promise<Done> | null;
  triedAt: number;
  /** When a change that the server told of was last acted on. */
  changedAt: number;
  waiting: ReturnType<typeof setTimeout> | null;
}

export function createLists(options: ListsOptions): Lists {
  const { store, lives, recordOf, isLocal, now, online, locks, noteError } = options;
  const renewals = new Map<string, Renewal>();
  let closed = false;

  function renewalOf(id: string): Renewal {
    let renewal = renewals.get(id);
    if (!renewal) {
      renewal = { running: null, triedAt: -Infinity, changedAt: -Infinity, waiting: null };
      renewals.set(id, renewal);
    }
    return renewal;
  }

  function refresh(id: string): Promise<Done> {
    const renewal = renewalOf(id);
    renewal.running ??= alone(id).finally(() => {
      renewal.running = null;
    });
    return renewal.running;
  }

  /** Renews a list while no other tab does; takes what another one has stored meanwhile. */
  async function alone(id: string): Promise<Done> {
    if (isLocal(id)) return { ok: true };
    renewalOf(id).triedAt = now();
    if (!locks) return renew(id);
    const name = `deft-list-${id}`;
    const asked = now();
    const stored = async () => ((await store.lists.get(id))?.fetchedAt ?? -Infinity) > asked;
    // Three times: the tab that holds the lock may fail, and another one be faster then.
    for (let round = 0; round < 3; round += 1) {
      let end: Done = { ok: true };
      const took = await locks.tryRun(name, async () => {
        if (!(await stored())) end = await renew(id);
      });
      if (took) return end;
      await Promise.race([locks.free(name), pause(LONGEST_RENEWAL_MS)]);
      if (await stored()) return { ok: true };
    }
    return { ok: false, error: internal('Other tabs are at work on this list.') };
  }

  async function renew(id: string): Promise<Done> {
    const record = await recordOf(id);
    if (!record) return { ok: false, error: internal('There is no such server.') };
    let listed = await listOver(record);
    if (!listed.ok && listed.sessionGone) listed = await listOver(record);
    if (!listed.ok) {
      await noteError(id, listed.error);
      return { ok: false, error: listed.error };
    }
    // It may have been removed while it was read.
    if (await recordOf(id)) await keep(id, listed.list);
    return { ok: true };
  }

  async function listOver(record: ServerRecord): Promise<ListEnd> {
    const opened = await lives.connect(record);
    if (!opened.ok) return { ...opened, sessionGone: false };
    const listed = await lives.during(record.id, () => opened.connection.list());
    if (!listed.ok) await lives.retire(record.id, opened.connection);
    return listed;
  }

  async function keep(id: string, listed: Listed): Promise<void> {
    const fresh = await listRecord(id, listed, now());
    const updated = await store.lists.update(id, (old) => {
      const held = holdBack(old, fresh.tools);
      return { ...renewed(old, fresh), ...(held.length > 0 ? { held } : {}) };
    });
    if (!updated) await store.lists.put(renewed(undefined, fresh));
  }

  function isStale(list: ToolListRecord | undefined): boolean {
    return !list || now() - list.fetchedAt >= list.ttlMs;
  }

  return {
    refresh,
    isStale,
    store: keep,

    changed(id) {
      const renewal = renewalOf(id);
      if (renewal.waiting || closed) return;
      const act = () => {
        renewal.waiting = null;
        if (closed) return;
        renewal.changedAt = now();
        // A list that is being read may be from before the change.
        const before = renewal.running?.catch(() => undefined) ?? Promise.resolve();
        behind(before.then(() => refresh(id)));
      };
      const wait = CHANGE_PAUSE_MS - (now() - renewal.changedAt);
      if (wait > 0) renewal.waiting = setTimeout(act, Math.min(wait, CHANGE_PAUSE_MS));
      else act();
    },

    renewStale(servers, lists) {
      for (const { id, enabled, url } of servers) {
        if (!enabled || isLocal(id) || !isStale(lists.get(id))) continue;
        const due = now() - renewalOf(id).triedAt >= RENEW_PAUSE_MS;
        if (due && (online() || isLoopback(new URL(url)))) behind(refresh(id));
      }
    },

    forget(id) {
      const waiting = renewals.get(id)?.waiting;
      if (waiting) clearTimeout(waiting);
      renewals.delete(id);
    },

    close() {
      closed = true;
      for (const { waiting } of renewals.values()) if (waiting) clearTimeout(waiting);
    },
  };
}

/** Node would wait for the timer; browsers return a number. */
function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    (timer as { unref?: () => void }).unref?.();
  });
}
