/** Counts tokens where the model's own tokenizer is not at hand. */

/**
 * Tokens of a text, slightly over-estimated: today's large vocabularies take about 4 characters of
 * English a token, 3.5 with code and JSON mixed in, and at most one token a character elsewhere.
 */
export function estimateTokens(text: string): number {
  let plain = 0;
  let other = 0;
  for (const char of text) {
    if (char.codePointAt(0)! < 0x80) plain++;
    else other++;
  }
  return Math.ceil(plain / 3.5 + other);
}
