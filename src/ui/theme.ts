/**
 * Light or dark: what the person chose, else what the system says. The choice is in the settings; a
 * copy lies where it can be read before the store is open, so that the page never flashes.
 */
import type { Settings } from '../store/records.ts';

type Theme = Settings['theme'];

const COPY = 'deft-theme';
/** Colours of the browser's own bars; those of --bg in theme.css. */
const BARS = { light: '#faf9f7', dark: '#131312' };

/** Puts the theme on the page. */
export function showTheme(theme: Theme): void {
  const { documentElement: root } = document;
  if (theme === 'system') delete root.dataset.theme;
  else root.dataset.theme = theme;
  for (const bar of document.querySelectorAll<HTMLMetaElement>('meta[name="theme-color"]')) {
    const own = bar.media.includes('dark') ? 'dark' : 'light';
    bar.content = BARS[theme === 'system' ? own : theme];
  }
}

/** Shows the theme of the settings and keeps it for the next start. */
export function keepTheme(theme: Theme): void {
  showTheme(theme);
  try {
    localStorage.setItem(COPY, theme);
  } catch {
    // Without the copy the next start shows the system's theme for a moment.
  }
}

/** Shows the theme of the last visit; to be called before anything is drawn. */
export function recallTheme(): void {
  try {
    const theme = localStorage.getItem(COPY);
    if (theme === 'light' || theme === 'dark') showTheme(theme);
  } catch {
    // Storage is refused: the system's theme it is.
  }
}
