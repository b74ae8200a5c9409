/**
 * What one provider's wire format is to the rest: how a request is written, and how its stream is
 * read. A wire is pure: it sees no network, no clock and no abort signal; `stream.ts` has those.
 */
import type { BrainRequest } from '../brain.ts';

/** Where a wire sends its requests, and as whom. */
export interface Target {
  /** Without a trailing slash; ends where the provider's own paths begin, e.g. `…/v1`. */
  readonly baseUrl: string;
  readonly model: string;
  /** Empty where the host wants none. */
  readonly key: string;
}

export interface Outgoing {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Without the key: it is shown to the person as what left the phone. */
  readonly body: Readonly<Record<string, unknown>>;
}

/** A piece of an answer, as it comes. */
export interface Delta {
  readonly type: 'text' | 'thinking';
  readonly text: string;
}

/** A call as it was written; `raw` is what should be the JSON of its arguments. */
export interface RawCall {
  /** The host's own id, or empty. */
  readonly id: string;
  /** The name on the wire. */
  readonly name: string;
  readonly raw: string;
}

/** What a whole answer came to. */
export interface Result {
  readonly calls: readonly RawCall[];
  /** Null: the stream ended without saying that the answer is complete. */
  readonly finish: 'stop' | 'length' | 'refused' | null;
  /** Why the host would not answer, in its own word. */
  readonly refusal?: string;
  readonly promptTokens?: number;
  readonly cachedTokens?: number;
  readonly outputTokens?: number;
  readonly cost?: number;
  /**
   * What the host wants to see again beside these calls when their results are sent: its sealed
   * reasoning. Opaque, never shown, kept in memory only.
   */
  readonly echo?: unknown;
}

export interface Reader {
  /** Reads one event of the stream. Throws `HostFault` where the host reports a failure in it. */
  push(data: string): readonly Delta[];
  /** The host said that nothing more comes. */
  ended(): boolean;
  result(): Result;
}

/** A failure that a host reports inside a stream; `payload` is the event as parsed. */
export class HostFault extends Error {
  override readonly name = 'HostFault';
  readonly payload: unknown;
  constructor(payload: unknown) {
    super('The host reported a failure in the stream.');
    this.payload = payload;
  }
}

/** An event that makes no sense. */
export class Unreadable extends Error {
  override readonly name = 'Unreadable';
}

export interface Wire {
  /** Writes a request. `changed` holds the parameters that this host refused before. */
  write(request: BrainRequest, changed: ReadonlySet<string>): Outgoing;
  /** Parameters that can be left out, or sent another way, where a host refuses them. */
  readonly negotiable: readonly string[];
  read(): Reader;
}

/**
 * Sealed reasoning by the conversation that it followed (its key in history.ts), for call ids are
 * the caller's to change. The oldest is forgotten first.
 */
export class Echoes {
  readonly #kept = new Map<string, unknown>();
  readonly #most: number;

  constructor(most = 200) {
    this.#most = most;
  }

  get(key: string): unknown {
    return this.#kept.get(key);
  }

  set(key: string, echo: unknown): void {
    this.#kept.set(key, echo);
    if (this.#kept.size > this.#most) this.#kept.delete(this.#kept.keys().next().value!);
  }
}

/**
 * Room that is added to the answer's length where thinking counts as part of it, so that a short
 * answer is not used up before it begins.
 */
export const THINKING_ROOM = 8_192;
