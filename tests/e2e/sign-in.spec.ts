/** A server that wants a sign-in, in the built app, at a real authorization server. */
import type { Page } from '@playwright/test';
import { startAuthorization } from '../servers/authorization.ts';
import {
  addCloud,
  allow,
  chooseMode,
  expect,
  messages,
  newConversation,
  say,
  test,
} from './stack.ts';

/** What the person does in the window of the sign-in; resolves when it has closed itself. */
async function consent(window: Page, known = false): Promise<void> {
  const closed = window.waitForEvent('close');
  await window.getByRole('heading', { name: 'Notes' }).waitFor();
  expect(await window.evaluate(() => window.opener === null)).toBe(true);
  if (!known) await window.getByRole('button', { name: 'Sign in as Ada' }).click();
  await window.getByRole('button', { name: 'Allow', exact: true }).click();
  await closed;
}

test('add, sign in, call, a token that runs out, more rights, the page itself as the way, and sign out', async ({
  stack: { page, cloud, app, faults },
}) => {
  test.slow();
  const server = await startAuthorization();
  try {
    await addCloud(page, cloud);

    // It tells nobody what it offers, and says where to sign in.
    await page.goto('/servers');
    await page.getByRole('button', { name: 'Add a server' }).click();
    const sheet = page.getByRole('dialog');
    await sheet.getByLabel('Address').fill(server.mcp.url);
    await sheet.getByRole('button', { name: 'Connect', exact: true }).click();
    await sheet.getByRole('button', { name: 'Sign in', exact: true }).click();
    let opening = page.waitForEvent('popup');
    await sheet.getByRole('button', { name: 'Sign in and add' }).click();
    await consent(await opening);
    await expect(sheet).toBeHidden();
    await page.goto('/servers');
    await page
      .getByRole('link', { name: /Notebook|localhost/ })
      .last()
      .click();
    const signedIn = page.getByText(/Signed in as ada@example\.test at localhost/);
    await expect(signedIn).toBeVisible();
    await expect(page.getByText('read_notes').first()).toBeVisible();
    const serverPage = page.url();

    // A call, with a token that the server refuses: it is renewed, and nobody notices.
    server.expireAccess();
    await newConversation(page);
    await chooseMode(page, 'Cloud');
    await say(page, 'Call read_notes');
    await allow(page);
    await expect(
      messages(page)
        .getByText(/There are no notes/)
        .first(),
    ).toBeVisible();
    expect(server.tokenRequests('refresh_token')).toHaveLength(1);

    // More rights than were given: said, asked for on its page, and then it works.
    await say(page, 'Call write_note with text "Milk"');
    await allow(page);
    await expect(
      messages(page)
        .getByText(/wants more rights/)
        .first(),
    ).toBeVisible();
    expect(server.notes()).toEqual([]);
    await page.goto(serverPage);
    await expect(page.getByText('notes:write').first()).toBeVisible();
    opening = page.waitForEvent('popup');
    await page.getByRole('button', { name: 'Sign in again' }).click();
    await consent(await opening, true);
    await expect(page.getByText(/It may: .*notes:write/)).toBeVisible();
    await expect(page.getByRole('button', { name: 'Cancel' })).toBeHidden();

    // Nothing holds any more: the tools stay listed, with a button beside them.
    server.expireAccess();
    await server.revokeGrants();
    await page.getByRole('button', { name: 'Refresh' }).first().click();
    const reconnect = page.getByRole('button', { name: 'Reconnect' });
    await expect(reconnect).toBeVisible();
    await expect(page.getByText('read_notes').first()).toBeVisible();
    // Where no window may be opened, the page goes there itself and comes back to where it was.
    await page.evaluate(() => (window.open = () => null));
    await reconnect.click();
    await page.getByRole('button', { name: 'Allow', exact: true }).click();
    await page.waitForURL(serverPage);
    await expect(signedIn).toBeVisible();
    expect(page.url()).not.toContain('code');

    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Sign out' }).click();
    await expect(page.getByText('wants you to sign in').first()).toBeVisible();
    expect(server.asked('/token/revocation').length).toBeGreaterThan(0);

    // A link that somebody else made signs nobody in.
    await page.goto(`${app.url}/oauth/callback?code=stolen&state=made-up`);
    await expect(page.getByText('No sign-in is under way in this browser.')).toBeVisible();
    expect(page.url()).not.toContain('stolen');
    expect(faults).toEqual([]);
  } finally {
    await server.close();
  }
});
