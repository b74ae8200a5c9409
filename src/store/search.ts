/** Search without case and accents: folding, and the words around a match. */

/** Letters that Unicode does not take apart into a base and an accent. */
const LETTERS: Readonly<Record<string, string>> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  ł: 'l',
  đ: 'd',
  ð: 'd',
  þ: 'th',
  ı: 'i',
  ς: 'σ',
};
const LETTER = new RegExp(`[${Object.keys(LETTERS).join('')}]`, 'g');

/**
 * Accents of Latin, Greek and Cyrillic, points of Hebrew and Arabic. Not all of `\p{M}`: in Indic
 * scripts the vowels are marks, and a word without them is another word.
 */
const ACCENTS = /[\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0670]/g;

// eslint-disable-next-line no-control-regex
const ASCII = /^[\x00-\x7f]*$/;

/** The text in lower case and without accents. */
export function fold(text: string): string {
  if (ASCII.test(text)) return text.toLowerCase();
  return text
    .normalize('NFKD')
    .toLowerCase()
    .replace(ACCENTS, '')
    .replace(LETTER, (letter) => LETTERS[letter] ?? letter);
}

const MAX_WORDS = 16;

/** The folded words of a query, each once. */
export function queryWords(query: string): string[] {
  const words = fold(query).split(/\s+/).filter(Boolean);
  return [...new Set(words)].slice(0, MAX_WORDS);
}

/** Place in `text` of the first of the folded `words`, or -1. */
function placeOf(text: string, words: readonly string[]): number {
  const folded: string[] = [];
  const places: number[] = [];
  let at = 0;
  for (const char of text) {
    const piece = fold(char);
    folded.push(piece);
    for (let i = 0; i < piece.length; i++) places.push(at);
    at += char.length;
  }
  const whole = folded.join('');
  const found = words.map((word) => whole.indexOf(word)).filter((place) => place >= 0);
  return found.length === 0 ? -1 : (places[Math.min(...found)] ?? -1);
}

const BEFORE = 40;
const LENGTH = 140;
/** Most characters in which the place is looked for: keeps a message of 1 MB cheap. */
const WINDOW = 100_000;

/** At most 140 characters around the first of `words`, or the first ones where none is in it. */
export function excerptOf(text: string, words: readonly string[]): string {
  const place = words.length === 0 ? -1 : placeOf(text.slice(0, WINDOW), words);
  let start = Math.max(0, place - BEFORE);
  if (start > 0) {
    const space = text.slice(start, place).search(/\s/);
    if (space >= 0) start += space;
  }
  const end = Math.min(text.length, start + LENGTH);
  const middle = text
    .slice(start, end)
    .replace(/^[\udc00-\udfff]|[\ud800-\udbff]$/g, '')
    .replace(/\s+/g, ' ')
    .trim();
  return `${start > 0 ? '…' : ''}${middle}${end < text.length ? '…' : ''}`;
}
