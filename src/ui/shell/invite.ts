/**
 * Addresses of servers in what a link or a QR code says: the address itself, or a link to Deft that
 * carries one (`/?server=<url>`). They are proposals: nothing is sent to them before a yes.
 */

/** The address that a scanned text proposes, or null where it proposes none. */
export function serverIn(text: string): string | null {
  const typed = text.trim();
  if (!URL.canParse(typed)) return null;
  const url = new URL(typed);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return null;
  // Whoever's copy of Deft the link was made for: this one takes the address out of it.
  return url.pathname === '/' || url.pathname === '/servers'
    ? proposedBy(url.searchParams) || typed
    : typed;
}

/** The address that a link to Deft carries; empty where it carries none. */
export function proposedBy(query: URLSearchParams): string {
  return query.get('server')?.trim() ?? '';
}
