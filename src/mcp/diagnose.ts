/**
 * Why fetch failed. Browsers say "Failed to fetch" of everything; this asks again in two ways that
 * need no permission, to tell a dead server from a live one that keeps web apps out, and reads what
 * the browser tells of its own rules. Node says the cause itself.
 */
import {
  cors,
  isLoopback,
  isPrivate,
  localNetwork,
  mixedContent,
  offline,
  unknownName,
  unreachable,
  unsafe,
  untold,
  type Peer,
} from './errors.ts';
import type { HostError } from './types.ts';

/** How long a live server may take to answer the question, in milliseconds. */
const PROBE_MS = 5_000;

/** In a page, where the same-origin policy holds. Node and workers of it know no such thing. */
export function isInPage(): boolean {
  return typeof document !== 'undefined';
}

/** `failure` is what fetch rejected with. */
export async function diagnose(
  peer: Peer,
  fetch: typeof globalThis.fetch,
  online: () => boolean,
  detail: string,
  failure?: unknown,
): Promise<HostError> {
  if (!online() && !isLoopback(peer.url)) return offline(peer);
  if (!isInPage()) return ofCause(peer, detail, causeOf(failure));
  if (peer.url.origin === location.origin) return unreachable(peer, detail);
  if (isMixed(peer.url)) return mixedContent(peer);
  if (isPrivate(peer.url) && (await isNetworkDenied(peer.url))) return localNetwork(peer);
  if (!(await answers(peer.url, fetch, 'no-cors'))) return untold(peer, detail);
  // It lives. A plain GET needs no leave to send headers: where that works, only these are missing.
  return cors(peer, (await answers(peer.url, fetch, 'cors')) ? 'headers' : 'none');
}

/** Node's code for why a request failed, e.g. `ENOTFOUND`; empty where there is none. */
export function causeOf(failure: unknown): string {
  const inner = failure instanceof Error ? (failure.cause as { code?: unknown } | undefined) : null;
  return String(inner?.code ?? '');
}

function ofCause(peer: Peer, detail: string, code: string): HostError {
  const known = code === '' ? detail : `${detail} (${code})`;
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return unknownName(peer, known);
  if (isHandshake(code)) return unsafe(peer, known);
  return unreachable(peer, known);
}

/** Codes of a certificate or a handshake that did not hold: nothing was sent. */
export function isHandshake(code: string): boolean {
  return /CERT|^ERR_TLS_|^ERR_SSL_|^UNABLE_TO_|^EPROTO$/.test(code);
}

/** Browsers let an https page fetch over http from the device itself and from the local network. */
function isMixed(url: URL): boolean {
  return location.protocol === 'https:' && url.protocol === 'http:' && !isPrivate(url);
}

/** Names of the permission over time (Local Network Access, 2.3); a browser knows some or none. */
function permissionsFor(url: URL): string[] {
  return isLoopback(url)
    ? ['loopback-network', 'local-network-access']
    : ['local-network', 'local-network-access'];
}

async function isNetworkDenied(url: URL): Promise<boolean> {
  for (const name of permissionsFor(url)) {
    try {
      const { state } = await navigator.permissions.query({ name: name as PermissionName });
      return state === 'denied';
    } catch {
      // This browser does not know it by that name.
    }
  }
  return false;
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
