/** Words of the app lock, and of passphrases, that more than one screen says. */
import { count } from './words.ts';

/** Characters of a passphrase, at least. */
export const LEAST = 8;

/** A wait in words: seconds below two minutes, minutes from there on, rounded up. */
export function spell(ms: number): string {
  const seconds = Math.ceil(ms / 1_000);
  return seconds < 120 ? count(seconds, 'second') : count(Math.ceil(seconds / 60), 'minute');
}

/** After what time out of sight the lock closes, in milliseconds; null: when the app is closed. */
export const TIMES: readonly { readonly ms: number | null; readonly title: string }[] = [
  { ms: 0, title: 'At once' },
  { ms: 60_000, title: 'After 1 minute' },
  { ms: 5 * 60_000, title: 'After 5 minutes' },
  { ms: 60 * 60_000, title: 'After 1 hour' },
  { ms: null, title: 'Only when it is closed' },
];
