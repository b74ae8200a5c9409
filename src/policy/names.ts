/** Names that a server chose, made fit for a sentence of ours. */

const MAX = 60;

/**
 * Without control and direction characters, which could make a sentence read as another one, on one
 * line and short. Joiners stay: words of Persian and Hindi need them.
 */
export function plainName(name: string): string {
  const plain = name
    .replace(/(?![\u200c\u200d])\p{Cf}/gu, '')
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim();
  const chars = [...plain];
  if (chars.length > MAX) return `${chars.slice(0, MAX - 1).join('')}…`;
  return plain || 'something unnamed';
}
