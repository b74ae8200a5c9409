/**
 * A file locked with a passphrase: one line of JSON that says how, then the encrypted bytes.
 *
 * Promises: without the passphrase nothing of what is inside can be read or changed unseen; what is
 * said in the first line is bound to the rest; each file has its own salt and nonce.
 */
import { toHex } from './canonical.ts';
import { areRounds, ITERATIONS, IV_BYTES, passphraseKey, SALT_BYTES } from './passphrase.ts';

export const SEALED_FORMAT = 'deft-sealed';
const VERSION = 1;
/** The first line is shorter than this. */
const HEAD_BYTES = 1_024;

interface Head {
  readonly format: typeof SEALED_FORMAT;
  readonly version: number;
  readonly iterations: number;
  readonly salt: string;
  readonly iv: string;
}

const utf8 = new TextEncoder();

function fromHex(text: unknown, length: number): Uint8Array<ArrayBuffer> | null {
  if (typeof text !== 'string' || !/^[0-9a-f]*$/.test(text) || text.length !== 2 * length)
    return null;
  return Uint8Array.from({ length }, (_, at) => parseInt(text.slice(2 * at, 2 * at + 2), 16));
}

/** Locks a file with a passphrase. */
export async function seal(content: Blob, passphrase: string): Promise<Blob> {
  const salt = crypto.getRandomValues(new Uint8Array(SALT_BYTES));
  const iv = crypto.getRandomValues(new Uint8Array(IV_BYTES));
  const head: Head = {
    format: SEALED_FORMAT,
    version: VERSION,
    iterations: ITERATIONS,
    salt: toHex(salt),
    iv: toHex(iv),
  };
  const line = utf8.encode(`${JSON.stringify(head)}\n`);
  const key = await passphraseKey(passphrase, salt, ITERATIONS);
  const cipher = { name: 'AES-GCM', iv, additionalData: line };
  const sealed = await crypto.subtle.encrypt(cipher, key, await content.arrayBuffer());
  return new Blob([line, sealed], { type: 'application/octet-stream' });
}

/** The first line of a file, with its end; null where it has none that could be ours. */
async function firstLine(file: Blob): Promise<string | null> {
  const start = await file.slice(0, HEAD_BYTES).text();
  const end = start.indexOf('\n');
  return end < 0 || !start.startsWith(`{"format":"${SEALED_FORMAT}"`)
    ? null
    : start.slice(0, end + 1);
}

/** Whether a file says of itself that it is locked with a passphrase. */
export async function isSealed(file: Blob): Promise<boolean> {
  return (await firstLine(file)) !== null;
}

export type Unsealed =
  | { readonly ok: true; readonly content: Blob }
  /** newer: a later version made it · damaged: its first line makes no sense · wrong: not the passphrase, or damaged. */
  | { readonly ok: false; readonly why: 'newer' | 'damaged' | 'wrong' };

/** Opens a file that `seal` made. */
export async function unseal(file: Blob, passphrase: string): Promise<Unsealed> {
  const line = (await firstLine(file)) ?? '';
  let head: Partial<Record<keyof Head, unknown>>;
  try {
    head = JSON.parse(line) as typeof head;
  } catch {
    return { ok: false, why: 'damaged' };
  }
  if (typeof head.version === 'number' && head.version > VERSION)
    return { ok: false, why: 'newer' };
  const { iterations } = head;
  const salt = fromHex(head.salt, SALT_BYTES);
  const iv = fromHex(head.iv, IV_BYTES);
  if (!salt || !iv || !areRounds(iterations)) return { ok: false, why: 'damaged' };
  const additionalData = utf8.encode(line);
  const key = await passphraseKey(passphrase, salt, iterations);
  try {
    const body = await file.slice(additionalData.length).arrayBuffer();
    const clear = await crypto.subtle.decrypt({ name: 'AES-GCM', iv, additionalData }, key, body);
    return { ok: true, content: new Blob([clear]) };
  } catch {
    return { ok: false, why: 'wrong' };
  }
}
