/**
 * The one interface behind which every model stands, on the phone or in the cloud.
 *
 * Promise: `stream` never throws. Whatever goes wrong is the last event, an `end` whose reason is
 * `error` and whose error says what happened and what to do.
 */

/** A JSON Schema document (2020-12 or draft-07), as a tool publishes it. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** Where a model runs. */
export type Place = 'phone' | 'cloud';

export interface BrainInfo {
  /** Stable key of this brain, e.g. `phone:gemma3-270m-tools` or `cloud:<account id>:<model id>`. */
  readonly id: string;
  readonly place: Place;
  /** The model's own id, as its engine or its API knows it. */
  readonly model: string;
  /** What the person reads, e.g. "Gemma 3 270M, tools". */
  readonly label: string;
  /** Context window, in tokens: prompt and answer together. */
  readonly contextTokens: number;
  /** How many tools may be offered at once before the model gets worse. */
  readonly maxTools: number;
  /** Earlier turns that it may be shown before it gets worse; default: as many as fit. */
  readonly turns?: number;
  readonly can: { readonly tools: boolean; readonly images: boolean; readonly schema: boolean };
}

/** A tool as a model is told of it. `name` is unique in one request, at most 64 characters. */
export interface ToolSpec {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonSchema;
}

export interface ModelCall {
  /** Unique in its conversation. */
  readonly id: string;
  readonly name: string;
  /** The arguments, or null where what the model wrote is not an object; never a guess. */
  readonly args: Readonly<Record<string, unknown>> | null;
  /** What the model wrote, for the repair message and the receipt. */
  readonly raw: string;
  /** What was put right in it, for the receipt, e.g. `a trailing comma; time: "16:00" → "18:00"`. */
  readonly mended?: string;
}

/**
 * A picture as it came: what it says of itself is not trusted, and whoever sends it on reads its bytes
 * (pictures.ts), makes it small enough, or says in words why the model is not shown it.
 */
export interface BrainImage {
  /** E.g. `image/png`. */
  readonly mime: string;
  /** Base64. */
  readonly data: string;
  /** What to call it where it is not shown. */
  readonly name?: string;
  /** Who gave it, e.g. the name of a server; left out of the person's own. */
  readonly from?: string;
}

export type BrainMessage =
  | {
      readonly role: 'user';
      readonly text: string;
      readonly images?: readonly BrainImage[];
    }
  | { readonly role: 'assistant'; readonly text: string; readonly calls: readonly ModelCall[] }
  | {
      readonly role: 'tool';
      readonly callId: string;
      readonly name: string;
      readonly text: string;
      readonly isError: boolean;
      readonly images?: readonly BrainImage[];
    };

export type ToolChoice = 'auto' | 'none' | 'required';

export interface BrainRequest {
  /** Stable over a conversation, so that its prefix stays cached. */
  readonly system: string;
  /** The phone's clock in words, e.g. `Sunday 2026-11-29 14:05, Asia/Kolkata`; stable for a day. */
  readonly now: string;
  readonly messages: readonly BrainMessage[];
  readonly tools: readonly ToolSpec[];
  readonly toolChoice: ToolChoice;
  /**
   * How well the best of the tools fits the words, as `Offer.match` has it; left out where that says
   * nothing of whether a tool is needed, as after the first step of a turn.
   */
  readonly match?: number;
  /** False where a model that can think is not to; default: as it likes. */
  readonly think?: boolean;
  /** Most tokens of the answer. */
  readonly maxTokens: number;
  /** 0 is greedy. */
  readonly temperature?: number;
  readonly seed?: number;
}

export interface BrainUsage {
  /** Tokens of the prompt, those taken from a cache included. */
  readonly promptTokens?: number;
  /** Tokens of the prompt that were not computed again. */
  readonly cachedTokens?: number;
  readonly outputTokens?: number;
  readonly firstTokenMs?: number;
  readonly tokensPerSecond?: number;
  /** In US dollars, where the cloud says it. */
  readonly cost?: number;
}

/**
 * offline: no network · unreachable: the host did not answer · cors: the host refuses browsers ·
 * auth: key refused · payment: no credit · rate: too many requests · model: no such model ·
 * context: prompt too long · refused: the provider would not answer · server: the host failed ·
 * protocol: an answer that makes no sense · absent: model not downloaded · gpu: no usable GPU or
 * device lost · memory: out of memory · stalled: no token in time · internal: a fault of ours
 */
export type BrainErrorKind =
  | 'offline'
  | 'unreachable'
  | 'cors'
  | 'auth'
  | 'payment'
  | 'rate'
  | 'model'
  | 'context'
  | 'refused'
  | 'server'
  | 'protocol'
  | 'absent'
  | 'gpu'
  | 'memory'
  | 'stalled'
  | 'internal';

export interface BrainError {
  readonly kind: BrainErrorKind;
  /** A sentence for the person: what happened. Without secrets. */
  readonly message: string;
  /** A sentence for the person: what to do. */
  readonly advice: string;
  /** Technical detail for a report. Without secrets. */
  readonly detail?: string;
  /** Milliseconds to wait, where the other side said so. */
  readonly retryAfterMs?: number;
}

export type BrainEvent =
  /**
   * What is about to be read by the model: for a cloud, the exact body that leaves the phone. Only the
   * bytes of pictures are left out, for they would be stored twice: in their place stand the kind, the
   * size and the SHA-256 of what left, so that a picture can still be told from every other.
   */
  | { readonly type: 'sent'; readonly text: string; readonly to: string }
  /**
   * The model is being made ready; fraction from 0 to 1, or null where unknown. `wait`: another tab's
   * model is in memory and at work.
   */
  | {
      readonly type: 'progress';
      readonly phase: 'wait' | 'load' | 'prefill';
      readonly fraction: number | null;
    }
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'thinking'; readonly text: string }
  | { readonly type: 'call'; readonly call: ModelCall }
  /** Why it went the way it did, as a sentence for the receipt. */
  | { readonly type: 'decision'; readonly text: string }
  | { readonly type: 'usage'; readonly usage: BrainUsage }
  | {
      readonly type: 'end';
      readonly reason: 'stop' | 'calls' | 'length' | 'aborted';
      /** It said the same over and over, and was ended for that. */
      readonly looped?: true;
    }
  | { readonly type: 'end'; readonly reason: 'error'; readonly error: BrainError };

/** What a request holds before any message. */
export type RequestHead = Pick<BrainRequest, 'system' | 'now' | 'tools'>;

export interface HeadTokens {
  readonly system: number;
  readonly tools: number;
}

export interface Brain {
  describe(): BrainInfo;
  /**
   * Streams one answer. The last event is always an `end`; after `signal` aborts it comes at once.
   * Text and thinking events are deltas.
   */
  stream(request: BrainRequest, signal: AbortSignal): AsyncIterable<BrainEvent>;
  /** Tokens of a text, exact where the tokenizer is at hand, else a slight over-estimate. */
  countTokens(text: string): number;
  /** Tokens that a request takes before any message, where they are not just those of its texts. */
  headTokens?(head: RequestHead): HeadTokens;
}
