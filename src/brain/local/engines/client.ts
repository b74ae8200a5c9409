/**
 * The page's side of an engine: one worker, spoken to by messages.
 *
 * Promises: every call ends. A worker that hangs, crashes, loses its GPU or does not stop when told
 * is terminated, and the caller gets a typed error, or `aborted` where it aborted. After that
 * `loaded` is false and the engine waits for the next `load`.
 */
import { EngineError } from '../errors.ts';
import type { CatalogueRow, EngineEvent, GenerateRequest, LocalEngine } from '../types.ts';
import { Channel } from './channel.ts';
import type { Command, Report } from './protocol.ts';
import { Watchdog } from './watchdog.ts';

export interface LoadOptions {
  /** Whether the model must first show that it calculates right here; default: yes. */
  readonly selfTest?: boolean;
}

/** An engine that can say whether it still holds its model. */
export interface HostedEngine extends LocalEngine {
  load(
    row: CatalogueRow,
    onProgress: (fraction: number | null) => void,
    signal: AbortSignal,
    options?: LoadOptions,
  ): Promise<void>;
  /** False before a load, after `unload`, and where the worker had to be terminated. */
  readonly loaded: boolean;
  /** Resolves when the worker that holds the model is gone; at once where there is none. */
  ended(): Promise<void>;
}

/** How long an engine may be silent, in milliseconds. */
export interface Patience {
  /** Between two signs of progress while it loads. */
  readonly load: number;
  /** Before the first token, on top of `promptToken` for each token of the prompt. */
  readonly firstToken: number;
  readonly promptToken: number;
  /** Between two tokens. */
  readonly token: number;
  /** After a stop, until the caller is told `aborted` without the engine's own figures. */
  readonly stopAnswer: number;
  /** After a stop, until the worker is terminated. */
  readonly stop: number;
}

/** Generous: a long prompt takes minutes on a slow phone. */
export const PATIENCE: Patience = {
  load: 120_000,
  firstToken: 60_000,
  promptToken: 500,
  token: 60_000,
  stopAnswer: 100,
  stop: 2_000,
};

export interface WorkerEngineOptions {
  readonly spawn: () => Worker;
  /** Throws an EngineError where this browser cannot run the row; called before anything loads. */
  readonly preflight?: (row: CatalogueRow) => Promise<void>;
  readonly patience?: Partial<Patience>;
}

/** What is under way in a worker: told of every report, and of the worker's end. */
interface Listener {
  report(report: Report): void;
  end(error: EngineError): void;
}

/** A rough count of tokens, rather too high: three characters each. */
const roughTokens = (prompt: readonly string[]): number =>
  prompt.reduce((sum, piece) => sum + piece.length, 0) / 3;

/** Resolves with the work, or when the signal aborts. */
function untilAborted(work: Promise<void>, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const end = (): void => {
      signal.removeEventListener('abort', end);
      resolve();
    };
    signal.addEventListener('abort', end);
    void work.then(end);
  });
}

class Link {
  readonly gone: Promise<void>;
  readonly #worker: Worker;
  #listener: Listener | null = null;
  #ended: EngineError | null = null;
  #leave!: () => void;

  constructor(worker: Worker) {
    this.#worker = worker;
    this.gone = new Promise((resolve) => {
      this.#leave = resolve;
    });
    worker.addEventListener('message', (message: MessageEvent<Report>) => {
      const report = message.data;
      if (report.type === 'broken') this.end(EngineError.fromWire(report.error));
      else this.#listener?.report(report);
    });
    worker.addEventListener('error', (event) => {
      event.preventDefault();
      this.end(new EngineError('internal', `worker: ${event.message ?? 'could not be started'}`));
    });
    worker.addEventListener('messageerror', () =>
      this.end(new EngineError('internal', 'worker: a message could not be read')),
    );
  }

  get ended(): boolean {
    return this.#ended !== null;
  }

  send(command: Command): void {
    this.#worker.postMessage(command);
  }

