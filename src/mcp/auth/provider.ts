/**
 * The OAuth client of one sign-in, as the MCP SDK drives it. What has to outlive a redirect is in
 * its draft; credentials go to what is kept of the server, each under the issuer that gave it.
 */
import {
  isStrictScopeSuperset,
  type OAuthClientInformationContext,
  type OAuthClientMetadata,
  type OAuthClientProvider,
  type OAuthDiscoveryState,
  type StoredOAuthClientInformation,
  type StoredOAuthTokens,
} from '@modelcontextprotocol/client';
import type { ServerRecord } from '../../store/records.ts';
import { CALLBACK_PATH, clientMetadata } from './client.ts';
import type { Keep } from './keep.ts';

/** What waits while the person is away. */
export interface Draft {
  readonly state: string;
  readonly verifier?: string;
  readonly discovery?: OAuthDiscoveryState;
  readonly resource?: string;
  /** How this app introduced itself for this sign-in. */
  readonly client?: StoredOAuthClientInformation;
  /** Rights that were asked for. */
  readonly scope?: string;
}

/** Nothing tells the authorization server who this app is. */
export class NeedsClient extends Error {
  override readonly name = 'NeedsClient';
}

/** An address that a sign-in may not be sent to. */
export class UnsafeAddress extends Error {
  override readonly name = 'UnsafeAddress';
}

export class SignInProvider implements OAuthClientProvider {
  readonly redirectUrl: string;
  readonly clientMetadata: OAuthClientMetadata;
  readonly clientMetadataUrl?: string;
  draft: Draft;
  /** Where the person has to go. */
  address: URL | null = null;
  readonly #record: ServerRecord;
  readonly #keep: Keep;
  readonly #now: () => number;
  readonly #scope: string | undefined;

  constructor(options: {
    readonly record: ServerRecord;
    readonly keep: Keep;
    readonly origin: string;
    readonly now: () => number;
    readonly draft: Draft;
    readonly document?: string;
    /** Rights that will be asked for. */
    readonly scope?: string;
  }) {
    this.#record = options.record;
    this.#keep = options.keep;
    this.#now = options.now;
    this.#scope = options.scope;
    this.draft = options.draft;
    this.redirectUrl = options.origin + CALLBACK_PATH;
    this.clientMetadata = clientMetadata(options.origin);
    if (options.document) this.clientMetadataUrl = options.document;
  }

  state(): string {
    return this.draft.state;
  }

  async clientInformation(
    context?: OAuthClientInformationContext,
  ): Promise<StoredOAuthClientInformation | undefined> {
    const issuer = context?.issuer ?? '';
    const { typed, clients } = await this.#keep.read(this.#record);
    if (typed && (typed.issuer ?? issuer) === issuer) {
      if (typed.issuer === undefined)
        await this.#keep.change(this.#record, (kept, write) =>
          write({ ...kept, typed: { ...typed, issuer } }),
        );
      return { ...typed, issuer };
    }
    const { client } = this.draft;
    if (client?.issuer === issuer) return client;
    const known = clients?.[issuer];
    if (known && !isOutdated(known, this.#now()) && covers(known, this.#scope)) {
      this.draft = { ...this.draft, client: known };
      return known;
    }
    const metadata = this.draft.discovery?.authorizationServerMetadata;
    const byDocument =
      this.clientMetadataUrl !== undefined &&
      metadata?.client_id_metadata_document_supported === true;
    if (metadata && !byDocument && !metadata.registration_endpoint) throw new NeedsClient();
    return undefined;
  }

  /** It waits with the rest: what an unfinished sign-in registered is of no use later. */
  saveClientInformation(client: StoredOAuthClientInformation): void {
    this.draft = { ...this.draft, client };
  }

  /** A sign-in of a person asks for new ones. */
  tokens(): undefined {
    return undefined;
  }

