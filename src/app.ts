/** The one place where the rooms are joined. The screens know this surface and nothing beneath it. */
import type { Activity } from './agent/activity.ts';
import { openSession, type Session, type SessionPorts } from './agent/session.ts';
import { dayOf, reachedOn } from './agent/day-cost.ts';
import { clockLine } from './agent/prompt.ts';
import type { Attached } from './brain/attach.ts';
import { createCloud } from './brain/cloud/accounts.ts';
import type { Cloud } from './brain/cloud/types.ts';
import type { Models } from './brain/local/types.ts';
import type { Received, SignInView } from './mcp/auth/types.ts';
import { readPlace } from './mcp/place.ts';
import { later } from './later.ts';
import { createAsks, type Asks } from './mcp/asks.ts';
import { resultText } from './mcp/render.ts';
import type { reportOf } from './mcp/report.ts';
import { createToolbox } from './mcp/toolbox.ts';
import type { Host, ToolCaller } from './mcp/types.ts';
import { createReminders } from './phone/reminders.ts';
import type { Difference } from './policy/difference.ts';
import type { Finding } from './policy/scan.ts';
import type { Approvals, ToolMode } from './policy/types.ts';
import type { RouterPorts } from './router/router.ts';
import { createTabLocks } from './store/locks.ts';
import { openStore } from './store/open.ts';
import type {
  Conversation,
  Part,
  PinnedArguments,
  Settings,
  ToolDefinition,
} from './store/records.ts';
import type {
  ActionLog,
  Archive,
  ConversationHit,
  Lock,
  Locked,
  Store,
  Topic,
} from './store/store.ts';

export interface Conversations {
  list(): Promise<Conversation[]>;
  search(query: string, signal?: AbortSignal): Promise<ConversationHit[]>;
  create(): Promise<Conversation>;
  open(id: string): Promise<Session | null>;
  delete(id: string): Promise<void>;
  pin(id: string, pinned: boolean): Promise<void>;
  /** A turn of this tab is at work, and does not wait for the person. */
  working(): boolean;
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
  /** It holds only for these arguments. */
  readonly args?: PinnedArguments;
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
  /** What servers ask the person and the model while they work. */
  readonly asks: Omit<Asks, 'asks' | 'taken'>;
  /** Sign-in with servers, beyond what the host does of it. */
  readonly signIn: {
    /** Takes what came back to `/oauth/callback`. */
    receive(query: URLSearchParams): Promise<Received>;
    /** What there is to show of a server's sign-in; null where there is no such server. */
    view(id: string): Promise<SignInView | null>;
    /** Sets the client id that the person was given for this app, or takes it away. */
    setClient(id: string, client: { id: string; secret?: string } | null): Promise<void>;
    /** Called when any server's sign-in changed, in any tab. */
    subscribe(listener: () => void): () => void;
  };
  /** Where an address of a server leads; no request is made. */
  readonly readPlace: typeof readPlace;
  /** The text behind "Copy report" for what went wrong at a server, with secrets struck out. */
  serverReport(...error: Parameters<typeof reportOf>): Promise<string>;
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
    /**
     * Sets how a tool stands from now on. A tool that pays, deletes, sends or the like runs without
     * asking only with `warned`: the person was told what that means.
     */
    setMode: Approvals['setMode'];
    /** The mode in force of each tool of a server, by name; those that are asked about are left out. */
    modes(server: string): Promise<ReadonlyMap<string, ToolMode>>;
    subscribe(listener: () => void): () => void;
  };
  readonly reminders: {
    list(): Promise<DueReminder[]>;
    dismiss(id: string): Promise<void>;
    /** The reminder as an iCalendar file, to hand over to the phone's calendar. */
    ics(id: string): Promise<Blob | null>;
    /** Called with those that have become due while the app is open. */
    subscribe(listener: (due: readonly DueReminder[]) => void): () => void;
    /** Called when the list changes, in any tab. */
    watch(listener: () => void): () => void;
  };
  readonly pictures: {
    /**
     * Makes a picture of the person's own ready to hang on their words, with its pixels alone; `at`
     * tells it from others. Rejects only where the app's own code cannot be had.
     */
    attach(file: File, at: number): Promise<Attached>;
  };
  /** What became of every call. */
  readonly actions: Pick<ActionLog, 'search' | 'verify' | 'export' | 'clear'> & {
    subscribe(listener: () => void): () => void;
  };
  /** What to know of a tool before it is agreed to; loaded when it is asked for. */
  readonly safety: {
    /** What looks like a trick in a tool's definition; `otherNames` are those of other servers' tools. */
    scan(definition: ToolDefinition, otherNames: readonly string[]): Promise<Finding[]>;
    difference(before: ToolDefinition, after: ToolDefinition): Promise<Difference>;
    /** It pays, deletes, sends or the like: allowing it always takes a warning. */
    isConsequential(tool: ToolDefinition): Promise<boolean>;
  };
  readonly archive: Archive;
  /** The app lock. */
  readonly lock: Lock & {
    /** Called when it is turned on or off or its ways change, in any tab. */
    subscribe(listener: () => void): () => void;
  };
  readonly storage: {
    estimate(): Promise<{ used: number; quota: number }>;
    /** Asks the browser to keep the data; the answer is stored in the settings. */
    persist(): Promise<boolean>;
  };
  /** The demo server offered on the first screen, from `demo.json` beside the app; null where there is none. */
  demoServer(): Promise<{ url: string; name: string } | null>;
}

