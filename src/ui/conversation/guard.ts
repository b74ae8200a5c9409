/** A yes sooner than this after a question came into sight, in milliseconds, is a tap meant for something else. */
export const GUARD = 500;

/** Says whether a yes counts already. Made when the question comes into sight. */
export function tapGuard(): () => boolean {
  const shownAt = performance.now();
  return () => performance.now() - shownAt >= GUARD;
}
