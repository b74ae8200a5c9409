/** What every screen stands on: the theme, the history under sheets, the addresses. */
import { expect, onTestFinished, test } from 'vitest';
import { closeOverlays, pushOverlay } from '../../../src/ui/overlays.ts';
import { currentRoute, navigate, screenOf } from '../../../src/ui/router.ts';
import { keepTheme, recallTheme, showTheme } from '../../../src/ui/theme.ts';
import '../../../src/ui/theme.css';

const background = (): string => getComputedStyle(document.documentElement).backgroundColor;

test('the chosen theme is shown, kept, and recalled before the store is open', () => {
  onTestFinished(() => keepTheme('system'));
  showTheme('dark');
  const dark = background();
  showTheme('light');
  expect(background()).not.toBe(dark);
  keepTheme('dark');
  showTheme('system');
  recallTheme();
  expect(background()).toBe(dark);
});

test.each([
  ['/', { name: 'home' }],
  ['/c/abc', { name: 'conversation', id: 'abc' }],
  ['/servers', { name: 'servers' }],
  ['/servers/a%20b', { name: 'server', id: 'a b' }],
  ['/servers/%E0%A4%A', { name: 'server', id: '%E0%A4%A' }],
  ['/settings/', { name: 'settings' }],
  ['/share', { name: 'share' }],
  ['/c', { name: 'missing' }],
  ['/c/a/b', { name: 'missing' }],
  ['/nothing', { name: 'missing' }],
])('%s is the screen it names', (path, screen) => {
  expect(screenOf(path)).toEqual(screen);
});

test('back closes one overlay after the other and then leaves the screen', async () => {
  const home = location.pathname + location.search;
  onTestFinished(() => history.replaceState(null, '', home));
  navigate('/chats');
  expect(currentRoute().screen.name).toBe('chats');
  const closed: string[] = [];
  pushOverlay(() => closed.push('lower'));
  pushOverlay(() => closed.push('upper'));
  history.back();
  await expect.poll(() => closed).toEqual(['upper']);
  history.back();
  await expect.poll(() => closed).toEqual(['upper', 'lower']);
  expect(location.pathname).toBe('/chats');
  history.back();
  await expect.poll(() => location.pathname + location.search).toBe(home);
});

test('an overlay that closes by itself leaves nothing to go back through', async () => {
  const home = location.pathname + location.search;
  onTestFinished(() => history.replaceState(null, '', home));
  navigate('/chats');
  const release = pushOverlay(() => {});
  const travelled = new Promise((resolve) => addEventListener('popstate', resolve, { once: true }));
  release();
  // One follows at once: the history must not be one behind.
  const closed: string[] = [];
  pushOverlay(() => closed.push('second'));
  await travelled;
  await expect.poll(() => (history.state as { overlay?: number } | null)?.overlay).toBe(1);
  history.back();
  await expect.poll(() => closed).toEqual(['second']);
  expect(location.pathname).toBe('/chats');
});

test('going to another screen closes what lies on top first', async () => {
  const home = location.pathname + location.search;
  onTestFinished(() => history.replaceState(null, '', home));
  navigate('/chats');
  const closed: string[] = [];
  pushOverlay(() => closed.push('sheet'));
  navigate('/models');
  await expect.poll(() => location.pathname).toBe('/models');
  expect(closed).toEqual(['sheet']);
  history.back();
  await expect.poll(() => location.pathname).toBe('/chats');
  await new Promise<void>((resolve) => closeOverlays(resolve));
});
