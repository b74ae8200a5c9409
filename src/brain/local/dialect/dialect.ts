/**
 * What a model family speaks: how a conversation and its tools are written down for it, what it may
 * answer, and how calls are read out of what it writes. One file a family; no engine in here.
 */
import type { BrainRequest } from '../../brain.ts';
import type { Notation } from '../grammar.ts';
import type { GenerateRequest } from '../types.ts';

/** What a dialect reads of a request. */
export interface DialectRequest extends Pick<
  BrainRequest,
  'now' | 'messages' | 'tools' | 'toolChoice'
> {
  /** Left out for the families that were trained without one. */
  readonly system?: string;
  /** Whether the model may think first; only where it can. */
  readonly think?: boolean;
  /** Whether arguments may only be copied from the conversation, where the family has that. */
  readonly copies?: boolean;
}

/** A piece of what the model writes. `raw` is the call exactly as written. */
export type ReplyEvent =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'thinking'; readonly text: string }
  | {
      readonly type: 'call';
      readonly name: string;
      /** Null where what was written is cut off or is no list of arguments. */
      readonly args: Readonly<Record<string, unknown>> | null;
      readonly raw: string;
      /** What was wrong in how it was written and was put right, e.g. `a trailing comma`. */
      readonly mended?: string;
    };

/**
 * Reads one reply as it comes. Promises: never throws, whatever the text and wherever it is cut; what
 * it gives out does not depend on where the pieces were cut, but for the sizes of the text pieces.
 */
export interface ReplyReader {
  push(text: string): ReplyEvent[];
  /** The reply is over; `cut` where it was ended by its length or a stop. */
  end(cut: boolean): ReplyEvent[];
  /** Nothing that may still come would be read: the engine can be stopped. */
  readonly done: boolean;
}

export interface Dialect {
  /** What every reply begins with that calls tools, where a text can never begin so. */
  readonly opening?: string;
  /** Text that ends a reply. */
  readonly stop: readonly string[];
  /** Earlier turns that it shows at most; default: all. */
  readonly turns?: number;
  /** Control tokens that stand in replies and that the reader must see. */
  readonly markers: readonly string[];
  /**
   * The prompt, cut where a reply of the model begins and ends (`GenerateRequest.prompt`). While a
   * turn goes on, with the same tools, earlier pieces never change, so that they stay cached.
   */
  render(request: DialectRequest): GenerateRequest['prompt'];
  /** What a reply to this may be. */
  grammar(request: DialectRequest, notation: Notation): string;
  reader(request: Pick<DialectRequest, 'tools' | 'toolChoice'>): ReplyReader;
  /** Makes a text of anybody's harmless: what stands for the family's control tokens is broken up. */
  neutralise(text: string): string;
}
