/**
 * An app whose state a test sets by hand: the screens are tested against the surface of `app.ts`, and
 * every call that they make is recorded. Nothing here decides anything.
 */
import type { App, Answer, Question, Session, SessionView } from '../../../src/app.ts';
import { attachPicture } from '../../../src/brain/attach.ts';
import { readPlace } from '../../../src/mcp/place.ts';
import type { ServerView } from '../../../src/mcp/types.ts';
import type {
  CallPart,
  Conversation,
  Message,
  NoticePart,
  Part,
  RoutePart,
  Settings,
  StepPart,
} from '../../../src/store/records.ts';

export interface Recorded {
  readonly name: string;
  readonly args: readonly unknown[];
}

export interface FakeSession extends Session {
  readonly calls: Recorded[];
  /** Changes the view and tells the screen. */
  show(change: Partial<SessionView>): void;
  /** Makes the next `send` reject. */
  failNextSend(cause: Error): void;
}

export const conversation = (change: Partial<Conversation> = {}): Conversation => ({
  id: 'c1',
  title: 'A trip to Mumbai',
  createdAt: 1,
  updatedAt: 1,
  mode: 'auto',
  draft: '',
  queue: [],
  private: false,
  pinned: false,
  ...change,
});

let serial = 0;

export function message(
  role: Message['role'],
  parts: readonly Part[],
  change: Partial<Message> = {},
): { message: Message; parts: readonly Part[] } {
  const seq = serial++;
  return {
    message: {
      id: `m${seq}`,
      conversation: 'c1',
      seq,
      role,
      createdAt: seq,
      state: 'done',
      ...change,
    },
    parts,
  };
}

export const text = (words: string, step = 1): Part => ({ kind: 'text', step, text: words });
export const said = (words: string): { message: Message; parts: readonly Part[] } =>
  message('user', [text(words, 0)]);

export const call = (change: Partial<CallPart> = {}): CallPart => ({
  kind: 'call',
  step: 1,
  callId: `call-${serial++}`,
  server: 'travel',
  serverName: 'Travel',
  tool: 'find_flights',
  title: 'Find flights',
  modelName: 'find_flights',
  pin: 'pin',
  args: { from: 'Bengaluru', to: 'Mumbai', date: '2026-12-04' },
  days: [
    { argument: 'date', said: 'next Friday', value: '2026-12-04', shown: 'Friday, 4 December' },
  ],
  readOnly: false,
  state: 'done',
  ...change,
});

export const notice = (change: Partial<NoticePart> = {}): NoticePart => ({
  kind: 'notice',
  step: 1,
  code: 'limit-steps',
  text: 'I stopped after 8 steps.',
  ...change,
});

export const route = (change: Partial<RoutePart> = {}): RoutePart => ({
  kind: 'route',
  step: 1,
  place: 'phone',
  brain: 'phone:gemma3-270m',
  label: 'Gemma 3 270M, tools',
  rule: 'mode',
  reason: 'You chose Phone.',
  offered: [],
  ...change,
});

export const step = (change: Partial<StepPart> = {}): StepPart => ({
  kind: 'step',
  step: 1,
  end: 'stop',
  usage: {
    promptTokens: 812,
    cachedTokens: 640,
    outputTokens: 63,
    firstTokenMs: 820,
    tokensPerSecond: 14.2,
  },
  ...change,
});

export const question = (part: CallPart): Question => ({ call: part, message: 'm' });

export const travelServer: ServerView = {
  record: {
    id: 'travel',
    name: 'Travel',
    url: 'https://travel.example:8443/mcp',
    addedAt: 1,
    enabled: true,
    trustHints: false,
    private: false,
  },
  local: false,
  status: 'connected',
  tools: [
    {
      name: 'find_flights',
      title: 'Find flights',
      inputSchema: { type: 'object' },
      annotations: { readOnlyHint: true },
      pin: 'pin',
      on: true,
    },
    {
      name: 'book_flight',
      title: 'Book a flight',
      inputSchema: { type: 'object' },
      annotations: { destructiveHint: true, openWorldHint: true },
      pin: 'pin',
      on: true,
    },
  ],
  prompts: [],
  resources: [],
  templates: [],
  cut: [],
  appeared: [],
  missing: [],
  rule: null,
  log: [],
  era: 'modern',
  auth: 'none',
  listedAt: 1,
  stale: false,
};

