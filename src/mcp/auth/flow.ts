/**
 * Sign-in with a server: OAuth 2.1 with PKCE (S256), on the MCP SDK. Loaded with the first sign-in
 * or renewal, because the SDK is large.
 *
 * Promises: each request for a code or a token names the resource (RFC 8707); an answer is used only
 * with the state that was sent and from the issuer that was asked (RFC 9207); a code, a verifier or a
 * refresh token goes to the token endpoint of that issuer and nowhere else, redirects included.
 */
import '../no-eval.ts';
import {
  AuthorizationServerMismatchError,
  InsecureTokenEndpointError,
  IssuerMismatchError,
  OAuthError,
  OAuthErrorCode,
  RegistrationRejectedError,
  assertSecureTokenEndpoint,
  auth,
  computeScopeUnion,
  discoverOAuthServerInfo,
  exchangeAuthorization,
  extractWWWAuthenticateParams,
  isStrictScopeSuperset,
  refreshAuthorization,
  selectClientAuthMethod,
  validateAuthorizationResponseIssuer,
  type OAuthDiscoveryState,
  type StoredOAuthClientInformation,
} from '@modelcontextprotocol/client';
import { redact } from '../../store/redact.ts';
import type { ServerRecord } from '../../store/records.ts';
import { findWaiting, letWait, randomState, stopWaiting, type Found } from '../../store/signins.ts';
import type { Store } from '../../store/store.ts';
import { throughProxy } from '../opening.ts';
import type { HostError } from '../types.ts';
import { findDocument } from './client.ts';
import * as faults from './faults.ts';
import { EARLY_MS, isOver, type Keep, type Kept } from './keep.ts';
import type { Exclusive } from './locks.ts';
import { NeedsClient, SignInProvider, UnsafeAddress, type Draft } from './provider.ts';
import {
  SignInFault,
  type Received,
  type SignInEnd,
  type SignInWindow,
  type SignInWindows,
} from './types.ts';

/** One request of a sign-in. */
const REQUEST_MS = 30_000;
const REVOKE_MS = 5_000;
/** A second round is for what changed meanwhile; a third would only repeat it. */
const MAX_ROUNDS = 2;

export interface FlowContext {
  readonly store: Pick<Store, 'servers' | 'vault' | 'changes'>;
  readonly keep: Keep;
  readonly exclusive: Exclusive;
  readonly fetch: typeof globalThis.fetch;
  readonly now: () => number;
  readonly online: () => boolean;
  readonly origin: string;
  readonly windows: SignInWindows;
  /** Milliseconds that a person may take. */
  readonly waitMs: number;
}

const waitName = (id: string): string => `server:${id}`;
const answerName = (id: string): string => `signin-answer:${id}`;
const lockName = (id: string): string => `signin:${id}`;

/** Signs in with `popup`, or in the page itself where that is null. Never throws. */
export async function signIn(
  context: FlowContext,
  record: ServerRecord,
  popup: SignInWindow | null,
  signal: AbortSignal,
): Promise<SignInEnd> {
  const end = await context.exclusive.tryRun(lockName(record.id), async () => {
    let window = popup;
    for (let round = 1; ; round += 1) {
      const end = await oneRound(context, record, window, signal);
      window?.close();
      if (end.ok || !end.again || round === MAX_ROUNDS || !window) return end;
      window = context.windows.popup();
      if (!window) return end;
    }
  });
  if (end) return end;
  popup?.close();
  return { ok: false, error: faults.underWay(record.name) };
}

async function oneRound(
  context: FlowContext,
  record: ServerRecord,
  popup: SignInWindow | null,
  signal: AbortSignal,
): Promise<SignInEnd> {
  const { windows, store, waitMs } = context;
  if (!context.online()) return { ok: false, error: faults.signInOffline(record.name) };
  const begun = await begin(context, record, popup ? 'popup' : 'page', signal);
  if (!begun.ok) return begun;
  const late = AbortSignal.timeout(waitMs);
  const ended = AbortSignal.any([signal, late]);
  const answer = awaitAnswer(context, record.id, popup === null, ended);
  if (popup) popup.go(begun.address);
  else windows.leave(begun.address);
  const query = await answer;
  if (query) return complete(context, record, query, signal);
  await stopWaiting(store.vault, waitName(record.id));
  // The authorization server may have said that it has forgotten this app: the next try is a new one.
  await context.keep.change(record, async (kept, write) => {
    if (!kept.tokens || kept.expired) await write({ ...kept, clients: {} });
  });
  const error = late.aborted ? faults.tooSlow(record.name) : faults.cancelled(record.name);
  return { ok: false, error };
}

