/** Sign-in with servers, against a real authorization server (oidc-provider). */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { format } from 'node:util';
import { beforeAll, afterAll, expect, test, vi } from 'vitest';
import { clientDocument, DOCUMENT_PATH } from '../../../src/mcp/auth/client.ts';
import { startAuthorization, type Authorization } from '../../servers/authorization.ts';
import { closeServer, listen } from '../../servers/mcp-http.ts';
import { startTravel } from '../../servers/travel.ts';
import { messageOf, newDesk, ORIGIN, wordsOf } from './auth-world.ts';
import { rawRows, wordsIn } from '../store/locked.ts';
import { afterTest, newStore, started, until } from './setup.ts';

/** Random bits, and behind them whose sign-in it is. */
const STATE = /^[\w-]{32,}\.[\w-]+$/;

let server: Authorization;
beforeAll(async () => {
  server = await startAuthorization();
});
afterAll(() => server.close());

test('signs in: found by the challenge, registered, with PKCE and state, and the resource on every request', async () => {
  const before = server.asked().length;
  const desk = await newDesk(server.mcp.url);
  expect(await desk.signIn.state(desk.record)).toBe('wanted');
  expect(await desk.go()).toEqual({ ok: true });

  const asked = server.asked().slice(before);
  const [registered] = asked.filter(({ path }) => path === '/reg');
  expect(registered?.params).toMatchObject({
    client_name: 'Deft',
    redirect_uris: [`${ORIGIN}/oauth/callback`],
    token_endpoint_auth_method: 'none',
  });
  const [authorize] = asked.filter(({ path }) => path === '/auth');
  expect(authorize?.params).toMatchObject({
    response_type: 'code',
    code_challenge_method: 'S256',
    resource: server.mcp.url,
    redirect_uri: `${ORIGIN}/oauth/callback`,
    scope: 'openid email notes:read offline_access',
  });
  expect(authorize?.params.code_challenge).toMatch(/^[\w-]{43}$/);
  expect(authorize?.params.state).toMatch(STATE);
  expect(desk.visited()?.callback.searchParams.get('state')).toBe(authorize?.params.state);
  const [token] = asked.filter(({ path }) => path === '/token');
  expect(token?.params).toMatchObject({
    grant_type: 'authorization_code',
    resource: server.mcp.url,
  });
  expect(token?.params.code_verifier).toMatch(/^[\w.~-]{43,128}$/);

  expect(await desk.signIn.view(desk.record)).toMatchObject({
    state: 'signed-in',
    at: new URL(server.issuer).host,
    who: 'ada@example.test',
    wanted: [],
    needsClient: false,
  });
});

test('the server is found by its well-known address where its 401 says nothing', async () => {
  const quiet = await started(startAuthorization({ challenge: 'none' }));
  const desk = await newDesk(quiet.mcp.url);
  expect(await desk.go()).toEqual({ ok: true });
  expect(quiet.asked('/auth')[0]?.params.scope).toContain('notes:read notes:write');
});

test('introduces itself by its metadata document where both sides can, and registers nowhere', async () => {
  const origin = 'https://deft.test';
  const address = origin + DOCUMENT_PATH;
  const known = await started(
    startAuthorization({ documents: { [address]: clientDocument(origin) } }),
  );
  const desk = await newDesk(known.mcp.url, {
    origin,
    fetch: (input, init) =>
      String(input) === address
        ? Promise.resolve(Response.json(clientDocument(origin)))
        : fetch(input, init),
  });
  expect(await desk.go()).toEqual({ ok: true });
  expect(known.asked('/auth')[0]?.params.client_id).toBe(address);
  expect(known.asked('/reg')).toEqual([]);
});