export function fakeSession(start: Partial<SessionView> = {}): FakeSession {
  const calls: Recorded[] = [];
  const listeners = new Set<(view: SessionView) => void>();
  let failure: Error | null = null;
  let view: SessionView = {
    conversation: conversation(),
    messages: [],
    activity: { kind: 'idle' },
    questions: [],
    interrupted: false,
    ...start,
  };
  const record = (name: string, ...args: unknown[]): void => void calls.push({ name, args });
  return {
    calls,
    show(change) {
      view = { ...view, ...change };
      for (const listener of listeners) listener(view);
    },
    failNextSend: (cause) => void (failure = cause),
    view: () => view,
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async send(words, options) {
      record('send', words, options);
      const cause = failure;
      failure = null;
      if (cause) throw cause;
    },
    async unqueue(index) {
      record('unqueue', index);
      const taken = view.conversation.queue[index] ?? null;
      const queue = view.conversation.queue.filter((_, at) => at !== index);
      const { attached = [] } = view.conversation;
      const hanging =
        typeof taken === 'string' ? attached : [...attached, ...(taken?.attached ?? [])];
      this.show({
        conversation: {
          ...view.conversation,
          queue,
          ...(hanging.length > 0 ? { attached: hanging } : {}),
        },
      });
      return taken;
    },
    stop: () => record('stop'),
    async resume(options) {
      record('resume', options);
    },
    async answer(callId: string, answer: Answer) {
      record('answer', callId, answer);
      this.show({ questions: view.questions.filter((open) => open.call.callId !== callId) });
      return true;
    },
    async setMode(mode) {
      record('setMode', mode);
      this.show({ conversation: { ...view.conversation, mode } });
    },
    async setDraft(draft, foreign) {
      record('setDraft', draft, ...(foreign ? [foreign] : []));
    },
    async setAttached(attached) {
      record('setAttached', attached);
      this.show({ conversation: { ...view.conversation, attached } });
    },
    async rename(title) {
      record('rename', title);
      this.show({ conversation: { ...view.conversation, title } });
    },
    async regenerate(options) {
      record('regenerate', options);
    },
    async undo(callId) {
      record('undo', callId);
      return null;
    },
    async summarise() {
      record('summarise');
      return null;
    },
    async forgetSummary() {
      record('forgetSummary');
      this.show({ conversation: { ...view.conversation, summary: undefined } });
    },
    close: () => record('close'),
  };
}

const SETTINGS: Settings = {
  theme: 'system',
  mode: 'auto',
  phoneModel: null,
  cloudAccount: null,
  firstRunDone: true,
  persisted: null,
  installDismissed: true,
  limits: { steps: 8, calls: 24, equalCalls: 2, ms: 300_000, tokens: 100_000 },
};

const never = (): (() => void) => () => {};
const unused = (): never => {
  throw new Error('No screen under test calls this.');
};

export interface FakeApp extends App {
  readonly calls: Recorded[];
}

