/**
 * Markdown as blocks, read as it grows. Promise: a block that is finished keeps its identity, so it
 * is never drawn again; a growing text costs its last two blocks and not its whole length.
 */
import { Lexer, type MarkedToken, type Token, type TokensList } from 'marked';

/** A definition that may lie far from the link that uses it. */
const DEFINITION = /^ {0,3}\[[^\]\n]+\]: /m;

/**
 * Blocks at the end that more text may still change: the last, and the one before it, which may take
 * it in ("1. a", blank line, "2" is a paragraph until its dot comes).
 */
const OPEN = 2;

/** Marked's own tokens: no extension adds others. */
export const known = (tokens: readonly Token[]): readonly MarkedToken[] =>
  tokens as readonly MarkedToken[];

/**
 * Closes what an unfinished text leaves open. Loaded with the first text that grows, so that the
 * first screen need not wait for it; until then, and where it cannot be had, the text stays as it is.
 */
let close = (text: string): string => text;
let loading: Promise<void> | undefined;

async function loadClose(): Promise<void> {
  try {
    const { default: remend } = await import('remend');
    close = (text) => remend(text, { linkMode: 'text-only' });
  } catch {
    loading = undefined;
  }
}

const lex = (text: string): TokensList => Lexer.lex(text, { gfm: true });

export class BlockReader {
  #text = '';
  #finished: readonly Token[] = [];
  /** Where the finished blocks end. */
  #from = 0;

  /** Blocks of `text`. While `growing`, what is still open at its end (bold, code, a link) is closed. */
  read(text: string, growing: boolean): readonly MarkedToken[] {
    const source = text.includes('\r') ? text.replace(/\r\n?/g, '\n') : text;
    if (!source.startsWith(this.#text) || (!growing && DEFINITION.test(source))) this.#forget();
    this.#text = source;

    const tail = source.slice(this.#from);
    const tokens: Token[] = lex(tail);
    if (growing) {
      loading ??= loadClose();
      this.#finish(tokens, tail);
      const last = tokens.findLastIndex((token) => token.type !== 'space');
      if (last >= 0) {
        const open = tokens.slice(last).map((token) => token.raw);
        tokens.splice(last, tokens.length, ...lex(close(open.join(''))));
      }
    }
    return known([...this.#finished, ...tokens]);
  }

  /** Moves what can no longer change from `tokens` to the finished blocks. */
  #finish(tokens: Token[], tail: string): void {
    let open = 0;
    let cut = tokens.length;
    while (cut > 0 && open < OPEN) if (tokens[--cut]?.type !== 'space') open++;
    if (open < OPEN || cut === 0) return;
    const raw = tokens
      .slice(0, cut)
      .map((token) => token.raw)
      .join('');
    if (!tail.startsWith(raw)) return;
    this.#finished = [...this.#finished, ...tokens.splice(0, cut)];
    this.#from += raw.length;
  }

  #forget(): void {
    this.#finished = [];
    this.#from = 0;
  }
}