/** Finds out where to sign in, introduces the app, and lets everything wait for the answer. */
async function begin(
  context: FlowContext,
  record: ServerRecord,
  mode: 'popup' | 'page',
  signal: AbortSignal,
): Promise<{ ok: true; address: string } | Extract<SignInEnd, { ok: false }>> {
  const { keep, store, now, origin, windows } = context;
  const fetch = careful(context, record, signal);
  try {
    const challenge = await challengeOf(record, fetch.fetch);
    const discovery = await discover(record, challenge.resourceMetadataUrl, fetch.fetch);
    if (!challenge.wanted && !discovery.resourceMetadata && !discovery.authorizationServerMetadata)
      return { ok: false, error: faults.notAsked(record.name) };
    const kept = await keep.read(record);
    const metadata = discovery.authorizationServerMetadata;
    const document = metadata?.client_id_metadata_document_supported
      ? await findDocument(origin, context.fetch)
      : undefined;
    // What was allowed before is not lost by signing in anew.
    const scope = computeScopeUnion(challenge.scope, kept.asked, kept.wanted);
    const provider = new SignInProvider({
      record,
      keep,
      origin,
      now,
      ...(scope ? { scope } : {}),
      draft: { state: `${randomState()}.${record.id}`, discovery },
      ...(document ? { document } : {}),
    });
    await auth(provider, {
      serverUrl: record.url,
      resourceMetadataUrl: challenge.resourceMetadataUrl,
      scope,
      fetchFn: fetch.fetch,
      forceReauthorization: true,
    });
    if (!provider.address) throw new Error('There is no address to sign in at.');
    await store.vault.delete(answerName(record.id));
    await letWait(store.vault, waitName(record.id), {
      ...provider.draft,
      startedAt: now(),
      mode,
      returnTo: windows.here(),
    });
    return { ok: true, address: provider.address.href };
  } catch (cause) {
    if (signal.aborted) return { ok: false, error: faults.cancelled(record.name) };
    if (cause instanceof NeedsClient || cause instanceof RegistrationRejectedError)
      await keep.change(record, (kept, write) => write({ ...kept, needsClient: true }));
    return { ok: false, error: explain(context, record, cause, fetch.last(), []) };
  }
}

/** Exchanges the answer for tokens, and sees whether the server takes them. */
async function complete(
  context: FlowContext,
  record: ServerRecord,
  query: URLSearchParams,
  signal: AbortSignal,
): Promise<SignInEnd> {
  const { store, keep, now, origin } = context;
  const found = await findWaiting(
    store.vault,
    waitName(record.id),
    query.get('state'),
    context.now(),
  );
  if (found.kind === 'none') return { ok: false, error: faults.unasked() };
  if (found.kind === 'other') return { ok: false, error: faults.wrongState() };
  // A code is good for one try; what went wrong with it is begun anew.
  await stopWaiting(store.vault, waitName(record.id));
  if (found.kind === 'late') return { ok: false, error: faults.tooSlow(record.name) };

  const draft = found.data as unknown as Draft;
  const kept = await keep.read(record);
  const client = draft.client ?? kept.typed;
  const code = query.get('code');
  const secrets = [code ?? '', draft.verifier ?? '', ...secretOf(client)];
  const fetch = careful(context, record, signal);
  const provider = new SignInProvider({ record, keep, origin, now, draft });
  const metadata = draft.discovery?.authorizationServerMetadata;
  const iss = query.get('iss') ?? undefined;
  try {
    // Before anything else of the answer is read: it may be somebody else's (RFC 9207, 2.4).
    validateAuthorizationResponseIssuer({
      iss,
      expectedIssuer: metadata?.issuer,
      issParameterSupported: metadata?.authorization_response_iss_parameter_supported === true,
    });
    const denied = query.get('error');
    if (denied === 'access_denied') return { ok: false, error: faults.declined(record.name) };
    if (denied !== null || code === null)
      throw new OAuthError(denied ?? 'no code', query.get('error_description') ?? '');
    if (!draft.discovery || !client) throw new NeedsClient();
    const given = await exchangeAuthorization(draft.discovery.authorizationServerUrl, {
      metadata,
      clientInformation: client,
      authorizationCode: code,
      iss,
      codeVerifier: provider.codeVerifier(),
      redirectUri: provider.redirectUrl,
      resource: draft.resource,
      fetchFn: fetch.fetch,
    });
    await provider.saveTokens({ ...given, issuer: metadataIssuer(draft) });
    const seen = await challengeOf(record, fetch.fetch, given.access_token);
    if (!seen.wanted) return { ok: true };
    await markExpired(keep, record);
    return { ok: false, error: faults.refusedToken(record.name), again: true };
  } catch (cause) {
    const error = explain(context, record, cause, fetch.last(), secrets);
    // An app that was forgotten since it registered can register anew, at once.
    if (!isUnknownClient(cause) || kept.typed) return { ok: false, error };
    await provider.invalidateCredentials('client');
    return { ok: false, error, again: true };
  }
}

