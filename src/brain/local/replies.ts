/**
 * Remembers what the model wrote, letter by letter. The conversation keeps a call as it was run (days
 * resolved, types put right), which reads a little differently; an engine uses its cache only where
 * its own words come back unchanged. A forgotten reply costs time and nothing else; a reply that says
 * something else than what was run, as another model's would in its place, never comes back.
 *
 * What the model thought is a part of its reply while the turn goes on; in an earlier turn it is left
 * out, as the families' templates do, for it would fill the window.
 */
import type { Dialect, DialectRequest, ReplyEvent } from './dialect/dialect.ts';

export interface ReplyMemory {
  /** Puts what the model wrote where the prompt says the same in other letters. */
  restore(
    prompt: readonly string[],
    request: Pick<DialectRequest, 'messages' | 'tools'>,
  ): readonly string[];
  /** `prompt` as it was sent, and the reply to it; null where that is not to come back. */
  remember(prompt: readonly string[], reply: string | null): void;
}

export function createReplyMemory(dialect: Dialect): ReplyMemory {
  let last: readonly string[] = [];

  function read(reply: string, tools: DialectRequest['tools']): ReplyEvent[] {
    const reader = dialect.reader({ tools, toolChoice: 'auto' });
    return [...reader.push(reply), ...reader.end(false)];
  }

  /** Whether a reply, as it was written, says what the conversation holds in its place. */
  function says(written: readonly ReplyEvent[], held: readonly ReplyEvent[]): boolean {
    const [ours, theirs] = [callsOf(written), callsOf(held)];
    return (
      textOf(written) === textOf(held) &&
      ours.length === theirs.length &&
      ours.every((call, at) => isSameCall(call, theirs[at] as Call))
    );
  }

  return {
    restore(prompt, { messages, tools }) {
      const turn = messages.slice(messages.findLastIndex((one) => one.role === 'user') + 1);
      const current = prompt.length - 2 * turn.filter((one) => one.role === 'assistant').length;
      const restored = [...prompt];
      for (const [at, piece] of prompt.entries()) {
        const known = last[at];
        if (known === undefined) break;
        if (piece !== known) {
          if (at % 2 === 0) break;
          const events = read(known, tools);
          if (at < current && events.some((event) => event.type === 'thinking')) break;
          if (!says(events, read(piece, tools))) break;
        }
        restored[at] = known;
      }
      return restored;
    },
    remember(prompt, reply) {
      last = reply === null ? prompt : [...prompt, reply];
    },
  };
}

type Call = Extract<ReplyEvent, { type: 'call' }>;

const textOf = (events: readonly ReplyEvent[]): string =>
  events.map((event) => (event.type === 'text' ? event.text : '')).join('');
const callsOf = (events: readonly ReplyEvent[]): Call[] =>
  events.filter((event) => event.type === 'call');

function isSameCall(written: Call, run: Call): boolean {
  if (written.name !== run.name) return false;
  if (written.args === null || run.args === null)
    return written.args === run.args && written.raw === run.raw;
  return isSame(written.args, run.args);
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Whether a value may have become the other before it was run: its type put right, a day resolved. */
function isSame(written: unknown, run: unknown): boolean {
  if (Array.isArray(run)) {
    const list: readonly unknown[] = Array.isArray(written) ? written : [written];
    return list.length === run.length && list.every((item, at) => isSame(item, run[at]));
  }
  if (isObject(written) && isObject(run)) {
    const names = Object.keys(written);
    return (
      names.length === Object.keys(run).length &&
      names.every((name) => Object.hasOwn(run, name) && isSame(written[name], run[name]))
    );
  }
  if (typeof written === 'object' || typeof run === 'object') return written === run;
  if (String(written).toLowerCase() === String(run).toLowerCase()) return true;
  return typeof written === 'string' && !DAY.test(written) && DAY.test(String(run));
}

/** A day as it is run, at the beginning of a moment too. */
const DAY = /^\d{4}-\d\d-\d\d/;
