/**
 * Remembers what the model wrote, letter by letter. The conversation keeps a call as it was run (days
 * resolved, types put right), which reads a little differently; an engine uses its cache only where
 * its own words come back unchanged. A forgotten reply costs time and nothing else.
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
  /** `prompt` as it was sent, and the reply to it. */
  remember(prompt: readonly string[], reply: string): void;
}

export function createReplyMemory(dialect: Dialect): ReplyMemory {
  let last: readonly string[] = [];

  function read(reply: string, tools: DialectRequest['tools']): ReplyEvent[] {
    const reader = dialect.reader({ tools, toolChoice: 'auto' });
    return [...reader.push(reply), ...reader.end(false)];
  }

  /** The text of a reply and the names of its calls, in order, each with those of its arguments. */
  function shape(events: readonly ReplyEvent[]): string {
    let text = '';
    const calls: unknown[] = [];
    for (const event of events) {
      if (event.type === 'text') text += event.text;
      if (event.type === 'call') calls.push([event.name, Object.keys(event.args ?? {}).sort()]);
    }
    return JSON.stringify([text, calls]);
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
          if (shape(events) !== shape(read(piece, tools))) break;
        }
        restored[at] = known;
      }
      return restored;
    },
    remember(prompt, reply) {
      last = [...prompt, reply];
    },
  };
}
