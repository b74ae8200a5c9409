/**
 * How many tokens a text takes, about. A tokenizer of 262,144 entries is 14 MB and sits in the
 * worker; to choose what fits a window a slight over-estimate is enough.
 */

/** Latin letters a token; Gemma's tokenizer has about 4 in prose, fewer in names and identifiers. */
const LETTERS = 3.2;
/** Letters of other alphabets a token (Cyrillic, Greek, Arabic, Devanagari). */
const OTHER_LETTERS = 2;

/**
 * Counts a text: each digit, mark and ideograph is a token of its own, letters share one, a single
 * space belongs to the word after it.
 */
export function estimateTokens(text: string): number {
  let tokens = 0;
  for (const [run] of text.matchAll(
    /[A-Za-z]+|[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]|[\p{L}\p{M}]+|\s{2,}|\S/gu,
  )) {
    if (/^[A-Za-z]/.test(run)) tokens += Math.ceil(run.length / LETTERS / 2) / 2 + 0.5;
    else if (run.length > 1 && !/^\s/.test(run)) tokens += Math.ceil(run.length / OTHER_LETTERS);
    else tokens += 1;
  }
  return Math.ceil(tokens);
}
