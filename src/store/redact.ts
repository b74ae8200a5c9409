/**
 * Strikes secrets from text that a person, a log or a report may see: errors above all. Known secrets go by
 * value in every form in which they travel; unknown ones by their look. It errs on the side of
 * striking too much.
 */

const STRUCK = '[secret]';

/** Shorter values are no secrets, and striking them would tear up the text. */
const MIN_LENGTH = 4;

const base64 = (text: string): string => {
  const bytes = new TextEncoder().encode(text);
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''));
};

/** A secret as it stands in text, JSON, an address, a form and basic authorization. */
function formsOf(secret: string): string[] {
  const encoded = base64(secret);
  return [
    secret,
    JSON.stringify(secret).slice(1, -1),
    encodeURIComponent(secret),
    new URLSearchParams({ v: secret }).toString().slice(2),
    encoded,
    encoded.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, ''),
  ];
}

const PATTERNS: readonly (readonly [RegExp, string])[] = [
  // PEM blocks, those with headers and those that are cut off too.
  [/-----BEGIN [A-Z ]{1,40}-----[^]*?(?:-----END [A-Z ]{1,40}-----|$)/g, STRUCK],
  // User and password in an address.
  [/(\b[a-z][a-z0-9+.-]{1,20}:\/\/)[^\s/@:"']{1,200}:[^\s/@"']{1,500}@/gi, `$1${STRUCK}@`],
  // Authorization schemes (RFC 9110, 11.4); a word after them is none, a digit or length tells.
  [/\b(bearer|basic|token)(\s+)(?=\S*\d|\S{20})[A-Za-z0-9\-._~+/]{8,}=*/gi, `$1$2${STRUCK}`],
  // JSON Web Tokens.
  [/\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{4,}(?:\.[A-Za-z0-9_-]*)?/g, STRUCK],
  // Keys by their makers' prefixes: OpenAI, Anthropic, OpenRouter, Stripe, Groq, xAI, Nvidia; Google; GitHub; Slack; AWS; Hugging Face.
  [/\b(?:sk|pk|rk|gsk|xai|nvapi)[-_][A-Za-z0-9_-]{8,}/g, STRUCK],
  [/\bAIza[A-Za-z0-9_-]{20,}/g, STRUCK],
  [/\b(?:gh[pousr]|github_pat)_[A-Za-z0-9_]{16,}/g, STRUCK],
  [/\bxox[a-z]-[A-Za-z0-9-]{8,}/g, STRUCK],
  [/\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g, STRUCK],
  [/\bhf_[A-Za-z0-9]{16,}/g, STRUCK],
  // Named values: key=…, "api_key": "…", x-api-key: …
  [
    /((?:api[-_ ]?key|apikey|access[-_]?key|(?:access|refresh|id|auth|session)[-_]?token|client[-_]?secret|secret|password|passwd|code[-_]verifier|authorization|\bkey|\btoken|\bsig(?:nature)?)\\?["']?\s{0,3}[=:]\s{0,3}\\?["']?)(?!\[secret\]|(?:bearer|basic|token)\s)[^\s"'&,;<>\\{}]{4,}/gi,
    `$1${STRUCK}`,
  ],
];

/** The text without the `known` secrets; whatever else is in it stays. */
export function strikeKnown(text: string, known: readonly string[]): string {
  const forms = [...new Set(known.filter((it) => it.length >= MIN_LENGTH).flatMap(formsOf))];
  // The longest first: a secret may hold another one.
  forms.sort((a, b) => b.length - a.length);
  let struck = text;
  for (const form of forms) struck = struck.replaceAll(form, STRUCK);
  return struck;
}

/** The text without the `known` secrets and without what looks like one. */
export function redact(text: string, known: readonly string[] = []): string {
  let struck = strikeKnown(text, known);
  for (const [pattern, replacement] of PATTERNS) struck = struck.replace(pattern, replacement);
  return struck;
}
