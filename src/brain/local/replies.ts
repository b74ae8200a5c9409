/**
 * Remembers what the model wrote, letter by letter. The conversation keeps a call as it was run (days
 * resolved, types put right), which reads a little differently; an engine uses its cache only where
 * its own words come back unchanged. A forgotten reply costs time and nothing else.
 */
import type { Dialect, ReplyEvent } from './dialect/dialect.ts';

export interface ReplyMemory {
  /** Puts what the model wrote where the prompt says the same in other letters. */
  restore(prompt: readonly string[]): readonly string[];
  /** `prompt` as it was sent, and the reply to it. */
  remember(prompt: readonly string[], reply: string): void;
}

export function createReplyMemory(dialect: Dialect): ReplyMemory {
  let last: readonly string[] = [];

  /** The names of the calls of a reply, in order, each with those of its arguments. */
  function shape(reply: string): string {
    const reader = dialect.reader({ tools: [], toolChoice: 'auto' });
    const events: ReplyEvent[] = [...reader.push(reply), ...reader.end(false)];
    return JSON.stringify(
      events.map((event) =>
        event.type === 'text' ? event.text : [event.name, Object.keys(event.args ?? {})],
      ),
    );
  }

  return {
    restore(prompt) {
      const restored = [...prompt];
      for (const [at, piece] of prompt.entries()) {
        const known = last[at];
        if (known === undefined) break;
        const isReply = at % 2 === 1;
        if (piece !== known && !(isReply && shape(piece) === shape(known))) break;
        restored[at] = known;
      }
      return restored;
    },
    remember(prompt, reply) {
      last = [...prompt, reply];
    },
  };
}
