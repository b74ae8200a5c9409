/** What stands between a model's wish and an action. */
import type { BoundCall } from '../mcp/types.ts';

export interface GateContext {
  readonly conversation: string;
}

export type Verdict =
  /** `why` is a sentence for the person and the log. */
  | { readonly verdict: 'run'; readonly why: string }
  | { readonly verdict: 'ask'; readonly why: string }
  | { readonly verdict: 'refuse'; readonly why: string };

export interface Answer {
  readonly allow: boolean;
  readonly scope: 'once' | 'conversation' | 'always';
  readonly reason?: string;
}

export interface Gate {
  judge(call: BoundCall, context: GateContext): Promise<Verdict>;
  /**
   * Waits for the person's answer to a stored question. Resolves with the stored decision, whichever
   * tab took it, exactly once a call id; rejects with the signal's reason when aborted.
   */
  answer(callId: string, signal: AbortSignal): Promise<Answer>;
}

export interface Approvals {
  /**
   * Decides a question. Returns false where that call id was decided before: then the earlier
   * decision stands. A scope wider than once also stores a grant for this (server, tool, pin).
   */
  decide(
    question: {
      readonly callId: string;
      readonly conversation: string;
      readonly server: string;
      readonly tool: string;
      readonly pin: string;
    },
    answer: Answer,
  ): Promise<boolean>;
}
