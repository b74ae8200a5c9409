/**
 * The pull that renews a screen: a finger that drags its top down. Promise: it listens, and holds back
 * no scrolling; whatever scrolls inside the screen, and a sheet over it, is left alone.
 */

/** How far the content has to be pulled before letting go renews it, in CSS pixels. */
export const ENOUGH = 64;
/** It gives way ever less than the finger moves. */
const GIVES = 0.5;
const FARTHEST = 96;
/** A finger that moves less than this has not begun to pull, and sideways is no pull. */
const BEGINS = 8;

export interface PullEnds {
  /** How far it is pulled, from 0 to 96 pixels; 0 when it is let go. */
  readonly moved: (by: number) => void;
  /** It was let go far enough down. */
  readonly renew: () => void;
}

/** Listens on what scrolls the screen, until the function that it gives is called. */
export function listenForPull(scroller: HTMLElement, { moved, renew }: PullEnds): () => void {
  let from: { readonly x: number; readonly y: number } | null = null;
  let by = 0;

  function set(next: number): void {
    if (next === by) return;
    by = next;
    moved(by);
  }

  function stop(): void {
    from = null;
    set(0);
  }

  function start(event: TouchEvent): void {
    const [touch] = event.touches;
    const alone = touch !== undefined && event.touches.length === 1;
    from =
      alone && scroller.scrollTop <= 0 && isFree(event.target, scroller)
        ? { x: touch.clientX, y: touch.clientY }
        : null;
    if (!from) set(0);
  }

  function move(event: TouchEvent): void {
    const [touch] = event.touches;
    if (!from || !touch) return;
    const [across, down] = [touch.clientX - from.x, touch.clientY - from.y];
    const isSideways = by === 0 && Math.abs(across) > Math.max(BEGINS, Math.abs(down));
    // The screen scrolled: the finger began to push up first.
    if (isSideways || scroller.scrollTop > 0 || event.touches.length > 1) stop();
    else set(down < BEGINS ? 0 : Math.min(FARTHEST, (down - BEGINS) * GIVES));
  }

  function end(): void {
    const isEnough = from !== null && by >= ENOUGH;
    stop();
    if (isEnough) renew();
  }

  const events = { touchstart: start, touchmove: move, touchend: end, touchcancel: stop };
  const all = Object.entries(events) as [keyof typeof events, (event: TouchEvent) => void][];
  for (const [name, listener] of all) scroller.addEventListener(name, listener, { passive: true });
  return () => {
    for (const [name, listener] of all) scroller.removeEventListener(name, listener);
  };
}

/** Nothing between the finger and the screen wants the drag for itself. */
function isFree(target: EventTarget | null, scroller: HTMLElement): boolean {
  let element = target instanceof Element ? target : null;
  for (; element && element !== scroller; element = element.parentElement) {
    if (element.matches('dialog, input, textarea, select')) return false;
    if (element.scrollTop > 0) return false;
  }
  return true;
}
