/**
 * A brain that runs on the phone: an engine that turns a prompt into tokens, and the dialect of the
 * model's family, which makes the prompt and the grammar and reads calls out of the tokens.
 *
 * Promises: `stream` never throws and always ends with an `end`; after an abort it ends at once; the
 * model's cache is used again where the conversation only went on.
 */
import type {
  Brain,
  BrainEvent,
  BrainRequest,
  BrainUsage,
  HeadTokens,
  RequestHead,
  ToolSpec,
} from '../brain.ts';
import { unseen } from '../pictures.ts';
import type { Dialect, ReplyEvent, ReplyReader } from './dialect/dialect.ts';
import { dialectOf } from './dialect/families.ts';
import { Channel } from './engines/channel.ts';
import { EngineError } from './errors.ts';
import type { Notation } from './grammar.ts';
import { loopLength } from './loops.ts';
import { repairCall, type Repair } from './repair/repair.ts';
import { createReplyMemory, type ReplyMemory } from './replies.ts';
import { brainError } from './sentences.ts';
import { estimateTokens } from './tokens.ts';
import type {
  CatalogueRow,
  EngineEvent,
  EngineName,
  Fork,
  GenerateRequest,
  LocalEngine,
  Sampling,
} from './types.ts';

/** Characters of the note on what was mended in a call. */
const LONGEST_NOTE = 300;
const GREEDY: Sampling = { temperature: 0 };
const NOTATIONS: Readonly<Record<EngineName, Notation>> = { webllm: 'ebnf', wllama: 'gbnf' };

export interface LocalBrainOptions {
  readonly row: CatalogueRow;
  readonly engine: LocalEngine;
  /** Milliseconds; default: the page's own clock. */
  readonly clock?: () => number;
}

/** The brain of a stored model. The engine loads it at the first use. */
export function createLocalBrain(options: LocalBrainOptions): Brain {
  return new LocalBrain(options);
}

class LocalBrain implements Brain {
  readonly #row: CatalogueRow;
  readonly #engine: LocalEngine;
  readonly #dialect: Dialect;
  readonly #clock: () => number;
  readonly #replies: ReplyMemory;

  constructor({ row, engine, clock }: LocalBrainOptions) {
    this.#row = row;
    this.#engine = engine;
    this.#dialect = dialectOf(row);
    this.#clock = clock ?? (() => performance.now());
    this.#replies = createReplyMemory(this.#dialect);
  }

