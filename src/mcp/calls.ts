/**
 * Calls of tools. Promises: a call that may have changed something is never sent twice; only a
 * transport's failure of a safe call is tried again, at most twice; a call ends in exactly one
 * outcome and never throws.
 */
import type { Outcome, ServerRecord } from '../store/records.ts';
import type { CallEnd, Connection, Opened } from './connection-types.ts';
import { behind, type Lives } from './lives.ts';
import { failed, isPassing, isUnknownTool, outcomeOf, stopped, unavailable } from './outcomes.ts';
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
}

export function createCalls(options: CallsOptions): Pick<ToolCaller, 'callTool' | 'resumeTask'> {
  const { lives, recordOf, isLocal, now, random, onUnknownTool } = options;

  /** A connection for a call; before a write, one that is known to be alive. */
  async function connectFor(record: ServerRecord, safe: boolean): Promise<Opened> {
    const connection = lives.current(record.id);
    const silent = connection && now() - connection.heardAt() > SILENT_MS;
    if (silent && !safe && !isLocal(record.id) && !(await connection.knock()))
      await lives.drop(record.id);
    return lives.connect(record);
  }

  /** Sends until it ended; `send` is done again only where that changes nothing. */
  async function run(
    tool: Tool,
    safe: boolean,
    signal: AbortSignal,
    watch: CallWatch,
    send: (connection: Connection, watch: CallWatch) => Promise<CallEnd>,
  ): Promise<Outcome> {
    const record = await recordOf(tool.server);
    if (!record)
      return unavailable('removed', `${tool.serverName} was removed.`, 'Add the server again.');
    if (!record.enabled)
      return unavailable('disabled', `${record.name} is turned off.`, 'Turn the server on again.');
    let attempts = 0;
    let sessions = 0;
    for (;;) {
      const opened = await unlessAborted(connectFor(record, safe), signal);
      if (opened === 'aborted') return stopped(false);
      if (!opened.ok) return failed(opened.error);
      const { connection } = opened;
      const progress: CallWatch['progress'] = (report) => {
        // A long call is a use of the connection all the while.
        lives.touch(tool.server);
        watch.progress?.(report);
      };
      const end = await lives.during(tool.server, () => send(connection, { ...watch, progress }));
      lives.touch(tool.server);
      if (end.kind === 'lost' || end.kind === 'session-gone') await lives.drop(tool.server);
      if (end.kind === 'session-gone' && sessions < 1) {
        sessions += 1;
        continue;
      }
      const pause = RETRY_PAUSES_MS[attempts];
      if (end.kind === 'lost' && safe && pause !== undefined && isPassing(end.error)) {
        attempts += 1;
        const jittered = sleep(pause * (0.5 + random()));
        if ((await unlessAborted(jittered, signal)) === 'aborted') return stopped(false);
        continue;
      }
      if (isUnknownTool(end)) onUnknownTool(tool.server);
      return outcomeOf(end, record.name, safe);
    }
  }

  return {
    callTool: (tool, args, signal, watch = {}) =>
      run(tool, tool.readOnly || tool.idempotent, signal, watch, (connection, told) =>
        connection.call(tool, args, signal, told),
      ),

    // To wait for a task changes nothing, whatever the call that began it does.
    resumeTask: (tool, task, signal, watch = {}) =>
      run(tool, true, signal, watch, (connection, told) =>
        connection.resumeTask(tool, task, signal, told),
      ),
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
