/** The action log as it is shown: one entry a call, in words. */
import type { ActionEntry } from '../../store/records.ts';

/** The newest line of each call, the newest call first. */
export function latest(lines: readonly ActionEntry[]): ActionEntry[] {
  const calls = new Map<string, ActionEntry>();
  for (const line of lines) {
    const known = calls.get(line.callId);
    if (!known || known.seq < line.seq) calls.set(line.callId, line);
  }
  return [...calls.values()].sort((a, b) => b.seq - a.seq);
}

const OUTCOMES: Readonly<Record<string, string>> = {
  result: 'Done',
  tool_error: 'The tool reported an error',
  unavailable: 'Not run',
  timeout: 'No answer in time',
  unknown: 'Outcome unknown',
  denied: 'You said no',
  refused: 'Not allowed',
};

/** How a call ended. */
export const ending = ({ event, outcome = '' }: ActionEntry): string =>
  event === 'sent' ? 'Sent; how it ended is not noted' : (OUTCOMES[outcome] ?? outcome);

/** How a call is marked. */
export function tone({ event, outcome }: ActionEntry): 'quiet' | 'warn' | 'danger' {
  if (event === 'sent' || outcome === 'unknown' || outcome === 'timeout') return 'warn';
  return outcome === 'result' ? 'quiet' : 'danger';
}

const SCOPES: Readonly<Record<string, string>> = {
  once: 'this time',
  conversation: 'in that conversation',
  always: 'always',
};

/** Who decided, as a sentence. */
export function decided({ decision }: ActionEntry): string {
  const { by, allowed, scope = '', why = '' } = decision;
  if (by === 'person') {
    const reach = SCOPES[scope] ?? scope;
    return `You ${allowed ? 'allowed it' : 'said no'}${reach ? `, ${reach}` : ''}.${why ? ` ${why}` : ''}`;
  }
  return why || (allowed ? 'A rule let it run.' : 'A rule kept it from running.');
}

/** E.g. `0.4 s`; empty where it never ran. */
export const took = ({ ms }: ActionEntry): string =>
  ms === undefined ? '' : `${(ms / 1000).toFixed(ms < 10_000 ? 1 : 0)} s`;
