/**
 * Values as Python, JSON and Gemma's own call notation write them: read with patience for what small
 * models get wrong, written as the tool_code convention wants them.
 *
 * Promise: reading never throws, never loops and goes no deeper than `DEEPEST`; what was read with
 * patience is named in `slips`.
 */

const DEEPEST = 16;
const OPENING: Readonly<Record<string, string>> = { '[': ']', '(': ')', '{': '}' };
const QUOTES: Readonly<Record<string, string>> = { '"': '"', "'": "'", '“': '”', '‘': '’' };
/** What stands around a string in the calls of Gemma 4 and FunctionGemma: no escapes in there. */
const MARKERS = ['<|"|>', '<escape>'] as const;
const WORDS: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ['true', true],
  ['false', false],
  ['none', null],
  ['null', null],
]);
const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', b: '\b', f: '\f' };

/** Thrown and caught inside this file alone: the text is no value. */
class Unreadable extends Error {}

/**
 * What a value has that a strict reader of one notation or another refuses. Which of these are slips
 * depends on the family: a single quote is one in JSON, a marker is one nowhere but there.
 */
export type Slip =
  | 'single quotes'
  | 'curly quotes'
  | 'double quotes'
  | 'string markers'
  | 'a word without quotes'
  | 'a name without quotes'
  | 'Python words'
  | 'a trailing comma'
  | 'a missing bracket'
  | 'a bracket too many';

/** One argument as written: with its name, or by its place. */
export interface Argument {
  readonly name: string | null;
  readonly value: unknown;
}

export interface Arguments {
  readonly list: readonly Argument[];
  /** Index after the last character that was read. */
  readonly end: number;
  /** False where the text ended before a closing bracket. */
  readonly closed: boolean;
  readonly slips: ReadonlySet<Slip>;
}

export interface Values {
  readonly list: readonly unknown[];
  /** False where the text ended before a closing bracket. */
  readonly closed: boolean;
  readonly slips: ReadonlySet<Slip>;
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

/**
 * Reads a whole text as values, one after the other; null where it is anything else. Brackets that
 * are open at its end are closed, and those that close nothing there are left out.
 */
export function readValues(text: string): Values | null {
  try {
    return new Reader(text, 0).values();
  } catch (error) {
    if (error instanceof Unreadable) return null;
    throw error;
  }
}

class Reader {
  #at: number;
  #closed = true;
  readonly #text: string;
  readonly #slips = new Set<Slip>();

  constructor(text: string, at: number) {
    this.#text = text;
    this.#at = at;
  }

  argumentList(): Arguments {
    const list: Argument[] = [];
    for (;;) {
      if (this.#closes(')', list.length > 0))
        return { list, end: this.#at, closed: this.#closed, slips: this.#slips };
      const name = this.#match(
        /(?:(["'])([\p{L}_][\p{L}\p{N}_.$-]*)\1|([\p{L}_][\p{L}\p{N}_.$-]*))\s*[=:]\s*/uy,
      );
      list.push({ name: name?.[2] ?? name?.[3] ?? null, value: this.value(0) });
      // `cities[0]` is an expression: neither half of it is the value.
      if (/[^\s,)]/.test(this.#text.charAt(this.#at))) throw new Unreadable();
    }
  }

  values(): Values {
    const list: unknown[] = [];
    for (;;) {
      this.#skip(/[\s,;]*/y);
      if (this.#at >= this.#text.length) return { list, closed: this.#closed, slips: this.#slips };
      // Models that nest lose count at the end: nothing that could be meant stands behind the value.
      if (list.length > 0 && this.#match(/[\]})]{1,3}[\s;]*$/y)) {
        this.#slips.add('a bracket too many');
        continue;
      }
      list.push(this.value(0));
    }
  }

  value(depth: number): unknown {
    this.#skip(/\s*/y);
    const first = this.#text.charAt(this.#at);
    if (depth > DEEPEST) throw new Unreadable();
    const marker = this.#marker();
    if (marker) return this.#marked(marker);
    if (first in QUOTES) return this.#string(first);
    if (first === '{') return this.#object(depth);
    if (first in OPENING) return this.#array(OPENING[first] as string, depth);
    return this.#word();
  }

  #marker(): string | undefined {
    return MARKERS.find((marker) => this.#text.startsWith(marker, this.#at));
  }

  #marked(marker: string): string {
    const from = this.#at + marker.length;
    const end = this.#text.indexOf(marker, from);
    if (end < 0) throw new Unreadable();
    this.#at = end + marker.length;
    this.#slips.add('string markers');
    return this.#text.slice(from, end);
  }

  /** Whether a list ends here: at its bracket, or because the text does. */
  #closes(bracket: string, some: boolean): boolean {
    const comma = this.#match(/[\s,]*/y)?.[0].includes(',') ?? false;
    const over = this.#at >= this.#text.length;
    if (!over && !this.#take(bracket)) return false;
    if (comma && some) this.#slips.add('a trailing comma');
    if (over) {
      this.#closed = false;
      this.#slips.add('a missing bracket');
    }
    return true;
  }

  #string(quote: string): string {
    const slip = quote === '"' ? 'double quotes' : quote === "'" ? 'single quotes' : 'curly quotes';
    this.#slips.add(slip);
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
      if (this.#closes(close, values.length > 0)) return values;
      values.push(this.value(depth + 1));
    }
  }

  #object(depth: number): Record<string, unknown> {
    this.#at += 1;
    const entries: [string, unknown][] = [];
    for (;;) {
      // Own properties whatever the name, `__proto__` included.
      if (this.#closes('}', entries.length > 0)) return Object.fromEntries(entries);
      const key = this.#key();
      if (!this.#match(/\s*[:=]/y)) throw new Unreadable();
      entries.push([key, this.value(depth + 1)]);
    }
  }

  #key(): string {
    const marker = this.#marker();
    if (marker) return this.#marked(marker);
    const quote = this.#text.charAt(this.#at);
    if (quote in QUOTES) return this.#string(quote);
    const name = this.#match(/[\p{L}\p{N}_.$-]+/uy)?.[0];
    if (name === undefined) throw new Unreadable();
    this.#slips.add('a name without quotes');
    return name;
  }

  /** A number, one of the words for true, false and nothing, or a string without its quotes. */
  #word(): unknown {
    const word = this.#match(/[^\s,()[\]{}"'`=][^,()[\]{}"`=\n]*/y)?.[0].trim();
    if (!word) throw new Unreadable();
    const known = WORDS.get(word.toLowerCase());
    if (known !== undefined) {
      if (/^[A-Z]/.test(word)) this.#slips.add('Python words');
      return known;
    }
    const number = /^-?(?:\d[\d_]*\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i.test(word)
      ? Number(word.replace(/_/g, ''))
      : NaN;
    // Of a number for a telephone or a parcel nothing may get lost: `+91…` and long ones stay as written.
    const exact = !/^-?\d+$/.test(word) || Number.isSafeInteger(number);
    if (Number.isFinite(number) && exact) return number;
    this.#slips.add('a word without quotes');
    return word;
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
