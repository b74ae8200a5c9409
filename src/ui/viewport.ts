/** The window as the screens see it: wide or narrow, and how much of it a keyboard covers. */
import { createSubscriber } from 'svelte/reactivity';

const query = matchMedia('(min-width: 56.25rem)');
const subscribe = createSubscriber((update) => {
  query.addEventListener('change', update);
  return () => query.removeEventListener('change', update);
});

/** At least 900 px: there is room for the side rail. Reactive. */
export function wide(): boolean {
  subscribe();
  return query.matches;
}

/**
 * Keeps `--keyboard` at the height that an on-screen keyboard covers, for browsers that lay it over
 * the page in spite of `interactive-widget=resizes-content`. Returns how to stop.
 */
export function followKeyboard(): (() => void) | undefined {
  const viewport = window.visualViewport;
  if (!viewport) return undefined;
  const measure = (): void => {
    // A page zoomed in by fingers is no keyboard.
    const covered = viewport.scale > 1.01 ? 0 : innerHeight - viewport.height - viewport.offsetTop;
    document.documentElement.style.setProperty(
      '--keyboard',
      `${Math.max(0, Math.round(covered))}px`,
    );
  };
  viewport.addEventListener('resize', measure);
  viewport.addEventListener('scroll', measure);
  return () => {
    viewport.removeEventListener('resize', measure);
    viewport.removeEventListener('scroll', measure);
  };
}
