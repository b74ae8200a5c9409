/** Addresses and keys of servers, as people type them. */
import { badUrl, isPrivate } from './errors.ts';
import type { HostError } from './types.ts';

export type ReadAddress =
  { readonly ok: true; readonly url: URL } | { readonly ok: false; readonly error: HostError };

/**
 * The endpoint that a text means. `https://` is added where no scheme is given, `http://` for
 * addresses in the own network. The fragment is dropped.
 */
export function readAddress(text: string): ReadAddress {
  const typed = text.trim();
  const url = parse(typed) ?? withScheme(typed);
  if (!url) return fail('Type an address such as https://example.com/mcp.');
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    return fail('The address must begin with https:// or http://.');
  if (url.username !== '' || url.password !== '')
    return fail('Leave name and password out of the address, and use the field for the key.');
  if (url.protocol === 'http:' && globalThis.location?.protocol === 'https:' && !isPrivate(url))
    return fail('This app is served over https, so the server must be too: use https://.');
  url.hash = '';
  return { ok: true, url };
}

function parse(text: string): URL | null {
  return /^[a-z][a-z0-9+.-]*:\/\//i.test(text) && URL.canParse(text) ? new URL(text) : null;
}

function withScheme(text: string): URL | null {
  if (!/^[\w.-]+(:\d+)?([/?]\S*)?$|^\[[\da-f:]+\](:\d+)?(\/\S*)?$/i.test(text)) return null;
  const url = parse(`https://${text}`);
  if (!url || !(url.hostname.includes('.') || isPrivate(url) || url.port !== '')) return null;
  return isPrivate(url) ? parse(`http://${text}`) : url;
}

function fail(advice: string): ReadAddress {
  return { ok: false, error: badUrl(advice) };
}

/** Headers that the protocol or the browser sets. */
const RESERVED =
  /^(accept|content-type|content-length|host|origin|referer|cookie|connection|mcp-.*|last-event-id|sec-.*|proxy-.*)$/i;

export type ReadKey =
  | { readonly ok: true; readonly headers: Record<string, string> }
  | { readonly ok: false; readonly error: HostError };

/** The header that carries a key: `Bearer` goes before it where the header is Authorization. */
export function keyHeaders(key: string, header: string): ReadKey {
  const value = key.trim();
  if (!/^[\w!#$%&'*+.^`|~-]+$/.test(header) || RESERVED.test(header))
    return refuse('The name of the header is not one that can carry a key.');
  if (value === '' || /[^\x20-\x7e]/.test(value))
    return refuse('The key has characters that no key has. Copy it again.');
  const bare = header.toLowerCase() === 'authorization' && !value.includes(' ');
  return { ok: true, headers: { [header]: bare ? `Bearer ${value}` : value } };
}

function refuse(message: string): ReadKey {
  return {
    ok: false,
    error: { code: 'auth', message, advice: 'Nothing was sent. Correct it and try again.' },
  };
}