/** The app around one session. */
export function fakeApp(
  session: Session,
  options: {
    servers?: readonly ServerView[];
    grants?: Awaited<ReturnType<App['grants']['list']>>;
    standing?: Partial<Pick<App['grants'], 'setMode' | 'modes'>>;
    models?: Partial<App['models']>;
    asks?: Partial<App['asks']>;
    signIn?: Partial<App['signIn']>;
    lock?: Partial<App['lock']>;
    host?: Partial<App['host']>;
    safety?: Partial<App['safety']>;
    /** Any other part of the app, as far as the test needs it otherwise. */
    over?: { readonly [Part in keyof App]?: Partial<App[Part]> };
  } = {},
): FakeApp {
  const calls: Recorded[] = [];
  const { servers = [travelServer] } = options;
  let grants = options.grants ?? [];
  const grantListeners = new Set<() => void>();
  const app = {
    calls,
    conversations: {
      list: async () => [session.view().conversation],
      search: async () => [],
      create: async () => conversation({ id: 'new', title: '' }),
      open: async (id) => (id === session.view().conversation.id ? session : null),
      async delete(id) {
        calls.push({ name: 'delete', args: [id] });
      },
      async pin() {},
      working: () => false,
      subscribe: never,
    },
    models: {
      list: async () => [],
      async download() {},
      async pause() {},
      async resume() {},
      async cancel() {},
      check: async () => [],
      export: async () => null,
      import: unused,
      inspect: unused,
      add: unused,
      figures: async () => null,
      benchmark: unused,
      async setSampling() {},
      async setThinking() {},
      async remove() {},
      async unload() {},
      async warm() {},
      stepDown: async () => null,
      brain: async () => null,
      subscribe: never,
      ...options.models,
    },
    cloud: {
      presets: () => [],
      accounts: async () => [],
      add: unused,
      async setImages() {},
      async setPrice() {},
      sees: async () => false,
      async remove() {},
      brain: async () => null,
      startSignIn: unused,
      finishSignIn: unused,
    },
    signIn: {
      receive: unused,
      view: async () => null,
      async setClient() {},
      subscribe: never,
      ...options.signIn,
    },
    lock: {
      on: () => false,
      ways: async () => [],
      wait: async () => 0,
      turnOn: unused,
      prove: unused,
      subscribe: never,
      ...options.lock,
    },
    host: {
      list: async () => servers,
      look: unused,
      add: unused,
      refresh: unused,
      async update() {},
      async remove() {},
      async setTool() {},
      async setRule() {},
      async markSeen() {},
      async acceptTool() {},
      readResource: unused,
      getPrompt: unused,
      complete: unused,
      watchResource: async () => () => undefined,
      readersOf: async () => [],
      listSkills: async () => ({ ok: true, value: [] }),
      readSkill: unused,
      async setUndo() {},
      undoOf: async () => null,
      signIn: unused,
      async signOut() {
        return { revoked: true };
      },
      subscribe: never,
      async close() {},
      ...options.host,
    },
    readPlace,
    serverReport: unused,
    asks: {
      pending: () => [],
      subscribe: never,
      answer: unused,
      allow: unused,
      think: unused,
      halt: unused,
      give: unused,
      refuse: unused,
      ...options.asks,
    },
    settings: { get: async () => SETTINGS, async set() {}, subscribe: never },
    grants: {
      list: async () => grants,
      async revoke() {},
      setMode: unused,
      modes: async () => new Map(),
      ...options.standing,
      async revokeTool(server, tool) {
        calls.push({ name: 'revokeTool', args: [server, tool] });
        grants = grants.filter((grant) => grant.tool !== tool);
        for (const listener of grantListeners) listener();
      },
      subscribe(listener) {
        grantListeners.add(listener);
        return () => grantListeners.delete(listener);
      },
    },
    reminders: {
      list: async () => [],
      async dismiss() {},
      ics: async () => null,
      subscribe: never,
      watch: never,
    },
    actions: {
      search: async () => [],
      verify: async () => null,
      export: async () => new Blob(),
      clear: async () => undefined,
      subscribe: () => () => undefined,
    },
    // The real thing: what it promises of a picture needs no app around it.
    pictures: { attach: attachPicture },
    archive: { export: unused, import: unused },
    storage: { estimate: async () => ({ used: 0, quota: 1e9 }), persist: async () => false },
    safety: {
      scan: async () => [],
      difference: unused,
      isConsequential: async () => false,
      ...options.safety,
    },
    demoServer: async () => null,
  } as FakeApp;
  for (const [part, change] of Object.entries(options.over ?? {}))
    Object.assign(app[part as keyof App], change);
  return app;
}
