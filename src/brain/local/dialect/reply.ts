/**
 * Reads a reply: thinking where the family has it, then text, or calls between the family's markers.
 * Forgives what small models get wrong: no end marker, a call without markers or between another
 * family's, a code fence around it, a second block.
 */
import type { ToolSpec } from '../../brain.ts';
import { mend, readCalls, type CallNotation } from './calls.ts';
import type { ReplyEvent, ReplyReader } from './dialect.ts';

interface Block {
  readonly open: string;
  /** What ends it; an opener in here begins the next block. */
  readonly close: RegExp;
  /** Each line is a statement, read as soon as it ends; else the block is read as one. */
  readonly lines: boolean;
}

const tags = (open: string, close: string): Block => ({
  open,
  close: new RegExp([close, open].map((tag) => tag.replace(/[|/]/g, '\\$&')).join('|')),
  lines: false,
});

/** Every block that a family is known to write, whichever is its own. */
const BLOCKS: readonly Block[] = [
  // A block ends here, be it inside a string: small models lose the end of their strings.
  { open: '```tool_code', close: /```|<\/tool_call>/, lines: true },
  { open: '```tool_call', close: /```|<\/tool_call>/, lines: true },
  tags('<tool_call>', '</tool_call>'),
  tags('<|tool_call>', '<tool_call|>'),
  tags('<start_function_call>', '<end_function_call>'),
  { open: '<|python_tag|>', close: /<\|eom_id\|>|<\|eot_id\|>/, lines: true },
];
const OPENERS = BLOCKS.map((block) => block.open);

/** More than these in one reply is a model that runs away. */
const MOST_CALLS = 16;
/** A call without markers is held back up to this length, in characters. */
const LONGEST_BARE = 4000;

/** What a family writes. */
export interface ReplyForm {
  readonly notation: CallNotation;
  /** The opener of its own blocks; null where a call stands bare. */
  readonly open: string | null;
  /** What stands around its thinking, at the beginning of a reply. */
  readonly think?: { readonly open: string; readonly close: string };
}

type Mode = 'start' | 'thinking' | 'bare' | 'text' | 'block' | 'after' | 'done';

/** A reader of replies; where the model may not call, nothing is a call, whatever it looks like. */
export function createReplyReader(
  tools: readonly ToolSpec[],
  form: ReplyForm,
  mayCall = true,
): ReplyReader {
  const { notation, open, think } = form;
  const openers = mayCall ? OPENERS : [];
  const longestBare = open === null ? LONGEST_BARE * 4 : LONGEST_BARE;
  let mode: Mode = 'start';
  let buffer = '';
  let calls = 0;
  let block = BLOCKS[0] as Block;
  let scan = new Scan();
  /** Thinking that begins, without the white space before its first word. */
  let thought = false;

  const names = tools.map((tool) => tool.name);

  function call(raw: string, cut: boolean, slips: readonly string[]): ReplyEvent[] {
    // Lines say nothing in JSON, nor where strings may hold them.
    const isOne = block.lines || /^\s*(?:[{[]|call:)/.test(raw);
    const statements = isOne ? [raw] : splitStatements(raw);
    const read = statements
      .flatMap((one, at) => readCalls(one, tools, notation, cut && at === statements.length - 1))
      .slice(0, MOST_CALLS - calls);
    calls += read.length;
    const foreign = block.open === open ? [] : ['other markers'];
    return read.map((event) => mend(event, [...foreign, ...slips]));
  }

  const text = (piece: string): ReplyEvent[] =>
    piece === '' ? [] : [{ type: 'text', text: piece }];

  function opens(one: Block, at: number): void {
    block = one;
    buffer = buffer.slice(at + one.open.length);
    mode = 'block';
    scan = new Scan();
  }

  /** Up to a marker; what may be the beginning of one is held back, white space before it too. */
  function sure(markers: readonly string[]): string {
    const from = buffer.length - held(buffer, markers);
    const certain = buffer.slice(0, from).trimEnd();
    buffer = buffer.slice(certain.length);
    return certain;
  }

  function readText(): ReplyEvent[] {
    const found = BLOCKS.filter(() => mayCall)
      .map((one) => ({ one, at: buffer.indexOf(one.open) }))
      .filter(({ at }) => at >= 0)
      .sort((a, b) => a.at - b.at)[0];
    if (!found) return text(sure(openers));
    const before = buffer.slice(0, found.at).trimEnd();
    opens(found.one, found.at);
    return text(before);
  }

  function readThinking(): ReplyEvent[] {
    if (!thought) buffer = buffer.trimStart();
    const close = think?.close ?? '';
    const end = buffer.indexOf(close);
    const words = end < 0 ? sure([close]) : buffer.slice(0, end).trimEnd();
    thought ||= words !== '';
    const events: ReplyEvent[] = words === '' ? [] : [{ type: 'thinking', text: words }];
    if (end < 0) return events;
    buffer = buffer.slice(end + close.length);
    mode = 'start';
    return events;
  }

  function readBlock(): ReplyEvent[] {
    const events: ReplyEvent[] = [];
    const closer = block.close.exec(buffer);
    const inside = closer ? buffer.slice(0, closer.index) : buffer;
    let begin = 0;
    if (block.lines)
      for (const end of scan.statements(inside)) {
        events.push(...call(inside.slice(begin, end), false, []));
        begin = end;
      }
    if (!closer) {
      buffer = buffer.slice(begin);
      scan.moved(begin);
      return events;
    }
    const next = closer[0] === block.open;
    events.push(...call(inside.slice(begin), false, next ? ['a missing end marker'] : []));
    buffer = buffer.slice(closer.index + (next ? 0 : closer[0].length));
    mode = 'after';
    return events;
  }

  /** After a block only another block counts: anything else is a result that the model made up. */
  function readAfter(): ReplyEvent[] {
    buffer = buffer.trimStart();
    const one = BLOCKS.find((candidate) => buffer.startsWith(candidate.open));
    if (one) opens(one, 0);
    else if (!openers.some((opener) => opener.startsWith(buffer))) mode = 'done';
    return [];
  }

  function readStart(): ReplyEvent[] {
    buffer = buffer.trimStart();
    if (buffer === '') return [];
    if (think && buffer.startsWith(think.open)) {
      buffer = buffer.slice(think.open.length);
      mode = 'thinking';
      thought = false;
    } else if (!think?.open.startsWith(buffer)) {
      const bare = mayCall ? mayBeBare(buffer, names) : 'no';
      if (bare !== 'unknown') mode = bare === 'yes' ? 'bare' : 'text';
    }
    return [];
  }

  function step(): ReplyEvent[] {
    switch (mode) {
      case 'start':
        return readStart();
      case 'thinking':
        return readThinking();
      case 'bare':
        if (buffer.length > longestBare) mode = 'text';
        return [];
      case 'text':
        return readText();
      case 'block':
        return readBlock();
      case 'after':
        return readAfter();
      case 'done':
        buffer = '';
        return [];
    }
  }

  /** Goes on until nothing changes but with more of the stream. */
  function read(): ReplyEvent[] {
    const events: ReplyEvent[] = [];
    for (let before: Mode | null = null; before !== mode;) {
      before = mode;
      events.push(...step());
    }
    return events;
  }

  /** A whole reply that is one call, or several, without markers; null where it is text. */
  function readBare(cut: boolean): ReplyEvent[] | null {
    const fence = FENCE.exec(buffer);
    const whole = fence ? buffer.slice(fence[0].length).replace(/```\s*$/, '') : buffer;
    const slips = [
      ...(fence ? ['a code fence'] : []),
      ...(open === null ? [] : ['missing markers']),
    ];
    const events: ReplyEvent[] = [];
    const statements = splitStatements(whole);
    for (const [at, statement] of statements.entries()) {
      const last = at === statements.length - 1;
      for (const event of readCalls(statement, tools, notation, cut && last)) {
        if (!names.includes(event.name)) return null;
        events.push(mend(event, slips));
      }
    }
    return events.length > 0 ? events.slice(0, MOST_CALLS) : null;
  }

  return {
    get done() {
      return mode === 'done' || calls >= MOST_CALLS;
    },
    push(piece) {
      buffer += piece;
      return read();
    },
    end(cut) {
      const events: ReplyEvent[] = [];
      if (mode === 'bare') {
        const bare = readBare(cut);
        if (bare) {
          mode = 'done';
          return bare;
        }
        mode = 'text';
        events.push(...read());
      }
      const rest = buffer.trimEnd();
      if (mode === 'block') events.push(...call(buffer, cut, cut ? [] : ['a missing end marker']));
      else if (mode === 'thinking' && rest !== '') events.push({ type: 'thinking', text: rest });
      else if (mode === 'start' || mode === 'text') events.push(...text(rest));
      mode = 'done';
      return events;
    },
  };
}

function splitStatements(text: string): string[] {
  const ends = [...new Scan().statements(text), text.length];
  return ends.map((end, at) => text.slice(ends[at - 1] ?? 0, end));
}

/** A fence of code before a call. */
const FENCE = /^```(?:json|python|py|tool|js|javascript)?\s*\n/;

/** Whether a reply that begins like this may be a call without its markers. */
function mayBeBare(text: string, names: readonly string[]): 'yes' | 'no' | 'unknown' {
  const fence = FENCE.exec(text);
  // A block of the app's own convention, or a fence that has not ended yet.
  if (!fence && text.startsWith('`')) {
    const own = OPENERS.some((opener) => text.startsWith(opener));
    return !own && /^`{1,3}(?:[a-z]{0,10}|[a-z]{4}_[a-z]{0,4})\s*$/.test(text) ? 'unknown' : 'no';
  }
  const inside = fence ? text.slice(fence[0].length).trimStart() : text;
  if (fence && inside === '') return 'unknown';
  if (/^(?:\{|\[\s*\{)/.test(inside)) return 'yes';
  if (/^\[\s*$/.test(inside)) return 'unknown';
  const starts = names.flatMap((name) => [`${name}(`, `call:${name}{`]);
  if (starts.some((start) => inside.startsWith(start))) return 'yes';
  return starts.some((start) => start.startsWith(inside)) ? 'unknown' : 'no';
}

/** Length of the longest beginning of a marker with which a text ends. */
function held(text: string, markers: readonly string[]): number {
  const longest = Math.max(0, ...markers.map((marker) => marker.length));
  for (let length = Math.min(longest - 1, text.length); length > 0; length -= 1)
    if (markers.some((marker) => marker.startsWith(text.slice(text.length - length))))
      return length;
  return 0;
}

/**
 * Finds where statements end: at a line's end outside of brackets and strings. Goes on where it was,
 * so that a long block is read once.
 */
class Scan {
  #at = 0;
  #begin = 0;
  #depth = 0;
  #quote = '';
  #escaped = false;

  /** The text begins later by this many characters. */
  moved(by: number): void {
    this.#at -= by;
    this.#begin -= by;
  }

  /** Indices after the line ends that close a statement. */
  statements(text: string): number[] {
    const ends: number[] = [];
    for (; this.#at < text.length; this.#at += 1) {
      const char = text.charAt(this.#at);
      if (this.#escaped) this.#escaped = false;
      else if (this.#quote !== '') {
        if (char === '\\') this.#escaped = true;
        else if (char === this.#quote) this.#quote = '';
      } else if (char === '"') this.#quote = '"';
      else if (char === "'" && this.#opensString(text)) this.#quote = "'";
      else if ('([{'.includes(char)) this.#depth += 1;
      else if (')]}'.includes(char)) this.#depth = Math.max(0, this.#depth - 1);
      else if (char === '\n' && this.#depth === 0) {
        this.#begin = this.#at + 1;
        ends.push(this.#begin);
      }
    }
    return ends;
  }

  /** An apostrophe opens a string only where a value may begin. */
  #opensString(text: string): boolean {
    return /[=([{,:]\s*$/.test(text.slice(Math.max(this.#begin, this.#at - 20), this.#at));
  }
}