export type { Activity } from './agent/activity.ts';
export type { MessageView, Question, Session, SessionView, Trouble } from './agent/session.ts';
export type { Ask, ElicitAsk, SampleAsk } from './mcp/asks.ts';
export type { Difference, Piece } from './policy/difference.ts';
export type { Finding } from './policy/scan.ts';
export type { Answer, ToolMode } from './policy/types.ts';

/** How long a session's page may wait for `demo.json`. */
const DEMO_TIMEOUT_MS = 3_000;

/**
 * Opens the store and joins the rooms. `unlock` is asked where the app lock is on, and resolves once it
 * has opened it. Rejects with a `StoreError` whose words are for the person.
 */
export async function createApp(unlock?: (locked: Locked) => Promise<void>): Promise<App> {
  const store = await openStore({
    onOutdated: () => location.reload(),
    ...(unlock ? { unlock } : {}),
  });
  const timeZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone;
  const online = (): boolean => navigator.onLine;
  const asks = createAsks({
    caller: (server) => {
      const [calling] = conversations.callersOf(server);
      return calling
        ? { conversation: calling.id, title: calling.title, mode: calling.mode }
        : null;
    },
    mayUseModel: async (server) => (await store.servers.get(server))?.sampling === true,
    letUseModel: async (server) => {
      await store.servers.update(server, (old) => ({ ...old, sampling: true }));
    },
    think: async (server, request, mode, signal) => {
      const { think } = await import('./agent/sample.ts');
      // What the server was told in a private conversation may stand in its request.
      const callers = new Set<string>();
      const isPrivate = async (): Promise<boolean> => {
        for (const { id } of conversations.callersOf(server.id)) callers.add(id);
        const [record, ...all] = await Promise.all([
          store.servers.get(server.id),
          ...[...callers].map((id) => store.conversations.get(id)),
        ]);
        return record?.private === true || all.some((it) => it?.private === true);
      };
      const now = (): string => clockLine(Date.now(), timeZone());
      const reached = async () =>
        reachedOn(await store.settings.get(), dayOf(Date.now(), timeZone()));
      return think({ router, isPrivate, reached, now }, request, mode, signal);
    },
    clock: () => Date.now(),
  });
  const locks = createTabLocks(navigator.locks);
  const mcp = Promise.all([import('./mcp/start.ts'), import('./phone/phone.ts')]).then(
    ([{ startHost }, { createPhone }]) =>
      startHost({ store, inPage: [createPhone({ store })], online, locks, asks: asks.asks }),
  );
  const signIn = later(mcp.then((it) => it.signIn));
  const host = later<Host & ToolCaller>(
    mcp.then((it) => it.host),
    {
      renewStale: () => {
        mcp.then((it) => it.host.renewStale()).catch(() => undefined);
      },
    },
  );
  const toolbox = createToolbox({ store, host, timeZone, locale: () => navigator.language });
  const models = later(
    import('./brain/local/models.ts').then(({ createModels }) => createModels({ store })),
  );
  const cloud = createCloud({ store, online });
  const gate = later(import('./policy/gate.ts').then(({ createGate }) => createGate({ store })));
  const seats: RouterPorts = {
    online,
    phone: async () => {
      const { phoneModel } = await store.settings.get();
      // Where the models' own code cannot be had, there is none: the router says so, or hands over.
      return phoneModel ? models.brain(phoneModel).catch(() => null) : null;
    },
    cloud: async () => {
      const { cloudAccount } = await store.settings.get();
      return cloudAccount ? cloud.brain(cloudAccount) : null;
    },
  };
  const router = later(
    import('./router/router.ts').then(({ createRouter }) => createRouter(seats)),
  );

  const conversations = createConversationList(store, {
    store,
    toolbox,
    router,
    gate,
    resultText,
    locks,
    clock: () => Date.now(),
    breathe: nextTask,
    timeZone,
    asked: asks.taken,
    undoOf: (call) => host.undoOf(call),
  });

  return {
    conversations,
    models,
    cloud,
    host: later<Host>(
      mcp.then((it) => it.host),
      {
        async remove(id) {
          await host.remove(id);
          const grants = (await store.grants.all()).filter(({ server }) => server === id);
          await Promise.all(grants.map((grant) => store.grants.delete(grant.id)));
        },
      },
    ),
    signIn: {
      receive: (answer) => signIn.receive(answer),
      async view(id) {
        const record = await store.servers.get(id);
        return record ? signIn.view(record) : null;
      },
      async setClient(id, client) {
        const record = await store.servers.get(id);
        if (record) await signIn.setClient(record, client);
      },
      subscribe: (listener) => signIn.subscribe(listener),
    },
    readPlace,
    serverReport: async (...error) => (await import('./mcp/report.ts')).reportOf(...error),
    asks,
    settings: {
      get: () => store.settings.get(),
      set: (change) => store.settings.set(change),
      subscribe: (listener) => onTopics(store, ['settings'], listener),
    },
    grants: { ...grantsOf(store), setMode: gate.setMode },
    reminders: {
      ...createReminders({ store }),
      watch: (listener) => onTopics(store, ['reminders'], listener),
    },
    pictures: {
      attach: async (...picture) => (await import('./brain/attach.ts')).attachPicture(...picture),
    },
    actions: { ...store.actions, subscribe: (listener) => onTopics(store, ['actions'], listener) },
    safety: {
      scan: async (...input) => (await import('./policy/scan.ts')).scan(...input),
      difference: async (...input) =>
        (await import('./policy/difference.ts')).differenceOf(...input),
      isConsequential: async (tool) => (await import('./policy/modes.ts')).isRisky(tool),
    },
    archive: store.archive,
    lock: { ...store.lock, subscribe: (listener) => onTopics(store, ['lock'], listener) },
    storage: {
      async estimate() {
        const { usage = 0, quota = 0 } = await navigator.storage.estimate();
        return { used: usage, quota };
      },
      async persist() {
        const persisted = await navigator.storage.persist();
        await store.settings.set({ persisted });
        return persisted;
      },
    },
    demoServer,
  };
}