test('registers where no document is served beside the app, or an older one of another address', async () => {
  const origin = 'https://deft.test';
  const known = await started(startAuthorization({ documents: {} }));
  for (const answer of [
    new Response('<!doctype html>', { headers: { 'content-type': 'text/html' } }),
    Response.json(clientDocument('https://elsewhere.test')),
  ]) {
    const desk = await newDesk(known.mcp.url, {
      origin,
      fetch: (input, init) =>
        String(input).startsWith(origin) ? Promise.resolve(answer) : fetch(input, init),
    });
    expect(await desk.go()).toEqual({ ok: true });
  }
  expect(known.asked('/reg')).toHaveLength(2);
});

test('asks for a client id where it cannot introduce itself, and signs in with the one typed in', async () => {
  const closed = await started(
    startAuthorization({
      registration: false,
      clients: [
        {
          client_id: 'given-to-ada',
          application_type: 'native',
          redirect_uris: [`${ORIGIN}/oauth/callback`],
          grant_types: ['authorization_code', 'refresh_token'],
          token_endpoint_auth_method: 'none',
        },
      ],
    }),
  );
  const desk = await newDesk(closed.mcp.url);
  expect(messageOf(await desk.go())).toBe(
    'Notebook signs in only apps that it knows, and this app could not introduce itself.',
  );
  expect(desk.opened).toEqual([]);
  expect((await desk.signIn.view(desk.record)).needsClient).toBe(true);
  await desk.signIn.setClient(desk.record, { id: 'given-to-ada' });
  expect(await desk.go()).toEqual({ ok: true });
  expect(closed.asked('/auth')[0]?.params.client_id).toBe('given-to-ada');
  expect(await desk.signIn.view(desk.record)).toMatchObject({
    needsClient: false,
    clientId: 'given-to-ada',
  });
});

test('each way in which it goes wrong has its own words, and leaves nothing behind', async () => {
  const said: string[] = [];
  const desk = async (how: (it: Awaited<ReturnType<typeof newDesk>>) => void) => {
    const it = await newDesk(server.mcp.url);
    how(it);
    const end = await it.go();
    const words = wordsOf(end);
    said.push(messageOf(end));
    expect(await it.signIn.state(it.record)).toBe('wanted');
    const code = it.visited()?.callback.searchParams.get('code');
    if (code) expect(words).not.toContain(code);
  };
  await desk((it) => (it.answer = 'decline'));
  await desk((it) => it.tamper((url) => url.searchParams.set('iss', 'https://evil.test')));
  await desk((it) => it.tamper((url) => url.searchParams.delete('iss')));
  await desk((it) => it.tamper((url) => url.searchParams.set('code', 'made-up-code-0123456789')));
  expect(said).toEqual([
    'You did not allow the sign-in at Notebook.',
    'The answer to the sign-in at Notebook came from someone else than was asked, and was not used.',
    'The answer to the sign-in at Notebook came from someone else than was asked, and was not used.',
    'Notebook did not sign you in.',
  ]);
});

test('what an answer from the wrong issuer says is not repeated', async () => {
  const desk = await newDesk(server.mcp.url);
  desk.tamper((url) => {
    url.search = new URLSearchParams({
      state: url.searchParams.get('state') ?? '',
      error: 'access_denied',
      error_description: 'Call this number',
      iss: 'https://evil.test',
    }).toString();
  });
  const end = await desk.go();
  expect(wordsOf(end)).not.toContain('Call this number');
  expect(messageOf(end)).toContain('someone else');
});

test('an answer with another state is refused, and the sign-in goes on waiting for its own', async () => {
  const desk = await newDesk(server.mcp.url);
  desk.answer = 'nothing';
  const stop = new AbortController();
  const going = desk.go(stop.signal);
  await until(() => desk.opened.length === 1);
  const forged = new URLSearchParams({ code: 'x', state: `forged.${desk.record.id}` });
  expect(await desk.signIn.receive(forged)).toMatchObject({
    kind: 'failed',
    error: { message: 'This answer belongs to another sign-in and was not used.' },
  });
  expect(await desk.signIn.receive(new URLSearchParams({ code: 'x' }))).toMatchObject({
    kind: 'failed',
    error: { message: 'No sign-in is under way in this browser.' },
  });
  stop.abort();
  expect(messageOf(await going)).toBe('The sign-in at Notebook was left unfinished.');
  expect(desk.sent.filter(({ url }) => url.endsWith('/token'))).toEqual([]);
});

