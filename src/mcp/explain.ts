/**
 * Tells the faults of a connection apart: by what the SDK threw, and by how the last exchange went.
 * Promise: each comes with whether what was asked may have taken effect.
 */
import {
  InsufficientScopeError,
  ProtocolError,
  ProtocolErrorCode,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  UnauthorizedError,
} from '@modelcontextprotocol/client';
import { redact } from '../store/redact.ts';
import { SignInFault } from './auth/types.ts';
import { causeOf, diagnose, isHandshake, isInPage } from './diagnose.ts';
import {
  brokenJson,
  cors,
  internal,
  notMcp,
  ofStatus,
  protocol,
  redirects,
  silent,
  timeout,
  tooLarge,
  unreachable,
  unverified,
  webPage,
  wrongEra,
  type Peer,
} from './errors.ts';
import type { Seen } from '../store/records.ts';
import type { HostError } from './types.ts';
import type { Era } from './connection-types.ts';
import type { Exchange, Seeing } from './wire.ts';

/** Marks the answer that stands in for one that never came. */
export const LOST = 'answer lost';

/** What the SDK says of a request over a connection that is closed already. */
const NOT_CONNECTED = 'Not connected';

/** How much of an answer is read, in megabytes. */
export const MAX_MEGABYTES = 10;

export interface Explained {
  readonly error: HostError;
  /** Whether what was asked may have taken effect. */
  readonly ran: 'no' | 'maybe';
  readonly sessionGone?: boolean;
  /** The server speaks the protocol of another era than it did when the connection was made. */
  readonly eraGone?: boolean;
}

export interface Circumstances {
  readonly peer: Peer;
  /** What was seen of it. */
  readonly wire: Seeing;
  readonly secrets: readonly string[];
  readonly fetch: typeof globalThis.fetch;
  readonly online: () => boolean;
  readonly connecting: boolean;
  /** How long was waited for, in seconds. */
  readonly seconds: number;
  readonly session?: boolean;
  /** The era of a connection that stands. */
  readonly speaks?: Era;
  readonly onScopeWanted?: (scope: string) => Promise<void>;
}

export async function explain(cause: unknown, about: Circumstances): Promise<Explained> {
  const found = await tell(cause, about);
  // To note it is for the next sign-in; where it cannot be noted, this fault is told all the same.
  if (found.error.scope !== undefined)
    await about.onScopeWanted?.(found.error.scope).catch(() => undefined);
  return { ...found, error: { ...found.error, ...seenBy(about, cause) } };
}

/** What a report may say of how something was asked, and of the error of JSON-RPC that it ended with. */
export function seenBy(
  { wire, secrets }: Pick<Circumstances, 'wire' | 'secrets'>,
  cause?: unknown,
): { seen?: Seen } {
  const seen = seenOf(wire.last(), secrets);
  if (!seen) return {};
  const isTold = ProtocolError.isInstance(cause) && cause.message !== LOST;
  return { seen: isTold ? { ...seen, code: cause.code } : seen };
}

/** The error of a wait that was over before the answer came. */
export function late(peer: Peer, exchange: Exchange | null, seconds: number): HostError {
  const began = exchange?.status === 200;
  return began ? silent(peer, seconds) : timeout(peer, seconds);
}

function seenOf(exchange: Exchange | null, secrets: readonly string[]): Seen | null {
  if (!exchange) return null;
  const told = Object.entries(exchange.headers).map(([name, value]) => [
    name,
    redact(name === 'www-authenticate' ? challengeShown(value) : value, secrets).slice(0, 300),
  ]);
  return { status: exchange.status, headers: Object.fromEntries(told) as Seen['headers'] };
}

/** Parts of a challenge that are told; a nonce, an opaque value or a token is not (RFC 9110, 11.6.1). */
const SHOWN = /^(realm|error|error_description|scope|resource_metadata|charset|algs)$/i;

function challengeShown(challenge: string): string {
  return challenge
    .replace(/^(\s*[\w-]+\s+)[\w.~+/-]{16,}=*\s*(?=,|$)/, '$1[secret]')
    .replace(/([\w-]+)=("(?:[^"\\]|\\.)*"|[^\s,"=]+)/g, (whole, name: string) =>
      SHOWN.test(name) ? whole : `${name}=[secret]`,
    );
}

async function tell(cause: unknown, about: Circumstances): Promise<Explained> {
  const { peer, wire, secrets, connecting } = about;
  const exchange = wire.last();
  const detail = redact(describe(cause), secrets);
  if (wire.overflowed()) return { error: tooLarge(peer, MAX_MEGABYTES), ran: 'maybe' };
  // Nothing is sent over a connection that was closed.
  if (detail === NOT_CONNECTED)
    return { error: unreachable(peer, detail), ran: 'no', sessionGone: true };
  // Its own renewal of a sign-in failed, before anything was asked of the server.
  if (cause instanceof SignInFault) return { error: cause.error, ran: 'no' };
  if (cause instanceof UnauthorizedError)
    return { error: ofStatus(peer, 401, challengeOf(exchange)) ?? internal(detail), ran: 'no' };
  if (cause instanceof InsufficientScopeError)
    return { error: ofStatus(peer, 403, wantedBy(cause)) ?? internal(detail), ran: 'no' };
  if (cause instanceof Error && cause.name === 'SkillVerificationError')
    return { error: unverified(peer, detail), ran: 'no' };
  if (isVersionRefused(cause) || isEraRefusal(cause)) return ofOtherEra(about, detail, 'no');
  if (SdkHttpError.isInstance(cause)) return ofHttp(cause, detail, about);
  if (SdkError.isInstance(cause) && cause.code === SdkErrorCode.ClientHttpUnexpectedContent)
    return { error: strange(exchange, about, detail, cause), ran: 'maybe' };
  if (SdkError.isInstance(cause) && cause.code === SdkErrorCode.RequestTimeout)
    return { error: late(peer, exchange, about.seconds), ran: 'maybe' };

  const failed = exchange?.status === null;
  if (failed || isBroken(cause)) {
    const refused = failed && isRefused(exchange?.failure);
    const error = await diagnose(peer, about.fetch, about.online, detail, exchange?.failure);
    return { error, ran: refused || connecting ? 'no' : 'maybe' };
  }
  // It answered with 200 and something that is not the protocol.
  const odd = !ProtocolError.isInstance(cause) && (connecting || bodyBy(cause) === 'no json');
  return {
    error: odd ? strange(exchange, about, detail, cause) : protocol(peer, detail),
    ran: 'maybe',
  };
}

