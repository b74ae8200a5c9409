/**
 * The page's side of the service worker: registers it and hears of updates.
 *
 * Promises: an update is never taken without the person's yes; the tab in which they said it loads
 * the new version, other tabs go on with the old one and offer to reload. What is typed is in the
 * store already, so a reload loses nothing.
 */
import type { WorkerMessage } from '../../sw/messages.ts';

/** `offered`: a new version waits · `taken`: another tab took it, this one still runs the old one. */
export type UpdateState = 'none' | 'offered' | 'taken';

type Listener = (state: UpdateState) => void;

const CHECK_EVERY_MS = 60 * 60_000;

const listeners = new Set<Listener>();
let state: UpdateState = 'none';
let registration: ServiceWorkerRegistration | null = null;
let agreed = false;

function become(next: UpdateState): void {
  state = next;
  for (const listener of listeners) listener(state);
}

/** Trusted Types, where the browser has them; typed here, as TypeScript's own library is not yet. */
interface TrustedTypes {
  createPolicy(
    name: string,
    rules: { createScriptURL(url: string): string },
  ): { createScriptURL(url: string): string };
}

/** The one address that may become a service worker. */
function workerUrl(): string {
  const types = (globalThis as { trustedTypes?: TrustedTypes }).trustedTypes;
  const rules = {
    createScriptURL(url: string): string {
      if (url === '/sw.js') return url;
      throw new TypeError('Only /sw.js may be the service worker.');
    },
  };
  return types ? types.createPolicy('sw-url', rules).createScriptURL('/sw.js') : '/sw.js';
}

function watch(found: ServiceWorkerRegistration): void {
  const offer = (): void => {
    // Without a controller it is the first visit: nothing older is open.
    if (found.waiting && navigator.serviceWorker.controller) become('offered');
  };
  offer();
  found.addEventListener('updatefound', () => {
    found.installing?.addEventListener('statechange', offer);
  });

  let checkedAt = Date.now();
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState !== 'visible' || Date.now() - checkedAt < CHECK_EVERY_MS) return;
    checkedAt = Date.now();
    found.update().catch(() => undefined);
  });
}

/** Registers the worker; does nothing where there is none (an old browser, plain http). */
export async function registerServiceWorker(): Promise<void> {
  if (!('serviceWorker' in navigator)) return;
  let controlled = navigator.serviceWorker.controller !== null;
  navigator.serviceWorker.addEventListener('controllerchange', () => {
    if (!controlled) controlled = true;
    else if (agreed) location.reload();
    else become('taken');
  });
  // A chunk of a version that another tab has replaced: the new version has what it needs.
  addEventListener('vite:preloadError', () => {
    if (state === 'taken') location.reload();
  });
  try {
    registration = await navigator.serviceWorker.register(workerUrl());
  } catch {
    // Offline at the very first visit, or storage is full: the app works, without being kept.
    return;
  }
  watch(registration);
  // A forced reload goes past the worker; without it an engine fetched now would not be kept.
  if (!controlled) registration.active?.postMessage({ type: 'claim' } satisfies WorkerMessage);
}

/** Calls back at once and after every change. Returns what ends it. */
export function onUpdate(listener: Listener): () => void {
  listeners.add(listener);
  listener(state);
  return () => listeners.delete(listener);
}

/** The person said yes: the new version takes over and this tab loads it. */
export function takeUpdate(): void {
  if (state === 'taken' || !registration?.waiting) {
    location.reload();
    return;
  }
  agreed = true;
  registration.waiting.postMessage({ type: 'skip-waiting' } satisfies WorkerMessage);
}
