/**
 * Which screen is shown, by path, with the History API. `currentRoute()` is reactive where Svelte
 * reads it; `navigate(path)` goes somewhere; links to our own paths need no handler.
 */
import { createSubscriber } from 'svelte/reactivity';
import { closeOverlays } from './overlays.ts';

export type Screen =
  /** `/`: goes on to the last conversation, or to the first run. */
  | { readonly name: 'home' }
  /** `/share`: words shared from another app. */
  | { readonly name: 'share' }
  /** `/welcome`: the first run. */
  | { readonly name: 'welcome' }
  /** `/c/:id`. */
  | { readonly name: 'conversation'; readonly id: string }
  | { readonly name: 'chats' }
  | { readonly name: 'models' }
  | { readonly name: 'servers' }
  /** `/servers/:id`. */
  | { readonly name: 'server'; readonly id: string }
  | { readonly name: 'settings' }
  /** `/settings/lock`: the app lock. */
  | { readonly name: 'lock' }
  | { readonly name: 'cloud' }
  | { readonly name: 'reminders' }
  /** `/actions`: the action log. */
  | { readonly name: 'actions' }
  /** `/oauth/callback`: where the sign-in with a server comes back to. */
  | { readonly name: 'sign-in' }
  | { readonly name: 'missing' };

export interface Route {
  readonly screen: Screen;
  readonly path: string;
  /** E.g. `?server=` (add this server), `?text=` (shared words), `?code=` (sign-in). */
  readonly query: URLSearchParams;
}

const PLAIN = [
  'share',
  'welcome',
  'chats',
  'models',
  'servers',
  'settings',
  'cloud',
  'reminders',
  'actions',
] as const;

/** The screen that a path names. */
export function screenOf(path: string): Screen {
  const [first, second, ...rest] = path.split('/').filter(Boolean).map(decode);
  if (first === undefined || (first === 'index.html' && second === undefined))
    return { name: 'home' };
  if (rest.length > 0) return { name: 'missing' };
  if (first === 'c' && second !== undefined) return { name: 'conversation', id: second };
  if (first === 'servers' && second !== undefined) return { name: 'server', id: second };
  if (first === 'settings' && second === 'lock') return { name: 'lock' };
  if (first === 'oauth' && second === 'callback') return { name: 'sign-in' };
  const plain = PLAIN.find((name) => name === first);
  return plain && second === undefined ? { name: plain } : { name: 'missing' };
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

function read(): Route {
  return {
    screen: screenOf(location.pathname),
    path: location.pathname,
    query: new URLSearchParams(location.search),
  };
}

let route = read();
let address = location.pathname + location.search;
let notify = (): void => {};
const subscribe = createSubscriber((update) => {
  notify = update;
  return () => (notify = () => {});
});

function arrived(): void {
  const now = location.pathname + location.search;
  if (now === address) return;
  address = now;
  route = read();
  notify();
}

addEventListener('popstate', arrived);

/** Where we are. Reactive in templates, deriveds and effects. */
export function currentRoute(): Route {
  subscribe();
  return route;
}

/** Goes to a path of ours, closing sheets first. `replace` leaves no way back to where we were. */
export function navigate(path: string, options: { replace?: boolean } = {}): void {
  closeOverlays(() => {
    const here = location.pathname + location.search;
    if (options.replace || path === here) history.replaceState(null, '', path);
    else history.pushState({ inside: true }, '', path);
    arrived();
  });
}

/** Goes back where we came from inside the app, else to `path`. */
export function goBack(path: string): void {
  const state: unknown = history.state;
  if (typeof state === 'object' && state !== null && 'inside' in state) history.back();
  else navigate(path, { replace: true });
}

/** Makes links to our own paths stay in the page; for one click listener on the document. */
export function followLink(event: MouseEvent): void {
  if (event.defaultPrevented || event.button !== 0) return;
  if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  const link = event.target instanceof Element ? event.target.closest('a') : null;
  if (!link?.href || link.target || link.hasAttribute('download')) return;
  const url = new URL(link.href);
  if (url.origin !== location.origin || screenOf(url.pathname).name === 'missing') return;
  event.preventDefault();
  if (link.dataset.back !== undefined) goBack(url.pathname);
  else navigate(url.pathname + url.search);
}