function ofHttp(cause: SdkHttpError, detail: string, about: Circumstances): Explained {
  const { peer, wire } = about;
  const exchange = wire.last();
  const { status } = cause;
  const text = String(cause.data.text ?? '');
  const sessionText = /session|not initiali[sz]ed/i.test(text);
  // A server of the older era misses the session, which the newer one does not have.
  if (status === 400 && sessionText && about.speaks === 'modern')
    return ofOtherEra(about, detail, 'maybe');
  if (status === 404 || (status === 400 && sessionText)) {
    // A 400 is also how a server refuses what it had begun; only 404 is told of sessions (2025-11-25).
    const ran = status === 404 ? 'no' : 'maybe';
    if (about.session) return { error: notMcp(peer, detail), ran, sessionGone: true };
    if (sessionText && isInPage() && exchange?.type === 'cors')
      return { error: cors(peer, 'exposed'), ran: 'no' };
  }
  if (status === 0) return { error: redirects(peer), ran: 'no' };
  const known = ofStatus(peer, status, exchange ?? {});
  // Of any fault of its own: what stands in front of a server says 503 also when it gave up waiting.
  if (known) return { error: known, ran: status >= 500 ? 'maybe' : 'no' };
  if (/unsupported protocol version/i.test(text) || codeIn(text) === VERSION_REFUSED)
    return ofOtherEra(about, detail, 'no');
  const html = exchange?.contentType.includes('html');
  return { error: html ? webPage(peer, detail) : protocol(peer, detail), ran: 'no' };
}

const VERSION_REFUSED: number = ProtocolErrorCode.UnsupportedProtocolVersion;

/** The server refused the revision (-32022) before it looked at what was asked. */
export function isVersionRefused(cause: unknown): boolean {
  return ProtocolError.isInstance(cause) && cause.code === VERSION_REFUSED;
}

/** Over a connection that stood, what was found out about the server does not hold any more. */
function ofOtherEra(
  { peer, connecting }: Circumstances,
  detail: string,
  ran: Explained['ran'],
): Explained {
  return { error: wrongEra(peer, detail), ran, ...(connecting ? {} : { eraGone: true }) };
}

/** The code of the error of JSON-RPC in a body. */
function codeIn(text: string): unknown {
  try {
    return (JSON.parse(text) as { error?: { code?: unknown } } | null)?.error?.code;
  } catch {
    return undefined;
  }
}

/** The error of a well-formed answer of HTTP that carries no message of the protocol. */
function strange(
  exchange: Exchange | null,
  { peer, connecting }: Circumstances,
  detail: string,
  cause: unknown,
): HostError {
  if (exchange?.contentType.includes('html')) return webPage(peer, detail);
  const body = bodyBy(cause);
  if (body === 'no json') return brokenJson(peer, detail);
  return connecting && body !== 'json-rpc' ? notMcp(peer, detail) : protocol(peer, detail);
}

/** What the SDK found a body to be that it could not read: of another kind, or a message gone wrong. */
function bodyBy(cause: unknown): 'no json' | 'json-rpc' | 'other' {
  for (let at = cause; at instanceof Error; at = at.cause) {
    if (at instanceof SyntaxError) return 'no json';
    // What it misses, for each kind of message; all of them begin with `jsonrpc: "2.0"`.
    if (at.name.endsWith('ZodError') && 'issues' in at)
      return /"path":\["jsonrpc"\]/.test(JSON.stringify(at.issues)) ? 'other' : 'json-rpc';
  }
  return 'other';
}

function wantedBy({ requiredScope = '' }: InsufficientScopeError): { challenge: string } {
  return { challenge: `Bearer error="insufficient_scope", scope="${requiredScope}"` };
}

function challengeOf(exchange: Exchange | null): { challenge: string | null } {
  return { challenge: exchange?.challenge ?? null };
}

/** The SDK says in a plain error that the server's answer named a revision that it does not know. */
function isEraRefusal(cause: unknown): boolean {
  return /protocol version (is )?not supported|unsupported protocol version/i.test(describe(cause));
}

function describe(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}

/** A connection that ended before the answer. */
function isBroken(cause: unknown): boolean {
  return (
    cause instanceof TypeError ||
    (ProtocolError.isInstance(cause) && cause.message === LOST) ||
    (SdkError.isInstance(cause) && cause.code === SdkErrorCode.ConnectionClosed)
  );
}

/** Node says when nobody listened or nobody could be asked, so nothing was sent; browsers do not. */
function isRefused(failure: unknown): boolean {
  const code = causeOf(failure);
  return (
    ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH'].includes(code) || isHandshake(code)
  );
}
