/** A server's log as rows, newest first. Pure. */
import type { ServerLogEntry } from '../../mcp/types.ts';

export interface LogRow {
  /** Stays the same while newer lines come in. */
  readonly key: string;
  readonly level: string;
  readonly tone: 'quiet' | 'warn' | 'danger';
  /** Time of day, in the phone's own way. */
  readonly time: string;
  readonly logger?: string;
  readonly text: string;
}

/** How loud a level of RFC 5424 is; one that a server made up is quiet. */
function toneOf(level: string): LogRow['tone'] {
  if (['error', 'critical', 'alert', 'emergency'].includes(level)) return 'danger';
  return level === 'warning' ? 'warn' : 'quiet';
}

export function logRows(log: readonly ServerLogEntry[]): LogRow[] {
  const seen = new Map<number, number>();
  const rows = [...log]
    .sort((a, b) => a.at - b.at)
    .map(({ at, level, logger, text }) => {
      const same = seen.get(at) ?? 0;
      seen.set(at, same + 1);
      const time = new Date(at).toLocaleTimeString([], { timeStyle: 'medium' });
      return { key: `${at} ${same}`, level, tone: toneOf(level), time, logger, text };
    });
  return rows.reverse();
}
