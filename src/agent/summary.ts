/**
 * Summaries of turns that no longer fit a model's window: written by a model, shown to the person, and
 * taken back with one tap, because nothing of what they stand for is deleted.
 */
import type { Brain, BrainError, BrainMessage } from '../brain/brain.ts';
import type { Sent } from '../store/records.ts';
import { answerTokens } from './context.ts';

const SYSTEM = 'You write short, exact summaries of conversations.';
const ASK =
  'Summarise this conversation in at most 120 words. Keep names, numbers, dates, decisions and what is still to be done. Write only the summary.';
const CUT = '…\n';

function asLine(message: BrainMessage): string {
  if (message.role === 'user') return `User: ${message.text}`;
  if (message.role === 'tool') return `${message.name} returned: ${message.text}`;
  const calls = message.calls.map(({ name, args }) => ` [${name} ${JSON.stringify(args)}]`);
  return `Deft: ${message.text}${calls.join('')}`;
}

/** The newest end of a text that takes at most `tokens`. */
function newest(text: string, tokens: number, brain: Brain): string {
  if (brain.countTokens(text) <= tokens) return text;
  let short = text;
  while (short.length > 0 && brain.countTokens(CUT + short) > tokens)
    short = short.slice(Math.ceil(short.length / 8));
  return CUT + short;
}

export type Summarised =
  | { readonly ok: true; readonly text: string; readonly sent?: Sent }
  | { readonly ok: false; readonly error: BrainError };

const EMPTY: BrainError = {
  kind: 'protocol',
  message: 'The model gave no summary.',
  advice: 'Try again, or with another model.',
};

/** Asks a brain for a summary. Never throws; of what is too long for its window the oldest is cut. */
export async function summarise(
  messages: readonly BrainMessage[],
  brain: Brain,
  now: string,
  signal: AbortSignal,
): Promise<Summarised> {
  const { contextTokens } = brain.describe();
  const maxTokens = Math.min(400, answerTokens(contextTokens));
  const room = contextTokens - maxTokens - brain.countTokens(SYSTEM + now + ASK) - 64;
  const said = newest(messages.map(asLine).join('\n'), room, brain);
  let text = '';
  let error: BrainError | undefined;
  let sent: Sent | undefined;
  const events = brain.stream(
    {
      system: SYSTEM,
      now,
      messages: [{ role: 'user', text: `${ASK}\n\n${said}` }],
      tools: [],
      toolChoice: 'none',
      // Thoughts would take the room that the summary has.
      think: false,
      maxTokens,
    },
    signal,
  );
  for await (const event of events) {
    if (event.type === 'text') text += event.text;
    if (event.type === 'sent') sent = { to: event.to, text: event.text };
    if (event.type === 'end' && event.reason === 'error') error = event.error;
  }
  if (error) return { ok: false, error };
  const trimmed = text.trim();
  if (!trimmed || signal.aborted) return { ok: false, error: EMPTY };
  return { ok: true, text: trimmed, ...(sent ? { sent } : {}) };
}
