/** Sign-in with servers, against a real authorization server. */
import { expect, test } from 'vitest';
import { startAuthorization } from '../../servers/authorization.ts';
import { newDesk } from './auth-world.ts';
import { started } from './setup.ts';

test('signs in: found by the challenge, registered, with PKCE, resource and state; the server takes the token', async () => {
  const server = await started(startAuthorization());
  const desk = await newDesk(server.mcp.url);
  expect(await desk.signIn.state(desk.record)).toBe('wanted');
  expect(await desk.go()).toEqual({ ok: true });
  const [authorize] = server.asked('/auth');
  expect(authorize?.params).toMatchObject({
    response_type: 'code',
    code_challenge_method: 'S256',
    resource: server.mcp.url,
    redirect_uri: 'http://localhost:5173/oauth/callback',
  });
});
