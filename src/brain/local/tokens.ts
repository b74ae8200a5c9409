/**
 * How many tokens a text takes, about. A tokenizer of 262,144 entries is 14 MB and sits in the
 * worker; to choose what fits a window a slight over-estimate is enough.
 */

/** Latin letters a token; Gemma's tokenizer has about 4 in prose, fewer in names and identifiers. */
const LETTERS = 3.2;
/** Letters of other alphabets a token (Cyrillic, Greek, Arabic, Devanagari). */
const OTHER_LETTERS = 2;

const PIECES = new RegExp(
  [
    '(?<latin>[A-Za-z]+)',
    '(?<ideograph>[\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Hangul}])',
    '(?<letters>[\\p{L}\\p{M}]+)',
    '(?<picture>\\p{Extended_Pictographic})',
    // A single space belongs to the word after it, but not to a number or a mark.
    '(?<space>\\n+|[^\\S\\n]{2,}| (?![\\p{L}\\p{M}]))',
    '(?<row>([^\\p{L}\\p{N}\\s])\\7+)',
    '(?<mark>\\S)',
  ].join('|'),
  'gu',
);

/** Counts a text: letters share tokens; digits, marks and ideographs have one each. */
export function estimateTokens(text: string): number {
  let tokens = 0;
  for (const { groups = {} } of text.matchAll(PIECES)) {
    const { latin, letters, picture, row } = groups;
    if (latin) tokens += Math.ceil(latin.length / LETTERS / 2) / 2 + 0.5;
    else if (letters) tokens += Math.ceil(letters.length / OTHER_LETTERS);
    else if (picture) tokens += 2;
    else if (row) tokens += Math.ceil(row.length / 2);
    else tokens += 1;
  }
  return Math.ceil(tokens);
}
