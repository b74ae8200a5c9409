/**
 * Calls of tools. Promises: a call that may have changed something is never sent twice; only a
 * transport's failure of a safe call is tried again, at most twice; a call that became a task is
 * waited for anew and not sent again; a call ends in exactly one outcome and never throws.
 */
import type { Outcome, ServerRecord } from '../store/records.ts';
import type { Opened } from './connection-types.ts';
import { internal } from './errors.ts';
import { behind, type Lives } from './lives.ts';
import {
  failed,
  isPassing,
  isUnknownTool,
  outcomeOf,
  stopped,
  unavailable,
  unknown,
} from './outcomes.ts';
import type { CallWatch, Tool, ToolCaller } from './types.ts';

/** A connection silent for longer than this is tried before something is written through it. */
const SILENT_MS = 5_000;
/** Pauses before a safe call is sent again, before chance makes each a half longer or shorter. */
const RETRY_PAUSES_MS = [300, 1_000];

export interface CallsOptions {
  readonly lives: Lives;
  readonly recordOf: (id: string) => Promise<ServerRecord | undefined>;
  readonly isLocal: (id: string) => boolean;
  readonly now: () => number;
  /** From 0 up to 1: keeps clients that failed together from coming back together. */
  readonly random: () => number;
  /** The stored list of this server is out of date. */
  readonly onUnknownTool: (id: string) => void;
  /** The server speaks another era than was found out. */
  readonly forgetEra: (id: string) => Promise<void>;
}

export function createCalls(options: CallsOptions): Pick<ToolCaller, 'callTool' | 'resumeTask'> {
  const { lives, recordOf, isLocal, now, random, onUnknownTool, forgetEra } = options;

  /** A connection for a call; before a write, one that is known to be alive. */
  async function connectFor(record: ServerRecord, safe: boolean): Promise<Opened> {
    const connection = lives.current(record.id);
    const silent = connection && now() - connection.heardAt() > SILENT_MS;
    if (silent && !safe && !isLocal(record.id) && !(await connection.knock()))
      await lives.retire(record.id, connection);
    return lives.connect(record);
  }

  /** Sends until it ended, or waits for the task that it became. */
  async function run(
    tool: Tool,
    args: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
    watch: CallWatch,
    begun?: string,
  ): Promise<Outcome> {
    const safe = tool.readOnly || tool.idempotent;
    const made: { task?: string } = begun === undefined ? {} : { task: begun };
    const told: CallWatch = {
      progress(report) {
        // A long call is a use of the connection all the while.
        lives.touch(tool.server);
        watch.progress?.(report);
      },
      task(id) {
        made.task = id;
        watch.task?.(id);
      },
    };
    /** To wait for a task changes nothing, whatever the call that began it does. */
    const mayRepeat = () => safe || made.task !== undefined;
    const mayHaveRun = () => !safe && made.task !== undefined;
    /** A write that began its work is not undone by what happens to the wait for it. */
    const ended = (outcome: Outcome) =>
      outcome.kind === 'unavailable' && mayHaveRun()
        ? unknown(outcome.message, outcome.detail)
        : outcome;
    let attempts = 0;
    let sessions = 0;
    let eras = 0;
    for (;;) {
      // Each time: it may have been removed or paused since.
      const record = await recordOf(tool.server).catch((cause: unknown) => internal(String(cause)));
      if (record && 'code' in record) return ended(failed(record));
      if (!record)
        return ended(
          unavailable('removed', `${tool.serverName} was removed.`, 'Add the server again.'),
        );
      if (!record.enabled)
        return ended(
          unavailable('disabled', `${record.name} is turned off.`, 'Turn the server on again.'),
        );
      const opened = await unlessAborted(connectFor(record, mayRepeat()), signal);
      if (opened === 'aborted') return stopped(mayHaveRun());
      if (!opened.ok) return ended(failed(opened.error));
      const { connection } = opened;
      const { task } = made;
      const end = await lives.during(tool.server, () =>
        task === undefined
          ? connection.call(tool, args, signal, told)
          : connection.resumeTask(tool, task, signal, told),
      );
      lives.touch(tool.server);
      if (end.kind === 'lost' || end.kind === 'session-gone')
        await lives.retire(tool.server, connection);
      if (end.kind === 'session-gone' && sessions < 1) {
        sessions += 1;
        continue;
      }
      if (end.kind === 'era-gone') {
        await forgetEra(tool.server).catch(() => undefined);
        await lives.retire(tool.server, connection);
        // Refused for its revision, it certainly did not run.
        const mayGoOn = end.ran === 'no' || mayRepeat();
        if (mayGoOn && eras < 1) {
          eras += 1;
          continue;
        }
      }
      const pause = RETRY_PAUSES_MS[attempts];
      const isLost = end.kind === 'lost' && (isPassing(end.error) || end.sessionGone === true);
      if (isLost && mayRepeat() && pause !== undefined) {
        attempts += 1;
        const jittered = sleep(pause * (0.5 + random()));
        if ((await unlessAborted(jittered, signal)) === 'aborted') return stopped(mayHaveRun());
        continue;
      }
      if (isUnknownTool(end)) onUnknownTool(tool.server);
      return ended(outcomeOf(end, record.name, safe));
    }
  }

  return {
    callTool: (tool, args, signal, watch = {}) => run(tool, args, signal, watch),
    resumeTask: (tool, task, signal, watch = {}) => run(tool, {}, signal, watch, task),
  };
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** The promise's value, or 'aborted' as soon as the signal says so. */
async function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T | 'aborted'> {
  if (signal.aborted) {
    behind(promise);
    return 'aborted';
  }
  let onAbort = () => {};
  const aborted = new Promise<'aborted'>((resolve) => {
    onAbort = () => resolve('aborted');
    signal.addEventListener('abort', onAbort, { once: true });
  });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
