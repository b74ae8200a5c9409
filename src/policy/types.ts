/** What stands between a model's wish and an action. */
import type { BoundCall, Tool } from '../mcp/types.ts';
import type { ArgumentOrigin } from '../store/records.ts';

/** Text that somebody else wrote. */
export interface UntrustedText {
  /** Who, for a sentence, e.g. the name of a server. */
  readonly source: string;
  readonly text: string;
}

export interface GateContext {
  readonly conversation: string;
  /** The person's own words, in order. */
  readonly said: readonly string[];
  /** What others wrote into the conversation so far, in order. */
  readonly untrusted: readonly UntrustedText[];
  /**
   * Tools that the model has been offered in it. What another server says of its tools is text of
   * that server; a tool is heard of once, so it stands neither before nor behind what was said.
   */
  readonly offered?: readonly Tool[];
  /** Who gave the pictures that the model has been shown, in order: what they say is in no text. */
  readonly pictures?: readonly string[];
}

export interface Verdict {
  readonly verdict: 'run' | 'ask' | 'refuse';
  /** A sentence for the person and the log. */
  readonly why: string;
  /** Where words of the arguments came from. */
  readonly origins?: readonly ArgumentOrigin[];
  /** The tool pays, deletes, sends or the like. */
  readonly consequential?: boolean;
}

export interface Answer {
  readonly allow: boolean;
  readonly scope: 'once' | 'conversation' | 'always';
  /** The scope is for these arguments only; those named may differ. */
  readonly pinned?: { readonly free: readonly string[] };
  readonly reason?: string;
}

/** How a tool stands: asked about (the default), or settled for every conversation. */
export type ToolMode = 'ask' | 'allow' | 'never';

export interface Gate {
  judge(call: BoundCall, context: GateContext): Promise<Verdict>;
  /**
   * Waits for the person's answer to a stored question. Resolves with the stored decision, whichever
   * tab took it, exactly once a call id; a question that nobody answers in time is a no. Rejects with the signal's reason when aborted.
   */
  answer(
    question: { readonly callId: string; readonly conversation: string },
    signal: AbortSignal,
  ): Promise<Answer>;
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
      readonly args: Readonly<Record<string, unknown>>;
    },
    answer: Answer,
  ): Promise<boolean>;
  /**
   * Sets how a tool stands. `never` holds whatever becomes of its definition; `allow` for this pin. A
   * consequential tool runs without asking only where `warned` says that the person was warned.
   */
  setMode(
    tool: { readonly server: string; readonly tool: string; readonly pin: string },
    mode: ToolMode,
    warned?: boolean,
  ): Promise<void>;
}
