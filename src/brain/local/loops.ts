/** Notices when a small model has begun to say the same thing over and over. */

/** Repetitions in a row that count as a loop, and the text they must fill, in characters. */
const TIMES = 4;
const LEAST = 48;
/** The longest piece of text whose repetition is looked for. */
const LONGEST = 120;
/** A row of one mark may be as long as this. */
const LONGEST_ROW = 200;

/**
 * Length of the piece that the text's end consists of, four times or more; 0 where there is none.
 * Rows of one mark (a table's rule, a row of dots) are no loop before they are very long.
 */
export function loopLength(text: string): number {
  for (let period = 1; period <= LONGEST && period * TIMES <= text.length; period += 1) {
    const least = isRow(text.slice(-period)) ? LONGEST_ROW : LEAST;
    const span = period * Math.max(TIMES, Math.ceil(least / period));
    if (span <= text.length && repeats(text, period, span)) return period;
  }
  return 0;
}

const isRow = (piece: string): boolean => piece === piece.charAt(0).repeat(piece.length);

function repeats(text: string, period: number, span: number): boolean {
  const from = text.length - span;
  for (let at = text.length - 1; at >= from + period; at -= 1)
    if (text.charCodeAt(at) !== text.charCodeAt(at - period)) return false;
  return true;
}
