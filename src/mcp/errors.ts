/**
 * Every way in which a server cannot be used, as a kind, a sentence on what happened and one on what
 * to do. Promise: no secret (key, query string, user info) is in any of them.
 */
import type { HostError } from './types.ts';

export type HostErrorCode = HostError['code'];

/** Request headers of ours that a server must allow to web apps of other origins. */
export const ALLOW_HEADERS =
  'content-type, accept, authorization, mcp-protocol-version, mcp-session-id, last-event-id, mcp-method, mcp-name';
/** Response headers that a server must let web apps of other origins read. */
export const EXPOSE_HEADERS = 'Mcp-Session-Id, WWW-Authenticate';

/** Whom an error is about. */
export interface Peer {
  /** The server's name, or its host where it has none yet. */
  readonly name: string;
  readonly url: URL;
  /** Whether a key was sent, and under which header. */
  readonly keyHeader: string | null;
  /** Whether a token of a sign-in was sent. */
  readonly signedIn?: boolean;
}

export function isLoopback(url: URL): boolean {
  return /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(url.hostname);
}

/** On this device or in its own network, where browsers ask before they let a page in. */
export function isPrivate(url: URL): boolean {
  return (
    isLoopback(url) ||
    /^(10\.|192\.168\.|172\.(1[6-9]|2\d|3[01])\.|169\.254\.)/.test(url.hostname) ||
    /\.(local|lan|home\.arpa|internal)$/.test(url.hostname)
  );
}

export function badUrl(advice: string): HostError {
  return { code: 'bad-url', message: 'This is not an address of a server.', advice };
}

export function offline(peer: Peer): HostError {
  return {
    code: 'offline',
    message: `There is no network, so ${peer.name} can't be reached.`,
    advice: 'Try again when the phone is online. Everything on the phone goes on working.',
  };
}

export function unreachable(peer: Peer, detail?: string): HostError {
  return {
    code: 'unreachable',
    message: `${peer.url.host} did not answer.`,
    advice: `Check the address, and that the server is running.${hintFor(peer)}`,
    ...(detail ? { detail } : {}),
  };
}

