/**
 * Keeps the screen on while something runs that stops with the page (Screen Wake Lock, W3C). Where the
 * browser has no such lock, or denies it, nothing happens: it is a help, not a need.
 */

/** Starts to keep it on; gives a function that ends that. */
export function stayAwake(): () => void {
  let ended = false;
  let sentinel: WakeLockSentinel | null = null;

  async function hold(): Promise<void> {
    if (ended || document.visibilityState !== 'visible' || !('wakeLock' in navigator)) return;
    const held = await navigator.wakeLock.request('screen').catch(() => null);
    sentinel = held;
    // It came too late to be of use.
    if (ended) void held?.release();
  }

  // The browser takes the lock away from a page that is hidden.
  const again = (): void => void hold();
  document.addEventListener('visibilitychange', again);
  void hold();
  return () => {
    ended = true;
    document.removeEventListener('visibilitychange', again);
    void sentinel?.release().catch(() => undefined);
  };
}
