/** One step: asks a brain, records what it streams, binds the calls it makes, closes the step. */
import type { Brain, BrainError, BrainRequest, BrainUsage, ModelCall } from '../brain/brain.ts';
import type { Tool } from '../mcp/types.ts';
import type { Part, StepPart } from '../store/records.ts';
import { newCallId } from './ids.ts';
import type { Ports } from './run.ts';

export type StepEnd =
  | {
      readonly reason: 'stop' | 'calls' | 'length' | 'aborted';
      readonly calls: number;
      /** Calls that could not be bound. */
      readonly bad: number;
      /** The answer repeated itself, and was ended for that. */
      readonly looped?: true;
    }
  | {
      readonly reason: 'error';
      readonly calls: number;
      readonly bad: number;
      readonly error: BrainError;
    };

/** An answer without a word is a failure that the person must see. */
const BLANK: BrainError = {
  kind: 'protocol',
  message: 'The model gave an empty answer.',
  advice: 'Try again, or send this turn to another model.',
};

/** A fast stream may hold the thread this long, in milliseconds; half a frame. */
const HOLD_MS = 8;

export interface StepInput {
  readonly brain: Brain;
  readonly step: number;
  readonly request: BrainRequest;
  readonly tools: readonly Tool[];
  /** True when the turn's time is up. */
  readonly stopped: () => boolean;
  readonly ports: Ports;
  readonly signal: AbortSignal;
}

/** Runs one step. The step counts only once its `step` part, written last, is durable. */
export async function runStep(input: StepInput): Promise<StepEnd> {
  const { brain, step, request, ports } = input;
  const { journal, onActivity } = ports;
  const timeUp = new AbortController();
  const signal = AbortSignal.any([input.signal, timeUp.signal]);
  const growing = { text: -1, thinking: -1 };
  let usage: BrainUsage = {};
  let sent: StepPart['sent'];
  let decision: string | undefined;
  let calls = 0;
  let bad = 0;

  const grow = async (kind: 'text' | 'thinking', text: string): Promise<void> => {
    const index = growing[kind];
    if (index < 0) {
      growing[kind] = await journal.append({ kind, step, text });
      return;
    }
    const old = journal.parts()[index] as Extract<Part, { kind: 'text' | 'thinking' }>;
    journal.grow(index, { kind, step, text: old.text + text });
  };

  const propose = async (written: ModelCall): Promise<void> => {
    const call = { ...written, id: newCallId() };
    // A call closes the text before it: what follows is a paragraph of its own.
    growing.text = -1;
    calls += 1;
    const bound = ports.toolbox.bind(call, input.tools, new Date(ports.clock()));
    if (!bound.ok) {
      bad += 1;
      await journal.append({
        kind: 'badcall',
        step,
        callId: call.id,
        name: call.name,
        raw: call.raw,
        error: bound.error,
      });
      return;
    }
    const { tool, args, days, callId } = bound.call;
    await journal.append({
      kind: 'call',
      step,
      callId,
      server: tool.server,
      serverName: tool.serverName,
      tool: tool.name,
      title: tool.title,
      modelName: tool.modelName,
      pin: tool.pin,
      args,
      days,
      ...(call.mended ? { mended: call.mended } : {}),
      readOnly: tool.readOnly,
      state: 'proposed',
    });
  };

  onActivity({ kind: 'thinking' });
  let end: StepEnd = { reason: 'aborted', calls: 0, bad: 0 };
  let breathedAt = ports.clock();
  for await (const event of brain.stream(request, signal)) {
    if (ports.clock() - breathedAt > HOLD_MS) {
      await ports.breathe();
      breathedAt = ports.clock();
    }
    if (!timeUp.signal.aborted && input.stopped()) timeUp.abort();
    switch (event.type) {
      case 'sent':
        sent = { to: event.to, text: event.text };
        break;
      case 'progress':
        onActivity({ kind: 'preparing', phase: event.phase, fraction: event.fraction });
        break;
      case 'thinking':
        onActivity({ kind: 'thinking' });
        await grow('thinking', event.text);
        break;
      case 'text':
        onActivity({ kind: 'writing' });
        await grow('text', event.text);
        break;
      case 'call':
        await propose(event.call);
        break;
      case 'decision':
        decision = event.text;
        break;
      case 'usage':
        usage = { ...usage, ...event.usage };
        break;
      case 'end':
        end =
          event.reason === 'error'
            ? { reason: 'error', calls, bad, error: event.error }
            : { reason: event.reason, calls, bad, ...(event.looped ? { looped: true } : {}) };
    }
  }
  if (end.reason === 'stop' && calls > 0) end = { ...end, reason: 'calls' };
  if (end.reason === 'stop' && growing.text < 0)
    end = { reason: 'error', calls, bad, error: BLANK };
  await journal.append({
    kind: 'step',
    step,
    end: end.reason,
    usage,
    ...(sent ? { sent } : {}),
    ...(decision === undefined ? {} : { decision }),
    ...(end.reason === 'error' ? { error: end.error.message } : {}),
  });
  return end;
}
