/**
 * The MCP host: the servers that the person added and those in the page, what is stored of them, and
 * all that is asked of them.
 *
 * Promises: a connection is made for a call, a renewal or the person, never because a turn starts; a
 * stored list is used however old it is, and renewed behind the turn; nothing here throws for what a
 * server or a network does.
 */
import type { ServerRecord, ToolListRecord } from '../store/records.ts';
import type { TabLocks } from '../store/locks.ts';
import type { Store } from '../store/store.ts';
import { createAdding, shortName } from './adding.ts';
import { appeared, seen, withAll, withRule, withTool } from './allow.ts';
import { createCalls } from './calls.ts';
import type { SignIn } from './auth/types.ts';
import type { Asked, Connection, Limits, Opened } from './connection-types.ts';
import { internal } from './errors.ts';
import { accepted, heldNames } from './held.ts';
import { createLists, listRecord } from './lists.ts';
import { behind, createLives } from './lives.ts';
import { createOpening, vaultName } from './opening.ts';
import { thisPage, type Page } from './page.ts';
import { createShelf } from './shelf.ts';
import { allTools, inOrder } from './tools.ts';
import type {
  Answered,
  AuthState,
  Host,
  HostError,
  InPageServer,
  ServerAsks,
  ServerTool,
  Stock,
  ToolCaller,
} from './types.ts';
import { undoOf, withUndo } from './undo.ts';

/** What a connection was made with: where one of these changes, the next use makes another one. */
const BOUND = ['name', 'limits', 'sampling', 'proxy'] as const;
/** What another tab changes where it gives a server another key, another address or no leave at all. */
const ABOUT = ['enabled', 'url', 'keyHeader', 'auth', 'era', ...BOUND] as const;

/** An unused connection is closed, so that no stream keeps the phone's radio awake. */
const IDLE_MS = 300_000;

/** As long as a connection believes what was found out, in milliseconds. */
const ERA_MS = 7 * 86_400_000;

export interface HostOptions {
  readonly store: Pick<Store, 'servers' | 'lists' | 'vault' | 'changes'>;
  /** The servers in the page: the phone's own tools. */
  readonly inPage: readonly InPageServer[];
  /** What servers may ask for while they work; without it they are told that they may not. */
  readonly asks?: ServerAsks;
  /** Sign-in to servers; without it they are reached with keys alone. */
  readonly signIn?: Pick<
    SignIn,
    'provider' | 'secrets' | 'signIn' | 'signOut' | 'state' | 'wantScope'
  >;
  /** Over all open tabs; without them this one is taken for the only one. */
  readonly locks?: Pick<TabLocks, 'tryRun' | 'free'>;
  readonly fetch?: typeof globalThis.fetch;
  readonly now?: () => number;
  readonly random?: () => number;
  readonly online?: () => boolean;
  readonly page?: Page;
  /** Time limits in milliseconds, where the defaults do not fit. */
  readonly limits?: Partial<Limits>;
  /** After this many milliseconds without use a connection is closed. */
  readonly idleMs?: number;
}

