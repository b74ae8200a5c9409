/**
 * Strikes secrets out of text that a person, a log or a report may see.
 *
 * Promise: a key that is in use never gets through, as it is or percent-encoded, and neither does
 * anything that looks like a key of a well-known provider or a bearer token.
 */

const STRUCK = '[key]';

const LOOKS_LIKE_A_KEY =
  /\b(?:sk|pk|rk|gsk|xai|hf|nvapi)[-_][A-Za-z0-9_-]{12,}|\bAIza[A-Za-z0-9_-]{20,}|\b(?<=Bearer\s)[A-Za-z0-9._~+/-]{8,}=*/g;

/** `text` without the `secrets` and without what looks like one. */
export function redact(text: string, secrets: readonly string[]): string {
  let clean = text;
  for (const secret of secrets) {
    if (secret.length < 4) continue;
    for (const form of new Set([secret, encodeURIComponent(secret)]))
      clean = clean.split(form).join(STRUCK);
  }
  return clean.replace(LOOKS_LIKE_A_KEY, STRUCK);
}
