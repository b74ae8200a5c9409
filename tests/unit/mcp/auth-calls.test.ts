/** Calls of a server that wants a sign-in: renewal, rights, other origins, and what is left of it. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { startAuthorization, type Asked } from '../../servers/authorization.ts';
import { closeServer, listen } from '../../servers/mcp-http.ts';
import { hostOf, newDesk, read, write, type Desk } from './auth-world.ts';
import { afterTest, never, started, until } from './setup.ts';

/** Somebody else's server: it notes whatever comes. */
async function stranger(): Promise<{ url: string; came: () => readonly string[] }> {
  const came: string[] = [];
  const http = createServer((request, response) => {
    came.push(`${request.method} ${request.url} ${request.headers.authorization ?? ''}`);
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  });
  await listen(http, 0);
  afterTest(() => closeServer(http));
  const { port } = http.address() as AddressInfo;
  return { url: `http://localhost:${port}`, came: () => came };
}

async function tokensOf(
  desk: Desk,
): Promise<{ access_token: string; refresh_token: string } | undefined> {
  const kept = JSON.parse((await desk.store.vault.get(`oauth:${desk.record.id}`)) ?? '{}') as {
    tokens?: { access_token: string; refresh_token: string };
  };
  return kept.tokens;
}

test('three concurrent calls that find the token refused make one renewal, and all succeed', async () => {
  const server = await started(startAuthorization());
  const desk = await newDesk(server.mcp.url);
  const host = await hostOf(desk);
  expect(await host.signIn(desk.record.id, never())).toEqual({ ok: true });
  const first = await tokensOf(desk);
  server.expireAccess();
  const calls = [1, 2, 3].map(() => host.callTool(read(desk), {}, never()));
  const outcomes = await Promise.all(calls);
  expect(outcomes.map(({ kind }) => kind)).toEqual(['result', 'result', 'result']);
  const renewals = server.tokenRequests('refresh_token');
  expect(renewals).toHaveLength(1);
  expect(renewals[0]?.params.resource).toBe(server.mcp.url);
  // The one that was used up is gone.
  expect((await tokensOf(desk))?.refresh_token).not.toBe(first?.refresh_token);
});

test('a renewal that another tab has just made is used, and not made again', async () => {
  const server = await started(startAuthorization());
  const desk = await newDesk(server.mcp.url);
  await desk.go();
  const other = await newDesk(server.mcp.url, { store: desk.store, id: desk.record.id });
  const old = await tokensOf(desk);
  server.expireAccess();
  const refused = async (it: Desk) => {
    const response = new Response(null, { status: 401 });
    const { noteBearer } = await import('../../../src/mcp/auth/bearer.ts');
    noteBearer(response, { authorization: `Bearer ${old?.access_token}` });
    await it.signIn
      .provider(it.record)
      .onUnauthorized?.({ response, serverUrl: new URL(it.record.url), fetchFn: fetch });
  };
  await refused(desk);
  await refused(other);
  expect(server.tokenRequests('refresh_token')).toHaveLength(1);
  expect(await other.signIn.provider(other.record).token()).not.toBe(old?.access_token);
});

test('a token is renewed shortly before its time is over, without a refusal first', async () => {
  const server = await started(startAuthorization({ seconds: 600 }));
  let now = Date.now();
  const desk = await newDesk(server.mcp.url, { now: () => now });
  await desk.go();
  const provider = desk.signIn.provider(desk.record);
  const first = await provider.token();
  expect(await provider.token()).toBe(first);
  now += 590_000;
  const [one, two] = await Promise.all([provider.token(), provider.token()]);
  expect(one).not.toBe(first);
  expect(two).toBe(one);
  expect(server.tokenRequests('refresh_token')).toHaveLength(1);
});

