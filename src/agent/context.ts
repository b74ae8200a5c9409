/**
 * Makes a request fit a model's window, and counts what it is made of. At least a fifth of the window,
 * or as much as any answer needs, stays free for the answer. What does not fit is left out of the model's view, oldest first; nothing
 * is left out of the person's.
 */
import type { BrainInfo, BrainMessage, HeadTokens } from '../brain/brain.ts';
import type { ContextUse, Summary } from '../store/records.ts';
import { summaryMessages } from './transcript.ts';

/** Share of the window kept for the answer. */
const ANSWER_SHARE = 0.25;
/** No answer needs more room than this, in tokens. */
const ANSWER_MOST = 4096;
/** Tokens that the marks around each message take, about. */
const MARKS = 8;
/**
 * Tokens of one picture, for every provider: the most that any takes of one of 1,568 pixels (Anthropic
 * width × height / 750, at most about 1,600; OpenAI up to 1,536; Gemini 1,120).
 */
const PICTURE_TOKENS = 1_600;
/** Tokens of the words that stand for a picture where a model cannot see. */
const UNSEEN_TOKENS = 24;
/** Shares of `resultChars` that are tried, one after the other, until the newest turn fits. */
const SHARES = [1, 0.5, 0.25, 0.1];

/** Tokens kept for the answer in a window. */
export function answerTokens(contextTokens: number): number {
  return Math.min(ANSWER_MOST, Math.floor(contextTokens * ANSWER_SHARE));
}

/** Characters that one tool result may take in a window: a third of what is left for the prompt. */
export function resultChars(contextTokens: number): number {
  return Math.floor((contextTokens - answerTokens(contextTokens)) * 3 * 0.33);
}

const textOf = (message: BrainMessage): string =>
  message.role === 'assistant'
    ? message.text + message.calls.map((call) => JSON.stringify(call.args) + call.name).join('')
    : message.text;

/** What the model may be shown, for one bound on the length of each tool result. */
export interface Material {
  /** What stands for the oldest turns; never left out. */
  readonly summary?: Summary;
  /** Earlier turns whole, oldest first, those with a summary included. */
  readonly history: readonly (readonly BrainMessage[])[];
  /** The newest user message and what followed it; never left out. */
  readonly current: readonly BrainMessage[];
  /** The part of the newest user message that hangs on its words. */
  readonly attached?: string;
}

export interface Fit {
  readonly messages: readonly BrainMessage[];
  readonly use: ContextUse;
  /** False where even the newest turn alone is too long. */
  readonly fits: boolean;
}

type Counter = { describe(): BrainInfo; countTokens(text: string): number };

function fitOnce(material: Material, fixed: HeadTokens, brain: Counter): Fit {
  const { contextTokens: window, turns = Infinity, can } = brain.describe();
  const answer = answerTokens(window);
  const pictures = (message: BrainMessage | undefined): number =>
    message?.role === 'assistant'
      ? 0
      : (message?.images?.length ?? 0) * (can.images ? PICTURE_TOKENS : UNSEEN_TOKENS);
  const count = (messages: readonly BrainMessage[]): number =>
    messages.reduce(
      (sum, message) => sum + brain.countTokens(textOf(message)) + pictures(message) + MARKS,
      0,
    );
  const results = count(material.current.filter(({ role }) => role === 'tool'));
  const hanging = material.attached ? brain.countTokens(material.attached) : 0;
  const attached = hanging + pictures(material.current[0]);
  const words = Math.max(0, count(material.current) - results - attached);
  const summarised = material.summary?.turns ?? 0;
  const before = material.summary ? summaryMessages(material.summary.text) : [];
  const summary = count(before);
  // A summary reads as a turn, and a model that is shown few would lose it as the oldest of them.
  const most = material.summary ? turns - 1 : turns;
  const room = window - answer - fixed.system - fixed.tools - words - attached - results - summary;
  const shown: (readonly BrainMessage[])[] = [];
  let earlier = 0;
  for (const turn of material.history.slice(summarised).toReversed()) {
    const more = count(turn);
    if (earlier + more > room || shown.length >= most) break;
    earlier += more;
    shown.unshift(turn);
  }
  return {
    messages: [...before, ...shown.flat(), ...material.current],
    use: {
      window,
      answer,
      ...fixed,
      earlier: earlier + summary,
      words,
      results,
      ...(attached > 0 ? { attached } : {}),
      dropped: material.history.length - shown.length,
    },
    fits: room >= 0,
  };
}

/**
 * Fits a request into a brain's window: whole turns are left out from the front, and where the newest
 * turn alone is too long, its tool results and what hangs on its words are cut shorter. `material`
 * makes the messages for a bound, in characters, on each of them.
 */
export function fit(
  material: (maxResultChars: number) => Material,
  fixed: HeadTokens,
  brain: Counter,
): Fit {
  const bound = resultChars(brain.describe().contextTokens);
  let last: Fit | undefined;
  for (const share of SHARES) {
    last = fitOnce(material(Math.floor(bound * share)), fixed, brain);
    if (last.fits) return last;
    // Cutting shorter helps only where there is something to cut.
    if (last.use.results === 0 && !last.use.attached) break;
  }
  return last as Fit;
}
