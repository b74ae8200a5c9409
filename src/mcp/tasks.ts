/**
 * Calls that a server made a task of, so that its answer can be had later: the tasks of 2025-11-25, and
 * the extension `io.modelcontextprotocol/tasks` of 2026-07-28. Promise: a task is asked after at the
 * server's own pace, also over a network that comes and goes; whoever stops waiting cancels it.
 */
import {
  ProtocolError,
  ProtocolErrorCode,
  SdkHttpError,
  fromJsonSchema,
} from '@modelcontextprotocol/client';
import type { Clock } from './clock.ts';
import type { Era } from './connection-types.ts';
import { pause, type Talk } from './converse.ts';
import { LOST } from './explain.ts';
import { answerAll } from './inquiries.ts';
import type { Hearing } from './hearing.ts';
import { isObject } from './schema.ts';
import type { CallProgress } from './types.ts';
import type { Trace } from './wire.ts';

export const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks';

/** How long a server of 2025-11-25 is asked to keep a result, in milliseconds. */
export const KEEP_MS = 3_600_000;
/** Between two questions after a task, in milliseconds, where the server does not say or overdoes it. */
const POLL_MS = 1_000;
const SHORTEST_POLL_MS = 100;
const LONGEST_POLL_MS = 60_000;
/** How often in a row a question after a task may fail on its way. */
const MAX_FAILURES = 5;
const CANCEL_MS = 2_000;

/** Any object: what a task is looks different in each revision, and is read with care. */
const ANY = fromJsonSchema<Record<string, unknown>>({ type: 'object' });

type State = Readonly<Record<string, unknown>>;

export interface Following {
  readonly talk: Talk;
  readonly era: Era;
  readonly taskId: string;
  readonly clock: Clock;
  readonly trace: Trace;
  /** Where a server tells by itself how the task stands. */
  readonly hearing: Pick<Hearing, 'task'>;
  readonly onProgress?: (progress: CallProgress) => void;
  /** Time limit of one question, in milliseconds. */
  readonly ms: number;
}

/** The result of the call; throws what ended it, as a call without a task does. */
export async function follow(following: Following, first?: State): Promise<State> {
  // Whoever is told that the task moved on asks at once; whoever is not asks at the server's pace.
  let told = new AbortController();
  const deafen = following.hearing.task(following.taskId, () => told.abort());
  const rest = async (ms: number): Promise<void> => {
    const { signal } = following.clock;
    // A server that tells without end is asked no faster than one that overdoes its pace.
    await pause(Math.min(ms, SHORTEST_POLL_MS), signal);
    await pause(ms - SHORTEST_POLL_MS, signal, told.signal);
    told = new AbortController();
  };
  try {
    return await followed(following, rest, first);
  } finally {
    deafen();
  }
}

async function followed(
  following: Following,
  rest: (ms: number) => Promise<void>,
  first: State | undefined,
): Promise<State> {
  const { talk, era, clock, taskId } = following;
  // Such work may take hours. Only silence ends the wait for it.
  clock.unbound();
  const answered = new Set<string>();
  let state = first ?? (await poll(following));
  for (let polls = 1; ; polls += 1) {
    clock.touch();
    const { status } = state;
    if (status === 'completed' || status === 'failed') return ended(following, state);
    if (status === 'cancelled') throw refusal(state, 'The server cancelled its task.');
    if (status === 'input_required') {
      // Until 2025-11-25 the questions come by themselves, to whoever waits for the result.
      if (era === 'legacy') return ask(following, 'tasks/result');
      const requests = Object.entries(isObject(state.inputRequests) ? state.inputRequests : {});
      const open = requests.filter(([key]) => !answered.has(key));
      if (open.length > 0) {
        const inputResponses = await talk.clocks.during(clock.signal, (signal) =>
          answerAll(talk.answer, Object.fromEntries(open), signal),
        );
        open.forEach(([key]) => answered.add(key));
        await ask(following, 'tasks/update', { taskId, inputResponses });
      }
    }
    const { statusMessage } = state;
    if (typeof statusMessage === 'string')
      following.onProgress?.({ progress: polls, message: statusMessage });
    await rest(pollMs(state));
    state = await poll(following);
  }
}

/** Tells the server that nobody waits for the task any more; it may go on all the same. */
export async function cancelTask({ client }: Talk, taskId: string): Promise<void> {
  await client
    .request({ method: 'tasks/cancel', params: { taskId } }, ANY, { timeout: CANCEL_MS })
    .catch(() => undefined);
}

async function poll(following: Following): Promise<State> {
  for (let failures = 0; ; failures += 1) {
    try {
      return await ask(following, 'tasks/get');
    } catch (cause) {
      const { signal } = following.clock;
      // Over a connection that was closed nothing comes any more; another one may tell.
      const isClosed = following.talk.client.transport === undefined;
      if (signal.aborted || isClosed || isAnswer(cause) || failures >= MAX_FAILURES) throw cause;
      await pause(POLL_MS * 2 ** failures, signal);
    }
  }
}

/** The server was reached, and said no. */
function isAnswer(cause: unknown): boolean {
  if (SdkHttpError.isInstance(cause)) return cause.status < 500;
  return ProtocolError.isInstance(cause) && cause.message !== LOST;
}

async function ended(following: Following, state: State): Promise<State> {
  if (following.era === 'legacy') return ask(following, 'tasks/result');
  if (state.status === 'failed') throw refusal(state, 'The task failed.');
  return isObject(state.result) ? state.result : {};
}

function ask(
  { talk, clock, trace, taskId, ms }: Following,
  method: 'tasks/get' | 'tasks/result' | 'tasks/update',
  params: Record<string, unknown> = { taskId },
): Promise<State> {
  // A result may be waited for until the task is done; its clock limits that.
  const timeout = method === 'tasks/result' ? 2 ** 31 - 1 : ms;
  return talk.client.request({ method, params }, ANY, {
    signal: clock.signal,
    timeout,
    headers: trace.mark,
  });
}

function refusal({ error, statusMessage }: State, fallback: string): ProtocolError {
  const { code, message } = isObject(error) ? error : {};
  const said = [message, statusMessage].find((text) => typeof text === 'string');
  return new ProtocolError(
    typeof code === 'number' ? code : ProtocolErrorCode.InternalError,
    typeof said === 'string' ? said : fallback,
  );
}

function pollMs(state: State): number {
  const wanted = state.pollIntervalMs ?? state.pollInterval;
  const ms = typeof wanted === 'number' ? wanted : POLL_MS;
  return Math.min(Math.max(ms, SHORTEST_POLL_MS), LONGEST_POLL_MS);
}
