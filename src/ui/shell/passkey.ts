/**
 * Passkeys for the app lock: WebAuthn with its PRF extension (Level 3, section 10.1.4), which answers
 * with 32 secret bytes that only this passkey gives, and only after the phone has seen who asks.
 *
 * No server takes part, so nothing is attested and the challenge means nothing.
 */
import type { NewWay, Way } from '../../store/store.ts';

/** Not an error of the app: what the person can do is in `advice`. */
export class PasskeyError extends Error {
  override readonly name = 'PasskeyError';
  readonly advice: string;
  constructor(message: string, advice: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.advice = advice;
  }
}

type Passkey = Extract<Way, { kind: 'passkey' }>;
type NewPasskey = Extract<NewWay, { kind: 'passkey' }>;

const random = (): Uint8Array<ArrayBuffer> => crypto.getRandomValues(new Uint8Array(32));

/** Whether a passkey can be offered; where the browser does not tell, it is tried. */
export async function offersPasskey(): Promise<boolean> {
  if (typeof PublicKeyCredential === 'undefined') return false;
  try {
    const can = await PublicKeyCredential.getClientCapabilities?.();
    return can?.['extension:prf'] !== false;
  } catch {
    return true;
  }
}

function refused(cause: unknown, doing: string): PasskeyError {
  const name = cause instanceof Error ? cause.name : '';
  return name === 'NotAllowedError' || name === 'AbortError'
    ? new PasskeyError(
        `The passkey was not ${doing}: it was cancelled, or took too long.`,
        'Try again.',
        cause,
      )
    : new PasskeyError(
        `The phone could not ${doing === 'made' ? 'make' : 'use'} the passkey.`,
        'Try again, or take the passphrase.',
        cause,
      );
}

function bytesOf(source: BufferSource | undefined): Uint8Array<ArrayBuffer> | null {
  if (!source) return null;
  const view = ArrayBuffer.isView(source)
    ? new Uint8Array(source.buffer, source.byteOffset, source.byteLength)
    : new Uint8Array(source);
  return Uint8Array.from(view);
}

const answerOf = (credential: Credential | null): Uint8Array<ArrayBuffer> | null =>
  credential instanceof PublicKeyCredential
    ? bytesOf(credential.getClientExtensionResults().prf?.results?.first)
    : null;

/** The secret bytes of a passkey. Rejects with a `PasskeyError`. */
export async function askPasskey({
  credential,
  salt,
}: Pick<Passkey, 'credential' | 'salt'>): Promise<Uint8Array<ArrayBuffer>> {
  const found = await navigator.credentials
    .get({
      publicKey: {
        challenge: random(),
        allowCredentials: [{ type: 'public-key', id: credential }],
        userVerification: 'required',
        extensions: { prf: { eval: { first: salt } } },
      },
    })
    .catch((cause: unknown) => {
      throw refused(cause, 'used');
    });
  const secret = answerOf(found);
  if (secret) return secret;
  throw new PasskeyError(
    'This passkey gives no secret to open the lock with.',
    'Choose the passkey that was made for Deft, or take the passphrase.',
  );
}

/** Makes a passkey that can open the lock. Rejects with a `PasskeyError`. */
export async function makePasskey(): Promise<NewPasskey> {
  const salt = random();
  const made = await navigator.credentials
    .create({
      publicKey: {
        challenge: random(),
        rp: { name: 'Deft' },
        user: { id: random(), name: 'Deft app lock', displayName: 'Deft app lock' },
        // ES256, EdDSA and RS256: nothing is ever signed, but one has to be named.
        pubKeyCredParams: [-7, -8, -257].map((alg) => ({ type: 'public-key', alg })),
        authenticatorSelection: { residentKey: 'preferred', userVerification: 'required' },
        extensions: { prf: { eval: { first: salt } } },
      },
    })
    .catch((cause: unknown) => {
      throw refused(cause, 'made');
    });
  if (!(made instanceof PublicKeyCredential)) throw refused(null, 'made');
  const credential = new Uint8Array(made.rawId);
  if (made.getClientExtensionResults().prf?.enabled !== true)
    throw new PasskeyError(
      'This passkey cannot lock Deft: where it is kept, there is no PRF.',
      'Delete it there, and take a passphrase instead.',
    );
  // Some answer as they are made, others only when they are used.
  const secret = answerOf(made) ?? (await askPasskey({ credential, salt }));
  return { kind: 'passkey', credential, salt, secret };
}
