/**
 * The key that a passphrase makes, for a locked file and for the app lock: PBKDF2 with HMAC-SHA-256
 * (RFC 8018, 5.2), to wrap or encrypt with AES-GCM.
 */

/** OWASP's figure for PBKDF2 with HMAC-SHA-256. */
export const ITERATIONS = 600_000;
/** More than this, from a file or a row, is meant to keep the phone busy. */
const MOST_ITERATIONS = 10_000_000;
export const SALT_BYTES = 16;
/** NIST SP 800-38D, 8.2: 96 bits. */
export const IV_BYTES = 12;

export const AES = { name: 'AES-GCM', length: 256 } as const;
export const USES: KeyUsage[] = ['encrypt', 'decrypt'];

/** Whether a number of rounds that was stored may be done. */
export const areRounds = (iterations: unknown): iterations is number =>
  Number.isInteger(iterations) && Number(iterations) > 0 && Number(iterations) <= MOST_ITERATIONS;

/** The same passphrase whichever keyboard wrote its accents. */
export async function passphraseKey(
  passphrase: string,
  salt: Uint8Array<ArrayBuffer>,
  iterations: number,
): Promise<CryptoKey> {
  const secret = new TextEncoder().encode(passphrase.normalize('NFKC'));
  const base = await crypto.subtle.importKey('raw', secret, 'PBKDF2', false, ['deriveKey']);
  const how = { name: 'PBKDF2', hash: 'SHA-256', salt, iterations };
  return crypto.subtle.deriveKey(how, base, AES, false, USES);
}
