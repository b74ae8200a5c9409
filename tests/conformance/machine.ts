/**
 * Grants of the protocol's extensions that no person takes part in (client credentials, workload
 * identity, cross-app access) or that bind tokens to a key (DPoP). The app signs persons in and has
 * none of these; here the SDK's own middleware brings them under the fetch that the host is given.
 */
import {
  auth,
  ClientCredentialsProvider,
  CrossAppAccessProvider,
  DpopSession,
  PrivateKeyJwtProvider,
  requestJwtAuthorizationGrant,
  withDpopFromProvider,
  withOAuth,
  type OAuthClientInformationMixed,
  type OAuthClientMetadata,
  type OAuthClientProvider,
  type OAuthDiscoveryState,
  type OAuthTokens,
} from '@modelcontextprotocol/client';
import type { Job, Outside } from './driver.ts';

type Fetch = typeof globalThis.fetch;

/** Scenarios whose tokens do not come from src/mcp; the report says so of each. */
export const BY_MACHINE: readonly string[] = [
  'auth/client-credentials-basic',
  'auth/client-credentials-jwt',
  'auth/enterprise-managed-authorization',
  'auth/wif-jwt-bearer',
  'auth/dpop',
  'auth/dpop-nonce',
];

/** Null where the scenario is for a person. */
export function machineFetch(job: Job, outside: Outside): Fetch | null {
  const { scenario, url } = job;
  if (!BY_MACHINE.includes(scenario)) return null;
  const given = job.context as Readonly<Record<string, string>>;
  const text = (name: string): string => String(given[name] ?? '');
  const bare: Fetch = (input, init) => globalThis.fetch(input, init);
  const carried = (provider: OAuthClientProvider): Fetch =>
    onlyFor(url, withOAuth(provider, url)(bare) as Fetch, bare);
  switch (scenario) {
    case 'auth/client-credentials-basic':
      return carried(
        new ClientCredentialsProvider({
          clientId: text('client_id'),
          clientSecret: text('client_secret'),
        }),
      );
    case 'auth/client-credentials-jwt':
      return carried(
        new PrivateKeyJwtProvider({
          clientId: text('client_id'),
          privateKey: text('private_key_pem'),
          algorithm: text('signing_algorithm') || 'ES256',
        }),
      );
    case 'auth/enterprise-managed-authorization':
      return carried(
        new CrossAppAccessProvider({
          clientId: text('client_id'),
          clientSecret: text('client_secret'),
          assertion: async ({ authorizationServerUrl, resourceUrl, fetchFn }) => {
            const granted = await requestJwtAuthorizationGrant({
              tokenEndpoint: text('idp_token_endpoint'),
              audience: authorizationServerUrl,
              resource: resourceUrl,
              idToken: text('idp_id_token'),
              clientId: text('idp_client_id'),
              fetchFn,
            });
            return granted.jwtAuthGrant;
          },
        }),
      );
    case 'auth/wif-jwt-bearer':
      return carried(new WorkloadProvider(text('client_id'), text('valid_jwt')));
    case 'auth/dpop':
    case 'auth/dpop-nonce':
      return onlyFor(url, boundFetch(url, bare, outside), bare);
    default:
      return null;
  }
}

/** Tokens go to the server that they are for. */
function onlyFor(url: string, fetch: Fetch, bare: Fetch): Fetch {
  return (input, init) =>
    (input instanceof Request ? input.url : String(input)) === url
      ? fetch(input, init)
      : bare(input, init);
}

class MemoryProvider implements OAuthClientProvider {
  private client: OAuthClientInformationMixed | undefined;
  private given: OAuthTokens | undefined;
  private verifier = '';
  private discovery: OAuthDiscoveryState | undefined;

  get redirectUrl(): string | undefined {
    return undefined;
  }
  get clientMetadata(): OAuthClientMetadata {
    return { client_name: 'Deft', redirect_uris: [] };
  }
  clientInformation(): OAuthClientInformationMixed | undefined {
    return this.client;
  }
  saveClientInformation(client: OAuthClientInformationMixed): void {
    this.client = client;
  }
  tokens(): OAuthTokens | undefined {
    return this.given;
  }
  saveTokens(tokens: OAuthTokens): void {
    this.given = tokens;
  }
  redirectToAuthorization(_address: URL): void | Promise<void> {
    throw new Error('No person is here to sign in.');
  }
  saveCodeVerifier(verifier: string): void {
    this.verifier = verifier;
  }
  codeVerifier(): string {
    return this.verifier;
  }
  saveDiscoveryState(state: OAuthDiscoveryState): void {
    this.discovery = state;
  }
  discoveryState(): OAuthDiscoveryState | undefined {
    return this.discovery;
  }
}

/** RFC 7523 with a workload's own token. */
class WorkloadProvider extends MemoryProvider {
  private readonly id: string;
  private readonly assertion: string;
  constructor(id: string, assertion: string) {
    super();
    this.id = id;
    this.assertion = assertion;
  }
  override clientInformation(): OAuthClientInformationMixed {
    return { client_id: this.id };
  }
  prepareTokenRequest(scope?: string): URLSearchParams {
    return new URLSearchParams({
      grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
      assertion: this.assertion,
      ...(scope ? { scope } : {}),
    });
  }
}

/** A sign-in whose tokens hold for one key only (RFC 9449). */
class BoundProvider extends MemoryProvider {
  readonly outside: Outside;
  back: URLSearchParams | null = null;
  private readonly session = DpopSession.create();
  constructor(outside: Outside) {
    super();
    this.outside = outside;
  }
  override get redirectUrl(): string {
    return 'http://localhost:3000/callback';
  }
  override get clientMetadata(): OAuthClientMetadata {
    return {
      client_name: 'Deft',
      redirect_uris: [this.redirectUrl],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    };
  }
  dpop(): Promise<DpopSession> {
    return Promise.resolve(this.session);
  }
  override async redirectToAuthorization(address: URL): Promise<void> {
    this.back = new URL(await this.outside.visit(address.href)).searchParams;
  }
}

function boundFetch(url: string, bare: Fetch, outside: Outside): Fetch {
  const provider = new BoundProvider(outside);
  const carried = withDpopFromProvider(provider)(async (input, init) => {
    const headers = new Headers(init?.headers);
    const token = provider.tokens();
    if (token && !headers.has('authorization'))
      headers.set('authorization', `Bearer ${token.access_token}`);
    return bare(input, { ...init, headers });
  }) as Fetch;
  return async (input, init) => {
    const first = await carried(input, init);
    if (first.status !== 401) return first;
    await auth(provider, { serverUrl: url });
    const code = provider.back?.get('code');
    if (!code) return first;
    await auth(provider, {
      serverUrl: url,
      authorizationCode: code,
      iss: provider.back?.get('iss') ?? undefined,
    });
    return carried(input, init);
  };
}
