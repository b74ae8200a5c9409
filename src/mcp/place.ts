/**
 * Where an address leads, before anything is sent there: what the person has to know to say yes to
 * a stranger's server.
 */
import { readAddress } from './address.ts';
import { isLoopback, isPrivate } from './errors.ts';
import type { HostError } from './types.ts';

export interface Place {
  /** The address as it would be used. */
  readonly url: string;
  /** The whole host with its port; names in other scripts as the network spells them (xn--). */
  readonly host: string;
  /** Whether what is sent there is encrypted on its way. */
  readonly secure: boolean;
  readonly where: 'internet' | 'network' | 'device';
}

export type ReadPlace =
  { readonly ok: true; readonly place: Place } | { readonly ok: false; readonly error: HostError };

/** Reads an address as people type it; no request is made. */
export function readPlace(text: string): ReadPlace {
  const address = readAddress(text);
  if (!address.ok) return address;
  const { url } = address;
  const where = isLoopback(url) ? 'device' : isPrivate(url) ? 'network' : 'internet';
  const place = {
    url: url.href,
    host: url.host,
    secure: url.protocol === 'https:',
    where,
  } as const;
  return { ok: true, place };
}
