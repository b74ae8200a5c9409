/**
 * Which addresses of untrusted text become links: absolute http, https and mailto, nothing else. The
 * host is always known, so that it can be shown beside the words.
 */
export interface SafeLink {
  readonly href: string;
  /** Host of a page, as the browser will ask for it; the address of a mail. */
  readonly host: string;
}

/** Null where it must stay plain text (`javascript:`, `data:`, relative, broken). */
export function safeLink(address: string): SafeLink | null {
  if (!URL.canParse(address)) return null;
  const url = new URL(address);
  if (url.protocol === 'mailto:') return { href: url.href, host: url.pathname };
  if ((url.protocol !== 'https:' && url.protocol !== 'http:') || !url.host) return null;
  // `https://bank.example@evil.example` would read as the bank.
  url.username = '';
  url.password = '';
  return { href: url.href, host: url.host };
}