/** The same in a page, which no browser tells whether it was the name, the certificate or the server. */
export function untold(peer: Peer, detail?: string): HostError {
  const { hostname, protocol } = peer.url;
  const isNamed = !isLoopback(peer.url) && !/^[\d.]+$|^\[/.test(hostname);
  const causes: [string, string][] = [
    ...(isNamed
      ? [['a name that nobody knows (DNS)', 'how the name is spelled'] as [string, string]]
      : []),
    ...(protocol === 'https:'
      ? [['a certificate that does not hold (TLS)', 'the certificate'] as [string, string]]
      : []),
    ['a server that is not running', 'that the server is running'],
  ];
  if (causes.length === 1) return unreachable(peer, detail);
  const list = (part: 0 | 1, word: string): string =>
    [
      causes
        .slice(0, -1)
        .map((cause) => cause[part])
        .join(', '),
      causes.at(-1)?.[part],
    ].join(word);
  return {
    ...unreachable(peer, detail),
    advice: `The browser does not say why. It may be ${list(0, ' or ')}: check ${list(1, ' and ')}.${hintFor(peer)}`,
  };
}

function hintFor({ url }: Peer): string {
  return isPrivate(url)
    ? ' If the browser asks whether this app may reach devices on the local network, allow it.'
    : ` Opened in a tab of the browser, ${url.origin} says what is wrong with it.`;
}

/** The name has no address. Browsers do not tell this from a server that is down. */
export function unknownName(peer: Peer, detail: string): HostError {
  return {
    code: 'dns',
    message: `No server is known by the name ${peer.url.hostname}.`,
    advice: 'Check how it is spelled. Some names are known in one network only.',
    detail,
  };
}

/** The certificate or the handshake failed. Browsers do not tell this either. */
export function unsafe(peer: Peer, detail: string): HostError {
  return {
    code: 'tls',
    message: `There is no safe connection to ${peer.url.host}: its https or its certificate does not hold.`,
    advice: 'Nothing was sent. Whoever runs the server must mend it, or renew the certificate.',
    detail,
  };
}

/** The person, or a rule, keeps this app from devices near by (Local Network Access). */
export function localNetwork(peer: Peer): HostError {
  return {
    code: 'local-network',
    message: `The browser does not let this app reach ${peer.url.host} in the local network.`,
    advice: "Allow the local network in the browser's settings for this app, then try again.",
  };
}

/** A page that came over https may not fetch over http. */
export function mixedContent(peer: Peer): HostError {
  return {
    code: 'mixed-content',
    message: `This app came over https, so the browser keeps it from ${peer.url.host}, which is http only.`,
    advice: "Use the server's https address, or ask whoever runs it for one.",
  };
}

/** The three ways in which a live server keeps web apps out. */
export type CorsFault = 'none' | 'headers' | 'exposed';

export function cors(peer: Peer, fault: CorsFault): HostError {
  const origin = globalThis.location?.origin ?? 'this app';
  const advice = {
    none: `Whoever runs it must send "Access-Control-Allow-Origin: ${origin}" (or *), and allow these headers: ${ALLOW_HEADERS}.`,
    headers: `Whoever runs it must answer OPTIONS requests with "Access-Control-Allow-Headers: ${ALLOW_HEADERS}${extraHeader(peer)}".`,
    exposed: `Whoever runs it must send "Access-Control-Expose-Headers: ${EXPOSE_HEADERS}".`,
  }[fault];
  const message = {
    none: `${peer.url.host} answers, but does not let web apps use it (CORS).`,
    headers: `${peer.url.host} lets web apps in, but refuses the headers that MCP needs (CORS).`,
    exposed: `${peer.url.host} starts a session, but does not let web apps read its id (CORS).`,
  }[fault];
  return { code: 'cors', message, advice };
}

function extraHeader(peer: Peer): string {
  const header = peer.keyHeader?.toLowerCase();
  return header && !ALLOW_HEADERS.split(', ').includes(header) ? `, ${header}` : '';
}

export function timeout(peer: Peer, seconds: number): HostError {
  return {
    code: 'timeout',
    message: `${peer.name} did not answer within ${seconds} seconds.`,
    advice: 'Try again in a while. If it goes on, ask whoever runs the server.',
  };
}

/** It took the request and began to answer, and no more came. */
export function silent(peer: Peer, seconds: number): HostError {
  return {
    code: 'timeout',
    message: `${peer.name} began to answer, then nothing came for ${seconds} seconds.`,
    advice: 'Try again. If it stops again, the server or something before it holds answers back.',
  };
}

/** It speaks no revision of the protocol that this app speaks. */
export function wrongEra(peer: Peer, detail: string): HostError {
  return {
    code: 'era',
    message: `${peer.name} speaks a version of MCP that this app does not know.`,
    advice: 'Update the app. If it is up to date, whoever runs the server must update that.',
    detail: detail.slice(0, 300),
  };
}

export function protocol(peer: Peer, detail: string): HostError {
  return {
    code: 'protocol',
    message: `${peer.name} gave an answer that makes no sense.`,
    advice: 'The server has a fault. Tell whoever runs it.',
    detail: detail.slice(0, 300),
  };
}

/** An answer that says it is JSON and is not, or not all of it. */
export function brokenJson(peer: Peer, detail: string): HostError {
  return {
    code: 'protocol',
    message: `${peer.name} gave an answer that is cut off or broken.`,
    advice: 'Try again. If it stays so, tell whoever runs the server.',
    detail: detail.slice(0, 300),
  };
}

/** A file whose size or digest is not what the server's own list says. */
export function unverified(peer: Peer, detail: string): HostError {
  return {
    code: 'protocol',
    message: `${peer.name} sent a file that is not what its own list says of it.`,
    advice: 'It was not used. Tell whoever runs the server.',
    detail: detail.slice(0, 300),
  };
}

export function notMcp(peer: Peer, detail: string): HostError {
  return {
    code: 'not-mcp',
    message: `There is no MCP server at this address of ${peer.url.host}.`,
    advice: 'Check the path; it often ends in /mcp.',
    detail: detail.slice(0, 300),
  };
}

/** A web page where a message of the protocol was due: a website, or a network's own sign-in. */
export function webPage(peer: Peer, detail: string): HostError {
  return {
    code: 'not-mcp',
    message: `${peer.url.host} answers with a web page, not as an MCP server.`,
    advice:
      'Check the path; it often ends in /mcp. In a network with a sign-in page of its own, sign in there first.',
    detail: detail.slice(0, 300),
  };
}

function nothingHere(peer: Peer, detail: string): HostError {
  return {
    code: 'not-mcp',
    message: `There is nothing at this address of ${peer.url.host}, so no MCP server either.`,
    advice: 'Check the path; it often ends in /mcp.',
    detail,
  };
}

function noPost(peer: Peer, detail: string): HostError {
  return {
    code: 'not-mcp',
    message: `${peer.url.host} takes no messages at this address, so it is no MCP server.`,
    advice: 'Check the path; it often ends in /mcp, or in /sse where the server is an old one.',
    detail,
  };
}

/** A server that points elsewhere: followed only without a key, which must not leave its host. */
export function redirects(peer: Peer): HostError {
  return {
    code: 'not-mcp',
    message: `${peer.url.host} sends on to another address.`,
    advice: 'Add the server under the address that it sends to.',
  };
}

export function tooLarge(peer: Peer, megabytes: number): HostError {
  return {
    code: 'too-large',
    message: `The answer of ${peer.name} was larger than ${megabytes} MB and was not read.`,
    advice: 'Ask for less at once.',
  };
}

/** The server was reached, and answered that it will not. What it said is its own word. */
export function refusedBy(peer: Peer, said: string): HostError {
  return {
    code: 'protocol',
    message: `${peer.name} did not give this.`,
    advice: `It says: ${said.slice(0, 300)}`,
  };
}

export function unwatchable(peer: Peer): HostError {
  return {
    code: 'protocol',
    message: `${peer.name} does not tell when this changes.`,
    advice: 'Read it again to see whether it did.',
  };
}

export function stoppedByPerson(): HostError {
  return { code: 'internal', message: 'This was stopped.', advice: 'Nothing was changed by it.' };
}

export function internal(detail: string): HostError {
  return {
    code: 'internal',
    message: 'Something went wrong in the app.',
    advice: 'Try again. If it goes on, reload the app.',
    detail: detail.slice(0, 300),
  };
}

/** What an answer's headers say about its status. */
export interface StatusHeaders {
  /** Seconds or an HTTP date (RFC 9110, 10.2.3). */
  readonly retryAfter?: string | null;
  /** `WWW-Authenticate`. */
  readonly challenge?: string | null;
}

/** The error of an HTTP status, or null where the status is no fault by itself. */
export function ofStatus(
  peer: Peer,
  status: number,
  headers: StatusHeaders = {},
  now: number = Date.now(),
): HostError | null {
  const detail = `HTTP ${status}`;
  if (status === 401) return auth(peer, detail, headers.challenge ?? null);
  if (status === 403) return forbidden(peer, detail, headers.challenge ?? null);
  if (status === 404 || status === 410) return nothingHere(peer, detail);
  if (status === 405) return noPost(peer, detail);
  if (status === 429)
    return {
      code: 'rate',
      message: `${peer.name} gets too many requests.`,
      advice: `Try again ${waitOf(headers.retryAfter ?? null, now)}.`,
      detail,
    };
  if (status >= 500)
    return {
      code: 'server',
      message: `${peer.name} has a fault of its own.`,
      advice: 'Try again in a while. If it goes on, tell whoever runs the server.',
      detail,
    };
  if (status >= 300 && status < 400) return redirects(peer);
  return null;
}

/** When to try again, in words; a wait of more than a day is not believed. */
function waitOf(retryAfter: string | null, now: number): string {
  const text = retryAfter?.trim() ?? '';
  const seconds = /^\d+$/.test(text) ? Number(text) : (Date.parse(text) - now) / 1000;
  if (!(seconds > 0 && seconds < 86_400)) return 'later';
  if (seconds <= 120) return `in ${Math.ceil(seconds)} seconds`;
  return `in ${Math.ceil(seconds / 60)} minutes`;
}

function auth(peer: Peer, detail: string, challenge: string | null): HostError {
  if (peer.signedIn)
    return {
      code: 'auth',
      message: `The sign-in to ${peer.name} is not valid any more.`,
      advice: 'Sign in again. Its tools stay listed until then.',
      signIn: true,
      detail,
    };
  if (peer.keyHeader)
    return {
      code: 'auth',
      message: `${peer.name} did not accept the key.`,
      advice: 'Check the key, and the name of its header, and add the server again.',
      detail,
    };
  if (offersSignIn(challenge))
    return {
      code: 'auth',
      message: `${peer.name} wants you to sign in.`,
      advice: 'Sign in with the account that you have there.',
      signIn: true,
      detail,
    };
  return {
    code: 'auth',
    message: `${peer.name} wants to know who is asking.`,
    advice: 'Add the server again with a key from whoever runs it.',
    detail,
  };
}

/** A Bearer challenge (RFC 6750): what MCP's authorization begins with. */
function offersSignIn(challenge: string | null): boolean {
  return /^\s*bearer\b/i.test(challenge ?? '');
}

/** The rights that a challenge names. */
function scopeOf(challenge: string | null): { scope?: string } {
  const scope = /\bscope="([^"]{1,1000})"/i.exec(challenge ?? '')?.[1];
  return scope === undefined ? {} : { scope };
}

function forbidden(peer: Peer, detail: string, challenge: string | null): HostError {
  if (/insufficient_scope/i.test(challenge ?? ''))
    return {
      code: 'scope',
      message: `${peer.name} wants more rights for this than it was given.`,
      advice: peer.keyHeader
        ? 'Ask whoever runs it for a key with more rights.'
        : 'Sign in again and allow what it asks for, or do without.',
      signIn: !peer.keyHeader,
      ...scopeOf(challenge),
      detail,
    };
  return {
    code: 'forbidden',
    message: `${peer.name} does not allow this.`,
    advice: peer.keyHeader
      ? 'The key was taken, but may not do this. Ask for one with more rights.'
      : 'The server may keep web apps or strangers out. Ask whoever runs it.',
    detail,
  };
}
