/**
 * A real authorization server (oidc-provider) and an MCP server that it protects. Sign-in in two
 * pages, as a person meets it: who you are, then what you allow. PKCE, registration, client metadata
 * documents, resource indicators, rotating refresh tokens, revocation and `iss` are oidc-provider's
 * own; only the CORS headers of its registration address are added.
 *
 *   npx tsx tests/servers/authorization.ts [port of the MCP server]
 */
import { generateKeyPairSync } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pathToFileURL } from 'node:url';
import { fromJsonSchema, McpServer } from '@modelcontextprotocol/server';
import { Provider } from 'oidc-provider';
import { closeServer, listen, serveMcp, type Incoming, type Served } from './mcp-http.ts';

export interface AuthorizationOptions {
  /** Of the MCP server; a free one where it is left out. */
  readonly port?: number;
  /** Whether apps may register themselves (RFC 7591); default: yes. */
  readonly registration?: boolean;
  /** Client metadata documents by address; with any, such client ids are taken. */
  readonly documents?: Readonly<Record<string, unknown>>;
  /** Clients that it knows from the start. */
  readonly clients?: readonly Readonly<Record<string, unknown>>[];
  /** Seconds that an access token holds. */
  readonly seconds?: number;
  /** What a 401 says; `none`: no challenge at all, so that the well-known address has to do. */
  readonly challenge?: 'full' | 'none';
  /** Replaces parts of the protected resource's metadata (RFC 9728). */
  readonly resource?: () => Readonly<Record<string, unknown>>;
  /** Sends on whoever is signed in: an address, or null. */
  readonly redirect?: () => string | null;
  /** Takes no token, however good. */
  readonly stubborn?: boolean;
}

/** One request that came to the authorization server, as far as a test asks for it. */
export interface Asked {
  readonly path: string;
  readonly params: Readonly<Record<string, string>>;
}

export interface Authorization {
  readonly issuer: string;
  /** The protected server. */
  readonly mcp: Served;
  /** Requests for authorization, tokens, registration and revocation, in order. */
  asked(path?: string): readonly Asked[];
  /** Token requests by grant type. */
  tokenRequests(grant: string): readonly Asked[];
  /** From now on the MCP server refuses every access token that was given out so far. */
  expireAccess(): void;
  /** Takes back everything that people have allowed so far. */
  revokeGrants(): Promise<void>;
  /** Forgets the apps that have registered, as a restart does. */
  forgetClients(): Promise<void>;
  /** Notes that were written. */
  notes(): readonly string[];
  close(): Promise<void>;
}

const READ = 'notes:read';
const WRITE = 'notes:write';
const OIDC = 'openid email offline_access';