  async saveTokens(
    tokens: StoredOAuthTokens,
    context?: OAuthClientInformationContext,
  ): Promise<void> {
    const { discovery, resource, scope, client } = this.draft;
    const { id_token: idToken, ...given } = tokens;
    const issuer = tokens.issuer ?? context?.issuer ?? '';
    await this.#keep.change(this.#record, (kept, write) =>
      write({
        server: this.#record.url,
        clients: { ...kept.clients, ...(client ? { [issuer]: client } : {}) },
        typed: kept.typed,
        discovery,
        resource,
        asked: scope,
        who: nameIn(idToken),
        tokens: {
          // Left out, it is what was asked for (RFC 6749, 5.1).
          ...(scope === undefined ? {} : { scope }),
          ...given,
          issuer,
          at: this.#now(),
        },
      }),
    );
  }

  redirectToAuthorization(address: URL): void {
    const loopback = /^(localhost|127\.0\.0\.1|\[::1\])$/.test(address.hostname);
    if (address.protocol !== 'https:' && !(address.protocol === 'http:' && loopback))
      throw new UnsafeAddress(address.origin);
    this.address = address;
    const scope = address.searchParams.get('scope');
    if (scope) this.draft = { ...this.draft, scope };
  }

  saveCodeVerifier(verifier: string): void {
    this.draft = { ...this.draft, verifier };
  }

  codeVerifier(): string {
    if (this.draft.verifier === undefined) throw new Error('No verifier waits.');
    return this.draft.verifier;
  }

  saveDiscoveryState(discovery: OAuthDiscoveryState): void {
    this.draft = { ...this.draft, discovery };
  }

  discoveryState(): OAuthDiscoveryState | undefined {
    return this.draft.discovery;
  }

  saveResourceUrl(resource: string): void {
    this.draft = { ...this.draft, resource };
  }

  /**
   * The resource to sign in for (RFC 8707). Servers that publish none are named by their own
   * address; of those that do, the SDK checks that it covers this address.
   */
  get validateResourceURL(): OAuthClientProvider['validateResourceURL'] {
    if (this.draft.discovery?.resourceMetadata) return undefined;
    return async (server) => new URL(server);
  }

  async invalidateCredentials(
    scope: 'all' | 'client' | 'tokens' | 'verifier' | 'discovery',
  ): Promise<void> {
    if (scope === 'discovery' || scope === 'all')
      this.draft = { ...this.draft, discovery: undefined };
    if (scope !== 'client' && scope !== 'all') return;
    this.draft = { ...this.draft, client: undefined };
    await this.#keep.change(this.#record, (kept, write) => write({ ...kept, clients: {} }));
  }
}

/** A secret that its issuer has let run out (RFC 7591, 3.2.1; in seconds, 0: never). */
function isOutdated(client: StoredOAuthClientInformation, now: number): boolean {
  const at = 'client_secret_expires_at' in client ? Number(client.client_secret_expires_at) : 0;
  return at > 0 && at * 1000 <= now;
}

/** Whether a registration, which may be for certain rights only, is good for these. */
function covers(client: StoredOAuthClientInformation, scope: string | undefined): boolean {
  const registered = 'scope' in client ? client.scope : undefined;
  return registered === undefined || !isStrictScopeSuperset(scope, registered);
}

/**
 * What an ID token calls the person. It came from the token endpoint itself, which is proof enough
 * for a word on a screen (OpenID Connect Core, 3.1.3.7).
 */
function nameIn(idToken: string | undefined): string | undefined {
  try {
    const payload = (idToken ?? '').split('.')[1] ?? '';
    const bytes = Uint8Array.from(
      atob(payload.replace(/-/g, '+').replace(/_/g, '/')),
      (character) => character.charCodeAt(0),
    );
    const claims = JSON.parse(new TextDecoder().decode(bytes)) as Record<string, unknown>;
    const names = [claims.email, claims.preferred_username, claims.name, claims.sub];
    const name = names.find((it): it is string => typeof it === 'string' && it.trim() !== '');
    return name?.replace(/\s+/g, ' ').trim().slice(0, 80);
  } catch {
    return undefined;
  }
}