export function createHost(options: HostOptions): Host & ToolCaller {
  const { store, inPage, asks, signIn, idleMs = IDLE_MS } = options;
  const now = options.now ?? Date.now;
  const online = options.online ?? (() => globalThis.navigator?.onLine !== false);
  const listeners = new Set<() => void>();
  const locals = new Set(inPage.map(({ id }) => id));
  let seeding: Promise<void> | null = null;

  const isLocal = (id: string) => locals.has(id);
  const notify = () => listeners.forEach((listener) => listener());
  const shelf = createShelf(store);

  async function recordOf(id: string): Promise<ServerRecord | undefined> {
    await ready();
    return store.servers.get(id);
  }

  const open = createOpening({
    inPage,
    vault: store.vault,
    fetch: options.fetch ?? ((input, init) => globalThis.fetch(input, init)),
    now,
    online,
    limits: options.limits,
    asks,
    signIn,
  });
  const lives = createLives({
    open,
    page: options.page ?? thisPage(),
    now,
    idleMs,
    onChange: notify,
    onListChanged: (id) => lists.changed(id),
    onOpened: (record, opened) =>
      opened.ok
        ? noteEra(record.id, opened.connection)
        : noteError(record.id, opened.error, opened),
    recordOf: async (id) => {
      const record = await recordOf(id);
      return record?.enabled ? record : undefined;
    },
    isLocal,
  });
  const lists = createLists({
    store,
    lives,
    recordOf,
    isLocal,
    now,
    online,
    locks: options.locks,
    noteError,
  });
  const adding = createAdding({ store, ready, open, lists, lives, now });
  const calls = createCalls({
    lives,
    recordOf,
    isLocal,
    now,
    random: options.random ?? Math.random,
    onUnknownTool: (id) => behind(lists.refresh(id)),
    forgetEra,
  });

  const stopListening = store.changes.subscribe((change) => {
    if (change.topic !== 'servers' && change.topic !== 'lists') return;
    if (change.topic === 'servers' && change.remote) behind(follow(change.key));
    notify();
  });

  /** Lets go of a connection where another tab removed or changed its server. */
  async function follow(id: string): Promise<void> {
    const before = lives.madeFor(id);
    if (!before) return;
    const after = await store.servers.get(id);
    const same = (key: (typeof ABOUT)[number]) =>
      JSON.stringify(before[key]) === JSON.stringify(after?.[key]);
    if (!after || !ABOUT.every(same)) lives.release(id);
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
      const fresh = await listRecord(server.id, offered(server), now());
      const pins = (list: ToolListRecord) => list.tools.map((tool) => tool.pin).join();
      // What an update of the app brings is on: it is the phone's own.
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

  /** A failed attempt also ends the belief in what was found out about the server's era. */
  async function noteError(id: string, error: HostError, opened?: Opened): Promise<void> {
    const { code, message, advice } = error;
    const lastError = { at: now(), code, message, advice };
    const tried = opened !== undefined && code !== 'offline';
    await store.servers.update(id, ({ era, ...old }) => ({
      ...old,
      ...(era && !tried ? { era } : {}),
      lastError,
    }));
  }

  /** What was found out about the server's era does not hold any more. */
  async function forgetEra(id: string): Promise<void> {
    await store.servers.update(id, ({ era, ...old }) => (era ? old : undefined));
  }

  /**
   * Notes how the server was reached; what was found out long ago is as good as new by that. One that
   * was added before it could say what it is called gets its name now.
   */
  async function noteEra(id: string, { era: kind, transport, title }: Connection): Promise<void> {
    await store.servers.update(id, ({ lastError, ...stored }) => {
      const known = titled(stored, title);
      const { transport: before = 'http', era, ...old } = known;
      const isKnown = era?.kind === kind && now() - era.at < ERA_MS && before === transport;
      if (isLocal(id) || (isKnown && !lastError && known === stored)) return undefined;
      const found = isKnown ? era : { kind, at: now() };
      return { ...old, era: found, ...(transport === 'sse' ? { transport } : {}) };
    });
  }

  /** Asks something of a stored server over its connection; once more where its session is gone. */
  async function ask<T>(
    id: string,
    signal: AbortSignal,
    work: (connection: Connection) => Promise<Asked<T>>,
  ): Promise<Answered<T>> {
    for (let attempt = 0; ; attempt += 1) {
      // Each time: what was found out about it may have been forgotten.
      const record = await recordOf(id);
      if (!record) return { ok: false, error: internal('There is no such server.') };
      if (!record.enabled) return { ok: false, error: paused(record) };
      const opened = await lives.connect(record);
      if (!opened.ok) return opened;
      const answer = await lives.during(id, () => work(opened.connection));
      lives.touch(id);
      if (answer.ok) return answer;
      if (answer.eraGone) await forgetEra(id);
      if (answer.sessionGone) await lives.retire(id, opened.connection);
      if (!answer.sessionGone || attempt > 0 || signal.aborted)
        return { ok: false, error: answer.error };
    }
  }

  async function authOf(record: ServerRecord): Promise<AuthState> {
    if (record.auth && signIn) return signIn.state(record);
    if (record.keyHeader) return 'key';
    return record.lastError?.code === 'auth' ? 'wanted' : 'none';
  }

  /** Made once for a list, so that a screen does not draw tools anew that are the same. */
  const shown = new WeakMap<ToolListRecord, readonly ServerTool[]>();
  function toolsOf(list: ToolListRecord | undefined): readonly ServerTool[] {
    if (!list) return [];
    let tools = shown.get(list);
    if (!tools) {
      const off = new Set(list.off);
      const changed = heldNames(list);
      const before = new Map(list.held?.map((tool) => [tool.name, tool]));
      tools = list.tools.map((tool) => {
        const held = changed.has(tool.name) ? before.get(tool.name) : undefined;
        return { ...tool, on: !off.has(tool.name), ...(held ? { held } : {}) };
      });
      shown.set(list, tools);
    }
    return tools;
  }

  async function changeList(
    id: string,
    change: (list: ToolListRecord) => ToolListRecord,
  ): Promise<void> {
    await ready();
    await store.lists.update(id, change);
  }

  async function stock(): Promise<Stock> {
    await ready();
    return shelf.stock();
  }

  return {
    ...adding,
    ...calls,
    stock,

    async refresh(id) {
      await ready();
      return lists.refresh(id);
    },

    renewStale() {
      const renewing = async () => {
        const { servers, lists: stored } = await stock();
        lists.renewStale(servers, stored);
      };
      behind(renewing());
    },

    async list() {
      const { servers, lists: stored } = await stock();
      return Promise.all(
        inOrder(servers, inPage).map(async (record) => {
          const list = stored.get(record.id);
          return {
            record,
            local: isLocal(record.id),
            status: lives.status(record.id),
            tools: toolsOf(list),
            prompts: list?.prompts ?? [],
            resources: list?.resources ?? [],
            templates: list?.templates ?? [],
            cut: list?.cut ?? [],
            appeared: list ? appeared(list) : [],
            missing: list?.missing ?? [],
            rule: list?.rule ?? null,
            ...(list?.undo ? { undo: list.undo } : {}),
            log: lives.log(record.id),
            era: record.era?.kind ?? null,
            auth: await authOf(record),
            listedAt: list?.fetchedAt ?? null,
            stale: !isLocal(record.id) && lists.isStale(list),
          };
        }),
      );
    },

    async update(id, change) {
      await ready();
      await store.servers.update(id, ({ unnamed, ...old }) => ({
        ...old,
        ...(unnamed && change.name === undefined ? { unnamed } : {}),
        ...change,
      }));
      if (change.enabled === false) await lives.drop(id);
      else if (BOUND.some((key) => key in change)) lives.release(id);
    },

    async remove(id) {
      if (isLocal(id)) return;
      const record = await recordOf(id);
      // What is not stored is not connected to again while the rest is taken away.
      await store.servers.delete(id);
      await lives.forget(id);
      lists.forget(id);
      await store.lists.delete(id);
      await store.vault.delete(vaultName(id));
      if (record?.auth) await signIn?.signOut(record);
    },

    setTool: (id, tool, on) => changeList(id, (list) => withTool(list, tool, on)),
    setAll: (id, on) => changeList(id, (list) => withAll(list, on)),
    setRule: (id, rule) => changeList(id, (list) => withRule(list, rule)),
    markSeen: (id) => changeList(id, (list) => seen(list)),
    acceptTool: (id, tool, pin) => changeList(id, (list) => accepted(list, tool, pin)),
    setUndo: (id, tool, rule) => changeList(id, (list) => withUndo(list, tool, rule)),
    undoOf: async (call) => undoOf(await stock(), call),

    readResource: (id, uri, signal) => ask(id, signal, (it) => it.readResource(uri, signal)),
    listSkills: (id, signal) => ask(id, signal, (it) => it.skills(signal)),
    readSkill: (id, uri, file, signal) => ask(id, signal, (it) => it.readSkill(uri, file, signal)),
    getPrompt: (id, name, args, signal) =>
      ask(id, signal, (it) => it.getPrompt(name, args, signal)),
    complete: (id, ref, argument, known, signal) =>
      ask(id, signal, (it) => it.complete(ref, argument, known, signal)),

    async watchResource(id, uri, listener) {
      const record = await recordOf(id);
      if (!record?.enabled) return () => undefined;
      return lives.watch(record, uri, listener);
    },

    async readersOf(id) {
      const { servers, lists: stored } = await stock();
      return allTools(servers, stored)
        .map(({ tool }) => tool)
        .filter(({ server, annotations }) => server === id && annotations.readOnlyHint === true);
    },

    async signIn(id, signal) {
      const record = await recordOf(id);
      if (!record) return { ok: false, error: internal('There is no such server.') };
      if (!signIn) return { ok: false, error: internal('There is no sign-in here.') };
      const asking: ServerRecord = { ...record, auth: 'oauth' };
      const signed = await signIn.signIn(asking, signal);
      if (!signed.ok) return signed;
      const stored = await store.servers.update(id, (old) => ({ ...old, auth: 'oauth' }));
      // It was removed while the person was away.
      if (!stored) await signIn.signOut(asking);
      // The open connection speaks for nobody, or for somebody else.
      await lives.drop(id);
      return lists.refresh(id);
    },

    async signOut(id) {
      const record = await recordOf(id);
      if (!record?.auth || !signIn) return { revoked: true };
      await lives.drop(id);
      const { revoked } = await signIn.signOut(record);
      // What was listed for one person alone says nothing about what the next one may use.
      await store.lists.update(id, (old) =>
        old.cacheScope === 'private' ? { ...old, ttlMs: 0 } : undefined,
      );
      notify();
      return { revoked };
    },

    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },

    async close() {
      stopListening();
      shelf.close();
      lists.close();
      listeners.clear();
      await lives.close();
    },
  };
}

/** The record with the server's own title, where nothing but its host stood for that. */
function titled(record: ServerRecord, title: string | null): ServerRecord {
  const name = shortName(title);
  if (!record.unnamed || name === '') return record;
  const { unnamed: _, ...rest } = record;
  return { ...rest, name };
}

function paused({ name }: ServerRecord): HostError {
  return {
    code: 'internal',
    message: `${name} is turned off.`,
    advice: 'Turn the server on again.',
  };
}

function offered({ tools }: InPageServer): Parameters<typeof listRecord>[1] {
  return {
    tools,
    prompts: [],
    resources: [],
    templates: [],
    ttlMs: null,
    cacheScope: null,
    cut: [],
  };
}
