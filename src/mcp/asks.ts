/**
 * What servers ask while they work: values of the person (elicitation), answers of a model (sampling).
 * A queue of questions as data, and a promise for each.
 *
 * Promises: nothing goes to a server, to a model or to a page without the person's yes to exactly that;
 * a server that may not use the model is refused after one no, without another question; a question
 * that nobody waits for any more says so and is answered by nothing; what was typed is not kept.
 */
import type { Asked, Mode, Sent } from '../store/records.ts';
import type {
  AskingServer,
  ElicitAnswer,
  ElicitRequest,
  SampleAnswer,
  SampleRequest,
  ServerAsks,
} from './types.ts';

/** The conversation whose call the server is at work on. */
interface Caller {
  readonly conversation: string;
  readonly title: string;
  readonly mode: Mode;
}

/** What a model made of a server's request. */
export type Thought =
  | {
      readonly ok: true;
      readonly text: string;
      /** The model's own id. */
      readonly model: string;
      /** Its name for the person. */
      readonly label: string;
      readonly place: 'phone' | 'cloud';
      readonly stopReason: string;
      readonly promptTokens?: number;
      readonly outputTokens?: number;
      readonly cost?: number;
      readonly sent?: Sent;
    }
  | { readonly ok: false; readonly message: string; readonly advice: string };

interface Question {
  readonly id: string;
  readonly server: AskingServer;
  readonly caller: Caller | null;
  /** Nobody waits for it any more: its call ended, or its time was up. */
  readonly over: boolean;
}

export interface ElicitAsk extends Question {
  readonly kind: 'elicit';
  readonly request: ElicitRequest;
}

export interface SampleAsk extends Question {
  readonly kind: 'sample';
  /** As the person left it. */
  readonly request: SampleRequest;
  readonly mode: Mode;
  /** off: the server is not allowed yet · request: to be looked at · thinking: a model is at it · answer: to be looked at. */
  readonly stage: 'off' | 'request' | 'thinking' | 'answer';
  readonly thought?: Extract<Thought, { ok: true }>;
  /** Why there is no answer. */
  readonly trouble?: { readonly message: string; readonly advice: string };
}

export type Ask = ElicitAsk | SampleAsk;

interface AsksPorts {
  readonly caller: (server: string) => Caller | null;
  /** Whether a server may ask the model. */
  readonly mayUseModel: (server: string) => Promise<boolean>;
  readonly letUseModel: (server: string) => Promise<void>;
  /** Has a model answer. */
  readonly think: (
    server: AskingServer,
    request: SampleRequest,
    mode: Mode,
    signal: AbortSignal,
  ) => Promise<Thought>;
  readonly clock: () => number;
}

export interface Asks {
  /** For the host. */
  readonly asks: ServerAsks;
  /** In order; the person is shown the first. */
  pending(): readonly Ask[];
  subscribe(listener: () => void): () => void;
  /** Answers a form or a visit. */
  answer(id: string, answer: ElicitAnswer): void;
  /** Lets the server ask the model from now on; the request is shown next. */
  allow(id: string): Promise<void>;
  /** Gives the request, as the person left it, to a model. */
  think(id: string, request: SampleRequest, mode: Mode): Promise<void>;
  /** Stops the model; the request is shown again. */
  halt(id: string): void;
  /** Gives the answer, as the person left it, to the server. */
  give(id: string, text: string): void;
  /** Refuses what the server wants of the model, or closes a question that is over. */
  refuse(id: string): void;
  /** What a server asked since this was last called, and what became of it. */
  taken(server: string): readonly Asked[];
}

/** Of a question that is kept with the call, in characters. */
const KEPT_WORDS = 500;
/** A server with more questions than this at once is out of order: the rest are cancelled. */
const MOST_WAITING = 20;

const UNASKED: Thought = {
  ok: false,
  message: 'The model could not be asked.',
  advice: 'Try again, or reload the app.',
};
const REFUSED = 'The user refused.';
const OFF = 'The user has not allowed this server to ask the model.';

interface Waiting {
  readonly since: number;
  /** Ends the wait of the server. */
  readonly settle: (answer: ElicitAnswer | SampleAnswer) => void;
  readonly signal: AbortSignal;
  /** Stops the model that is at work on it. */
  work?: AbortController;
}

