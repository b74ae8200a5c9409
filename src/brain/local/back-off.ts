/** How long a failed request waits before it is made again. */

/** No wait is longer than this, in milliseconds. */
const LONGEST = 60_000;

/**
 * Milliseconds before the attempt after `failed` failed ones: doubled each time, and between half and
 * all of it by chance, so that many phones do not come back to a host at the same moment.
 */
export function backOff(
  failed: number,
  firstMs: number,
  random: () => number = Math.random,
): number {
  const whole = Math.min(LONGEST, firstMs * 2 ** (failed - 1));
  return whole / 2 + (random() * whole) / 2;
}

/**
 * Milliseconds that a `Retry-After` header asks to wait: seconds or a date (RFC 9110, section 10.2.3).
 * Undefined where there is none or it cannot be read.
 */
export function retryAfter(header: string | null, now: number): number | undefined {
  if (header === null) return undefined;
  if (/^\s*\d+\s*$/.test(header)) return Number(header) * 1000;
  const date = Date.parse(header);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}