/** The next task of the event loop: the browser may draw and hear taps before it. */
function nextTask(): Promise<void> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(null);
  });
}

function onTopics(store: Store, topics: readonly Topic[], listener: () => void): () => void {
  return store.changes.subscribe((change) => {
    if (topics.includes(change.topic)) listener();
  });
}

/** Nothing is lost where a tab goes now: a question is asked again. */
const AT_REST: ReadonlySet<Activity['kind']> = new Set(['idle', 'elsewhere', 'asking']);

/** Sessions are kept by id while they are open or at work: one conversation, one session a tab. */
function createConversationList(
  store: Store,
  ports: SessionPorts,
): Conversations & { callersOf(server: string): readonly Conversation[] } {
  const open = new Map<string, { session: Promise<Session | null>; users: number }>();
  const views = new Map<string, Session['view']>();
  return {
    callersOf: (server) =>
      [...views.values()]
        .map((view) => view())
        .filter(({ messages }) => isCalling(messages.at(-1)?.parts ?? [], server))
        .map(({ conversation }) => conversation),
    working: () => [...views.values()].some((view) => !AT_REST.has(view().activity.kind)),
    list: () => store.conversations.list(),
    search: (query, signal) => store.conversations.search(query, signal),
    async create() {
      const { mode } = await store.settings.get();
      const now = Date.now();
      const conversation: Conversation = {
        id: crypto.randomUUID(),
        title: '',
        createdAt: now,
        updatedAt: now,
        mode,
        draft: '',
        queue: [],
        private: false,
        pinned: false,
      };
      await store.conversations.put(conversation);
      return conversation;
    },
    async open(id) {
      const entry = open.get(id) ?? { session: openSession(id, ports), users: 0 };
      open.set(id, entry);
      entry.users += 1;
      // What could not be read is tried again the next time.
      const session = await entry.session.catch((error: unknown) => {
        open.delete(id);
        throw error;
      });
      if (!session) {
        open.delete(id);
        return null;
      }
      views.set(id, session.view);
      return shared(session, () => {
        entry.users -= 1;
        if (entry.users > 0 || session.view().activity.kind !== 'idle') return;
        open.delete(id);
        views.delete(id);
        session.close();
      });
    },
    async delete(id) {
      (await open.get(id)?.session)?.stop();
      open.delete(id);
      views.delete(id);
      await store.conversations.deleteWhole(id);
    },
    async pin(id, pinned) {
      await store.conversations.update(id, (old) => ({ ...old, pinned }));
    },
    subscribe: (listener) => onTopics(store, ['conversations'], listener),
  };
}

