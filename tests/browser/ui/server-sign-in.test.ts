/** A server's sign-in as the person meets it: what is said of each state, and what a tap asks for. */
import { expect, test, vi } from 'vitest';
import { page } from 'vitest/browser';
import type { App } from '../../../src/app.ts';
import type { SignInView } from '../../../src/mcp/auth/types.ts';
import ServerSignIn from '../../../src/ui/screens/ServerSignIn.svelte';
import { fakeSession } from './fake-app.ts';
import { show } from './render.ts';
import { serverView } from './server-view.ts';

async function open(
  view: Partial<SignInView>,
  host: Partial<App['host']> = {},
): Promise<{ setClient: ReturnType<typeof vi.fn>; root: HTMLElement }> {
  const setClient = vi.fn(async () => undefined);
  const server = serverView({ auth: view.state ?? 'none' });
  const shown = await show(ServerSignIn, { server }, fakeSession(), {
    servers: [server],
    host,
    signIn: {
      view: async () => ({
        state: 'none',
        at: null,
        who: null,
        scopes: [],
        wanted: [],
        clientId: null,
        needsClient: false,
        ...view,
      }),
      setClient,
    },
  });
  return { setClient, root: shown.root };
}

test('says who is signed in, where and for what; signing out is asked once more', async () => {
  const signOut = vi.fn(async () => ({ revoked: true }));
  await open(
    { state: 'signed-in', who: 'ada@example.test', at: 'auth.example', scopes: ['notes:read'] },
    { signOut },
  );
  await expect
    .element(page.getByText('Signed in as ada@example.test at auth.example'))
    .toBeVisible();
  await expect.element(page.getByText('It may: notes:read')).toBeVisible();
  await page.getByRole('button', { name: 'Sign out' }).click();
  expect(signOut).not.toHaveBeenCalled();
  await page.getByRole('dialog').getByRole('button', { name: 'Sign out' }).click();
  await expect.poll(() => signOut.mock.calls.length).toBe(1);
  await expect.element(page.getByRole('dialog')).not.toBeInTheDocument();
  await expect
    .element(page.getByText('could not be told', { exact: false }))
    .not.toBeInTheDocument();
});

test('a sign-out of which nobody could be told says so, and what to do', async () => {
  const signOut = vi.fn(async () => ({ revoked: false }));
  await open({ state: 'signed-in', at: 'auth.example' }, { signOut });
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Sign out' }).click();
  await expect
    .element(page.getByText('You are signed out here, but auth.example could not be told.'))
    .toBeVisible();
  await expect
    .element(page.getByText("take Deft's access back in the settings", { exact: false }))
    .toBeVisible();
});

test('a sign-in that has run out says that the tools stay, and offers the way back', async () => {
  const signIn = vi.fn(async () => ({ ok: true }) as const);
  await open({ state: 'expired' }, { signIn });
  await expect.element(page.getByText('Its tools stay listed.', { exact: false })).toBeVisible();
  await page.getByRole('button', { name: 'Reconnect' }).click();
  await expect.poll(() => signIn.mock.calls.length).toBe(1);
});

test('more rights that a server wants are named, and asked for by a tap only', async () => {
  const signIn = vi.fn(async () => ({ ok: true }) as const);
  await open({ state: 'signed-in', scopes: ['notes:read'], wanted: ['notes:write'] }, { signIn });
  await expect.element(page.getByText('notes:write')).toBeVisible();
  expect(signIn).not.toHaveBeenCalled();
  await page.getByRole('button', { name: 'Sign in again' }).click();
  await expect.poll(() => signIn.mock.calls.length).toBe(1);
});

test('while the person is away it can be cancelled, and what went wrong is said', async () => {
  const error = {
    code: 'auth',
    message: 'The sign-in at Notes was left unfinished.',
    advice: 'Sign in again when you are ready.',
  } as const;
  const signIn: App['host']['signIn'] = (_id, signal) =>
    new Promise((resolve) => {
      signal.addEventListener('abort', () => resolve({ ok: false, error }));
    });
  await open({ state: 'wanted' }, { signIn });
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('button', { name: 'Cancel' }).click();
  await expect.element(page.getByText(error.message)).toBeVisible();
  await expect.element(page.getByRole('button', { name: 'Sign in' })).toBeVisible();
});

test('a server that takes only apps that it knows has a field for a client id', async () => {
  const { setClient } = await open({ state: 'wanted', needsClient: true });
  await page.getByLabelText('Client id', { exact: true }).fill(' given-to-ada ');
  await page.getByRole('button', { name: 'Keep it' }).click();
  await expect.poll(() => setClient.mock.calls[0]?.[1]).toEqual({ id: 'given-to-ada' });
});

test('a client secret without its id is kept, and what is missing is said', async () => {
  const { setClient } = await open({ state: 'wanted', needsClient: true });
  const secret = page.getByLabelText('Client secret, if there is one', { exact: true });
  await secret.fill('s3cret');
  await page.getByRole('button', { name: 'Keep it', exact: true }).click();
  await expect
    .element(page.getByText(/^Type the client id that this secret belongs to/))
    .toBeVisible();
  await expect.element(secret).toHaveValue('s3cret');
  expect(setClient).not.toHaveBeenCalled();
  await page.getByLabelText('Client id', { exact: true }).fill('given-to-ada');
  await page.getByRole('button', { name: 'Keep it', exact: true }).click();
  await expect
    .poll(() => setClient.mock.calls[0]?.[1])
    .toEqual({ id: 'given-to-ada', secret: 's3cret' });
  await expect.element(secret).toHaveValue('');
});

test('a server that wants no sign-in shows nothing of it', async () => {
  const { root } = await open({ state: 'none' });
  await expect.poll(() => root.textContent?.trim()).toBe('');
});