test('a person who takes too long, or is offline, is told so', async () => {
  const slow = await newDesk(server.mcp.url, { waitMs: 1 });
  slow.answer = 'nothing';
  expect(messageOf(await slow.go())).toBe('The sign-in at Notebook took too long.');
  const offline = await newDesk(server.mcp.url, { online: () => false });
  expect(messageOf(await offline.go())).toBe(
    "There is no network, so the sign-in at Notebook can't go on.",
  );
});

test('in the page itself: leaves for the sign-in, and the answer brings the person back to where they were', async () => {
  const desk = await newDesk(server.mcp.url);
  const { visit } = await import('../../servers/person.ts');
  const store = desk.store;
  const left: string[] = [];
  const { createSignIn } = await import('../../../src/mcp/auth/signin.ts');
  const windows = {
    popup: () => null,
    leave: (address: string) => void left.push(address),
    here: () => '/c/a-conversation',
    onReturn: () => () => undefined,
  };
  const page = createSignIn({ store, windows, origin: ORIGIN });
  const gone = new AbortController();
  const going = page.signIn(desk.record, gone.signal);
  await until(() => left.length === 1);
  const { callback } = await visit(left[0] ?? '', ORIGIN);
  // The page that left is gone; the one that comes back is new.
  const back = createSignIn({ store, windows, origin: ORIGIN });
  expect(await back.receive(callback.searchParams)).toMatchObject({
    kind: 'signed-in',
    returnTo: '/c/a-conversation',
  });
  expect(await back.state(desk.record)).toBe('signed-in');
  // The same answer again: the code is used up, and so is the state.
  expect(await back.receive(callback.searchParams)).toMatchObject({ kind: 'failed' });
  gone.abort();
  await going;
});

test('where the tab that opened the window is gone, the window finishes the sign-in itself', async () => {
  const desk = await newDesk(server.mcp.url);
  desk.answer = 'nothing';
  void desk.go();
  await until(() => desk.opened.length === 1);
  const { visit } = await import('../../servers/person.ts');
  const { callback } = await visit(desk.opened[0] ?? '', ORIGIN);
  const { createSignIn } = await import('../../../src/mcp/auth/signin.ts');
  const window = createSignIn({
    store: desk.store,
    origin: ORIGIN,
    windows: {
      popup: () => null,
      leave: () => undefined,
      here: () => '/',
      onReturn: () => () => undefined,
    },
  });
  expect(await window.receive(callback.searchParams)).toMatchObject({ kind: 'signed-in' });
});

test('a server that takes no token of its own sign-in is tried twice, and no more', async () => {
  const stubborn = await started(startAuthorization({ stubborn: true }));
  const desk = await newDesk(stubborn.mcp.url);
  const end = await desk.go();
  expect(messageOf(end)).toBe('Notebook does not accept what its own sign-in gave out.');
  expect(stubborn.tokenRequests('authorization_code')).toHaveLength(2);
  expect(await desk.signIn.state(desk.record)).toBe('expired');
});

test('an authorization server that has forgotten the app is told its name anew', async () => {
  const forgetful = await started(startAuthorization());
  const desk = await newDesk(forgetful.mcp.url);
  await desk.go();
  await forgetful.forgetClients();
  await forgetful.revokeGrants();
  forgetful.expireAccess();
  // The renewal finds out that there is nothing left to renew.
  const { url } = forgetful.mcp;
  const provider = desk.signIn.provider(desk.record);
  const response = new Response(null, { status: 401 });
  const context = { response, serverUrl: new URL(url), fetchFn: fetch };
  await expect(provider.onUnauthorized?.(context)).rejects.toThrow('has run out');
  // Its page says that it does not know the app, and the person gives up; then they try again.
  const stop = new AbortController();
  desk.onStuck = () => stop.abort();
  expect(messageOf(await desk.go(stop.signal))).toContain('left unfinished');
  expect(await desk.go()).toEqual({ ok: true });
  expect(forgetful.asked('/reg')).toHaveLength(2);
});

