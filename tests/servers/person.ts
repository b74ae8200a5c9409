/** A person in a browser, as far as a sign-in needs one: follows, keeps cookies, taps a button. */

export interface Visit {
  /** Where the authorization server sent the person in the end. */
  readonly callback: URL;
  /** Texts of the pages on the way. */
  readonly pages: readonly string[];
}

/**
 * Goes to an address and answers every page of it, until it leads to `home`. Cookies are kept in
 * `jar`, so that the same jar is the same person again.
 */
export async function visit(
  address: string,
  home: string,
  answer: 'allow' | 'decline' = 'allow',
  jar: Map<string, string> = new Map(),
): Promise<Visit> {
  const pages: string[] = [];
  let url = new URL(address);
  let method = 'GET';
  for (let step = 0; step < 30; step += 1) {
    if (url.href.startsWith(home)) return { callback: url, pages };
    const response = await fetch(url, {
      method,
      redirect: 'manual',
      headers: { cookie: [...jar].map(([name, value]) => `${name}=${value}`).join('; ') },
    });
    for (const cookie of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      if (value === '') jar.delete(name);
      else jar.set(name, value);
    }
    const text = await response.text();
    const location = response.headers.get('location');
    if (location !== null) {
      url = new URL(location, url);
      method = 'GET';
      continue;
    }
    pages.push(text);
    const action = new RegExp(`action="([^"]*answer=${answer})"`).exec(text)?.[1];
    if (action === undefined) throw new Error(`Nothing to tap: ${response.status} ${text}`);
    url = new URL(action, url);
    method = 'POST';
  }
  throw new Error('The sign-in goes in circles.');
}
