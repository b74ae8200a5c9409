/** Which brain takes a step, and when it hands over. */
import type { Brain, BrainErrorKind } from '../brain/brain.ts';
import type { Mode } from '../store/records.ts';

export interface RouteContext {
  readonly mode: Mode;
  /** The conversation holds results of a private server. */
  readonly private: boolean;
  /** Tokens that the prompt will take, estimated. */
  readonly promptTokens: number;
  /** Pictures that hang on the message which this turn answers; default: none. */
  readonly pictures?: number;
  /** The person sent this one turn to a place of their choice. */
  readonly forced?: 'phone' | 'cloud';
  /** What went wrong with the step before, if the router is asked again. */
  readonly after?: {
    readonly place: 'phone' | 'cloud';
    readonly why: 'bad-call' | 'repeat' | 'error';
    readonly kind?: BrainErrorKind;
  };
}

export type Route =
  | {
      readonly ok: true;
      readonly brain: Brain;
      readonly rule: string;
      /** A sentence for the person. */
      readonly reason: string;
      /** What the person is told before the answer: that this model will not see their pictures. */
      readonly notice?: { readonly text: string; readonly advice: string };
    }
  | {
      readonly ok: false;
      readonly code: 'no-model' | 'no-key' | 'offline' | 'private' | 'window' | 'no-handover';
      readonly message: string;
      readonly advice: string;
    };

export interface Router {
  choose(context: RouteContext): Promise<Route>;
}