test('an app that is forgotten between its registration and its code registers anew, once, and sends no code twice', async () => {
  let exchanges = 0;
  const desk = await newDesk(server.mcp.url, {
    fetch: (input, init) => {
      if (!String(input).endsWith('/token')) return fetch(input, init);
      exchanges += 1;
      return exchanges > 1
        ? fetch(input, init)
        : Promise.resolve(Response.json({ error: 'invalid_client' }, { status: 401 }));
    },
  });
  const before = server.asked('/reg').length;
  expect(await desk.go()).toEqual({ ok: true });
  expect(server.asked('/reg').length - before).toBe(2);
  expect(desk.opened).toHaveLength(2);
  const codes = desk.sent
    .filter(({ url }) => url.endsWith('/token'))
    .map(({ body }) => new URLSearchParams(body).get('code'));
  expect(new Set(codes).size).toBe(2);
});

test('metadata that names another server, another issuer or no PKCE is refused before anyone is sent there', async () => {
  const elsewhere = 'https://elsewhere.test/mcp';
  const wrong = await started(startAuthorization({ resource: () => ({ resource: elsewhere }) }));
  const first = await newDesk(wrong.mcp.url);
  expect(messageOf(await first.go())).toBe(
    'Notebook names another address than its own as the one to sign in for.',
  );
  const forged = (change: object) =>
    newDesk(server.mcp.url, {
      fetch: async (input, init) => {
        const response = await fetch(input, init);
        if (!String(input).includes('oauth-authorization-server')) return response;
        return Response.json({ ...((await response.json()) as object), ...change });
      },
    });
  const second = await forged({ issuer: 'https://evil.test' });
  expect(messageOf(await second.go())).toBe(
    'The server that signs you in at Notebook does not say who it is in the way it must.',
  );
  const third = await forged({ code_challenge_methods_supported: ['plain'] });
  expect(messageOf(await third.go())).toBe(
    'The sign-in at Notebook is of a kind that is not safe enough for this app.',
  );
  const fourth = await forged({ authorization_endpoint: 'http://elsewhere.test/auth' });
  expect(messageOf(await fourth.go())).toBe(
    'The sign-in at Notebook is of a kind that is not safe enough for this app.',
  );
  expect([first, second, third, fourth].flatMap(({ opened }) => opened)).toEqual([]);
});

test('a server without sign-in, and a sign-in server that is down, are told apart', async () => {
  const travel = await started(startTravel());
  const open = await newDesk(travel.url);
  expect(messageOf(await open.go())).toBe('Notebook does not say where to sign in.');

  const dead = createServer();
  await listen(dead, 0);
  const { port } = dead.address() as AddressInfo;
  await closeServer(dead);
  const lost = await started(
    startAuthorization({
      resource: () => ({ authorization_servers: [`http://localhost:${port}`] }),
    }),
  );
  const desk = await newDesk(lost.mcp.url);
  expect(messageOf(await desk.go())).toBe(
    `localhost:${port}, which signs you in at Notebook, did not answer, or does not let web apps use it (CORS).`,
  );
});

test('sign-out has both tokens revoked and forgets them; the next sign-in is a new one', async () => {
  const desk = await newDesk(server.mcp.url);
  await desk.go();
  const kept = JSON.parse((await desk.store.vault.get(`oauth:${desk.record.id}`)) ?? '{}') as {
    tokens: { access_token: string; refresh_token: string };
  };
  const before = server.asked('/token/revocation').length;
  expect(await desk.signIn.signOut(desk.record)).toEqual({ revoked: true });
  const revoked = server.asked('/token/revocation').slice(before);
  expect(revoked.map(({ params }) => params.token)).toEqual([
    kept.tokens.refresh_token,
    kept.tokens.access_token,
  ]);
  expect(await desk.store.vault.has(`oauth:${desk.record.id}`)).toBe(false);
  expect(await desk.signIn.state(desk.record)).toBe('wanted');
  expect(await desk.signIn.provider(desk.record).token()).toBeUndefined();
});

