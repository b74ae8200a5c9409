/**
 * Values as Python and JSON write them: read with patience for what small models get wrong, written
 * as the tool_code convention wants them.
 *
 * Promise: reading never throws, never loops and goes no deeper than `DEEPEST`.
 */

const DEEPEST = 16;
const OPENING: Readonly<Record<string, string>> = { '[': ']', '(': ')', '{': '}' };
const QUOTES: Readonly<Record<string, string>> = { '"': '"', "'": "'", '“': '”', '‘': '’' };
const WORDS: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ['true', true],
  ['false', false],
  ['none', null],
  ['null', null],
]);
const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', b: '\b', f: '\f' };

/** Thrown and caught inside this file alone: the text is no value. */
class Unreadable extends Error {}

/** One argument as written: with its name, or by its place. */
export interface Argument {
  readonly name: string | null;
  readonly value: unknown;
}

export interface Arguments {
  readonly list: readonly Argument[];
  /** Index after the last character that was read. */
  readonly end: number;
  /** False where the text ended before the closing bracket. */
  readonly closed: boolean;
}

/** Reads `(a="b", 3)` at `start`, the index of the opening bracket; null where it cannot be read. */
export function readArguments(text: string, start: number): Arguments | null {
  try {
    return new Reader(text, start + 1).argumentList();
  } catch (error) {
    if (error instanceof Unreadable) return null;
    throw error;
  }
}

/** Reads one whole text as a value; undefined where it is none. */
export function readValue(text: string): unknown {
  try {
    const reader = new Reader(text, 0);
    const value = reader.value(0);
    return reader.atEnd() ? value : undefined;
  } catch (error) {
    if (error instanceof Unreadable) return undefined;
    throw error;
  }
}

class Reader {
  #at: number;
  readonly #text: string;

  constructor(text: string, at: number) {
    this.#text = text;
    this.#at = at;
  }

  argumentList(): Arguments {
    const list: Argument[] = [];
    for (;;) {
      this.#skip(/[\s,]*/y);
      if (this.#at >= this.#text.length) return { list, end: this.#at, closed: false };
      if (this.#take(')')) return { list, end: this.#at, closed: true };
      const name = this.#match(
        /(?:(["'])([\p{L}_][\p{L}\p{N}_.$-]*)\1|([\p{L}_][\p{L}\p{N}_.$-]*))\s*[=:]\s*/uy,
      );
      list.push({ name: name?.[2] ?? name?.[3] ?? null, value: this.value(0) });
      // `cities[0]` is an expression: neither half of it is the value.
      if (/[^\s,)]/.test(this.#text.charAt(this.#at))) throw new Unreadable();
    }
  }

  atEnd(): boolean {
    this.#skip(/\s*/y);
    return this.#at >= this.#text.length;
  }

  value(depth: number): unknown {
    this.#skip(/\s*/y);
    const first = this.#text.charAt(this.#at);
    if (depth > DEEPEST) throw new Unreadable();
    if (first in QUOTES) return this.#string(first);
    if (first === '{') return this.#object(depth);
    if (first in OPENING) return this.#array(OPENING[first] as string, depth);
    return this.#word();
  }

  #string(quote: string): string {
    const triple = quote.repeat(3);
    const end = this.#text.startsWith(triple, this.#at) ? triple : (QUOTES[quote] as string);
    this.#at += end.length;
    let value = '';
    while (this.#at < this.#text.length) {
      if (this.#take(end)) return value;
      const char = String.fromCodePoint(this.#text.codePointAt(this.#at) as number);
      this.#at += char.length;
      value += char === '\\' ? this.#escape() : char;
    }
    throw new Unreadable();
  }

  #escape(): string {
    const unicode = this.#match(/u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})/y);
    if (unicode) return String.fromCharCode(parseInt(unicode[1] ?? unicode[2] ?? '', 16));
    const char = this.#text.charAt(this.#at);
    this.#at += 1;
    return ESCAPES[char] ?? char;
  }

  #array(close: string, depth: number): unknown[] {
    this.#at += 1;
    const values: unknown[] = [];
    for (;;) {
      this.#skip(/[\s,]*/y);
      if (this.#take(close)) return values;
      values.push(this.value(depth + 1));
    }
  }

  #object(depth: number): Record<string, unknown> {
    this.#at += 1;
    const entries: [string, unknown][] = [];
    for (;;) {
      this.#skip(/[\s,]*/y);
      // Own properties whatever the name, `__proto__` included.
      if (this.#take('}')) return Object.fromEntries(entries);
      const quote = this.#text.charAt(this.#at);
      const key = quote in QUOTES ? this.#string(quote) : this.#match(/[\p{L}\p{N}_$-]+/uy)?.[0];
      if (key === undefined || !this.#match(/\s*[:=]/y)) throw new Unreadable();
      entries.push([key, this.value(depth + 1)]);
    }
  }

  /** A number, one of the words for true, false and nothing, or a string without its quotes. */
  #word(): unknown {
    const word = this.#match(/[^\s,()[\]{}"'`=][^,()[\]{}"`=\n]*/y)?.[0].trim();
    if (!word) throw new Unreadable();
    const known = WORDS.get(word.toLowerCase());
    if (known !== undefined) return known;
    const number = /^[+-]?(?:\d[\d_]*\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i.test(word)
      ? Number(word.replace(/_/g, ''))
      : NaN;
    return Number.isFinite(number) ? number : word;
  }

  #take(text: string): boolean {
    const found = this.#text.startsWith(text, this.#at);
    if (found) this.#at += text.length;
    return found;
  }

  #match(sticky: RegExp): RegExpExecArray | null {
    sticky.lastIndex = this.#at;
    const match = sticky.exec(this.#text);
    if (match) this.#at = sticky.lastIndex;
    return match;
  }

  #skip(sticky: RegExp): void {
    this.#match(sticky);
  }
}

/** A value as Python writes it, strings as JSON does; what JSON has no form for becomes None. */
export function writeValue(value: unknown): string {
  if (value === true) return 'True';
  if (value === false) return 'False';
  if (typeof value === 'string') return JSON.stringify(value);
  if (typeof value === 'number') return Number.isFinite(value) ? String(value) : 'None';
  if (Array.isArray(value)) return `[${value.map(writeValue).join(', ')}]`;
  if (typeof value === 'object' && value !== null)
    return `{${Object.entries(value)
      .map(([key, inner]) => `${JSON.stringify(key)}: ${writeValue(inner)}`)
      .join(', ')}}`;
  return 'None';
}
