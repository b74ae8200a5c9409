/**
 * The ways to the key of the app lock: a passphrase, through PBKDF2, and a passkey, whose PRF answers
 * with the same 32 secret bytes each time (WebAuthn Level 3, section 10.1.4), through HKDF.
 *
 * Promises: the key is kept only wrapped with AES-GCM; what is wrapped is bound to its lock and to all
 * that is said of its way, so that no part of one can be put into another or be weakened unseen.
 */
import { toHex } from './canonical.ts';
import {
  AES,
  areRounds,
  ITERATIONS,
  IV_BYTES,
  passphraseKey,
  SALT_BYTES,
  USES,
} from './passphrase.ts';
import type { WayRow } from './schema.ts';
import type { NewWay, Proof } from './store.ts';

const PRF_BYTES = 32;

const utf8 = new TextEncoder();

async function passkeyKey(
  secret: Uint8Array<ArrayBuffer>,
  salt: Uint8Array<ArrayBuffer>,
): Promise<CryptoKey> {
  if (secret.length !== PRF_BYTES) throw new RangeError('A PRF answers with 32 bytes.');
  const base = await crypto.subtle.importKey('raw', secret, 'HKDF', false, ['deriveKey']);
  const how = { name: 'HKDF', hash: 'SHA-256', salt, info: utf8.encode('deft app lock') };
  return crypto.subtle.deriveKey(how, base, AES, false, USES);
}

type Said<W extends WayRow> = W extends WayRow ? Omit<W, 'iv' | 'wrapped'> : never;

/** All that is said of a way, as bytes. */
function said(lock: string, way: Said<WayRow>): Uint8Array<ArrayBuffer> {
  const words =
    way.kind === 'passphrase'
      ? [way.kind, toHex(way.salt), way.iterations]
      : [way.kind, toHex(way.credential), toHex(way.salt)];
  return utf8.encode(JSON.stringify([lock, ...words]));
}

/** Wraps the key of a lock for a new way. */
export async function wrapKey(
  lock: string,
  key: Uint8Array<ArrayBuffer>,
  way: NewWay,
): Promise<WayRow> {
  const iv = crypto.getRandomValues(new Uint8Array(IV_BYTES));
  const wrap = async (wrapping: CryptoKey, about: Said<WayRow>) =>
    new Uint8Array(
      await crypto.subtle.encrypt(
        { name: 'AES-GCM', iv, additionalData: said(lock, about) },
        wrapping,
        key,
      ),
    );
  if (way.kind === 'passphrase') {
    const salt = crypto.getRandomValues(new Uint8Array(SALT_BYTES));
    const about = { kind: way.kind, salt, iterations: ITERATIONS };
    const wrapping = await passphraseKey(way.passphrase, salt, ITERATIONS);
    return { ...about, iv, wrapped: await wrap(wrapping, about) };
  }
  const { kind, credential, salt } = way;
  const about = { kind, credential, salt };
  return { ...about, iv, wrapped: await wrap(await passkeyKey(way.secret, salt), about) };
}

/** The key of a lock; null where the proof is not the right one, or the way was changed. */
export async function unwrapKey(
  lock: string,
  way: WayRow,
  proof: Proof,
): Promise<Uint8Array<ArrayBuffer> | null> {
  try {
    let wrapping: CryptoKey;
    if (way.kind === 'passphrase' && proof.kind === 'passphrase') {
      const { iterations } = way;
      if (!areRounds(iterations)) return null;
      wrapping = await passphraseKey(proof.passphrase, way.salt, iterations);
    } else if (way.kind === 'passkey' && proof.kind === 'passkey') {
      wrapping = await passkeyKey(proof.secret, way.salt);
    } else return null;
    const cipher = { name: 'AES-GCM', iv: way.iv, additionalData: said(lock, way) };
    return new Uint8Array(await crypto.subtle.decrypt(cipher, wrapping, way.wrapped));
  } catch {
    return null;
  }
}
