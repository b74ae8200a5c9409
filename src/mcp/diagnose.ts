/**
 * Why fetch failed. Browsers say "Failed to fetch" of everything; this asks again in two ways that
 * need no permission, to tell a dead server from a live one that keeps web apps out.
 */
import { cors, offline, unreachable, type Peer } from './errors.ts';
import type { HostError } from './types.ts';

/** How long a live server may take to answer the question, in milliseconds. */
const PROBE_MS = 5_000;

/** In a page, where the same-origin policy holds. Node and workers of it know no such thing. */
export function isInPage(): boolean {
  return typeof document !== 'undefined';
}

export async function diagnose(
  peer: Peer,
  fetch: typeof globalThis.fetch,
  online: () => boolean,
  detail: string,
): Promise<HostError> {
  if (!online()) return offline(peer);
  if (!isInPage() || peer.url.origin === location.origin) return unreachable(peer, detail);
  if (!(await answers(peer.url, fetch, 'no-cors'))) return unreachable(peer, detail);
  // It lives. A plain GET needs no leave to send headers: where that works, only these are missing.
  return cors(peer, (await answers(peer.url, fetch, 'cors')) ? 'headers' : 'none');
}

async function answers(
  url: URL,
  fetch: typeof globalThis.fetch,
  mode: 'cors' | 'no-cors',
): Promise<boolean> {
  const abort = new AbortController();
  const timer = setTimeout(() => abort.abort(), PROBE_MS);
  try {
    await fetch(url, { mode, credentials: 'omit', cache: 'no-store', signal: abort.signal });
    return true;
  } catch {
    return false;
  } finally {
    clearTimeout(timer);
    // A GET may have opened a stream that never ends.
    abort.abort();
  }
}
