/**
 * Judges calls as the Berkeley Function Calling Leaderboard does (its AST check): the right tools, each
 * required argument there, each argument one of the accepted values, none that was not asked for.
 */
import { isRecord, type Accepted, type Case } from './cases.ts';

export interface MadeCall {
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>> | null;
}

/** Strings are compared without case, spaces and the marks `,./-_*^`. */
const plain = (text: string): string => text.replaceAll(/[ ,./\-_*^]/g, '').toLowerCase();

const oneOf = (value: unknown, accepted: unknown): boolean =>
  (Array.isArray(accepted) ? accepted : [accepted]).some((one) => same(value, one));

function same(value: unknown, accepted: unknown): boolean {
  if (typeof value === 'string' && typeof accepted === 'string')
    return plain(value) === plain(accepted);
  if (typeof value === 'number' && typeof accepted === 'number')
    return Math.abs(value - accepted) < 1e-9;
  if (Array.isArray(value) && Array.isArray(accepted))
    return value.length === accepted.length && value.every((it, at) => same(it, accepted[at]));
  // The accepted values of an object are lists, one for each of its keys.
  if (isRecord(value) && isRecord(accepted)) return fits(value, accepted);
  return value === accepted;
}

function fits(
  args: Readonly<Record<string, unknown>>,
  accepted: Readonly<Record<string, unknown>>,
): boolean {
  const given = Object.entries(args).every(
    ([name, value]) => name in accepted && oneOf(value, accepted[name]),
  );
  const optional = (values: unknown): boolean =>
    (Array.isArray(values) ? values : [values]).includes('');
  return (
    given && Object.entries(accepted).every(([name, values]) => name in args || optional(values))
  );
}

const right = (call: MadeCall, wanted: { name: string; accepted: Accepted }): boolean =>
  call.name === wanted.name && call.args !== null && fits(call.args, wanted.accepted);

/** What came of a question; `error` where the model failed. */
export interface Outcome {
  readonly calls: readonly MadeCall[];
  readonly error?: string;
}

/** Whether the calls are exactly the wanted ones, in any order. A model that failed has not kept silent. */
export function isExact({ calls, error }: Outcome, { calls: wanted }: Case): boolean {
  if (error !== undefined || calls.length !== wanted.length) return false;
  const open = [...calls];
  return wanted.every((one) => {
    const at = open.findIndex((call) => right(call, one));
    if (at < 0) return false;
    open.splice(at, 1);
    return true;
  });
}

/** Whether the first call is of a tool that was wanted. */
export function isRightTool({ calls }: Outcome, { calls: wanted }: Case): boolean {
  const [first] = calls;
  return first !== undefined && wanted.some(({ name }) => name === first.name);
}
