/**
 * An answer of a model that a server asked for (MCP sampling). The model gets the server's words and
 * the time, and nothing else: no tools, nothing of the conversation.
 */
import type { Brain, BrainMessage, BrainUsage } from '../brain/brain.ts';
import type { Thought } from '../mcp/asks.ts';
import type { SampleRequest } from '../mcp/types.ts';
import type { Router } from '../router/types.ts';
import type { ContentBlock, Mode, Sent } from '../store/records.ts';
import { answerTokens } from './context.ts';

type Sampled =
  | {
      readonly ok: true;
      readonly text: string;
      /** `endTurn`, `maxTokens` or `stopSequence`, as MCP names them. */
      readonly stopReason: string;
      readonly usage: BrainUsage;
      readonly sent?: Sent;
    }
  | { readonly ok: false; readonly message: string; readonly advice: string };

const EMPTY = {
  ok: false,
  message: 'The model gave an empty answer.',
  advice: 'Try again, or with another model.',
} as const;

const STOPPED = {
  ok: false,
  message: 'The model was stopped.',
  advice: 'Start it again.',
} as const;

/** A block as text: what is no text is named, not shown, to the model. */
function blockText(block: ContentBlock): string {
  if (block.type === 'text') return typeof block.text === 'string' ? block.text : '';
  return `[${block.type}]`;
}

/** The request's messages as a brain takes them, the roles in turn, with `before` in front. */
function sampleMessages(request: SampleRequest, before: string): BrainMessage[] {
  const messages: BrainMessage[] = before ? [{ role: 'user', text: before }] : [];
  for (const { role, content } of request.messages) {
    const text = content.map(blockText).filter(Boolean).join('\n');
    const last = messages.at(-1);
    if (last?.role === role)
      messages[messages.length - 1] = { ...last, text: `${last.text}\n\n${text}` };
    else messages.push(role === 'user' ? { role, text } : { role, text, calls: [] });
  }
  return messages;
}

/** Where the first of the stop sequences begins; -1 where there is none. */
function stopAt(text: string, sequences: readonly string[]): number {
  const places = sequences.map((one) => (one ? text.indexOf(one) : -1)).filter((at) => at >= 0);
  return places.length > 0 ? Math.min(...places) : -1;
}

export interface Thinking {
  readonly router: Router;
  /**
   * Whether the request may hold what stays on the phone, by now: the server is private, or a
   * conversation that it is at work for.
   */
  readonly isPrivate: () => Promise<boolean>;
  /** Said where cloud models have cost as much today as they may; null where not. */
  readonly reached: () => Promise<{ message: string; advice: string } | null>;
  /** The phone's clock in words. */
  readonly now: () => string;
}

/**
 * Has the brain answer that the mode and the privacy rule allow. A question may be answered long after
 * it was asked, so the rule is the one of the moment at which the request would leave.
 */
export async function think(
  { router, isPrivate, reached, now }: Thinking,
  request: SampleRequest,
  mode: Mode,
  signal: AbortSignal,
): Promise<Thought> {
  for (;;) {
    const kept = await isPrivate();
    const route = await router.choose({ mode, private: kept, promptTokens: 0 });
    if (!route.ok) return { ok: false, message: route.message, advice: route.advice };
    const { model, label, place } = route.brain.describe();
    const limit = place === 'cloud' ? await reached() : null;
    if (limit) return { ok: false, ...limit };
    // The last look: nothing is waited for between it and the request.
    if (place === 'cloud' && !kept && (await isPrivate())) continue;
    const made = await sample(request, route.brain, now(), signal);
    return made.ok ? { ...made, ...made.usage, model, label, place } : made;
  }
}

/** Asks a brain. Never throws; a request that does not fit the window is not cut, but refused. */
export async function sample(
  request: SampleRequest,
  brain: Brain,
  now: string,
  signal: AbortSignal,
): Promise<Sampled> {
  const { contextTokens, label, place } = brain.describe();
  const maxTokens = Math.max(1, Math.min(request.maxTokens, answerTokens(contextTokens)));
  const asked = request.systemPrompt ?? '';
  // Gemma has no system turn, and what runs on phones is mostly Gemma: there it is said by the user.
  const system = place === 'cloud' ? asked : '';
  const messages = sampleMessages(request, place === 'cloud' ? '' : asked);
  const { stopSequences = [] } = request;
  const taken = brain.countTokens(system + now + messages.map(({ text }) => text).join('\n'));
  if (taken + maxTokens > contextTokens)
    return {
      ok: false,
      message: `This is too long for ${label}.`,
      advice: 'Shorten it, or choose a model with a larger window.',
    };
  const enough = new AbortController();
  let text = '';
  let stopReason = 'endTurn';
  let usage: BrainUsage = {};
  let sent: Sent | undefined;
  const events = brain.stream(
    {
      system,
      now,
      messages,
      tools: [],
      toolChoice: 'none',
      think: false,
      maxTokens,
      ...(request.temperature === undefined ? {} : { temperature: request.temperature }),
    },
    AbortSignal.any([signal, enough.signal]),
  );
  for await (const event of events) {
    if (event.type === 'sent') sent = { to: event.to, text: event.text };
    if (event.type === 'usage') usage = { ...usage, ...event.usage };
    if (event.type === 'text' && !enough.signal.aborted) {
      text += event.text;
      const at = stopAt(text, stopSequences);
      if (at >= 0) {
        text = text.slice(0, at);
        stopReason = 'stopSequence';
        enough.abort();
      }
    }
    if (event.type !== 'end') continue;
    if (event.reason === 'error') {
      const { message, advice } = event.error;
      return { ok: false, message, advice };
    }
    if (event.reason === 'length') stopReason = 'maxTokens';
  }
  if (signal.aborted) return STOPPED;
  if (text.trim() === '' && stopReason !== 'stopSequence') return EMPTY;
  return { ok: true, text: text.trim(), stopReason, usage, ...(sent ? { sent } : {}) };
}
