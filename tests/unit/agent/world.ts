/**
 * A small world for the loop: a brain that plays a script of steps, a toolbox of functions, a gate
 * with set verdicts, a journal in memory. The loop itself is the real one.
 */
import type { Brain, BrainEvent, BrainMessage, BrainRequest } from '../../../src/brain/brain.ts';
import type { Journal } from '../../../src/agent/journal.ts';
import type { Ports, TurnInput } from '../../../src/agent/run.ts';
import type { CallWatch, Tool, Toolbox } from '../../../src/mcp/types.ts';
import type { Gate, Verdict } from '../../../src/policy/types.ts';
import type { Route, RouteContext, Router } from '../../../src/router/types.ts';
import type { Outcome, Part } from '../../../src/store/records.ts';

export type Say =
  | { text: string; end?: 'stop' | 'length' }
  | { calls: { name: string; args: Record<string, unknown> | null }[]; text?: string }
  | { error: 'server' | 'gpu'; text?: string }
  | { hang: true; text?: string };

let ids = 0;

/** Plays `script`, one entry a request; keeps the requests. */
export function scriptedBrain(
  script: readonly Say[],
  place: 'phone' | 'cloud' = 'phone',
): Brain & { requests: BrainRequest[] } {
  const requests: BrainRequest[] = [];
  return {
    requests,
    countTokens: (text) => Math.ceil(text.length / 3),
    describe: () => ({
      id: `${place}:test`,
      place,
      model: 'test',
      label: `Test ${place}`,
      contextTokens: 4096,
      maxTools: 8,
      can: { tools: true, images: false, schema: true },
    }),
    async *stream(request, signal): AsyncIterable<BrainEvent> {
      const say = script[requests.length];
      requests.push(request);
      if (!say) {
        yield {
          type: 'end',
          reason: 'error',
          error: { kind: 'internal', message: 'Script over.', advice: '' },
        };
        return;
      }
      if ('text' in say && say.text !== undefined)
        for (const word of say.text.match(/\S+\s*/g) ?? []) yield { type: 'text', text: word };
      if ('hang' in say) {
        await new Promise<void>((resolve) => {
          if (signal.aborted) resolve();
          signal.addEventListener('abort', () => resolve(), { once: true });
        });
        yield { type: 'end', reason: 'aborted' };
        return;
      }
      if ('error' in say) {
        yield {
          type: 'end',
          reason: 'error',
          error: { kind: say.error, message: 'It broke.', advice: 'Try again.' },
        };
        return;
      }
      yield { type: 'usage', usage: { promptTokens: 100, cachedTokens: 0, outputTokens: 10 } };
      if ('calls' in say) {
        for (const { name, args } of say.calls)
          yield { type: 'call', call: { id: `call-${++ids}`, name, args, raw: `${name}()` } };
        yield { type: 'end', reason: 'calls' };
        return;
      }
      yield { type: 'end', reason: say.end ?? 'stop' };
    },
  };
}

export interface Hand {
  readonly readOnly?: boolean;
  readonly private?: boolean;
  readonly run: (
    args: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
    watch?: CallWatch,
  ) => Promise<Outcome>;
}

export const textResult = (text: string): Outcome => ({
  kind: 'result',
  content: [{ type: 'text', text }],
});

export function toolOf(name: string, hand: Hand): Tool {
  return {
    server: 's1',
    serverName: 'Test server',
    name,
    modelName: name,
    title: name,
    description: `Does ${name}.`,
    inputSchema: { type: 'object' },
    annotations: {},
    pin: `pin-${name}`,
    local: false,
    readOnly: hand.readOnly ?? false,
    idempotent: hand.readOnly ?? false,
    private: hand.private ?? false,
  };
}