function isUnknownClient(cause: unknown): boolean {
  return (
    cause instanceof OAuthError &&
    [OAuthErrorCode.InvalidClient, OAuthErrorCode.UnauthorizedClient].some(
      (code) => code === cause.code,
    )
  );
}

function metadataIssuer({ discovery }: Draft): string {
  return (
    discovery?.authorizationServerMetadata?.issuer ?? String(discovery?.authorizationServerUrl)
  );
}

/**
 * Takes an answer that came back to the app: hands it to the tab that waits for it, or finishes the
 * sign-in here, where that tab is gone or there never was another.
 */
export async function receive(context: FlowContext, query: URLSearchParams): Promise<Received> {
  const { store, exclusive } = context;
  const state = query.get('state');
  const id = state?.slice(state.indexOf('.') + 1) ?? '';
  const record = await store.servers.get(id);
  const found: Found = record
    ? await findWaiting(store.vault, waitName(id), state, context.now())
    : { kind: 'none' };
  if (!record || found.kind === 'none')
    return { kind: 'failed', error: faults.unasked(), returnTo: '/servers' };
  const server = `/servers/${record.id}`;
  if (found.kind === 'other')
    return { kind: 'failed', error: faults.wrongState(), returnTo: server };
  const { mode, returnTo = server } = found.data as { mode?: unknown; returnTo?: string };
  if (mode === 'popup' && (await exclusive.held(lockName(id)))) {
    await store.vault.set(answerName(id), query.toString());
    return { kind: 'handed-over' };
  }
  const end = await complete(context, record, query, new AbortController().signal);
  if (end.ok) await store.servers.update(id, (old) => ({ ...old, auth: 'oauth' }));
  return end.ok
    ? { kind: 'signed-in', server: record, returnTo }
    : { kind: 'failed', error: end.error, returnTo };
}

/** The answer as the returning window left it in the vault; null where none came in time. */
function awaitAnswer(
  { store, windows }: FlowContext,
  id: string,
  left: boolean,
  ended: AbortSignal,
): Promise<URLSearchParams | null> {
  const name = answerName(id);
  return new Promise((resolve) => {
    const look = async (): Promise<void> => {
      const answer = await store.vault.get(name);
      if (answer === undefined) {
        // Back on the page that was left for the sign-in, without an answer: it was given up.
        if (left) finish(null);
        return;
      }
      finish(new URLSearchParams(answer));
      await store.vault.delete(name);
    };
    const looks = (): void => void look().catch(() => undefined);
    const stopListening = store.changes.subscribe((change) => {
      if (change.topic === 'secrets' && change.key === name && !left) looks();
    });
    // A page that slept may have missed the word of it.
    const stopWatching = windows.onReturn(looks);
    const onEnd = (): void => finish(null);
    const finish = (answer: URLSearchParams | null): void => {
      stopListening();
      stopWatching();
      ended.removeEventListener('abort', onEnd);
      resolve(answer);
    };
    ended.addEventListener('abort', onEnd);
    if (ended.aborted) onEnd();
  });
}

/**
 * Makes sure that the kept access token is not `refused`: renews it unless somebody else just has.
 * Throws a `SignInFault` where that cannot be done.
 */
