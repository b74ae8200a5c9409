/**
 * Text of others in what the person writes: a page that was shared, a prompt of a server, words out of
 * a call. What of it is still there, word for word, when the message is sent stays theirs; what the
 * person typed is the person's. Pure. Where the two cannot be told apart, it is theirs.
 */
import type { ForeignPiece, ForeignText } from '../store/records.ts';

/** Scripts that write without spaces: there, each letter is a word. */
const UNSPACED =
  '\\p{sc=Han}\\p{sc=Hiragana}\\p{sc=Katakana}\\p{sc=Thai}\\p{sc=Lao}\\p{sc=Khmer}\\p{sc=Myanmar}';
/**
 * Signs that are no letters may be read as some: those in circles and squares, of flags, hidden ones,
 * dots and dashes. A single mark of punctuation, as in a number, is nobody's.
 */
const SIGN = '\\p{P}{2,}|[^\\s\\p{L}\\p{M}\\p{N}\\p{P}]';
const WORD = new RegExp(`[${UNSPACED}]|(?:(?![${UNSPACED}])[\\p{L}\\p{M}\\p{N}])+|${SIGN}`, 'gu');
/** So many words in a row that stand in a text of others are theirs however often they are there. */
const RUN = 4;
/** Places of a run that are looked at; a text that repeats itself has no end of them. */
const MOST_PLACES = 32;

interface Word {
  readonly key: string;
  readonly start: number;
  readonly end: number;
}

const wordsOf = (text: string): Word[] =>
  [...text.matchAll(WORD)].map(({ 0: word, index }) => ({
    key: word.normalize('NFKC').toLowerCase(),
    start: index,
    end: index + word.length,
  }));

const runAt = (words: readonly Word[], at: number): string =>
  words
    .slice(at, at + RUN)
    .map(({ key }) => key)
    .join(' ');

/** Marks the words that are of one text: long runs first, then each word as often as is left of it. */
function mark(words: readonly Word[], foreign: ForeignText, marks: (string | null)[]): void {
  const theirs = wordsOf(foreign.text);
  const places = new Map<string, number[]>();
  for (let at = 0; at + RUN <= theirs.length; at += 1) {
    const run = runAt(theirs, at);
    const known = places.get(run);
    if (!known) places.set(run, [at]);
    else if (known.length < MOST_PLACES) known.push(at);
  }
  const used = new Set<number>();
  for (let at = 0; at + RUN <= words.length;) {
    let best = { from: 0, length: 0 };
    for (const from of places.get(runAt(words, at)) ?? []) {
      let length = RUN;
      while (
        words[at + length] !== undefined &&
        words[at + length]?.key === theirs[from + length]?.key
      )
        length += 1;
      if (length > best.length) best = { from, length };
    }
    for (let step = 0; step < best.length; step += 1) {
      marks[at + step] ??= foreign.source;
      used.add(best.from + step);
    }
    at += Math.max(1, best.length);
  }
  const left = new Map<string, number>();
  for (const [at, { key }] of theirs.entries())
    if (!used.has(at)) left.set(key, (left.get(key) ?? 0) + 1);
  for (const [at, { key }] of words.entries()) {
    const some = left.get(key) ?? 0;
    if (some === 0 || marks[at]) continue;
    marks[at] = foreign.source;
    left.set(key, some - 1);
  }
}

/** The pieces of a text that are others', in order. What stands between two words goes with them. */
export function foreignPieces(text: string, foreign: readonly ForeignText[]): ForeignPiece[] {
  if (foreign.length === 0) return [];
  const words = wordsOf(text);
  const marks: (string | null)[] = words.map(() => null);
  for (const one of foreign) mark(words, one, marks);
  const pieces: { start: number; end: number; source: string }[] = [];
  for (const [at, { start, end }] of words.entries()) {
    const source = marks[at];
    if (!source) continue;
    const last = pieces.at(-1);
    if (last && marks[at - 1] === source) last.end = end;
    else pieces.push({ start, end, source });
  }
  return pieces;
}

/** The pieces as texts of their own. */
export const textsOfPieces = (text: string, pieces: readonly ForeignPiece[] = []): ForeignText[] =>
  pieces.map(({ start, end, source }) => ({ source, text: text.slice(start, end) }));

/** The text without the pieces: what is left of it is the person's. */
export function withoutPieces(text: string, pieces: readonly ForeignPiece[] = []): string {
  let from = 0;
  const left = pieces.map(({ start, end }) => {
    const before = text.slice(from, start);
    from = end;
    return before;
  });
  return [...left, text.slice(from)].join('\n');
}
