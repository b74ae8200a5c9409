/**
 * One call of a tool, to its end. Promises: nothing here throws; every end says whether the call may
 * have run; a stop is told to the server; a structured result that is not what the tool promised is
 * kept, and said.
 */
import { LOG_LEVEL_META_KEY, ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/client';
import { redact, strikeKnown } from '../store/redact.ts';
import type { Clock } from './clock.ts';
import type { CallEars, CallEnd, CallTarget, Era, Limits, Patience } from './connection-types.ts';
import { converse, pause, TooManyQuestions, type Talk } from './converse.ts';
import { isVersionRefused, LOST, seenBy, type Explained } from './explain.ts';
import type { Hearing } from './hearing.ts';
import { paramHeaders } from './param-headers.ts';
import { blocksOf, isDeeper, MAX_DEPTH } from './depth.ts';
import { findMismatch, isObject } from './schema.ts';
import { cancelTask, follow, KEEP_MS, type Following } from './tasks.ts';
import { TASK_META } from './transports.ts';
import type { HostError } from './types.ts';
import type { Seeing, Trace } from './wire.ts';

/** Error of 2025-11-25: the person has to visit a page before the call can be made. */
const URL_ELICITATION_REQUIRED = -32_042;

export interface Calling {
  readonly talk: Talk;
  readonly hearing: Hearing;
  readonly era: Era;
  readonly limits: Limits;
  readonly patience: Patience;
  readonly secrets: readonly string[];
  /** The server makes tasks of calls that ask for it (2025-11-25). */
  readonly takesTasks: boolean;
  /** The server is to send its log along with each call (2026-07-28). */
  readonly wantsLog: boolean;
  explain(cause: unknown, ms: number, seeing: Seeing): Promise<Explained>;
  /** What is said where a wait of so many milliseconds is over. */
  late(ms: number, seeing: Seeing): HostError;
}

export function callTool(
  calling: Calling,
  tool: CallTarget,
  args: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
  ears: CallEars = {},
): Promise<CallEnd> {
  const { talk, era, takesTasks, wantsLog } = calling;
  const support = tool.execution?.taskSupport;
  const asTask = takesTasks && (support === 'required' || support === 'optional');
  const params = {
    name: tool.name,
    arguments: { ...args },
    ...(asTask ? { task: { ttl: KEEP_MS } } : {}),
    ...(wantsLog ? { _meta: { [LOG_LEVEL_META_KEY]: 'info' } } : {}),
  };
  const headers = era === 'modern' ? paramHeaders(tool.inputSchema, args) : {};
  return toEnd(calling, tool, signal, async (clock, trace, onTask) => {
    const send = () =>
      converse<Record<string, unknown>>(talk, {
        method: 'tools/call',
        params,
        clock,
        trace,
        headers,
        ...(ears.progress ? { onProgress: ears.progress } : {}),
      });
    const result = await afterVisits(calling, clock, send);
    const task = isObject(result._meta) ? result._meta[TASK_META] : undefined;
    if (!isObject(task)) return result;
    const taskId = String(task.taskId);
    onTask(taskId);
    ears.task?.(taskId);
    return follow(followingOf(calling, { taskId, clock, trace }, ears), task);
  });
}

export function resumeTask(
  calling: Calling,
  tool: Pick<CallTarget, 'outputSchema'>,
  taskId: string,
  signal: AbortSignal,
  ears: CallEars = {},
): Promise<CallEnd> {
  return toEnd(calling, tool, signal, (clock, trace, onTask) => {
    onTask(taskId);
    return follow(followingOf(calling, { taskId, clock, trace }, ears));
  });
}

function followingOf(
  { talk, hearing, era, limits }: Calling,
  own: Pick<Following, 'taskId' | 'clock' | 'trace'>,
  ears: CallEars,
): Following {
  const onProgress = ears.progress;
  const shared = { talk, hearing, era, ...own, ms: limits.list };
  return onProgress ? { ...shared, onProgress } : shared;
}

/**
 * Asks the person to visit the pages that the server names, and sends again until it is content: not
 * every server says when the person is done. A call that was refused for this did not run.
 */
async function afterVisits<T>(
  { talk, hearing, patience }: Calling,
  clock: Clock,
  send: () => Promise<T>,
): Promise<T> {
  const visited = new Set<string>();
  for (let round = 0; ; round += 1) {
    try {
      return await send();
    } catch (cause) {
      const pages = pagesOf(cause);
      if (pages.length === 0) throw cause;
      const done = new AbortController();
      const told = pages.map((page) => hearing.elicited(String(page.elicitationId), done.signal));
      try {
        for (const page of pages.filter(({ url }) => !visited.has(String(url)))) {
          const answered = await talk.clocks.during(clock.signal, (signal) =>
            talk.answer('elicitation/create', { ...page, mode: 'url' }, signal),
          );
          if (answered.action !== 'accept') throw cause;
          visited.add(String(page.url));
          clock.touch();
        }
        const ms = Math.min(patience.firstMs * 2 ** round, patience.longestMs);
        await Promise.race([Promise.all(told), pause(ms, clock.signal)]);
      } finally {
        done.abort();
      }
    }
  }
}

function pagesOf(cause: unknown): Record<string, unknown>[] {
  if (!ProtocolError.isInstance(cause) || cause.code !== URL_ELICITATION_REQUIRED) return [];
  const { elicitations } = isObject(cause.data) ? cause.data : {};
  return Array.isArray(elicitations) ? elicitations.filter(isObject) : [];
}

async function toEnd(
  calling: Calling,
  tool: Pick<CallTarget, 'outputSchema'>,
  signal: AbortSignal,
  work: (
    clock: Clock,
    trace: Trace,
    onTask: (id: string) => void,
  ) => Promise<Readonly<Record<string, unknown>>>,
): Promise<CallEnd> {
  const { talk, limits, secrets } = calling;
  if (signal.aborted) return { kind: 'aborted' };
  const clock = talk.clocks.start(limits.call, limits.ceiling, signal);
  const trace = talk.trace();
  let taskId: string | null = null;
  try {
    const result = await work(clock, trace, (id) => {
      taskId = id;
    });
    return struckFrom(answerOf(result, tool.outputSchema), secrets);
  } catch (cause) {
    if (signal.aborted || clock.late()) {
      if (taskId !== null && signal.aborted) await cancelTask(talk, taskId);
      if (signal.aborted) return { kind: 'aborted' };
      return { kind: 'timeout', error: calling.late(limits.call, trace) };
    }
    if (isRefusal(cause) && !isVersionRefused(cause)) {
      const seen = seenBy({ wire: trace, secrets }, cause);
      return {
        kind: 'refused',
        code: cause.code,
        message: redact(cause.message, secrets),
        ...seen,
      };
    }
    if (cause instanceof TooManyQuestions)
      return { kind: 'refused', code: ProtocolErrorCode.InternalError, message: cause.message };
    const found = await calling.explain(cause, limits.call, trace);
    if (found.eraGone) return { kind: 'era-gone', error: found.error, ran: found.ran };
    // A task lives on without the session that it was made in.
    if (found.sessionGone && taskId === null && found.ran === 'no') return { kind: 'session-gone' };
    const ran = found.ran === 'maybe' || taskId !== null;
    if (!ran) return { kind: 'not-run', error: found.error };
    return {
      kind: 'lost',
      error: found.error,
      ...(found.sessionGone ? { sessionGone: true } : {}),
    };
  } finally {
    trace.end();
    clock.end();
  }
}

function isRefusal(cause: unknown): cause is ProtocolError {
  return ProtocolError.isInstance(cause) && cause.message !== LOST;
}

/**
 * What in an answer may be struck: a key, and no word of an address's query, which the answer may be
 * all about. A digit among letters or length tells.
 */
const isKey = (secret: string): boolean =>
  secret.length >= 20 || (secret.length >= 8 && /\d/.test(secret) && /\p{L}/u.test(secret));

/** An answer in which the server says its own key is stored and read without it. */
function struckFrom(end: CallEnd, secrets: readonly string[]): CallEnd {
  const keys = secrets.filter(isKey);
  return keys.length === 0 ? end : (struckIn(end, keys) as CallEnd);
}

function struckIn(value: unknown, keys: readonly string[]): unknown {
  if (typeof value === 'string') return strikeKnown(value, keys);
  if (Array.isArray(value)) return value.map((item) => struckIn(item, keys));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      strikeKnown(name, keys),
      struckIn(member, keys),
    ]),
  );
}

function answerOf(
  result: Readonly<Record<string, unknown>>,
  outputSchema: CallTarget['outputSchema'],
): CallEnd {
  const { content, isError } = result;
  const isBottomless = isDeeper(result.structuredContent, MAX_DEPTH);
  const structuredContent = isBottomless ? undefined : result.structuredContent;
  const note =
    isError !== true && outputSchema ? findMismatch(structuredContent, outputSchema) : null;
  return {
    kind: 'answer',
    isError: isError === true,
    content: blocksOf(content),
    ...(structuredContent === undefined ? {} : { structured: structuredContent }),
    ...(note === null ? {} : { note }),
  };
}