test('a sign-in that has run out keeps the tools listed, says so in words, and is put right by another', async () => {
  const server = await started(startAuthorization());
  const desk = await newDesk(server.mcp.url);
  const host = await hostOf(desk);
  await host.signIn(desk.record.id, never());
  server.expireAccess();
  await server.revokeGrants();
  expect(await host.callTool(read(desk), {}, never())).toMatchObject({
    kind: 'unavailable',
    code: 'auth',
    message: 'The sign-in at Notebook has run out.',
    advice: "Sign in again on the server's page.",
  });
  const expired = (await host.list()).find(({ record }) => record.id === desk.record.id);
  expect(expired?.auth).toBe('expired');
  expect(expired?.tools.map(({ name }) => name)).toEqual(['read_notes', 'write_note']);
  expect(await host.signIn(desk.record.id, never())).toEqual({ ok: true });
  expect(await host.callTool(read(desk), {}, never())).toMatchObject({ kind: 'result' });
  // Nobody was sent anywhere but by the two sign-ins.
  expect(desk.opened).toHaveLength(2);
});

test('a renewal that fails for want of a network, or of its server, leaves the sign-in as it is', async () => {
  const server = await started(startAuthorization());
  let down = false;
  const desk = await newDesk(server.mcp.url, {
    fetch: (input, init) =>
      down && !String(input).startsWith(server.mcp.url)
        ? Promise.reject(new TypeError('Failed to fetch'))
        : fetch(input, init),
  });
  const host = await hostOf(desk);
  await host.signIn(desk.record.id, never());
  server.expireAccess();
  down = true;
  const end = await host.callTool(read(desk), {}, never());
  expect(end).toMatchObject({ kind: 'unavailable', code: 'unreachable' });
  expect(await desk.signIn.state(desk.record)).toBe('signed-in');
  down = false;
  expect(await host.callTool(read(desk), {}, never())).toMatchObject({ kind: 'result' });
});

test('more rights are asked of the person, then of the server together with the old ones, once', async () => {
  const server = await started(startAuthorization());
  const desk = await newDesk(server.mcp.url);
  const host = await hostOf(desk);
  await host.signIn(desk.record.id, never());
  expect(await host.callTool(write(desk), { text: 'Milk' }, never())).toMatchObject({
    kind: 'unavailable',
    code: 'scope',
    message: 'Notebook wants more rights for this than it was given.',
  });
  expect(server.notes()).toEqual([]);
  // Nothing happened over the person's head.
  expect(desk.opened).toHaveLength(1);
  expect((await desk.signIn.view(desk.record)).wanted).toEqual(['notes:write']);

  expect(await host.signIn(desk.record.id, never())).toEqual({ ok: true });
  const scopes = server.asked('/auth').at(-1)?.params.scope?.split(' ') ?? [];
  expect(scopes).toEqual(expect.arrayContaining(['notes:read', 'notes:write']));
  expect(await desk.signIn.view(desk.record)).toMatchObject({ wanted: [] });
  expect(await host.callTool(write(desk), { text: 'Milk' }, never())).toMatchObject({
    kind: 'result',
  });
  expect(server.notes()).toEqual(['Milk']);
  // What was asked for already is not asked for again, whatever the server says.
  expect(await desk.signIn.wantScope(desk.record, 'notes:write')).toBe(false);
  expect((await desk.signIn.view(desk.record)).wanted).toEqual([]);
});

test('a step up that the person leaves unfinished takes nothing away', async () => {
  const server = await started(startAuthorization());
  const desk = await newDesk(server.mcp.url);
  const host = await hostOf(desk);
  await host.signIn(desk.record.id, never());
  await host.callTool(write(desk), { text: 'Milk' }, never());
  desk.answer = 'decline';
  expect(await host.signIn(desk.record.id, never())).toMatchObject({ ok: false });
  server.expireAccess();
  expect(await host.callTool(read(desk), {}, never())).toMatchObject({ kind: 'result' });
  expect(await desk.signIn.state(desk.record)).toBe('signed-in');
});

