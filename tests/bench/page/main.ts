/**
 * The app on a page of its own in which one engine serves two masters: the whole app (session, loop,
 * brain, journal, IndexedDB, the drawn screen) and a bare loop over its tokens. Both have it generate
 * the same prompt, so what differs is the app.
 */
import { mount } from 'svelte';
import { openSession, type SessionPorts } from '../../../src/agent/session.ts';
import { createApp, type Session } from '../../../src/app.ts';
import type { Brain, BrainRequest } from '../../../src/brain/brain.ts';
import { createLocalBrain } from '../../../src/brain/local/brain.ts';
import { download } from '../../../src/brain/local/downloads.ts';
import type { HostedEngine } from '../../../src/brain/local/engines/client.ts';
import { createEngine } from '../../../src/brain/local/engines/engines.ts';
import { createMemory } from '../../../src/brain/local/memory.ts';
import { createTrials } from '../../../src/brain/local/trials.ts';
import type {
  CatalogueRow,
  EngineName,
  GenerateRequest,
  LocalEngine,
} from '../../../src/brain/local/types.ts';
import { createHost } from '../../../src/mcp/host.ts';
import { resultText } from '../../../src/mcp/render.ts';
import { createToolbox } from '../../../src/mcp/toolbox.ts';
import { createPhone } from '../../../src/phone/phone.ts';
import { createGate } from '../../../src/policy/gate.ts';
import type { ModelTrial } from '../../../src/store/records.ts';
import { createRouter } from '../../../src/router/router.ts';
import { createTabLocks } from '../../../src/store/locks.ts';
import { openStore } from '../../../src/store/open.ts';
import App from '../../../src/ui/App.svelte';
import { navigate } from '../../../src/ui/router.ts';
import '../../../src/ui/theme.css';

/** Tokens a second of one generation, its first token being where the time begins. */
export interface Speed {
  readonly tokens: number;
  readonly tokensPerSecond: number;
}

export interface Bench {
  /** One turn through the app; the time ends when the turn is stored and drawn. */
  app(): Promise<Speed>;
  /** The same request, answered by the brain alone; to be called after `app`. */
  brain(): Promise<Speed>;
  /** Milliseconds of a load from storage through the app, the self-test having passed before. */
  load(): Promise<number>;
  /** The same by the engine alone. */
  bareLoad(): Promise<number>;
  /** The same from the engine alone, with or without the grammar; the time ends with its last event. */
  bare(grammar: boolean): Promise<Speed>;
}

declare global {
  interface Window {
    prepareBench(engine: EngineName): Promise<Bench>;
  }
}

const WORDS = 'Tell me a story.';
const PROMPT = [`<start_of_turn>user\n${WORDS}<end_of_turn>\n<start_of_turn>model\n`];
const never = (): AbortSignal => new AbortController().signal;

interface Model {
  readonly row: CatalogueRow;
  /** What this model is given, with what the app asked for in all else. */
  request(asked: GenerateRequest): GenerateRequest;
}

function rowOf(engine: EngineName, folder: string, files: readonly string[]): CatalogueRow {
  return {
    id: `${folder}.${engine}`,
    label: folder,
    engine,
    family: 'gemma3',
    note: '',
    files: files.map((path) => ({ path })),
    base: new URL(`/models/${folder}/`, location.origin).href,
    licence: { name: 'test', url: 'https://example.org/' },
    contextTokens: 1024,
    maxTools: 5,
    memory: 100e6,
    beside: true,
  };
}

const MODELS: Readonly<Record<EngineName, Model>> = {
  webllm: {
    row: rowOf('webllm', 'tiny-gemma', [
      'mlc-chat-config.json',
      'tiny-gemma3-q0f32-webgpu.wasm',
      'tokenizer.json',
      'tensor-cache.json',
      'params_shard_0.bin',
    ]),
    request: (asked) => ({ ...asked, prompt: PROMPT }),
  },
  wllama: {
    row: rowOf('wllama', 'random', ['random.gguf']),
    // Random weights say noise: held to letters, and drawn by chance so that they do not go in circles.
    request: (asked) => ({
      ...asked,
      prompt: PROMPT,
      grammar: 'root ::= [a-z ]*',
      maxTokens: 400,
      sampling: { temperature: 1, seed: 7 },
    }),
  },
};

const speed = (tokens: number, ms: number): Speed => ({
  tokens,
  tokensPerSecond: (tokens - 1) / (ms / 1000),
});

/** Passes a generation through and keeps its text, its first token's time and its count. */
function meter(engine: LocalEngine, model: Model) {
  const seen = { text: '', first: 0, tokens: 0 };
  let request: GenerateRequest | undefined;
  const metered: LocalEngine = {
    ...engine,
    async *generate(asked, signal) {
      Object.assign(seen, { text: '', first: 0, tokens: 0 });
      request = model.request(asked);
      for await (const event of engine.generate(request, signal)) {
        if (event.type === 'token') {
          seen.first ||= performance.now();
          seen.text += event.text;
        } else if (event.type === 'done') seen.tokens = event.outputTokens;
        yield event;
      }
    },
  };
  const last = (): GenerateRequest => {
    if (!request) throw new Error('Nothing was asked for yet.');
    return request;
  };
  return { metered, seen, last };
}

