/**
 * What ends a turn that does not end by itself. Limits count from where a run began, so that
 * Continue gives a fresh measure. The clock stops while the person is asked.
 */
import type { CallPart, Part, TurnLimits } from '../store/records.ts';

export interface Reached {
  readonly code:
    'limit-steps' | 'limit-calls' | 'limit-tool' | 'limit-equal' | 'limit-time' | 'limit-tokens';
  readonly text: string;
}

/** A clock that can be stopped; in milliseconds. */
export interface Stopwatch {
  elapsed(): number;
  /** Stops the clock while `wait` runs; waits may overlap. */
  paused<T>(wait: () => Promise<T>): Promise<T>;
  /** Leaves out time that has passed. */
  leaveOut(ms: number): void;
}

export function createStopwatch(now: () => number): Stopwatch {
  const startedAt = now();
  let pausedMs = 0;
  let waiting = 0;
  let waitingSince = 0;
  return {
    elapsed: () => (waiting > 0 ? waitingSince : now()) - startedAt - pausedMs,
    leaveOut(ms) {
      pausedMs += ms;
    },
    async paused(wait) {
      if (waiting++ === 0) waitingSince = now();
      try {
        return await wait();
      } finally {
        if (--waiting === 0) pausedMs += now() - waitingSince;
      }
    },
  };
}

/** Two calls are equal when the same tool gets the same arguments, whatever their order. */
export function callKey(call: Pick<CallPart, 'server' | 'tool' | 'args'>): string {
  return JSON.stringify([call.server, call.tool, sorted(call.args)]);
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, inner]) => [key, sorted(inner)]),
  );
}

/** Calls that the model asked for, those that could not be bound included. */
export function countCalls(parts: readonly Part[]): number {
  return parts.filter((part) => part.kind === 'call' || part.kind === 'badcall').length;
}

/** E.g. `1 step`, `2,000 tokens`. */
const count = (many: number, what: string): string =>
  `${many.toLocaleString('en')} ${what}${many === 1 ? '' : 's'}`;

/** E.g. `20 seconds`, `1 minute`, `1 minute and 30 seconds`; `ms` in milliseconds. */
function duration(ms: number): string {
  const seconds = Math.round(ms / 1000);
  const [minutes, rest] = [Math.floor(seconds / 60), seconds % 60];
  const parts = [
    ...(minutes > 0 ? [count(minutes, 'minute')] : []),
    ...(rest > 0 || minutes === 0 ? [count(rest, 'second')] : []),
  ];
  return parts.join(' and ');
}

/** The first limit that `parts`, those of this run, have reached; null where none is. */
export function reachedLimit(
  parts: readonly Part[],
  limits: TurnLimits,
  elapsedMs: number,
): Reached | null {
  let steps = 0;
  let tokens = 0;
  const equal = new Map<string, number>();
  const ofTool = new Map<string, { title: string; count: number }>();
  for (const part of parts) {
    if (part.kind === 'step') {
      steps += 1;
      const { promptTokens = 0, cachedTokens = 0, outputTokens = 0 } = part.usage;
      tokens += promptTokens - cachedTokens + outputTokens;
    } else if (part.kind === 'call') {
      // What a server had the model do counts as well.
      for (const { promptTokens = 0, outputTokens = 0 } of part.asked ?? [])
        tokens += promptTokens + outputTokens;
      // A refused call was not made.
      if (part.state === 'refused') continue;
      const key = callKey(part);
      equal.set(key, (equal.get(key) ?? 0) + 1);
      const tool = JSON.stringify([part.server, part.tool]);
      ofTool.set(tool, { title: part.title, count: (ofTool.get(tool)?.count ?? 0) + 1 });
    }
  }
  if ([...equal.values()].some((count) => count > limits.equalCalls))
    return {
      code: 'limit-equal',
      text: `I made the same call ${limits.equalCalls + 1} times, so I stopped.`,
    };
  if (steps >= limits.steps)
    return { code: 'limit-steps', text: `I stopped after ${count(limits.steps, 'step')}.` };
  if (countCalls(parts) >= limits.calls)
    return { code: 'limit-calls', text: `I stopped after ${count(limits.calls, 'tool call')}.` };
  const { toolCalls = Infinity } = limits;
  const often = [...ofTool.values()].find(({ count }) => count >= toolCalls);
  if (often)
    return {
      code: 'limit-tool',
      text: `I stopped after ${count(often.count, 'call')} of ${often.title}.`,
    };
  if (elapsedMs >= limits.ms)
    return {
      code: 'limit-time',
      text: `I stopped after ${duration(limits.ms)}.`,
    };
  if (tokens >= limits.tokens)
    return { code: 'limit-tokens', text: `I stopped after ${count(limits.tokens, 'token')}.` };
  return null;
}