  describe(): ReturnType<Brain['describe']> {
    const { id, label, contextTokens, maxTools } = this.#row;
    return {
      id: `phone:${id}`,
      place: 'phone',
      model: id,
      label,
      contextTokens,
      maxTools,
      ...(this.#dialect.turns === undefined ? {} : { turns: this.#dialect.turns }),
      can: { tools: true, images: false, schema: true },
    };
  }

  countTokens(text: string): number {
    return estimateTokens(text);
  }

  /** As the dialect writes it: some families are shown no system text, and tools in few words. */
  headTokens(head: RequestHead): HeadTokens {
    const written = (tools: BrainRequest['tools']): number => {
      const messages = [{ role: 'user', text: '' }] as const;
      const prompt = this.#dialect.render({ ...head, tools, messages, toolChoice: 'auto' });
      return estimateTokens(prompt.join(''));
    };
    const system = written([]);
    return { system, tools: Math.max(0, written(head.tools) - system) };
  }

  async *stream(request: BrainRequest, signal: AbortSignal): AsyncGenerator<BrainEvent> {
    try {
      yield* this.#load(signal);
      yield* this.#answer({ ...request, messages: unseen(request.messages) }, signal);
    } catch (thrown) {
      if (signal.aborted) yield { type: 'end', reason: 'aborted' };
      else yield { type: 'end', reason: 'error', error: brainError(thrown, this.#row.label) };
    }
  }

  /** Loads the model if need be, and says how far it is. */
  async *#load(signal: AbortSignal): AsyncGenerator<BrainEvent> {
    signal.throwIfAborted();
    const steps = new Channel<BrainEvent | 'loaded'>();
    const aborted = (): void => steps.fail(signal.reason);
    signal.addEventListener('abort', aborted, { once: true });
    this.#engine
      .load(
        this.#row,
        (fraction, waiting) =>
          steps.push({ type: 'progress', phase: waiting ? 'wait' : 'load', fraction }),
        signal,
      )
      .then(
        () => steps.push('loaded'),
        (error: unknown) => steps.fail(error),
      );
    try {
      for (;;) {
        const step = await steps.next();
        if (step === 'loaded') return;
        yield step;
      }
    } finally {
      signal.removeEventListener('abort', aborted);
    }
  }

  async *#answer(request: BrainRequest, signal: AbortSignal): AsyncGenerator<BrainEvent> {
    const asked: Asked = {
      ...request,
      think: this.#row.thinking === true && request.think !== false,
      copies: this.#row.copies === true,
    };
    const prompt = this.#replies.restore(this.#dialect.render(asked), asked);
    const answer = new Answer(this.#dialect.reader(asked), request);
    const stop = new AbortController();
    const meter = new Meter(this.#clock);
    const fork = this.#fork(asked);
    const events = this.#engine.generate(
      this.#generateRequest(asked, prompt, fork),
      AbortSignal.any([signal, stop.signal]),
    );
    let done: Extract<EngineEvent, { type: 'done' }> | undefined;
    for await (const event of events) {
      if (event.type === 'prefill')
        yield { type: 'progress', phase: 'prefill', fraction: event.fraction };
      else if (event.type === 'odds') {
        if (fork) yield { type: 'decision', text: decisionText(event.odds, fork, asked) };
      } else if (event.type === 'token') {
        meter.token();
        yield* answer.push(event.text);
        if (answer.over) stop.abort();
      } else done = event;
    }
    if (!done) throw new EngineError('internal', 'the engine ended without saying why');
    const stoppedHere = stop.signal.aborted && !signal.aborted;
    const reason = stoppedHere ? 'stop' : done.reason;
    // Of a call that was stopped midway nothing is left; of a text what the person saw.
    const rest = answer.end(reason !== 'stop' || answer.looping);
    yield* reason === 'aborted' ? rest.filter((event) => event.type !== 'call') : rest;
    const whole = reason === 'stop' && !stoppedHere && answer.asWritten;
    this.#replies.remember(prompt, whole ? answer.written : null);
    yield { type: 'usage', usage: meter.usage(done) };
    if (reason === 'stop' && answer.calls > 0) yield { type: 'end', reason: 'calls' };
    else yield { type: 'end', reason, ...(stoppedHere && answer.looping ? { looped: true } : {}) };
  }

  /** Where it was measured whether such a model does right to call: what decides it. */
  #fork(request: Asked): Fork | null {
    const { match, messages, tools, toolChoice } = request;
    const { callsFrom } = this.#row;
    const { opening } = this.#dialect;
    if (callsFrom === undefined || opening === undefined || match === undefined) return null;
    if (toolChoice !== 'auto' || tools.length === 0 || messages.at(-1)?.role !== 'user')
      return null;
    return {
      opening,
      above: callsFrom - match,
      first: this.#grammar({ ...request, toolChoice: 'required' }),
      second: this.#grammar({ ...request, toolChoice: 'none' }),
    };
  }

  #grammar(request: Asked): string {
    return this.#dialect.grammar(request, NOTATIONS[this.#row.engine]);
  }

  #generateRequest(request: Asked, prompt: readonly string[], fork: Fork | null): GenerateRequest {
    return {
      prompt,
      grammar: this.#grammar(request),
      ...(fork ? { fork } : {}),
      stop: this.#dialect.stop,
      markers: this.#dialect.markers,
      maxTokens: request.maxTokens,
      sampling: this.#sampling(request),
    };
  }

  /** What the request names, else what the model's makers advise, else the likeliest token. */
  #sampling({ temperature, seed, tools, toolChoice }: BrainRequest): Sampling {
    const { sampling, toolSampling } = this.#row;
    const mayCall = tools.length > 0 && toolChoice !== 'none';
    const advised = (mayCall ? toolSampling : undefined) ?? sampling ?? GREEDY;
    const base = temperature === undefined ? advised : { temperature };
    return seed === undefined ? base : { ...base, seed };
  }
}

