/**
 * Text of others made plain, in one place, before a model reads it: composed (NFC) and without the
 * characters that a person cannot see and a model can read. Pure.
 */

import type { JsonSchema } from '../brain/brain.ts';

/**
 * Characters that show nothing or turn the reading order: format characters (zero-width, bidirectional,
 * tags), other controls, private use, variation selectors that no emoji uses, and letters that are blank.
 */
const HIDDEN =
  /[\p{Cf}\p{Co}\u115F\u1160\u3164\uFFA0]|[\u{FE00}-\u{FE0D}\u{E0100}-\u{E01EF}]|\u034F|\u17B4|\u17B5|(?![\t\n\r])\p{Cc}/gu;

/** Joiners belong between letters of Persian and Indic scripts, and between parts of an emoji. */
const JOINED =
  /(?<=[\p{L}\p{M}\p{Extended_Pictographic}]|\uFE0F)[\u200C\u200D](?=[\p{L}\p{M}\p{Extended_Pictographic}])/gu;
const JOINER = /^[\u200C\u200D]$/;

/** The hidden characters of a text, in order; joiners where words need them do not count. */
export function hiddenIn(text: string): string[] {
  const needed = new Set([...text.matchAll(JOINED)].map((match) => match.index));
  return [...text.matchAll(HIDDEN)]
    .filter(
      ({ 0: character, index }) => !(JOINER.test(character) && isForeign(text, index, needed)),
    )
    .map(([character]) => character);
}

/** A joiner between letters of a script that uses them; between Latin letters it only hides. */
function isForeign(text: string, index: number, needed: ReadonlySet<number>): boolean {
  return needed.has(index) && !/[A-Za-z0-9]/.test(text.charAt(index - 1));
}

/** The text composed and without hidden characters. */
export function plainText(text: string): string {
  // Most text has none of them, and is as it should be.
  if (/^[\t\n\r -~]*$/.test(text)) return text;
  const needed = new Set([...text.matchAll(JOINED)].map((match) => match.index));
  return text
    .replace(HIDDEN, (character: string, index: number) =>
      JOINER.test(character) && isForeign(text, index, needed) ? character : '',
    )
    .normalize('NFC');
}

/** A schema whose titles and descriptions are plain; names and values stay what the server expects. */
export function plainSchema(schema: JsonSchema): JsonSchema {
  return plainIn(schema) as JsonSchema;
}

function plainIn(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plainIn);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      name,
      (name === 'description' || name === 'title') && typeof inner === 'string'
        ? plainText(inner)
        : plainIn(inner),
    ]),
  );
}