test('sign-out without a network forgets all the same, and says that nobody was told', async () => {
  let down = false;
  const desk = await newDesk(server.mcp.url, {
    fetch: (input, init) =>
      down ? Promise.reject(new TypeError('Failed to fetch')) : fetch(input, init),
  });
  await desk.go();
  down = true;
  expect(await desk.signIn.signOut(desk.record)).toEqual({ revoked: false });
  expect(await desk.signIn.state(desk.record)).toBe('wanted');
});

test('every sign-in has a state, a challenge and a verifier of its own', async () => {
  const before = server.asked().length;
  const desk = await newDesk(server.mcp.url);
  for (let time = 0; time < 3; time += 1) {
    expect(await desk.go()).toEqual({ ok: true });
    await desk.signIn.signOut(desk.record);
  }
  const asked = server.asked().slice(before);
  const all = (path: string, name: string) =>
    asked.flatMap((it) => (it.path === path ? [it.params[name]] : []));
  for (const values of [
    all('/auth', 'state'),
    all('/auth', 'code_challenge'),
    all('/token', 'code_verifier'),
  ]) {
    expect(values).toHaveLength(3);
    expect(new Set(values).size).toBe(3);
  }
  for (const state of all('/auth', 'state')) expect(state).toMatch(STATE);
});

test('tokens, codes and verifiers are in no address that the app makes, in no log, and in no row in the clear', async () => {
  const said = logged();
  const name = `mcp-auth-${crypto.randomUUID()}`;
  const desk = await newDesk(server.mcp.url, { store: await newStore({ name }) });
  expect(await desk.go()).toEqual({ ok: true });
  const kept = (await desk.store.vault.get(`oauth:${desk.record.id}`)) ?? '';
  const { tokens } = JSON.parse(kept) as {
    tokens: { access_token: string; refresh_token: string };
  };
  const [exchange] = desk.sent.filter(({ url }) => url === `${server.issuer}/token`);
  const exchanged = new URLSearchParams(exchange?.body);
  const once = [exchanged.get('code') ?? '', exchanged.get('code_verifier') ?? ''];
  expect(once[0]).toBe(desk.visited()?.callback.searchParams.get('code'));
  const secrets = [tokens.access_token, tokens.refresh_token, ...once];

  // A sign-in that fails with a code and a verifier in hand has more to say.
  desk.tamper((url) => url.searchParams.set('code', `${once[0]}x`));
  expect(wordsOf(await desk.go())).not.toContain(once[0]);

  const addresses = [...desk.sent.map(({ url }) => url), ...desk.opened].join('\n');
  const rows = wordsIn([...(await rawRows(name)).values()]);
  expect(rows).toContain(desk.record.name);
  const archive = await (await desk.store.archive.export()).text();
  for (const secret of secrets) {
    expect(secret.length).toBeGreaterThan(20);
    for (const text of [addresses, rows, archive, ...said()]) expect(text).not.toContain(secret);
  }
  expect(addresses).not.toContain('code_verifier');
  // What was good for one exchange is not kept behind it.
  for (const secret of once) expect(kept).not.toContain(secret);
});

/** Whatever is written to the console from now on. */
function logged(): () => readonly string[] {
  const levels = ['debug', 'log', 'info', 'warn', 'error'] as const;
  const spies = levels.map((level) => vi.spyOn(console, level));
  afterTest(() => spies.forEach((spy) => spy.mockRestore()));
  return () => spies.flatMap(({ mock }) => mock.calls.map((args) => format(...args)));
}