export function createAsks(ports: AsksPorts): Asks {
  const listeners = new Set<() => void>();
  const waiting = new Map<string, Waiting>();
  const past = new Map<string, Asked[]>();
  /** Servers that were told no to the model, until the app is opened again. */
  const refusedModel = new Set<string>();
  let queue: readonly Ask[] = [];

  const changed = (): void => listeners.forEach((listener) => listener());

  const find = (id: string): Ask | undefined => queue.find((ask) => ask.id === id);

  function set(id: string, change: Partial<SampleAsk>): void {
    queue = queue.map((ask) => (ask.id === id ? ({ ...ask, ...change } as Ask) : ask));
    changed();
  }

  function remove(id: string): void {
    waiting.get(id)?.work?.abort();
    waiting.delete(id);
    queue = queue.filter((ask) => ask.id !== id);
    changed();
  }

  /** Puts down what became of a question, for the call's card. */
  function note(ask: Ask, answer: Asked['answer']): void {
    const list = past.get(ask.server.id) ?? [];
    const since = waiting.get(ask.id)?.since ?? ports.clock();
    const words = ask.kind === 'elicit' ? ask.request.message : 'An answer of the model';
    const { thought = undefined } = ask.kind === 'sample' ? ask : {};
    list.push({
      kind: ask.kind === 'sample' ? 'model' : ask.request.mode,
      message: words.slice(0, KEPT_WORDS),
      answer,
      at: since,
      ms: Math.max(0, ports.clock() - since),
      ...(thought
        ? {
            label: thought.label,
            place: thought.place,
            ...(thought.promptTokens === undefined ? {} : { promptTokens: thought.promptTokens }),
            ...(thought.outputTokens === undefined ? {} : { outputTokens: thought.outputTokens }),
            ...(thought.cost === undefined ? {} : { cost: thought.cost }),
            ...(thought.sent ? { sent: thought.sent } : {}),
          }
        : {}),
    });
    past.set(ask.server.id, list);
  }

  /** Queues a question; resolves with the person's answer, or `none` where the wait ends before it. */
  function put<T extends ElicitAnswer | SampleAnswer>(
    ask: Ask,
    signal: AbortSignal,
    none: T,
  ): Promise<T> {
    const full = queue.filter(({ server }) => server.id === ask.server.id).length >= MOST_WAITING;
    if (signal.aborted || full) return Promise.resolve(none);
    return new Promise((resolve) => {
      const ended = (): void => {
        const open = find(ask.id);
        if (!open || open.over) return;
        note(open, 'ended');
        waiting.get(ask.id)?.work?.abort();
        set(ask.id, { over: true });
        resolve(none);
      };
      waiting.set(ask.id, {
        since: ports.clock(),
        signal,
        settle: (answer) => {
          signal.removeEventListener('abort', ended);
          resolve(answer as T);
        },
      });
      signal.addEventListener('abort', ended, { once: true });
      queue = [...queue, ask];
      changed();
    });
  }

  const question = (server: AskingServer): Question => ({
    id: crypto.randomUUID(),
    server,
    caller: ports.caller(server.id),
    over: false,
  });

  const asks: ServerAsks = {
    elicit: (server, request, signal) =>
      put<ElicitAnswer>({ ...question(server), kind: 'elicit', request }, signal, {
        action: 'cancel',
      }),
    async sample(server, request, signal) {
      const allowed = await ports.mayUseModel(server.id);
      if (!allowed && refusedModel.has(server.id)) return { ok: false, refused: OFF };
      const asked = question(server);
      const mode = asked.caller?.mode ?? 'phone';
      const stage = allowed ? 'request' : 'off';
      return put<SampleAnswer>({ ...asked, kind: 'sample', request, mode, stage }, signal, {
        ok: false,
        refused: REFUSED,
      });
    },
  };

  const sampling = (id: string): SampleAsk | undefined => {
    const ask = find(id);
    return ask?.kind === 'sample' && !ask.over ? ask : undefined;
  };

  return {
    asks,
    pending: () => queue,
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    answer(id, answer) {
      const ask = find(id);
      if (ask?.kind !== 'elicit') return;
      if (!ask.over) {
        const words = { accept: 'sent', decline: 'declined', cancel: 'cancelled' } as const;
        note(ask, words[answer.action]);
        waiting.get(id)?.settle(answer);
      }
      remove(id);
    },
    async allow(id) {
      const ask = sampling(id);
      if (ask?.stage !== 'off') return;
      await ports.letUseModel(ask.server.id);
      refusedModel.delete(ask.server.id);
      // Everything else that this server has waiting is allowed with it.
      for (const other of queue)
        if (other.kind === 'sample' && other.stage === 'off' && other.server.id === ask.server.id)
          set(other.id, { stage: 'request' });
    },
    async think(id, request, mode) {
      const ask = sampling(id);
      const wait = waiting.get(id);
      if (!ask || !wait || ask.stage !== 'request') return;
      const work = new AbortController();
      wait.work = work;
      set(id, { request, mode, stage: 'thinking', trouble: undefined });
      const thought = await ports
        .think(ask.server, request, mode, work.signal)
        .catch((): Thought => UNASKED);
      // Refused, ended or stopped meanwhile.
      if (wait.work !== work || !sampling(id)) return;
      delete wait.work;
      if (thought.ok) set(id, { stage: 'answer', thought });
      else {
        const { message, advice } = thought;
        set(id, { stage: 'request', trouble: { message, advice } });
      }
    },
    halt(id) {
      const wait = waiting.get(id);
      if (sampling(id)?.stage !== 'thinking' || !wait) return;
      wait.work?.abort();
      delete wait.work;
      set(id, { stage: 'request' });
    },
    give(id, text) {
      const ask = sampling(id);
      if (ask?.stage !== 'answer' || !ask.thought) return;
      const { model, stopReason } = ask.thought;
      note(ask, 'sent');
      waiting.get(id)?.settle({ ok: true, text, model, stopReason });
      remove(id);
    },
    refuse(id) {
      const ask = find(id);
      if (ask?.kind !== 'sample') return;
      if (!ask.over) {
        if (ask.stage === 'off') refusedModel.add(ask.server.id);
        note(ask, 'declined');
        waiting.get(id)?.settle({ ok: false, refused: ask.stage === 'off' ? OFF : REFUSED });
      }
      remove(id);
    },
    taken(server) {
      const list = past.get(server) ?? [];
      past.delete(server);
      return list;
    },
  };
}