export async function startAuthorization(
  options: AuthorizationOptions = {},
): Promise<Authorization> {
  const asked: Asked[] = [];
  const grants = new Set<string>();
  const given = new Set<string>();
  const clients = new Set<string>();
  const http = createServer((request, response) => {
    handle(request, response).catch(() => response.destroy());
  });
  await listen(http, 0);
  const issuer = `http://localhost:${(http.address() as AddressInfo).port}`;
  const provider = new Provider(issuer, configuration(options));
  provider.use(async (context, next) => {
    try {
      await next();
    } finally {
      const { path, oidc } = context;
      const params = oidc?.body ?? oidc?.params;
      if (params && ['/auth', '/token', '/reg', '/token/revocation'].includes(path))
        asked.push({ path, params: { ...params } });
    }
  });
  const pass = provider.callback();
  // An opaque token is its own id.
  provider.on('access_token.saved', ({ grantId, jti }: { grantId: string; jti: string }) => {
    grants.add(grantId);
    given.add(jti);
  });
  provider.on('registration_create.success', (_context: unknown, client: { clientId: string }) =>
    clients.add(client.clientId),
  );

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', issuer);
    // oidc-provider leaves it to whoever hosts it which origins may register.
    if (url.pathname === '/reg') {
      response.setHeader('access-control-allow-origin', '*');
      response.setHeader('access-control-allow-headers', 'content-type');
      if (request.method === 'OPTIONS') {
        response.writeHead(204).end();
        return;
      }
    }
    if (url.pathname.startsWith('/interaction/')) {
      await interact(provider, request, response);
      return;
    }
    // The same document under the name that RFC 8414 gives it.
    if (url.pathname === '/.well-known/oauth-authorization-server')
      request.url = '/.well-known/openid-configuration';
    pass(request, response);
  }

  const dead = new Set<string>();
  const notes: string[] = [];
  const mcp: Served = await serveMcp(() => notebook(notes), {
    ...(options.port === undefined ? {} : { port: options.port }),
    before: (message, request, response) => guard(message, request, response),
  });

  async function guard(
    message: Incoming | null,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<boolean> {
    const { pathname, origin } = new URL(mcp.url);
    const metadata = `${origin}/.well-known/oauth-protected-resource${pathname}`;
    if (request.url === new URL(metadata).pathname) {
      response.setHeader('content-type', 'application/json');
      response.end(
        JSON.stringify({
          resource: mcp.url,
          authorization_servers: [issuer],
          scopes_supported: [READ, WRITE],
          ...options.resource?.(),
        }),
      );
      return true;
    }
    const refuse = (status: 401 | 403, words: string): true => {
      if (options.challenge !== 'none')
        response.setHeader('www-authenticate', `Bearer ${words}, resource_metadata="${metadata}"`);
      response.writeHead(status).end();
      return true;
    };
    const header = request.headers.authorization ?? '';
    const bearer = /^Bearer (.+)$/.exec(header)?.[1];
    if (bearer === undefined) return refuse(401, `scope="openid email ${READ}"`);
    const token = dead.has(bearer) ? undefined : await provider.AccessToken.find(bearer);
    const scopes = (token?.scope ?? '').split(' ');
    if (!token || token.aud !== mcp.url || !scopes.includes(READ) || options.stubborn)
      return refuse(401, `error="invalid_token", scope="openid email ${READ}"`);
    if (message?.params?.name === 'write_note' && !scopes.includes(WRITE))
      return refuse(403, `error="insufficient_scope", scope="${WRITE}"`);
    const elsewhere = options.redirect?.() ?? null;
    if (elsewhere === null) return false;
    response.writeHead(307, { location: elsewhere }).end();
    return true;
  }

  return {
    issuer,
    mcp,
    asked: (path) => asked.filter((it) => path === undefined || it.path === path),
    tokenRequests: (grant) =>
      asked.filter(({ path, params }) => path === '/token' && params.grant_type === grant),
    expireAccess() {
      for (const token of given) dead.add(token);
    },
    async revokeGrants() {
      for (const id of grants) await (await provider.Grant.find(id))?.destroy();
    },
    async forgetClients() {
      for (const id of clients) await provider.Client.adapter.destroy(id);
    },
    notes: () => notes,
    async close() {
      await mcp.close();
      await closeServer(http);
    },
  };
}

function configuration(options: AuthorizationOptions): Readonly<Record<string, unknown>> {
  const { registration = true, documents, clients = [], seconds = 3600 } = options;
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return {
    clients,
    jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), use: 'sig', alg: 'ES256' }] },
    clientDefaults: { id_token_signed_response_alg: 'ES256' },
    cookies: { keys: ['of a test'] },
    scopes: [...OIDC.split(' '), READ, WRITE],
    claims: { openid: ['sub'], email: ['email'] },
    conformIdTokenClaims: false,
    pkce: { required: () => true },
    clientBasedCORS: () => true,
    rotateRefreshToken: true,
    ttl: {
      AccessToken: seconds,
      AuthorizationCode: 60,
      Grant: 86_400,
      IdToken: 3600,
      Interaction: 3600,
      RefreshToken: 86_400,
      Session: 86_400,
    },
    findAccount: (_context: unknown, id: string) => ({
      accountId: id,
      claims: async () => ({ sub: id, email: `${id}@example.test` }),
    }),
    interactions: {
      url: (_context: unknown, { uid }: { uid: string }) => `/interaction/${uid}`,
    },
    features: {
      devInteractions: { enabled: false },
      registration: { enabled: registration },
      revocation: { enabled: true },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: (_context: unknown, resource: string) => ({
          scope: `${READ} ${WRITE}`,
          audience: resource,
          accessTokenFormat: 'opaque',
          accessTokenTTL: seconds,
        }),
      },
      ...(documents ? { clientIdMetadataDocument: { enabled: true, ack: 'draft-02' } } : {}),
    },
    ...(documents
      ? {
          fetch: async (url: string | URL) =>
            String(url) in documents
              ? Response.json(documents[String(url)])
              : new Response(null, { status: 404 }),
        }
      : {}),
  };
}

