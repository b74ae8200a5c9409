/** What there is to report of a call that failed. */
import type { Reported } from '../../mcp/report.ts';
import type { Outcome } from '../../store/records.ts';

/** What a stored outcome tells of a call that failed; null: it did not, or the tool itself said so. */
export function reportedOf(outcome: Outcome): Reported | null {
  if (outcome.kind === 'result') return null;
  const { seen, text } = outcome.detail ?? {};
  const more = { ...(seen ? { seen } : {}), ...(text === undefined ? {} : { detail: text }) };
  if (outcome.kind === 'tool_error') {
    const said = String(outcome.content[0]?.text ?? '').slice(0, 300);
    return outcome.detail ? { message: said, advice: '', code: 'tool_error', ...more } : null;
  }
  const { message, advice } = outcome;
  const code = 'code' in outcome ? outcome.code : outcome.kind;
  return { message, advice, code, ...more };
}
