/** Makes a request fit a model's window: at least a fifth stays free for the answer. */
import type { BrainInfo, BrainMessage } from '../brain/brain.ts';

/** Share of the window kept for the answer. */
const ANSWER_SHARE = 0.25;
/** No answer needs more room than this, in tokens. */
const ANSWER_MOST = 4096;

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

export interface Fit {
  readonly messages: readonly BrainMessage[];
  /** Earlier messages that the model does not see. */
  readonly dropped: number;
  readonly promptTokens: number;
  /** False where even the newest turn alone is too long. */
  readonly fits: boolean;
}

/**
 * Drops whole turns from the front of `history` until the prompt fits. `current` (the newest user
 * message and what followed it) is never dropped. `fixedTokens` is what system text and tools take.
 */
export function fit(
  history: readonly BrainMessage[],
  current: readonly BrainMessage[],
  fixedTokens: number,
  brain: { describe(): BrainInfo; countTokens(text: string): number },
): Fit {
  const window = brain.describe().contextTokens;
  const room = window - answerTokens(window) - fixedTokens;
  const count = (message: BrainMessage): number => brain.countTokens(textOf(message)) + 8;
  const total = (messages: readonly BrainMessage[]): number =>
    messages.reduce((sum, message) => sum + count(message), 0);
  const needed = total(current);
  let from = 0;
  let kept = total(history);
  while (from < history.length && needed + kept > room) {
    do {
      kept -= count(history[from] as BrainMessage);
      from += 1;
    } while (from < history.length && history[from]?.role !== 'user');
  }
  return {
    messages: [...history.slice(from), ...current],
    dropped: from,
    promptTokens: fixedTokens + needed + kept,
    fits: needed <= room,
  };
}