/** Resolves when the session's turn is stored: as done, or as cut at the most tokens. */
function turnEnded(session: Session): Promise<void> {
  return new Promise((resolve) => {
    const stop = session.subscribe(({ activity, messages }) => {
      const { message } = messages.at(-1) ?? {};
      if (activity.kind !== 'idle' || message?.role !== 'assistant') return;
      if (message.state === 'running') return;
      stop();
      resolve();
    });
  });
}

const letters = (text: string): string => text.replace(/\s+/g, '');

function drawn(): string {
  return document.querySelector('[aria-label="Messages"] .markdown')?.textContent ?? '';
}

/** The app as `createApp` joins it, but for the brain, which is handed in. */
async function startApp(brain: Brain) {
  const store = await openStore();
  await store.settings.set({ firstRunDone: true, mode: 'phone' });
  const timeZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone;
  const host = createHost({ store, inPage: [createPhone({ store })], online: () => true });
  const ports: SessionPorts = {
    store,
    toolbox: createToolbox({ store, host, timeZone, locale: () => navigator.language }),
    router: createRouter({
      online: () => true,
      phone: async () => brain,
      cloud: async () => null,
    }),
    gate: createGate({ store }),
    resultText,
    locks: createTabLocks(navigator.locks),
    clock: () => Date.now(),
    breathe: () => new Promise((resolve) => setTimeout(resolve)),
    timeZone,
  };
  const app = await createApp();
  const opened = new Map<string, (session: Session) => void>();
  const conversations = {
    ...app.conversations,
    async open(id: string) {
      const session = await openSession(id, ports);
      if (session) opened.get(id)?.(session);
      return session;
    },
  };
  let shown = false;
  /** Opens a new conversation on the screen. */
  return async (): Promise<Session> => {
    const { id } = await app.conversations.create();
    const session = new Promise<Session>((resolve) => opened.set(id, resolve));
    if (shown) navigate(`/c/${id}`);
    else {
      history.replaceState(null, '', `/c/${id}`);
      mount(App, {
        target: document.getElementById('app')!,
        props: { app: { ...app, conversations } },
      });
      shown = true;
    }
    return session;
  };
}

window.prepareBench = async (name) => {
  const model = MODELS[name];
  const { row } = model;
  await download(row, { signal: never(), onProgress: () => undefined });
  const engine: HostedEngine = createEngine[name]();
  const kept: { trials?: readonly ModelTrial[] } = {};
  const trials = createTrials(
    { get: async () => kept, set: async (change) => void Object.assign(kept, change) },
    () => 'gpu',
  );
  const memory = createMemory({
    engine: () => engine,
    onChange: () => undefined,
    onAbsent: () => undefined,
    trials,
    flag: { raise: async () => undefined, lower: () => undefined },
    idleMs: () => 3_600_000,
  });
  const { metered, seen, last } = meter(memory.engine(row), model);
  const brain = createLocalBrain({ row, engine: metered });
  let asked: BrainRequest | undefined;
  const newConversation = await startApp({
    describe: () => brain.describe(),
    countTokens: (text) => brain.countTokens(text),
    stream(request, signal) {
      asked = request;
      return brain.stream(request, signal);
    },
  });

  return {
    async app() {
      const session = await newConversation();
      const end = turnEnded(session);
      await session.send(WORDS);
      await end;
      const ended = performance.now();
      await new Promise(requestAnimationFrame);
      if (seen.tokens < 2 || letters(drawn()) !== letters(seen.text))
        throw new Error('The screen does not show what the model said.');
      return speed(seen.tokens, ended - seen.first);
    },
    async brain() {
      if (!asked) throw new Error('The app has asked for nothing yet.');
      for await (const event of brain.stream(asked, never())) {
        if (event.type === 'end' && event.reason === 'error') throw new Error(event.error.message);
      }
      return speed(seen.tokens, performance.now() - seen.first);
    },
    async load() {
      await memory.unload();
      const begun = performance.now();
      await memory.engine(row).load(row, () => undefined, never());
      return performance.now() - begun;
    },
    async bareLoad() {
      await memory.unload();
      const begun = performance.now();
      await engine.load(row, () => undefined, never(), { selfTest: false });
      const took = performance.now() - begun;
      await engine.unload();
      return took;
    },
    async bare(grammar) {
      let first = 0;
      const request = grammar ? last() : { ...last(), grammar: null };
      for await (const event of engine.generate(request, never())) {
        if (event.type === 'token') first ||= performance.now();
        if (event.type === 'done' && event.outputTokens > 1)
          return speed(event.outputTokens, performance.now() - first);
      }
      throw new Error('The engine said nothing.');
    },
  };
};
