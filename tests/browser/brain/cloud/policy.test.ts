/** Under the app's own policy header, an address that it forbids is told from one that is silent. */
import { expect, test } from 'vitest';
import { createCloud } from '../../../../src/brain/cloud/accounts.ts';
import { openStore } from '../../../../src/store/open.ts';

test('says that the app may not talk to plain http in the network at hand', async () => {
  const policy = document.createElement('meta');
  policy.httpEquiv = 'Content-Security-Policy';
  policy.content = "connect-src 'self' https: ws: http://localhost:* http://127.0.0.1:*";
  document.head.append(policy);

  const store = await openStore({ name: `cloud-${crypto.randomUUID()}`, channel: false });
  const add = (baseUrl: string) =>
    createCloud({ store }).add({
      preset: 'other',
      kind: 'openai',
      label: 'Studio',
      baseUrl,
      model: 'any',
      key: '',
    });
  expect(await add('http://192.168.77.77:1234/v1')).toMatchObject({
    ok: false,
    error: {
      kind: 'unreachable',
      message: 'This app may not talk to http://192.168.77.77:1234.',
      advice: expect.stringContaining('https address'),
    },
  });
  // Nobody listens on this port, but the policy lets the request out.
  expect(await add('http://127.0.0.1:9/v1')).toMatchObject({
    ok: false,
    error: { kind: 'unreachable', message: '127.0.0.1:9 did not answer.' },
  });
});