export async function renew(
  context: FlowContext,
  record: ServerRecord,
  refused: string | undefined,
  challenge: Response | null,
): Promise<void> {
  const { keep, now } = context;
  const fetch = careful(context, record, new AbortController().signal);
  await keep.change(record, async (kept, write) => {
    const { tokens } = kept;
    const over = kept.expired || isOver(kept, now(), EARLY_MS);
    if (tokens && !over && tokens.access_token !== refused) return;
    const end = async (): Promise<never> => {
      await write({ ...kept, expired: true });
      throw new SignInFault(faults.expired(record.name));
    };
    if (!tokens) throw new SignInFault(faults.wanted(record.name));
    if (!tokens.refresh_token || kept.expired) return end();
    if (!context.online()) throw new SignInFault(faults.signInOffline(record.name));
    const secrets = secretsIn(kept);
    try {
      // A token that was refused before its time may mean that another server signs in now.
      const discovery =
        challenge || !kept.discovery
          ? await discover(
              record,
              challenge ? extractWWWAuthenticateParams(challenge).resourceMetadataUrl : undefined,
              fetch.fetch,
            )
          : kept.discovery;
      const issuer = metadataIssuer({ state: '', discovery });
      const client = clientFor(kept, tokens.issuer);
      if (issuer !== tokens.issuer || !client) return await end();
      const fresh = await refreshAuthorization(discovery.authorizationServerUrl, {
        metadata: discovery.authorizationServerMetadata,
        clientInformation: client,
        refreshToken: tokens.refresh_token,
        resource: kept.resource,
        fetchFn: fetch.fetch,
      });
      const scope = fresh.scope ?? tokens.scope;
      await write({
        ...kept,
        discovery,
        tokens: {
          ...fresh,
          ...(scope === undefined ? {} : { scope }),
          issuer: tokens.issuer,
          at: now(),
        },
      });
    } catch (cause) {
      if (cause instanceof SignInFault) throw cause;
      if (cause instanceof OAuthError && cause.code !== OAuthErrorCode.ServerError) return end();
      throw new SignInFault(explain(context, record, cause, fetch.last(), secrets));
    }
  });
}

async function markExpired(keep: Keep, record: ServerRecord): Promise<void> {
  await keep.change(record, (kept, write) => write({ ...kept, expired: true }));
}

/** Takes back what was given (RFC 7009), as far as the authorization server can be reached. */
export async function revoke(
  context: FlowContext,
  record: ServerRecord,
  kept: Kept,
): Promise<boolean> {
  const { tokens, discovery } = kept;
  const metadata: Readonly<Record<string, unknown>> = {
    ...discovery?.authorizationServerMetadata,
  };
  const client = tokens && clientFor(kept, tokens.issuer);
  if (!tokens || !client || typeof metadata.revocation_endpoint !== 'string') return false;
  const address = metadata.revocation_endpoint;
  const fetch = careful(context, record, AbortSignal.timeout(REVOKE_MS));
  const take = async (token: string, hint: string): Promise<boolean> => {
    const headers = new Headers({ 'content-type': 'application/x-www-form-urlencoded' });
    const body = new URLSearchParams({ token, token_type_hint: hint });
    authenticate(client, metadata.revocation_endpoint_auth_methods_supported, headers, body);
    const response = await fetch.fetch(assertSecureTokenEndpoint(address), {
      method: 'POST',
      headers,
      body,
      redirect: 'error',
    });
    return response.ok;
  };
  try {
    const first = tokens.refresh_token ? await take(tokens.refresh_token, 'refresh_token') : true;
    return (await take(tokens.access_token, 'access_token')) && first;
  } catch {
    return false;
  }
}

/** Who asks, as the server wants to hear it (RFC 6749, 2.3). */
function authenticate(
  client: StoredOAuthClientInformation,
  methods: unknown,
  headers: Headers,
  body: URLSearchParams,
): void {
  const supported = Array.isArray(methods) ? methods.map(String) : [];
  const method = selectClientAuthMethod(client, supported);
  const [secret = ''] = secretOf(client);
  if (method === 'client_secret_basic') {
    headers.set('authorization', `Basic ${btoa(`${client.client_id}:${secret}`)}`);
    return;
  }
  body.set('client_id', client.client_id);
  if (method === 'client_secret_post') body.set('client_secret', secret);
}

/** How this app is known to an issuer. */
function clientFor(kept: Kept, issuer: string): StoredOAuthClientInformation | undefined {
  return kept.typed?.issuer === issuer ? kept.typed : kept.clients?.[issuer];
}

/** Everything in it that may not be shown. */
function secretsIn({ tokens, typed, clients }: Kept): string[] {
  const known = [typed, ...Object.values(clients ?? {})];
  return [tokens?.access_token, tokens?.refresh_token, ...known.flatMap(secretOf)].filter(
    (it): it is string => typeof it === 'string',
  );
}

function secretOf(client: StoredOAuthClientInformation | undefined): string[] {
  return client && 'client_secret' in client ? [String(client.client_secret)] : [];
}

