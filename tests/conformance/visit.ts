/** A browser's window in a sign-in, as the suite's servers need one: they lead back at once. */

const MAX_STEPS = 10;

/** Follows an address until it leads to the app's callback; gives that address. */
export async function visit(address: string): Promise<string> {
  let url = new URL(address);
  const home = url.searchParams.get('redirect_uri') ?? '';
  for (let step = 0; step < MAX_STEPS; step += 1) {
    const response = await fetch(url, { redirect: 'manual' });
    await response.body?.cancel();
    const location = response.headers.get('location');
    if (location === null) break;
    url = new URL(location, url);
    if (url.href.startsWith(home)) return url.href;
  }
  throw new Error(`The sign-in at ${url.origin} does not lead back.`);
}
