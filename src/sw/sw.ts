/**
 * The service worker: keeps the app's own files, and takes in what is downloaded while the app is closed.
 *
 * Promises: after one visit every route opens without a network; big files (the engines) are kept
 * once they were fetched, through updates as well; weights, other origins and anything
 * but GET are never touched; a new version waits until the person agrees to it.
 */
import { arrived, clicked, open, stopped, type Surroundings } from './arrivals.ts';
import type { BackgroundFetchEvent } from './background.ts';
import type { WorkerMessage } from './messages.ts';
import { route, successors, type Build } from './routes.ts';

declare const self: ServiceWorkerGlobalScope;
/** Written in by the build. */
declare const __BUILD__: Build;

const BUILD = __BUILD__;
const SHELL = `shell-${BUILD.version}`;
/** Big files, of every build that may still be open; names hold a hash, so they never clash. */
const LAZY = 'lazy';
const SHELL_PREFIX = 'shell-';

/** A response that may be kept: a page in place of a missing script must never be. */
function sound(path: string, response: Response): boolean {
  const html = response.headers.get('Content-Type')?.startsWith('text/html') ?? false;
  return response.ok && response.type === 'basic' && (path === '/' || !html);
}

async function fetchInto(cache: Cache, path: string, mode: RequestCache): Promise<void> {
  const response = await fetch(path, { cache: mode });
  if (!sound(path, response)) throw new Error(`${path}: ${response.status}`);
  await cache.put(path, response);
}

/** Hashed files of an older shell are taken over; the rest comes fresh from the network. */
async function fillShell(): Promise<void> {
  const cache = await caches.open(SHELL);
  await Promise.all(
    BUILD.shell.map(async (path) => {
      const old = path.startsWith('/assets/') ? await caches.match(path) : undefined;
      if (old) await cache.put(path, old);
      else await fetchInto(cache, path, path.startsWith('/assets/') ? 'default' : 'reload');
    }),
  );
}

const keptPaths = async (): Promise<string[]> =>
  (await (await caches.open(LAZY)).keys()).map((request) => new URL(request.url).pathname);

async function install(): Promise<void> {
  await fillShell();
  // What worked without a network before the update works after it, or there is no update.
  const cache = await caches.open(LAZY);
  for (const path of successors(BUILD.lazy, await keptPaths()))
    await fetchInto(cache, path, 'default');
}

async function activate(): Promise<void> {
  for (const name of await caches.keys())
    if (name.startsWith(SHELL_PREFIX) && name !== SHELL) await caches.delete(name);
  const cache = await caches.open(LAZY);
  for (const path of await keptPaths()) if (!BUILD.lazy.includes(path)) await cache.delete(path);
  await self.clients.claim();
}

async function fromShell(path: string, request: Request): Promise<Response> {
  const cache = await caches.open(SHELL);
  return (await cache.match(path)) ?? fetch(request);
}

async function fromLazy(path: string, event: FetchEvent): Promise<Response> {
  const cache = await caches.open(LAZY);
  const kept = await cache.match(path);
  if (kept) return kept;
  const response = await fetch(event.request);
  if (sound(path, response)) {
    // No room is no reason to fail: the file is used now and fetched again next time.
    event.waitUntil(cache.put(path, response.clone()).catch(() => undefined));
  }
  return response;
}

const around: Surroundings = {
  origin: self.location.origin,
  pages: () => self.clients.matchAll({ type: 'window', includeUncontrolled: true }),
  openWindow: (url) => self.clients.openWindow(url),
  mayNotify: () => Notification.permission === 'granted',
  notify: (title, options) => self.registration.showNotification(title, options),
};

/** TypeScript's library does not know the events of Background Fetch. */
function onBackground(type: string, handle: (event: BackgroundFetchEvent) => Promise<void>): void {
  self.addEventListener(type as 'install', (event) => {
    event.waitUntil(handle(event as unknown as BackgroundFetchEvent));
  });
}

onBackground('backgroundfetchsuccess', (event) => arrived(event, true, around));
onBackground('backgroundfetchfail', (event) => arrived(event, false, around));
onBackground('backgroundfetchabort', ({ registration }) => stopped(registration, around));
onBackground('backgroundfetchclick', () => open('/models', around));

self.addEventListener('install', (event) => event.waitUntil(install()));
self.addEventListener('activate', (event) => event.waitUntil(activate()));

self.addEventListener('fetch', (event) => {
  const found = route(event.request, self.location.origin, BUILD);
  if (found.from === 'page') event.respondWith(fromShell('/', event.request));
  else if (found.from === 'shell') event.respondWith(fromShell(found.path, event.request));
  else if (found.from === 'lazy') event.respondWith(fromLazy(found.path, event));
});

self.addEventListener('message', (event) => {
  const { type } = event.data as WorkerMessage;
  if (type === 'skip-waiting') event.waitUntil(self.skipWaiting());
  if (type === 'claim') event.waitUntil(self.clients.claim());
});

self.addEventListener('notificationclick', (event) => {
  event.waitUntil(clicked(event.notification, around));
});
