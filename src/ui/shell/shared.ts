/** Words shared from another app, as one text. They are untrusted and only ever become a draft. */

/** Longest text taken over from another app, in characters; the rest is cut off, and said so. */
const SHARED_MAX = 100_000;

/** The shared words as one text: title, text, address, each once. */
export function sharedText(query: URLSearchParams): string {
  const parts: string[] = [];
  for (const name of ['title', 'text', 'url']) {
    const value = query.get(name)?.trim();
    if (value && !parts.some((part) => part.includes(value))) parts.push(value);
  }
  const whole = parts.join('\n');
  return whole.length > SHARED_MAX
    ? `${whole.slice(0, SHARED_MAX)}\n[The shared text was longer and ends here.]`
    : whole;
}