/** Notes rights that the server wants; false where they were asked for already. */
export async function wantScope(
  { keep }: FlowContext,
  record: ServerRecord,
  scope: string,
): Promise<boolean> {
  return keep.change(record, async (kept, write) => {
    if (!isStrictScopeSuperset(scope, kept.asked)) return false;
    await write({ ...kept, wanted: computeScopeUnion(kept.wanted, scope) });
    return true;
  });
}

async function discover(
  record: ServerRecord,
  resourceMetadataUrl: URL | undefined,
  fetch: typeof globalThis.fetch,
): Promise<OAuthDiscoveryState> {
  const info = await discoverOAuthServerInfo(record.url, {
    resourceMetadataUrl,
    fetchFn: fetch,
  });
  return {
    ...info,
    ...(resourceMetadataUrl ? { resourceMetadataUrl: resourceMetadataUrl.href } : {}),
  };
}

interface Challenge {
  /** The server wants a sign-in, or does not take this token. */
  readonly wanted: boolean;
  readonly resourceMetadataUrl?: URL;
  readonly scope?: string;
}

/** How the server answers to nobody, or to the bearer of a token. It says so before it reads on. */
async function challengeOf(
  record: ServerRecord,
  fetch: typeof globalThis.fetch,
  token?: string,
): Promise<Challenge> {
  try {
    const response = await fetch(record.url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...(token ? { authorization: `Bearer ${token}` } : {}),
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' }),
      redirect: 'error',
    });
    await response.body?.cancel();
    const { resourceMetadataUrl, scope } = extractWWWAuthenticateParams(response);
    return {
      wanted: response.status === 401,
      ...(resourceMetadataUrl ? { resourceMetadataUrl } : {}),
      ...(scope ? { scope } : {}),
    };
  } catch {
    // It may still say where to sign in at its well-known address.
    return { wanted: false };
  }
}

/** The fetch of a sign-in: no cookies, no referrer, nothing cached, and it comes to an end. */
function careful(
  context: FlowContext,
  { proxy }: ServerRecord,
  signal: AbortSignal,
): { fetch: typeof globalThis.fetch; last(): string } {
  let last = '';
  // Who reaches a server by their own proxy reaches what signs them in there by it, too.
  const fetch = proxy === undefined ? context.fetch : throughProxy(context.fetch, proxy);
  return {
    last: () => last,
    fetch(input, init) {
      last = new URL(input instanceof Request ? input.url : input).host;
      return fetch(input, {
        ...init,
        credentials: 'omit',
        cache: 'no-store',
        referrerPolicy: 'no-referrer',
        signal: AbortSignal.any([signal, AbortSignal.timeout(REQUEST_MS)]),
      });
    },
  };
}

/** The words for what a step of a sign-in failed with. `host` is where the last request went. */
function explain(
  { online, origin }: FlowContext,
  { name }: ServerRecord,
  cause: unknown,
  host: string,
  secrets: readonly string[],
): HostError {
  const said = cause instanceof Error ? cause.message : String(cause);
  const detail = redact(said, secrets);
  if (cause instanceof NeedsClient) return faults.needsClient(name, `${origin}/oauth/callback`);
  if (cause instanceof RegistrationRejectedError)
    return {
      ...faults.needsClient(name, `${origin}/oauth/callback`),
      detail: `HTTP ${cause.status}: ${redact(cause.body, secrets)}`.slice(0, 300),
    };
  if (cause instanceof AuthorizationServerMismatchError) return faults.wrongIssuer(name);
  if (cause instanceof IssuerMismatchError)
    return cause.kind === 'metadata'
      ? faults.wrongMetadata(name, detail)
      : faults.wrongIssuer(name);
  if (cause instanceof InsecureTokenEndpointError || cause instanceof UnsafeAddress)
    return faults.incompatible(name, detail);
  if (cause instanceof OAuthError) {
    const said = redact(`${cause.code}: ${cause.message}`, secrets);
    return isUnknownClient(cause) ? faults.refusedApp(name, said) : faults.refused(name, said);
  }
  if (cause instanceof TypeError || isTimeout(cause))
    return online() ? faults.signInUnreachable(name, host) : faults.signInOffline(name);
  if (/^Incompatible auth server/.test(said)) return faults.incompatible(name, detail);
  if (/^Protected resource .* does not match/.test(said)) return faults.wrongResource(name, detail);
  return faults.senseless(name, detail);
}

function isTimeout(cause: unknown): boolean {
  return cause instanceof DOMException && cause.name === 'TimeoutError';
}
