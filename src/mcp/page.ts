/** Whether anybody can see this page. A hidden one keeps no connections, so that the phone may rest. */

export interface Page {
  hidden(): boolean;
  /** Called when the page is hidden or frozen, and when it is shown again. */
  subscribe(listener: () => void): () => void;
}

/** The page that this code runs in; without one (a worker, Node), always visible. */
export function thisPage(): Page {
  const page = (globalThis as { document?: Document }).document;
  if (!page) return { hidden: () => false, subscribe: () => () => undefined };
  let frozen = false;
  return {
    hidden: () => frozen || page.visibilityState === 'hidden',
    subscribe(listener) {
      const onFreeze = () => {
        frozen = true;
        listener();
      };
      const onChange = () => {
        frozen = false;
        listener();
      };
      // Page Lifecycle: a page may be frozen without being hidden first, and is resumed like that.
      page.addEventListener('freeze', onFreeze);
      page.addEventListener('resume', onChange);
      page.addEventListener('visibilitychange', onChange);
      return () => {
        page.removeEventListener('freeze', onFreeze);
        page.removeEventListener('resume', onChange);
        page.removeEventListener('visibilitychange', onChange);
      };
    },
  };
}

/** A hidden page draws no frames, and Node has none. */
const WITHOUT_FRAMES_MS = 250;

/** Does `work` with the next frame; what it gives takes that back. */
export function soon(work: () => void): () => void {
  const once = (): void => {
    forget();
    work();
  };
  const timer = setTimeout(once, WITHOUT_FRAMES_MS);
  const frame = globalThis.requestAnimationFrame?.(once);
  const forget = (): void => {
    clearTimeout(timer);
    if (frame !== undefined) cancelAnimationFrame(frame);
  };
  return forget;
}
