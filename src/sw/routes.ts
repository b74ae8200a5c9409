/** Which request the service worker answers, and from where. Pure, so that it is tested on Node. */

/** What one build consists of; the build writes it into the worker. */
export interface Build {
  /** Fingerprint of all of it: a new one means a new shell cache. */
  readonly version: string;
  /** Paths fetched at installation; `/` is the page itself. */
  readonly shell: readonly string[];
  /** Big files, fetched when first used. */
  readonly lazy: readonly string[];
}

export type Route =
  /** Not ours: the network answers. */
  | { readonly from: 'network' }
  /** The page, whatever the address: the app's own router reads it. */
  | { readonly from: 'page' }
  /** A file of the shell, by its path. */
  | { readonly from: 'shell'; readonly path: string }
  /** A big file: kept once it has been fetched. */
  | { readonly from: 'lazy'; readonly path: string };

/** Weights are the engines' own business, and the demo's address is asked for each time. */
const NEVER = /^\/(models\/|demo\.json$|sw\.js$)/;
const FILE = /\/[^/]*\.[^/]+$/;

export function route(
  request: { readonly method: string; readonly url: string; readonly mode: string },
  origin: string,
  build: Build,
): Route {
  const url = new URL(request.url);
  const path = url.pathname;
  if (request.method !== 'GET' || url.origin !== origin || NEVER.test(path))
    return { from: 'network' };
  if (path !== '/' && build.shell.includes(path)) return { from: 'shell', path };
  if (build.lazy.includes(path)) return { from: 'lazy', path };
  if (request.mode === 'navigate' && !FILE.test(path)) return { from: 'page' };
  return { from: 'network' };
}

/** The name of a built file without its hash: `/assets/webllm-BX3_a9.js` → `webllm`. */
export function stem(path: string): string {
  const file = path.slice(path.lastIndexOf('/') + 1);
  return file.replace(/-[\w-]{8}\.\w+$/, '').replace(/\.\w+$/, '');
}

/** Which big files of this build take the place of those kept from the build before. */
export function successors(lazy: readonly string[], kept: readonly string[]): string[] {
  const stems = new Set(kept.map(stem));
  return lazy.filter((path) => stems.has(stem(path)) && !kept.includes(path));
}
