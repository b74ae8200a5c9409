/** Sign-in with OpenRouter, against a server that checks the verifier as OpenRouter does. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createCloud } from '../../../../src/brain/cloud/accounts.ts';
import { startCloud, type CloudServer } from '../../../servers/cloud.ts';
import { newStore } from './bench.ts';

let server: CloudServer;
beforeAll(async () => {
  server = await startCloud();
});
afterAll(() => server.close());

const RETURN_TO = 'https://deft.example/settings/cloud?from=first-run';

/** OpenRouter's addresses lead to the test server. */
const toServer: typeof fetch = (input, init) =>
  fetch(String(input).replace('https://openrouter.ai', server.url), init);

async function begin(options: Partial<Parameters<typeof createCloud>[0]> = {}) {
  const store = await newStore();
  const cloud = createCloud({ store, fetch: toServer, ...options });
  return { store, cloud, url: new URL(await cloud.startSignIn('openrouter', RETURN_TO)) };
}

/** What the browser does: follows the address to the consent page and comes back. */
async function consent(url: URL): Promise<URLSearchParams> {
  const page = await fetch(url.href.replace(url.origin, server.url), { redirect: 'manual' });
  return new URL(page.headers.get('location')!).searchParams;
}

test('asks for consent with a challenge, and comes back where it began', async () => {
  const { url } = await begin();
  expect(url.origin + url.pathname).toBe('https://openrouter.ai/auth');
  expect(url.searchParams.get('code_challenge_method')).toBe('S256');
  expect(url.searchParams.get('code_challenge')).toMatch(/^[A-Za-z0-9_-]{43}$/);
  const callback = new URL(url.searchParams.get('callback_url')!);
  expect(callback.origin + callback.pathname).toBe('https://deft.example/settings/cloud');
  expect(callback.searchParams.get('from')).toBe('first-run');
  expect(callback.searchParams.get('state')).toMatch(/^[A-Za-z0-9_-]{43}$/);
});

test('keeps the verifier out of the address', async () => {
  const { url, store } = await begin();
  const { verifier } = JSON.parse((await store.vault.get('signin:openrouter'))!) as {
    verifier: string;
  };
  expect(url.href).not.toContain(verifier);
});

test('makes an account of the key, and uses the code once', async () => {
  const { url, cloud, store } = await begin();
  const query = await consent(url);
  const done = await cloud.finishSignIn(query);
  if (!done.ok) throw new Error(done.error.message);
  expect(done.account).toMatchObject({ preset: 'openrouter', label: 'OpenRouter', kind: 'openai' });
  expect(await store.vault.get(`cloud:${done.account.id}`)).toMatch(/^sk-or-v1-/);
  expect((await store.settings.get()).cloudAccount).toBe(done.account.id);
  expect(await cloud.brain(done.account.id)).not.toBeNull();

  expect(await cloud.finishSignIn(query)).toMatchObject({
    ok: false,
    error: { message: 'No sign-in is under way in this browser.' },
  });
});

test('signing in again renews the key of the same account', async () => {
  const { url, cloud, store } = await begin();
  const first = await cloud.finishSignIn(await consent(url));
  const again = new URL(await cloud.startSignIn('openrouter', RETURN_TO));
  const key = first.ok && (await store.vault.get(`cloud:${first.account.id}`));
  const second = await cloud.finishSignIn(await consent(again));
  expect(second).toMatchObject({ ok: true, account: first.ok && first.account });
  expect(await store.accounts.all()).toHaveLength(1);
  expect(first.ok && (await store.vault.get(`cloud:${first.account.id}`))).not.toBe(key);
});

test('an answer that somebody else’s link brought is not used', async () => {
  const { url, cloud, store } = await begin();
  const query = await consent(url);
  query.set('state', 'of-another');
  expect(await cloud.finishSignIn(query)).toMatchObject({
    ok: false,
    error: { kind: 'auth', message: expect.stringContaining('another sign-in') },
  });
  expect(await store.accounts.all()).toEqual([]);
  // The sign-in that is under way is not harmed by it.
  query.set('state', new URL(url.searchParams.get('callback_url')!).searchParams.get('state')!);
  expect((await cloud.finishSignIn(query)).ok).toBe(true);
});

test('a code that was made for another verifier is refused, in words', async () => {
  const { url, cloud } = await begin();
  url.searchParams.set('code_challenge', 'x'.repeat(43));
  const done = await cloud.finishSignIn(await consent(url));
  expect(done).toMatchObject({
    ok: false,
    error: { kind: 'auth', message: expect.stringContaining('did not accept the sign-in') },
  });
});

const state = (url: URL) =>
  new URL(url.searchParams.get('callback_url')!).searchParams.get('state')!;

test('a refusal of the person and an answer without a code end it', async () => {
  const denied = await begin();
  expect(
    await denied.cloud.finishSignIn(
      new URLSearchParams({ state: state(denied.url), error: 'access_denied' }),
    ),
  ).toMatchObject({ ok: false, error: { message: expect.stringContaining('did not allow') } });
  const empty = await begin();
  expect(
    await empty.cloud.finishSignIn(new URLSearchParams({ state: state(empty.url) })),
  ).toMatchObject({ ok: false, error: { message: 'OpenRouter did not sign you in.' } });
  expect(await empty.store.vault.has('signin:openrouter')).toBe(false);
});

test('a sign-in that took over an hour is begun anew', async () => {
  let now = Date.UTC(2026, 10, 29);
  const { url, cloud } = await begin({ now: () => now });
  const query = await consent(url);
  now += 61 * 60 * 1000;
  expect(await cloud.finishSignIn(query)).toMatchObject({
    ok: false,
    error: { message: 'The sign-in took too long.' },
  });
});

test('a network failure can be tried again with the same page', async () => {
  let broken = true;
  const { url, cloud } = await begin({
    fetch: (input, init) =>
      broken ? Promise.reject(new TypeError('Failed to fetch')) : toServer(input, init),
  });
  const query = await consent(url);
  expect(await cloud.finishSignIn(query)).toMatchObject({
    ok: false,
    error: { kind: 'unreachable', message: 'OpenRouter did not answer.' },
  });
  broken = false;
  expect((await cloud.finishSignIn(query)).ok).toBe(true);
});

test('no failure tells the code or the verifier', async () => {
  const { url, cloud, store } = await begin({
    fetch: (_input, init) => Promise.reject(new TypeError(`failed: ${String(init?.body)}`)),
  });
  const query = await consent(url);
  const { verifier } = JSON.parse((await store.vault.get('signin:openrouter'))!) as {
    verifier: string;
  };
  const failed = JSON.stringify(await cloud.finishSignIn(query));
  expect(failed).not.toContain(verifier);
  expect(failed).not.toContain(query.get('code'));
});

test('a preset without sign-in has none', async () => {
  const { cloud } = await begin();
  await expect(cloud.startSignIn('openai', RETURN_TO)).rejects.toThrow('no sign-in');
});