test('a token never follows a redirect to another origin', async () => {
  const other = await stranger();
  let elsewhere: string | null = null;
  const server = await started(startAuthorization({ redirect: () => elsewhere }));
  const desk = await newDesk(server.mcp.url);
  const host = await hostOf(desk);
  await host.signIn(desk.record.id, never());
  elsewhere = `${other.url}/mcp`;
  expect(await host.callTool(read(desk), {}, never())).toMatchObject({ kind: 'unavailable' });
  expect(other.came()).toEqual([]);
});

test('what was given for one server is not sent to another address under its name', async () => {
  const other = await stranger();
  const server = await started(startAuthorization());
  const desk = await newDesk(server.mcp.url);
  await desk.go();
  const moved = { ...desk.record, url: `${other.url}/mcp` };
  expect(await desk.signIn.provider(moved).token()).toBeUndefined();
  expect(await desk.signIn.state(moved)).toBe('wanted');
});

test('a server that changes its authorization server gets no refresh token for it', async () => {
  const evil = await stranger();
  let servers: readonly string[] | null = null;
  const server = await started(
    startAuthorization({ resource: () => (servers ? { authorization_servers: servers } : {}) }),
  );
  const desk = await newDesk(server.mcp.url, {
    fetch: async (input, init) =>
      String(input) === `${evil.url}/.well-known/oauth-authorization-server`
        ? Response.json({
            issuer: evil.url,
            authorization_endpoint: `${evil.url}/auth`,
            token_endpoint: `${evil.url}/token`,
            registration_endpoint: `${evil.url}/reg`,
            response_types_supported: ['code'],
            code_challenge_methods_supported: ['S256'],
          })
        : fetch(input, init),
  });
  const host = await hostOf(desk);
  await host.signIn(desk.record.id, never());
  server.expireAccess();
  servers = [evil.url];
  expect(await host.callTool(read(desk), {}, never())).toMatchObject({
    message: 'The sign-in at Notebook has run out.',
  });
  expect(evil.came()).toEqual([]);
});

test('a token that a server throws back at the app stands in no error', async () => {
  const server = await started(startAuthorization());
  const desk = await newDesk(server.mcp.url, {
    fetch: async (input, init) => {
      const response = await fetch(input, init);
      const sent = new Headers(init?.headers).get('authorization');
      if (!sent || !String(init?.body).includes('tools/call')) return response;
      return new Response(`You sent ${sent.replace('Bearer ', '')}`, { status: 400 });
    },
  });
  const { store, signIn } = desk;
  const { newHost } = await import('./setup.ts');
  const { host } = await newHost({ store, signIn, fetch: desk.fetch });
  await host.signIn(desk.record.id, never());
  const token = (await tokensOf(desk))?.access_token ?? 'none';
  const end = JSON.stringify(await host.callTool(read(desk), {}, never()));
  expect(end).not.toContain(token);
  const listed = JSON.stringify(await host.list());
  expect(listed).not.toContain(token);
});

test('removing a server revokes what it gave and forgets it; a key goes on working beside all this', async () => {
  const server = await started(startAuthorization());
  const desk = await newDesk(server.mcp.url);
  const host = await hostOf(desk);
  await host.signIn(desk.record.id, never());
  const token = (await tokensOf(desk))?.access_token ?? '';
  // The same token typed in as a key: the older way in.
  await host.signIn(desk.record.id, never());
  await host.remove(desk.record.id);
  const revoked: readonly Asked[] = server.asked('/token/revocation');
  expect(revoked.length).toBeGreaterThan(0);
  expect(await desk.store.vault.has(`oauth:${desk.record.id}`)).toBe(false);

  const again = await host.add({ url: server.mcp.url, key: token });
  if (!again.ok) throw new Error(again.error.message);
  await until(async () => (await host.list()).some(({ auth }) => auth === 'key'));
  expect(await host.callTool(read({ ...desk, record: again.server }), {}, never())).toMatchObject({
    kind: 'result',
  });
});