  listen(listener: Listener | null): void {
    this.#listener = listener;
    if (listener && this.#ended) listener.end(this.#ended);
  }

  /** Terminates the worker; who listens is told why. */
  end(error: EngineError): void {
    if (this.#ended) return;
    this.#ended = error;
    this.#worker.terminate();
    this.#leave();
    this.#listener?.end(error);
  }
}

class WorkerEngineClient implements HostedEngine {
  readonly #options: WorkerEngineOptions;
  readonly #patience: Patience;
  #link: Link | null = null;
  #loaded = false;
  #ids = 0;
  /** Resolves when the generation before is over in the worker too, or the worker is gone. */
  #settled: Promise<void> = Promise.resolve();

  constructor(options: WorkerEngineOptions) {
    this.#options = options;
    this.#patience = { ...PATIENCE, ...options.patience };
  }

  get loaded(): boolean {
    return this.#loaded && this.#link !== null && !this.#link.ended;
  }

  async ended(): Promise<void> {
    await this.#link?.gone;
  }

  async load(
    row: CatalogueRow,
    onProgress: (fraction: number | null) => void,
    signal: AbortSignal,
    { selfTest = true }: LoadOptions = {},
  ): Promise<void> {
    signal.throwIfAborted();
    this.#end('loaded anew');
    await this.#options.preflight?.(row);
    signal.throwIfAborted();

    const link = new Link(this.#options.spawn());
    this.#link = link;
    this.#loaded = false;
    const watchdog = new Watchdog(() =>
      link.end(new EngineError('stalled', `no progress in ${this.#patience.load} ms of loading`)),
    );
    const aborted = (): void => link.end(new EngineError('internal', 'loading was aborted'));
    signal.addEventListener('abort', aborted, { once: true });
    try {
      watchdog.set(this.#patience.load);
      await new Promise<void>((resolve, reject) => {
        link.listen({
          report: (report) => {
            watchdog.set(this.#patience.load);
            if (report.type === 'progress') onProgress(report.fraction);
            else if (report.type === 'loaded') resolve();
          },
          end: reject,
        });
        link.send({ type: 'load', row, selfTest });
      });
      this.#loaded = true;
    } catch (error) {
      signal.throwIfAborted();
      throw error;
    } finally {
      watchdog.clear();
      signal.removeEventListener('abort', aborted);
      link.listen(null);
    }
  }

  async *generate(request: GenerateRequest, signal: AbortSignal): AsyncGenerator<EngineEvent> {
    await untilAborted(this.#settled, signal);
    if (signal.aborted) {
      yield { type: 'done', reason: 'aborted', promptTokens: 0, cachedTokens: 0, outputTokens: 0 };
      return;
    }
    const link = this.#link;
    if (!link || !this.loaded) throw new EngineError('internal', 'no model is loaded');

    const run = new Run(link, ++this.#ids, request, this.#patience);
    this.#settled = run.settled;
    const abort = (): void => run.stop();
    signal.addEventListener('abort', abort, { once: true });
    try {
      yield { type: 'prefill', fraction: null };
      for (;;) {
        const event = await run.events.next();
        yield event;
        if (event.type === 'done') return;
      }
    } finally {
      signal.removeEventListener('abort', abort);
      run.stop();
    }
  }

  async unload(): Promise<void> {
    this.#end('unloaded');
  }

  #end(why: string): void {
    this.#link?.end(new EngineError('internal', `the model was ${why}`));
  }
}

/** One generation in the worker. It is settled when the worker is idle again, or gone. */
class Run {
  readonly events = new Channel<EngineEvent>();
  readonly settled: Promise<void>;
  readonly #link: Link;
  readonly #id: number;
  readonly #patience: Patience;
  #tokens = 0;
  #stopped = false;
  #over = false;
  #settle!: () => void;
  readonly #silence: Watchdog;
  #answer: ReturnType<typeof setTimeout> | undefined;

  constructor(link: Link, id: number, request: GenerateRequest, patience: Patience) {
    this.#link = link;
    this.#id = id;
    this.#patience = patience;
    this.settled = new Promise((resolve) => {
      this.#settle = resolve;
    });
    this.#silence = new Watchdog(() => {
      const what = this.#stopped ? 'does not stop' : `is silent after ${this.#tokens} tokens`;
      link.end(new EngineError('stalled', `the engine ${what}`));
    });
    const first = patience.firstToken + patience.promptToken * roughTokens(request.prompt);
    this.#silence.set(first);
    link.listen({ report: (report) => this.#report(report), end: (error) => this.#finish(error) });
    link.send({ type: 'generate', id, request });
  }

  /** Safe to call at any time, more than once. */
  stop(): void {
    if (this.#over || this.#stopped) return;
    this.#stopped = true;
    this.#link.send({ type: 'stop', id: this.#id });
    // A prefill cannot be interrupted in every engine: the caller does not wait for it.
    this.#answer = setTimeout(() => this.events.push(this.#aborted()), this.#patience.stopAnswer);
    this.#silence.set(this.#patience.stop);
  }

  #aborted(): EngineEvent {
    return {
      type: 'done',
      reason: 'aborted',
      promptTokens: 0,
      cachedTokens: 0,
      outputTokens: this.#tokens,
    };
  }

  #report(report: Report): void {
    if (report.type === 'refused' && report.id === this.#id)
      return this.#finish(EngineError.fromWire(report.error));
    if (report.type !== 'event' || report.id !== this.#id) return;
    const { event } = report;
    if (event.type === 'token') this.#tokens += 1;
    const moved = event.type !== 'prefill' || event.fraction !== null;
    if (moved && !this.#stopped) this.#silence.set(this.#patience.token);
    if (event.type === 'done') this.#finish(null);
    if (event.type === 'done' || !this.#stopped) this.events.push(event);
  }

  #finish(error: EngineError | null): void {
    if (this.#over) return;
    this.#over = true;
    clearTimeout(this.#answer);
    this.#silence.clear();
    this.#link.listen(null);
    if (error && this.#stopped) this.events.push(this.#aborted());
    else if (error) this.events.fail(error);
    this.#settle();
  }
}

/** An engine in a worker of its own, which is started at the first load. */
export function createWorkerEngine(options: WorkerEngineOptions): HostedEngine {
  return new WorkerEngineClient(options);
}
