/**
 * Sign-in with OpenRouter: OAuth with PKCE, no client registration, by a redirect of the whole page
 * (openrouter.ai/docs/guides/overview/auth/oauth). It gives the person a key of their own.
 *
 * OpenRouter has no `state` parameter, so a random one travels in the callback address and is
 * compared when the person comes back: a link that somebody else made signs nobody in. The verifier
 * waits in the vault and is used once.
 */
import type { BrainError } from '../brain.ts';
import type { Vault } from '../../store/store.ts';
import { isRecord, parse, record, string } from './json.ts';
import { redact } from '../../store/redact.ts';
import { base64url, findWaiting, letWait, randomState, stopWaiting } from '../../store/signins.ts';
import type { Net } from './stream.ts';
import type { CloudPreset } from './types.ts';

const AUTHORIZE = 'https://openrouter.ai/auth';
const EXCHANGE = 'https://openrouter.ai/api/v1/auth/keys';
const NAME = 'openrouter';
const EXCHANGE_MS = 30_000;

/** The S256 challenge of a verifier (RFC 7636, 4.2). */
async function challengeOf(verifier: string): Promise<string> {
  const hash = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier));
  return base64url(new Uint8Array(hash));
}

/** The address to send the page to. `returnTo` is the app's own, where `finishSignIn` is called. */
export async function startSignIn(
  preset: CloudPreset,
  returnTo: string,
  vault: Vault,
  now: number,
): Promise<string> {
  if (!preset.signIn) throw new TypeError(`${preset.label} has no sign-in.`);
  const state = randomState();
  const verifier = randomState();
  await letWait(vault, NAME, { state, startedAt: now, verifier, preset: preset.id });

  const callback = new URL(returnTo);
  callback.searchParams.set('state', state);
  const url = new URL(AUTHORIZE);
  url.searchParams.set('callback_url', callback.href);
  url.searchParams.set('code_challenge', await challengeOf(verifier));
  url.searchParams.set('code_challenge_method', 'S256');
  return url.href;
}

type SignedIn =
  | { readonly ok: true; readonly preset: string; readonly key: string }
  | { readonly ok: false; readonly error: BrainError };

const AGAIN = 'Sign in again, or enter a key yourself.';

function failed(
  kind: BrainError['kind'],
  message: string,
  advice: string,
  detail?: string,
): SignedIn {
  return { ok: false, error: { kind, message, advice, ...(detail ? { detail } : {}) } };
}

/** Exchanges the code in the query of the redirect for a key. */
export async function finishSignIn(
  query: URLSearchParams,
  vault: Vault,
  net: Net,
): Promise<SignedIn> {
  const found = await findWaiting(vault, NAME, query.get('state'), net.now());
  if (found.kind === 'none')
    return failed('auth', 'No sign-in is under way in this browser.', AGAIN);
  if (found.kind === 'other')
    return failed(
      'auth',
      'This answer belongs to another sign-in and was not used.',
      'If a sign-in is open in another tab, finish it there. Otherwise sign in again.',
    );
  const denied = query.get('error');
  const code = query.get('code');
  const expired = found.kind === 'late';
  const verifier = string(found.data.verifier);
  // A network failure leaves the verifier, so that the same page can be loaded again.
  if (denied || !code || expired) await stopWaiting(vault, NAME);
  if (denied === 'access_denied')
    return failed('auth', 'You did not allow the sign-in at OpenRouter.', AGAIN);
  if (denied || !code)
    return failed(
      'auth',
      'OpenRouter did not sign you in.',
      AGAIN,
      redact(query.get('error_description') ?? denied ?? 'no code in the answer', []).slice(0, 200),
    );
  if (expired) return failed('auth', 'The sign-in took too long.', AGAIN);

  if (!net.online())
    return failed('offline', 'There is no network.', 'Go online and load this page again.');
  const secrets = [code, verifier];
  try {
    const response = await net.fetch(EXCHANGE, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        code,
        code_verifier: verifier,
        code_challenge_method: 'S256',
      }),
      redirect: 'error',
      credentials: 'omit',
      cache: 'no-store',
      referrerPolicy: 'no-referrer',
      signal: AbortSignal.timeout(EXCHANGE_MS),
    });
    const body = parse((await response.text()).slice(0, 64 * 1024));
    if (response.status >= 500 || response.status === 429)
      return failed(
        'server',
        'OpenRouter could not finish the sign-in just now.',
        'Load this page again in a moment.',
        `${response.status}`,
      );
    await stopWaiting(vault, NAME);
    const key = string(record(body).key);
    if (response.ok && /^[\x21-\x7e]{8,}$/.test(key))
      return { ok: true, preset: string(found.data.preset), key };
    const said = record(body).error;
    return failed(
      response.ok ? 'protocol' : 'auth',
      response.ok
        ? 'OpenRouter answered the sign-in without a key.'
        : 'OpenRouter did not accept the sign-in: its code is used up or too old.',
      AGAIN,
      redact(`${response.status}: ${string(isRecord(said) ? said.message : said)}`, secrets).slice(
        0,
        300,
      ),
    );
  } catch (cause) {
    return failed(
      'unreachable',
      'OpenRouter did not answer.',
      'Check your network and load this page again.',
      redact(cause instanceof Error ? cause.message : String(cause), secrets),
    );
  }
}
