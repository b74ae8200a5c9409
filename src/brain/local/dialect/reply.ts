/**
 * Reads a reply of the tool_code convention: text, or a fenced block of calls, one statement each.
 * Forgives what small models get wrong: no closing fence, a call without a fence, JSON for a call,
 * trailing commas, wrong quotes, a second block.
 */
import type { ToolSpec } from '../../brain.ts';
import { readCall } from './calls.ts';
import type { ReplyEvent, ReplyReader } from './dialect.ts';

const OPENERS = ['```tool_code', '```tool_call', '<tool_call>'] as const;
const LONGEST_OPENER = Math.max(...OPENERS.map((opener) => opener.length));
/** A block ends here, be it inside a string: small models lose the end of their strings. */
const CLOSER = /```|<\/tool_call>/;
/** More than these in one reply is a model that runs away. */
const MOST_CALLS = 16;
/** A call without a fence is held back up to this length, in characters. */
const LONGEST_BARE = 4000;

type Mode = 'start' | 'bare' | 'text' | 'block' | 'after' | 'done';

export function createReplyReader(tools: readonly ToolSpec[]): ReplyReader {
  let mode: Mode = 'start';
  let buffer = '';
  let calls = 0;
  let scan = new Scan();

  const names = tools.map((tool) => tool.name);

  /** Whether a reply that begins like this may be a call without its fence. */
  function mayBeBare(text: string): 'yes' | 'no' | 'unknown' {
    if (text.startsWith('{')) return 'yes';
    if (names.some((name) => text.startsWith(`${name}(`))) return 'yes';
    return names.some((name) => `${name}(`.startsWith(text)) ? 'unknown' : 'no';
  }

  function call(raw: string, cut: boolean): ReplyEvent[] {
    if (calls >= MOST_CALLS) return [];
    const event = readCall(raw, tools, cut);
    if (event) calls += 1;
    return event ? [event] : [];
  }

  const text = (piece: string): ReplyEvent[] =>
    piece === '' ? [] : [{ type: 'text', text: piece }];

  /** Leaves text for a block where one begins; holds back what may be the beginning of one. */
  function readText(): ReplyEvent[] {
    const found = OPENERS.map((opener) => ({ opener, at: buffer.indexOf(opener) }))
      .filter(({ at }) => at >= 0)
      .sort((a, b) => a.at - b.at)[0];
    if (found) {
      const before = buffer.slice(0, found.at);
      buffer = buffer.slice(found.at + found.opener.length);
      mode = 'block';
      scan = new Scan();
      return [...text(before.trimEnd()), ...readBlock()];
    }
    const from = buffer.length - held(buffer);
    // White space before a block is no text, so it waits for what follows.
    const sure = buffer.slice(0, from).trimEnd();
    buffer = buffer.slice(sure.length);
    return text(sure);
  }

  function readBlock(): ReplyEvent[] {
    const events: ReplyEvent[] = [];
    const closer = CLOSER.exec(buffer);
    const inside = closer ? buffer.slice(0, closer.index) : buffer;
    let begin = 0;
    for (const end of scan.statements(inside)) {
      events.push(...call(inside.slice(begin, end), false));
      begin = end;
    }
    if (!closer) {
      buffer = buffer.slice(begin);
      scan.moved(begin);
      return events;
    }
    events.push(...call(inside.slice(begin), false));
    buffer = buffer.slice(closer.index + closer[0].length);
    mode = 'after';
    return [...events, ...readAfter()];
  }

  /** After a block only another block counts: anything else is a result that the model made up. */
  function readAfter(): ReplyEvent[] {
    buffer = buffer.trimStart();
    const opener = OPENERS.find((candidate) => buffer.startsWith(candidate));
    if (opener) {
      buffer = buffer.slice(opener.length);
      mode = 'block';
      scan = new Scan();
      return readBlock();
    }
    if (!OPENERS.some((candidate) => candidate.startsWith(buffer))) mode = 'done';
    return [];
  }

  function read(): ReplyEvent[] {
    switch (mode) {
      case 'start': {
        buffer = buffer.trimStart();
        if (buffer === '') return [];
        const bare = mayBeBare(buffer);
        if (bare === 'unknown') return [];
        mode = bare === 'yes' ? 'bare' : 'text';
        return read();
      }
      case 'bare':
        if (buffer.length <= LONGEST_BARE) return [];
        mode = 'text';
        return readText();
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

  /** A whole reply that is one call, or several, without a fence; null where it is text. */
  function readBare(cut: boolean): ReplyEvent[] | null {
    const statements = [...new Scan().statements(buffer), buffer.length];
    const events: ReplyEvent[] = [];
    let begin = 0;
    for (const end of statements) {
      const last = end === buffer.length;
      const event = readCall(buffer.slice(begin, end), tools, cut && last);
      begin = end;
      if (!event) continue;
      if (event.type !== 'call' || !names.includes(event.name)) return null;
      events.push(event);
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
        events.push(...readText());
      }
      if (mode === 'block') events.push(...call(buffer, cut));
      else if (mode === 'start' || mode === 'text') events.push(...text(buffer.trimEnd()));
      mode = 'done';
      return events;
    },
  };
}

/** Reads a reply in which nothing is a call, whatever it looks like. */
export function createTextReader(): ReplyReader {
  const give = (text: string): ReplyEvent[] => (text === '' ? [] : [{ type: 'text', text }]);
  return { done: false, push: give, end: () => [] };
}

/** Length of the longest beginning of an opener with which a text ends. */
function held(text: string): number {
  for (let length = Math.min(LONGEST_OPENER - 1, text.length); length > 0; length -= 1)
    if (OPENERS.some((opener) => opener.startsWith(text.slice(text.length - length))))
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
