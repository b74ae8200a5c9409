/**
 * Back closes what lies on top. Every open overlay (sheet, menu) stands for one history entry at the
 * same address, marked with its depth; the history follows the stack and never the other way round,
 * so opening, closing and navigating may happen in any order.
 */

/** Called when the person goes back, or leaves for another screen: the overlay is to close itself. */
type Close = (why: 'back' | 'left') => void;

const stack: Close[] = [];
const waiting: (() => void)[] = [];
let travelling = false;

/** The depth that the current history entry stands for. */
function depth(): number {
  const state: unknown = history.state;
  return typeof state === 'object' && state !== null && 'overlay' in state
    ? Number(state.overlay) || 0
    : 0;
}

function settle(): void {
  if (travelling) return;
  while (depth() < stack.length) history.pushState({ overlay: depth() + 1 }, '');
  if (depth() > stack.length) {
    // Answered by a popstate, after which we come back here.
    travelling = true;
    history.go(stack.length - depth());
    return;
  }
  for (const run of waiting.splice(0)) run();
}

addEventListener('popstate', () => {
  if (travelling) travelling = false;
  else while (stack.length > depth()) stack.pop()?.('back');
  settle();
});

/** Puts an overlay on top. Returns what takes it away again when it closes by itself. */
export function pushOverlay(close: Close): () => void {
  stack.push(close);
  settle();
  return () => {
    const index = stack.indexOf(close);
    if (index < 0) return;
    stack.splice(index, 1);
    settle();
  };
}

/** Closes all overlays; `then` runs once the history stands where it stood before them. */
export function closeOverlays(then: () => void): void {
  while (stack.length > 0) stack.pop()?.('left');
  waiting.push(then);
  settle();
}
