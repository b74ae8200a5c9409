/** Notices when a small model has begun to say the same thing over and over. */

/** Repetitions in a row that count as a loop, and the text they must fill, in characters. */
const TIMES = 4;
const LEAST = 48;
/** The longest piece of text whose repetition is looked for. */
const LONGEST = 120;

/**
 * Length of the piece that the text's end consists of, four times or more; 0 where there is none.
 * Rows of one mark (a table's rule, a row of dots) are no loop before they are very long.
 */
export function loopLength(text: string): number {
  for (let period = 1; period <= LONGEST; period += 1) {
    const times = Math.max(TIMES, Math.ceil(LEAST / period), period === 1 ? 200 : 0);
    const span = period * times;
    if (span > text.length) {
      if (period * TIMES > text.length) return 0;
      continue;
    }
    if (repeats(text, period, span)) return period;
  }
  return 0;
}

function repeats(text: string, period: number, span: number): boolean {
  const from = text.length - span;
  for (let at = text.length - 1; at >= from + period; at -= 1)
    if (text.charCodeAt(at) !== text.charCodeAt(at - period)) return false;
  return true;
}