/** A request with what the row says of its model. */
type Asked = BrainRequest & { readonly think: boolean; readonly copies: boolean };

/** What the odds decided, for the receipt. */
function decisionText(odds: number, { above }: Fork, { match = 0 }: Asked): string {
  const calls = odds > above;
  const figure = (value: number): string => value.toFixed(1);
  const [sum, least] = [figure(odds + match), figure(above + match)];
  return calls
    ? `Sure enough that a tool is needed: ${sum}, where it calls from ${least} on.`
    : `Not sure enough that a tool is needed, so it answered in words: ${sum}, where it calls from ${least} on.`;
}

const NOTHING = { args: null, changes: [] };

/** One reply on its way from tokens to events. */
class Answer {
  written = '';
  calls = 0;
  /** False once a call was repaired: what the model wrote is then not what happened. */
  asWritten = true;
  /** True once the model goes round in circles. */
  looping = false;
  readonly #reader: ReplyReader;
  readonly #request: BrainRequest;
  readonly #made = new Set<string>();

  constructor(reader: ReplyReader, request: BrainRequest) {
    this.#reader = reader;
    this.#request = request;
  }

  /** Nothing more is wanted: the calls are complete, or the model goes round in circles. */
  get over(): boolean {
    return this.#reader.done || this.looping;
  }

  push(text: string): BrainEvent[] {
    if (this.over) return [];
    this.written += text;
    this.looping = loopLength(this.written) > 0;
    return this.#reader.push(text).flatMap((event) => this.#event(event));
  }

  end(cut: boolean): BrainEvent[] {
    return this.#reader.end(cut).flatMap((event) => this.#event(event));
  }

  #event(event: ReplyEvent): BrainEvent[] {
    if (event.type !== 'call') return [event];
    const { name, raw, mended = '' } = event;
    const tool = this.#request.tools.find((candidate) => candidate.name === name);
    // What was not offered has no arguments: nothing that could run.
    const { args, changes } = event.args && tool ? this.#repaired(event.args, tool) : NOTHING;
    // The same call twice in one step is a slip, never a wish.
    const key = args ? `${name}${JSON.stringify(args)}` : `${name}${raw}`;
    if (this.#made.has(key)) return [];
    this.#made.add(key);
    this.calls += 1;
    const note = [...(args && mended !== '' ? [mended] : []), ...changes].join('; ');
    const call = { id: crypto.randomUUID(), name, args, raw };
    if (note === '') return [{ type: 'call', call }];
    return [{ type: 'call', call: { ...call, mended: note.slice(0, LONGEST_NOTE) } }];
  }

  #repaired(args: Readonly<Record<string, unknown>>, tool: ToolSpec): Repair {
    const repair = repairCall(args, tool, this.#request);
    if (repair.changes.length > 0) this.asWritten = false;
    return repair;
  }
}

/** Times and tokens of one reply. */
class Meter {
  readonly #clock: () => number;
  readonly #start: number;
  #first: number | undefined;
  #last = 0;

  constructor(clock: () => number) {
    this.#clock = clock;
    this.#start = clock();
  }

  token(): void {
    this.#last = this.#clock();
    this.#first ??= this.#last;
  }

  usage(done: Extract<EngineEvent, { type: 'done' }>): BrainUsage {
    const { promptTokens, cachedTokens, outputTokens } = done;
    const counts = { promptTokens, cachedTokens, outputTokens };
    if (this.#first === undefined) return counts;
    const seconds = (this.#last - this.#first) / 1000;
    return {
      ...counts,
      firstTokenMs: Math.round(this.#first - this.#start),
      ...(outputTokens > 1 && seconds > 0 ? { tokensPerSecond: (outputTokens - 1) / seconds } : {}),
    };
  }
}
