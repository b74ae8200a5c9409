/**
 * What a small model may copy into the arguments of a call: runs of words that stand in the
 * conversation, and numbers that are written there. A model of 270 million parameters that may write
 * anything garbles names and makes numbers up; one that may only copy picks.
 */
import type { BrainMessage, JsonSchema } from '../brain.ts';

/** A word without the marks around it, and what stands between it and the next one in a run. */
export interface Word {
  readonly core: string;
  readonly joint: string;
}

export interface Copies {
  /** Texts as words in their order; a run never goes from one text into the next. */
  readonly texts: readonly (readonly Word[])[];
  /** Without repetitions. */
  readonly numbers: readonly number[];
}

/**
 * Words that are offered, the newest texts first. Where a token does not fit, llama.cpp tries its whole
 * vocabulary against every word that may come next; and a long text is never a request. xgrammar
 * compiles 10 words and 80 in the same 1.5 s, and free strings in 2.2 (262,144 tokens, a busy core).
 */
export const MOST_WORDS = 80;
/** Characters of a word; what is longer is data, and is not offered. */
const LONGEST_WORD = 60;

const OPENING_MARKS = /^["'([‘“`]+/;
const CLOSING_MARKS = /(?:['’]s)?[.,;:!?)\]"'’”`]*$/;

function wordsOf(text: string): Word[] {
  return (text.match(/\S+/g) ?? []).flatMap((written): Word[] => {
    const open = written.replace(OPENING_MARKS, '').replaceAll('"', '');
    const core = open.replace(CLOSING_MARKS, '');
    if (core === '' || core.length > LONGEST_WORD || /\p{Cc}/u.test(core)) return [];
    return [{ core, joint: `${open.slice(core.length)} ` }];
  });
}

/** A number that begins no word and ends none: `20,000`, `-3`, `4.5 %`, `2 million`. */
const NUMBER =
  /(?<![\p{L}\d.])-?\d+(?:,\d{3}(?!\d))*(?:\.\d+)?(?:\s?(%)|\s?(thousand|million|billion)\b)?/giu;
const NUMBER_WORD =
  /\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|fifty|hundred|thousand|million|half)\b/gi;
const SCALES: Readonly<Record<string, number>> = { thousand: 1e3, million: 1e6, billion: 1e9 };
const WORD_VALUES: Readonly<Record<string, number>> = {
  one: 1,
  two: 2,
  three: 3,
  four: 4,
  five: 5,
  six: 6,
  seven: 7,
  eight: 8,
  nine: 9,
  ten: 10,
  eleven: 11,
  twelve: 12,
  fifteen: 15,
  twenty: 20,
  thirty: 30,
  fifty: 50,
  hundred: 100,
  thousand: 1e3,
  million: 1e6,
  half: 0.5,
};

/** The numbers that a text names; of a share in per cent also the fraction. */
export function numbersIn(text: string): number[] {
  const digits = [...text.matchAll(NUMBER)].flatMap(([written, percent, scale]) => {
    const value = Number.parseFloat(written.replaceAll(',', ''));
    if (percent) return [value, Number((value / 100).toPrecision(10))];
    return [value * (SCALES[scale?.toLowerCase() ?? ''] ?? 1)];
  });
  const words = [...text.replaceAll(NUMBER, ' ').matchAll(NUMBER_WORD)].map(
    ([word]) => WORD_VALUES[word.toLowerCase()],
  );
  const all = [...digits, ...words].filter((value) => value !== undefined);
  // What would be written with an exponent is not offered.
  return [...new Set(all)].filter((value) => /^-?\d+(?:\.\d+)?$/.test(String(value)));
}

/**
 * What the next call may copy: of the person's words and of the answers before them, the newest first.
 * Null after the first step of a turn, where a text may be made up from results, and where there is
 * nothing to copy: then anything may be written.
 */
export function copiesOf(messages: readonly BrainMessage[]): Copies | null {
  if (messages.at(-1)?.role !== 'user') return null;
  const texts: (readonly Word[])[] = [];
  const numbers = new Set<number>();
  let left = MOST_WORDS;
  for (const { role, text } of messages.toReversed()) {
    if (role === 'tool') continue;
    const words = wordsOf(text);
    if (words.length > left) break;
    left -= words.length;
    if (words.length > 0) texts.push(words);
    for (const number of numbersIn(text)) numbers.add(number);
  }
  return texts.length > 0 ? { texts, numbers: [...numbers] } : null;
}

/** Texts that a parameter's own description names in quotes, and its default: values like any other. */
export function namedValues({ description, default: standard }: JsonSchema): string[] {
  const quoted = [
    ...String(description ?? '').matchAll(/['"‘“`]([A-Za-z0-9][\w \-/.]{0,30})['"’”`]/g),
  ].map(([, value]) => value ?? '');
  const more = typeof standard === 'string' && standard.length <= LONGEST_WORD ? [standard] : [];
  return [...new Set([...quoted, ...more])].filter(
    (value) => value !== '' && !/\p{Cc}/u.test(value),
  );
}