export function toolboxOf(hands: Record<string, Hand>): Toolbox & { ran: string[] } {
  const tools = Object.entries(hands).map(([name, hand]) => toolOf(name, hand));
  const ran: string[] = [];
  return {
    ran,
    offer: async () => ({ tools, best: 1, omitted: 0 }),
    bind(call, offered) {
      const tool = offered.find(({ modelName }) => modelName === call.name);
      if (!tool) return { ok: false, error: `There is no tool ${call.name}.` };
      if (!call.args) return { ok: false, error: 'The arguments are not an object.' };
      return { ok: true, call: { callId: call.id, tool, args: call.args, days: [] } };
    },
    find: async (_server, name) => tools.find((tool) => tool.name === name) ?? null,
    async call(call, signal, watch) {
      ran.push(call.tool.name);
      const hand = hands[call.tool.name];
      if (!hand) throw new Error('no such hand');
      return hand.run(call.args, signal, watch);
    },
    async resume(call, task, signal, watch) {
      ran.push(`${call.tool.name} ${task}`);
      const hand = hands[call.tool.name];
      if (!hand) throw new Error('no such hand');
      return hand.run(call.args, signal, watch);
    },
  };
}

export function gateOf(
  verdict: (tool: string) => Verdict['verdict'],
  answer: Gate['answer'] = async () => ({
    allow: true,
    scope: 'once',
  }),
): Gate {
  return {
    judge: async (call) => ({ verdict: verdict(call.tool.name), why: 'A test rule.' }),
    answer,
  };
}

export function memoryJournal(initial: readonly Part[] = []): Journal & { log: Part[][] } {
  let parts = [...initial];
  const log: Part[][] = [];
  const keep = (next: Part[]): void => {
    parts = next;
    log.push(next);
  };
  return {
    log,
    parts: () => parts,
    async append(part) {
      keep([...parts, part]);
      return parts.length - 1;
    },
    async replace(index, part) {
      keep(parts.with(index, part));
    },
    grow(index, part) {
      keep(parts.with(index, part));
    },
    flush: async () => undefined,
    async claim(index, startedAt) {
      const part = parts[index];
      if (part?.kind !== 'call' || part.state !== 'allowed') return false;
      keep(parts.with(index, { ...part, state: 'running', startedAt }));
      return true;
    },
  };
}

export function routerOf(
  phone: Brain | null,
  cloud: Brain | null = null,
): Router & { asked: RouteContext[] } {
  const asked: RouteContext[] = [];
  return {
    asked,
    async choose(context): Promise<Route> {
      asked.push(context);
      const brain =
        context.after && context.mode === 'auto' && !context.private ? cloud : (phone ?? cloud);
      return brain
        ? { ok: true, brain, rule: 'test', reason: 'A test.' }
        : { ok: false, code: 'no-model', message: 'No model.', advice: 'Get one.' };
    },
  };
}

export const LIMITS = { steps: 8, calls: 16, equalCalls: 2, ms: 60_000, tokens: 50_000 };

export function inputOf(change: Partial<TurnInput> = {}): TurnInput {
  return {
    conversation: 'c1',
    mode: 'auto',
    private: false,
    heard: { said: ['Do it.'], untrusted: [], offered: [] },
    history: () => [],
    request: 'Do it.',
    lookup: 'Do it.',
    now: 'Sunday 2026-11-29 14:05, UTC',
    limits: LIMITS,
    ...change,
  };
}

export function portsOf(change: Partial<Ports> & Pick<Ports, 'router'>): Ports {
  let time = 0;
  return {
    toolbox: toolboxOf({}),
    gate: gateOf(() => 'run'),
    journal: memoryJournal(),
    resultText: (outcome) =>
      outcome.kind === 'result' || outcome.kind === 'tool_error'
        ? outcome.content.map((block) => String(block.text)).join('')
        : `error: ${outcome.message}`,
    clock: () => (time += 1),
    breathe: async () => undefined,
    onActivity: () => undefined,
    keepPrivate: async () => undefined,
    ...change,
  };
}

export const kinds = (parts: readonly Part[]): string[] => parts.map((part) => part.kind);
export const roles = (messages: readonly BrainMessage[]): string[] =>
  messages.map((message) => message.role);
