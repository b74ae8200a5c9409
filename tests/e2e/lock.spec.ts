/** The app lock, as a person uses it: by passphrase, by passkey, and closing by itself. */
import AxeBuilder from '@axe-core/playwright';
import type { Page } from '@playwright/test';
import { expect, newConversation, test } from './stack.ts';

async function expectClean(page: Page, where: string): Promise<void> {
  const { violations } = await new AxeBuilder({ page }).analyze();
  const found = violations.map(
    ({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`,
  );
  expect(found, where).toEqual([]);
}

/** Puts the page out of sight, or back. */
async function setHidden(page: Page, hidden: boolean): Promise<void> {
  await page.evaluate((value) => {
    Object.defineProperty(document, 'hidden', { configurable: true, get: () => value });
    document.dispatchEvent(new Event('visibilitychange'));
  }, hidden);
}

/** Everything that lies in the app's database, as text. */
const stored = (page: Page): Promise<string> =>
  page.evaluate(async () => {
    const db = await new Promise<IDBDatabase>((resolve, reject) => {
      const opening = indexedDB.open('deft');
      opening.onsuccess = () => resolve(opening.result);
      opening.onerror = () => reject(opening.error);
    });
    const read = (name: string): Promise<unknown[]> =>
      new Promise((resolve, reject) => {
        const reading = db.transaction(name).objectStore(name).getAll();
        reading.onsuccess = () => resolve(reading.result);
        reading.onerror = () => reject(reading.error);
      });
    const rows = await Promise.all([...db.objectStoreNames].map(read));
    db.close();
    return JSON.stringify(rows);
  });

const unlockHeading = (page: Page) => page.getByRole('heading', { name: 'Deft is locked' });
const box = (page: Page) => page.getByRole('textbox', { name: 'Message' });

/** Turns the lock on with a passphrase, on the screen of the lock. */
async function lockWith(page: Page, passphrase: string): Promise<void> {
  await page.getByRole('button', { name: 'Lock with a passphrase' }).click();
  const sheet = page.getByRole('dialog', { name: 'Lock with a passphrase' });
  await sheet.getByLabel('Passphrase', { exact: true }).fill(passphrase);
  await sheet.getByLabel('Passphrase, once more').fill(passphrase);
  await sheet.getByRole('button', { name: 'Turn the lock on' }).click();
  await expect(page.getByText('The lock is on.')).toBeVisible();
}

async function tryPassphrase(page: Page, passphrase: string): Promise<void> {
  await page.getByLabel('Passphrase', { exact: true }).fill(passphrase);
  await page.getByRole('button', { name: 'Unlock', exact: true }).click();
}

test('a passphrase locks everything: wrong ones are slowed, also over a reload, the right one opens, and it closes by itself', async ({
  stack: { page, context, faults },
}) => {
  await newConversation(page);
  const conversation = page.url();
  await box(page).fill('The surprise party is on Friday');
  await expect.poll(() => stored(page)).toContain('The surprise party');

  await page.goto('/settings');
  await page.getByRole('link', { name: /App lock/ }).click();
  await expect(page.getByRole('button', { name: 'Lock with a passphrase' })).toBeVisible();
  await expectClean(page, 'lock, off');
  const other = await context.newPage();
  await other.goto(conversation);
  await expect(box(other)).toHaveValue('The surprise party is on Friday');
  await lockWith(page, 'four words and more');
  await expectClean(page, 'lock, on');
  expect(await stored(page)).not.toContain('surprise');
  // The other tab has no key: it is loaded anew, and asks.
  await expect(unlockHeading(other)).toBeVisible();
  await other.close();

  await page.goto(conversation);
  await expect(unlockHeading(page)).toBeVisible();
  await expectClean(page, 'locked');
  // The clock stands, so that the wait is the same however slow the machine is.
  const now = Date.now();
  await page.clock.setFixedTime(now);
  for (let n = 1; n <= 3; n++) {
    await tryPassphrase(page, `four words and less ${n}`);
    await expect(page.getByRole('alert')).toContainText('That is not the passphrase.');
    await expect(page.getByLabel('Passphrase', { exact: true })).toHaveValue('');
  }
  await expect(page.getByText('Try again in 5 seconds.')).toBeVisible();
  await expect(async () => {
    await page.reload();
    const wait = page.getByRole('button', { name: /^Wait \d seconds?$/ });
    await expect(wait).toBeDisabled({ timeout: 4_000 });
  }).toPass();
  await page.clock.setFixedTime(now + 5_000);
  await page.reload();
  await tryPassphrase(page, 'four words and more');
  await expect(box(page)).toHaveValue('The surprise party is on Friday');
  expect(new URL(page.url()).href).toBe(conversation);

  // Out of sight for a moment: it is covered, and still open. Then at once is what is wanted.
  await setHidden(page, true);
  await expect(box(page)).toBeHidden();
  await setHidden(page, false);
  await expect(box(page)).toBeVisible();
  await page.goto('/settings/lock');
  await tryPassphrase(page, 'four words and more');
  await page.getByLabel('Lock when Deft is out of sight').selectOption('At once');
  await expect.poll(() => stored(page)).toContain('"lockAfterMs":0');
  await page.goto(conversation);
  await tryPassphrase(page, 'four words and more');
  await box(page).fill('The party is on Saturday');
  await setHidden(page, true);
  await expect(unlockHeading(page)).toBeVisible();
  await tryPassphrase(page, 'four words and more');
  await expect(box(page)).toHaveValue('The party is on Saturday');

  // Off again: opened once more before, and everything is plain and there.
  await page.goto('/settings/lock');
  await tryPassphrase(page, 'four words and more');
  await page.getByRole('button', { name: 'Turn the lock off' }).click();
  const sheet = page.getByRole('dialog', { name: 'Turn the lock off' });
  await sheet.getByLabel('Passphrase').fill('four words and more');
  await sheet.getByRole('button', { name: 'Unlock', exact: true }).click();
  await expect(page.getByText('The lock is off.')).toBeVisible();
  expect(await stored(page)).toContain('The party is on Saturday');
  await page.goto(conversation);
  await expect(box(page)).toHaveValue('The party is on Saturday');
  expect(faults).toEqual([]);
});

test('a passkey locks everything and opens it again, and who has lost it can only delete everything', async ({
  stack: { page, context, faults },
}) => {
  const cdp = await context.newCDPSession(page);
  await cdp.send('WebAuthn.enable');
  const { authenticatorId } = await cdp.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      ctap2Version: 'ctap2_1',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      hasPrf: true,
      automaticPresenceSimulation: true,
      isUserVerified: true,
    },
  });
  await newConversation(page);
  const conversation = page.url();
  await box(page).fill('The surprise party is on Friday');
  await expect.poll(() => stored(page)).toContain('The surprise party');

  await page.goto('/settings/lock');
  await page.getByRole('button', { name: 'Lock with a passkey' }).click();
  await expect(page.getByText('The lock is on.')).toBeVisible();
  await expect(page.getByText('There is one way in')).toBeVisible();
  expect(await stored(page)).not.toContain('surprise');

  await page.goto(conversation);
  await expect(unlockHeading(page)).toBeVisible();
  await page.getByRole('button', { name: 'Unlock with the passkey' }).click();
  await expect(box(page)).toHaveValue('The surprise party is on Friday');

  // The second way that is advised.
  await page.goto('/settings/lock');
  await page.getByRole('button', { name: 'Unlock with the passkey' }).click();
  await page.getByRole('button', { name: 'Add a passphrase' }).click();
  const sheet = page.getByRole('dialog', { name: 'New passphrase' });
  await sheet.getByRole('button', { name: 'Unlock with the passkey' }).click();
  await sheet.getByLabel('Passphrase', { exact: true }).fill('four words and more');
  await sheet.getByLabel('Passphrase, once more').fill('four words and more');
  await sheet.getByRole('button', { name: 'Set the passphrase' }).click();
  await expect(page.getByRole('button', { name: 'Take the passkey away' })).toBeVisible();

  // Another phone has another passkey.
  await page.getByRole('button', { name: 'Lock now' }).click();
  await expect(unlockHeading(page)).toBeVisible();
  await cdp.send('WebAuthn.clearCredentials', { authenticatorId });
  await page.getByRole('button', { name: 'Unlock with the passkey' }).click();
  await expect(page.getByRole('alert')).toContainText('The passkey was not used');
  await page.getByRole('button', { name: 'Cannot unlock it? Delete everything' }).click();
  const ask = page.getByRole('dialog', { name: 'Delete everything?' });
  await ask.getByRole('button', { name: 'Keep' }).click();
  await expect(ask).toBeHidden();
  await page.getByRole('button', { name: 'Cannot unlock it? Delete everything' }).click();
  await ask.getByRole('button', { name: 'Delete everything' }).click();
  await expect(page.getByRole('button', { name: 'Connect', exact: true })).toBeVisible();
  expect(await stored(page)).not.toContain('sealed');
  expect(faults).toEqual([]);
});
