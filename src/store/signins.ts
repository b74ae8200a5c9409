/**
 * Sign-ins that wait for the person to come back from another site. Each has a random state, which
 * travels with the person and is compared when they return (RFC 6749, 10.12): a link that somebody
 * else made signs nobody in. What has to wait, such as a PKCE verifier, waits in the vault.
 */
import type { Vault } from './store.ts';

/** A sign-in that takes longer is begun anew. */
const LIFE_MS = 60 * 60 * 1000;

/** 32 random bytes, base64url: 43 characters, as RFC 7636 (4.1) asks. */
export function randomState(): string {
  return base64url(crypto.getRandomValues(new Uint8Array(32)));
}

export function base64url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replace(/\+/g, '-')
    .replace(/\//g, '_')
    .replace(/=+$/, '');
}

interface Waiting {
  readonly state: string;
  readonly startedAt: number;
}

/** Lets `data` wait under a name; a sign-in begun earlier under the same name is forgotten. */
export async function letWait(
  vault: Vault,
  name: string,
  data: Waiting & Readonly<Record<string, unknown>>,
): Promise<void> {
  await vault.set(vaultName(name), JSON.stringify(data));
}

export type Found =
  /** Nothing waits under this name. */
  | { readonly kind: 'none' }
  /** The state is that of another sign-in. */
  | { readonly kind: 'other' }
  /** It is the right one; `late`: it has waited too long and may not be used. */
  | { readonly kind: 'here' | 'late'; readonly data: Readonly<Record<string, unknown>> };

/** What waits under a name for an answer with this state. */
export async function findWaiting(
  vault: Vault,
  name: string,
  state: string | null,
  now: number,
): Promise<Found> {
  const data = parse(await vault.get(vaultName(name)));
  if (typeof data.state !== 'string' || typeof data.startedAt !== 'number') return { kind: 'none' };
  if (state !== data.state) return { kind: 'other' };
  return { kind: now - data.startedAt > LIFE_MS ? 'late' : 'here', data };
}

export async function stopWaiting(vault: Vault, name: string): Promise<void> {
  await vault.delete(vaultName(name));
}

function vaultName(name: string): string {
  return `signin:${name}`;
}

function parse(text: string | undefined): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text ?? '');
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
