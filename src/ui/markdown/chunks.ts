/**
 * Cuts a long Markdown text where its meaning does not change: between blocks. Only what is in sight
 * is then read and drawn, however long an answer is. Promise: the pieces joined are the text, and
 * while a text grows, only its last piece changes.
 */

/** A piece is at least this long, in characters. */
const LEAST = 3000;
/** From this length on, a list or a paragraph without an empty line is cut between its lines. */
const MOST = 8000;
/** So much of a line must be there before it may begin a piece: a digit may yet become "1.". */
const KNOWN = 5;

const DEFINITION = /^ {0,3}\[[^\]\n]+\]: /m;
const FENCE = /^ {0,3}(`{3,}|~{3,})/;
/** A line that may belong to what stands before an empty line: indented, a list, a quote. */
const CONTINUES = /^(?:\s|[-*+>]|\d{1,9}[.)])/;
const LIST_ITEM = /^(?:[-*+]|\d{1,9}[.)]) /;

export function chunks(text: string): string[] {
  // A definition reaches the whole text.
  if (text.length < LEAST * 2 || DEFINITION.test(text)) return [text];
  const pieces: string[] = [];
  let start = 0;
  let fence = '';
  let blankBefore = false;
  for (let at = 0; at < text.length;) {
    const newline = text.indexOf('\n', at);
    const end = newline < 0 ? text.length : newline + 1;
    const line = text.slice(at, end);
    if (
      fence === '' &&
      at - start >= LEAST &&
      begins(line, newline >= 0, blankBefore, at - start)
    ) {
      pieces.push(text.slice(start, at));
      start = at;
    }
    const mark = FENCE.exec(line)?.[1];
    if (fence === '') fence = mark ?? '';
    else if (mark?.startsWith(fence) && line.trim() === mark) fence = '';
    blankBefore = line.trim() === '';
    at = end;
  }
  pieces.push(text.slice(start));
  return pieces;
}

/** Whether a line, outside of a code block, may begin a piece. */
function begins(line: string, whole: boolean, blankBefore: boolean, length: number): boolean {
  if (line.trim() === '' || (!whole && line.length < KNOWN)) return false;
  if (blankBefore && !CONTINUES.test(line)) return true;
  // Rows of a table need their head.
  return length >= MOST && (LIST_ITEM.test(line) || !/^[\s|>]/.test(line)) && !line.includes('|');
}
