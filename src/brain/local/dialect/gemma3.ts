/**
 * Gemma 3 with the weights that were trained for this app, by Google's tool_code convention. The
 * family has no tool turns of its own: tools are signatures in the user's turn, calls and results are
 * fenced blocks. For the weights as Google published them see gemma3-plain.ts.
 *
 * What the model is shown is what the weights were trained on, and little of it, because on a phone
 * the prompt is the cost. Of earlier turns it sees the person's words and the answer, never calls and
 * results: with those in sight the 270M model repeats the old task instead of doing the new one. The
 * clock and the tools stand in the newest turn; at the top of an earlier one they did worse.
 * A system text is left out: training knew none.
 *
 * After a call that failed or was refused the model says so and does no more. Left to itself it went
 * on as if all were well: "Flight 6E 2131 is in your itinerary" after the person's no.
 */
import type { BrainMessage } from '../../brain.ts';
import { copiesOf } from '../copies.ts';
import { replyGrammar, TOOL_CODE } from '../grammar.ts';
import type { Dialect, DialectRequest } from './dialect.ts';
import { createReplyReader } from './reply.ts';
import { signature } from './signature.ts';
import { END, fenced, FORM, MODEL, neutralise, STOP, USER, writeReply } from './tool-code.ts';

/** Earlier exchanges that are shown. */
const EXCHANGES = 3;

type Turn = {
  readonly user: string;
  readonly rest: readonly Exclude<BrainMessage, { role: 'user' }>[];
};

/** Messages as turns: each begins with what the person said. */
function turnsOf(messages: readonly BrainMessage[]): Turn[] {
  const turns: { user: string; rest: Exclude<BrainMessage, { role: 'user' }>[] }[] = [];
  for (const message of messages) {
    if (message.role === 'user') turns.push({ user: message.text, rest: [] });
    else (turns.at(-1) ?? turns[turns.push({ user: '', rest: [] }) - 1])?.rest.push(message);
  }
  return turns;
}

/** What a turn ended with, or empty where it has no answer. */
function answerOf(turn: Turn): string {
  const last = turn.rest.at(-1);
  return last?.role === 'assistant' && last.calls.length === 0 ? last.text.trim() : '';
}

function head(request: DialectRequest): string {
  const tools = request.toolChoice === 'none' ? [] : request.tools;
  return `Now: ${request.now}.\nTools:\n${tools.map(signature).join('')}\n`;
}

type Result = Extract<BrainMessage, { role: 'tool' }>;

/** What the model says of a failure; training taught it these words, then the error's. */
const FAILED = 'That did not work: ';
/** Characters of an error that are shown, up to its first sentence: long ones confuse the model. */
const ERROR_WORDS = 120;

/** Results that the model has not answered yet. */
function unanswered(messages: readonly BrainMessage[]): Result[] {
  const from = messages.findLastIndex((message) => message.role !== 'tool') + 1;
  return messages.slice(from).filter((message) => message.role === 'tool');
}

/** Ids of the calls that could not be read: they did not run, and may be tried again. */
function unreadCalls(messages: readonly BrainMessage[]): Set<string> {
  const calls = messages.flatMap((message) => (message.role === 'assistant' ? message.calls : []));
  return new Set(calls.filter((call) => call.args === null).map((call) => call.id));
}

/** Whether a call that ran, or was refused, failed just now. */
function hasFailed(messages: readonly BrainMessage[]): boolean {
  const unread = unreadCalls(messages);
  return unanswered(messages).some(({ isError, callId }) => isError && !unread.has(callId));
}

/** The first sentence of an error; null where the text is none in the app's own form. */
function shortError(text: string): string | null {
  try {
    const { error } = JSON.parse(text) as { error?: unknown };
    if (typeof error !== 'string') return null;
    const sentence = error.split(/[.;](?:\s|$)/)[0] ?? error;
    return JSON.stringify({ error: sentence.slice(0, ERROR_WORDS) });
  } catch {
    return null;
  }
}

/** Results of one step are lines of one block, in the order of the calls. */
function writeResults(results: readonly Result[], unread: ReadonlySet<string>): string {
  const lines = results.map(({ text, isError, callId }) =>
    fenced((isError && !unread.has(callId) ? shortError(text) : null) ?? text.trim()),
  );
  return `\`\`\`tool_output\n${lines.join('\n')}\n\`\`\``;
}

function render(request: DialectRequest): string[] {
  const turns = turnsOf(request.messages);
  const current = turns.pop() ?? { user: '', rest: [] };
  const earlier = turns.filter((turn) => answerOf(turn) !== '').slice(-EXCHANGES);
  const pieces: string[] = [];
  let prompt = '';
  const reply = (text: string): void => {
    pieces.push(prompt + MODEL, text);
    prompt = END;
  };
  for (const turn of earlier) {
    prompt += USER + neutralise(turn.user.trim()) + END;
    reply(neutralise(answerOf(turn)));
  }
  prompt += USER + neutralise(head(request)) + neutralise(current.user.trim()) + END;
  const unread = unreadCalls(current.rest);
  let results: Result[] = [];
  const close = (): void => {
    if (results.length > 0) prompt += USER + writeResults(results, unread) + END;
    results = [];
  };
  for (const message of current.rest) {
    if (message.role === 'tool') results.push(message);
    else {
      close();
      reply(writeReply(message, request.tools));
    }
  }
  close();
  return [...pieces, prompt + MODEL];
}

export const gemma3: Dialect = {
  opening: TOOL_CODE.open,
  turns: EXCHANGES,
  markers: [],
  stop: STOP,
  render,
  grammar({ messages, tools, toolChoice, copies = false }, notation) {
    const failed = toolChoice === 'auto' && hasFailed(messages);
    return replyGrammar({
      tools,
      choice: failed ? 'none' : toolChoice,
      form: TOOL_CODE,
      notation,
      copies: copies ? copiesOf(messages) : null,
      ...(failed ? { opening: FAILED } : {}),
    });
  },
  reader: ({ tools, toolChoice }) => createReplyReader(tools, FORM, toolChoice !== 'none'),
  neutralise,
};