const isCalling = (parts: readonly Part[], server: string): boolean =>
  parts.some((part) => part.kind === 'call' && part.server === server && part.state === 'running');

/** One user's hold of a session: its listeners go when it closes, the session when the last one does. */
function shared(session: Session, release: () => void): Session {
  const stops = new Set<() => void>();
  let held = true;
  return {
    ...session,
    subscribe(listener) {
      const stop = session.subscribe(listener);
      stops.add(stop);
      return () => {
        stops.delete(stop);
        stop();
      };
    },
    close() {
      if (!held) return;
      held = false;
      for (const stop of stops) stop();
      release();
    },
  };
}

function grantsOf(store: Store): Omit<App['grants'], 'setMode'> {
  return {
    async list() {
      const [grants, servers] = await Promise.all([store.grants.all(), store.servers.all()]);
      const names = new Map(servers.map((server) => [server.id, server.name]));
      return grants.map((grant) => ({
        id: grant.id,
        serverName: names.get(grant.server) ?? grant.server,
        tool: grant.tool,
        verdict: grant.verdict,
        conversation: grant.conversation ?? null,
        createdAt: grant.createdAt,
        ...(grant.args ? { args: grant.args } : {}),
      }));
    },
    revoke: (id) => store.grants.delete(id),
    async modes(server) {
      const [{ modesOf }, grants, list] = await Promise.all([
        import('./policy/modes.ts'),
        store.grants.all(),
        store.lists.get(server),
      ]);
      return modesOf(
        grants.filter((grant) => grant.server === server),
        list?.tools ?? [],
      );
    },
    async revokeTool(server, tool) {
      const grants = await store.grants.for(server, tool);
      await Promise.all(
        grants
          .filter(({ verdict }) => verdict === 'allow')
          .map(({ id }) => store.grants.delete(id)),
      );
    },
    subscribe: (listener) => onTopics(store, ['grants'], listener),
  };
}

async function demoServer(): Promise<{ url: string; name: string } | null> {
  try {
    const response = await fetch('/demo.json', { signal: AbortSignal.timeout(DEMO_TIMEOUT_MS) });
    if (!response.ok) return null;
    const demo: unknown = await response.json();
    if (typeof demo !== 'object' || demo === null) return null;
    const { url, name } = demo as Record<string, unknown>;
    return typeof url === 'string' && typeof name === 'string' ? { url, name } : null;
  } catch {
    // No demo, no network, or another server's page: the first screen leaves the offer out.
    return null;
  }
}