/** The pages that ask the person. */
async function interact(
  provider: Provider,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { uid, prompt, params, session } = await provider.interactionDetails(request, response);
  if (request.method === 'GET') {
    const button = prompt.name === 'login' ? 'Sign in as Ada' : 'Allow';
    response.setHeader('content-type', 'text/html; charset=utf-8');
    response.end(
      `<!doctype html><html lang="en"><title>Notes sign-in</title><h1>Notes</h1>` +
        `<p>Rights: ${escape(String(params.scope))}</p>` +
        `<form method="post" action="/interaction/${uid}?answer=allow"><button>${button}</button></form>` +
        `<form method="post" action="/interaction/${uid}?answer=decline"><button>Decline</button></form>`,
    );
    return;
  }
  if (request.url?.endsWith('answer=decline')) {
    const result = { error: 'access_denied', error_description: 'Declined.' };
    await provider.interactionFinished(request, response, result, {
      mergeWithLastSubmission: false,
    });
    return;
  }
  if (prompt.name === 'login') {
    const result = { login: { accountId: 'ada' } };
    await provider.interactionFinished(request, response, result, {
      mergeWithLastSubmission: false,
    });
    return;
  }
  const { missingOIDCScope = [], missingResourceScopes = {} } = prompt.details;
  const grant = new provider.Grant({
    accountId: session?.accountId ?? '',
    clientId: String(params.client_id),
  });
  grant.addOIDCScope([...missingOIDCScope, ...OIDC.split(' ')].join(' '));
  for (const resource of [params.resource].flat().map(String))
    grant.addResourceScope(resource, String(params.scope));
  for (const [resource, scopes] of Object.entries(missingResourceScopes))
    grant.addResourceScope(resource, scopes.join(' '));
  const result = { consent: { grantId: await grant.save() } };
  await provider.interactionFinished(request, response, result, { mergeWithLastSubmission: true });
}

function escape(text: string): string {
  return text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** The protected server: one tool that reads, one that wants more rights. */
function notebook(notes: string[]): McpServer {
  const server = new McpServer({ name: 'notebook', title: 'Notebook', version: '1.0.0' });
  server.registerTool(
    'read_notes',
    {
      description: 'Read the notes.',
      inputSchema: fromJsonSchema({ type: 'object', properties: {} }),
      annotations: { readOnlyHint: true },
    },
    () => ({ content: [{ type: 'text', text: notes.join('\n') || 'There are no notes.' }] }),
  );
  server.registerTool(
    'write_note',
    {
      description: 'Write a note.',
      inputSchema: fromJsonSchema<{ text: string }>({
        type: 'object',
        properties: { text: { type: 'string' } },
        required: ['text'],
      }),
    },
    ({ text }) => {
      notes.push(text);
      return { content: [{ type: 'text', text: 'Written.' }] };
    },
  );
  return server;
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const server = await startAuthorization({ port: Number(process.argv[2] ?? 4320) });
  console.log(`A notebook that wants a sign-in: ${server.mcp.url} (signs in at ${server.issuer})`);
}
