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
  const near = isPrivate(peer.url)
    ? ' If the browser asks whether this app may reach devices on the local network, allow it.'
    : '';
  return {
    code: 'unreachable',
    message: `${peer.url.host} did not answer.`,
    advice: `Check the address, and that the server is running.${near}`,
    ...(detail ? { detail } : {}),
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

export function protocol(peer: Peer, detail: string): HostError {
  return {
    code: 'protocol',
    message: `${peer.name} gave an answer that makes no sense.`,
    advice: 'The server has a fault. Tell whoever runs it.',
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
    code: 'protocol',
    message: `The answer of ${peer.name} was larger than ${megabytes} MB and was not read.`,
    advice: 'Ask for less at once.',
  };
}

export function internal(detail: string): HostError {
  return {
    code: 'internal',
    message: 'Something went wrong in the app.',
    advice: 'Try again. If it goes on, reload the app.',
    detail: detail.slice(0, 300),
  };
}

/** The error of an HTTP status, or null where the status is no fault by itself. */
export function ofStatus(
  peer: Peer,
  status: number,
  headers: { readonly retryAfter?: string | null; readonly challenge?: string | null } = {},
): HostError | null {
  const detail = `HTTP ${status}`;
  if (status === 401) return auth(peer, detail);
  if (status === 403)
    return {
      code: 'forbidden',
      message: `${peer.name} does not allow this.`,
      advice: peer.keyHeader
        ? 'The key was taken, but may not do this. Ask for one with more rights.'
        : 'The server may keep web apps or strangers out. Ask whoever runs it.',
      detail,
    };
  if (status === 404 || status === 405 || status === 410) return notMcp(peer, detail);
  if (status === 429) {
    const seconds = Number(headers.retryAfter);
    const wait = seconds > 0 && seconds < 86_400 ? `in ${Math.ceil(seconds)} seconds` : 'later';
    return {
      code: 'rate',
      message: `${peer.name} gets too many requests.`,
      advice: `Try again ${wait}.`,
      detail,
    };
  }
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

function auth(peer: Peer, detail: string): HostError {
  return peer.keyHeader
    ? {
        code: 'auth',
        message: `${peer.name} did not accept the key.`,
        advice: 'Check the key, and the name of its header, and add the server again.',
        detail,
      }
    : {
        code: 'auth',
        message: `${peer.name} wants to know who is asking.`,
        advice: 'Add the server again with a key from whoever runs it.',
        detail,
      };
}
