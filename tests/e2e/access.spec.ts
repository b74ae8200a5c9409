/** Every screen by its rules (axe), at both sizes and in both colours; the travel turn by keyboard alone. */
import AxeBuilder from '@axe-core/playwright';
import type { Page } from '@playwright/test';
import {
  addCloud,
  addOwnModel,
  allow,
  chooseMode,
  connectDemo,
  expect,
  messages,
  newConversation,
  PHONE_SIZE,
  say,
  test,
  TRAVEL_SENTENCE,
  turnEnded,
  WIDE_SIZE,
} from './stack.ts';

async function expectClean(page: Page, where: string): Promise<void> {
  const { violations } = await new AxeBuilder({ page }).analyze();
  const found = violations.map(
    ({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`,
  );
  expect(found, where).toEqual([]);
}

for (const [name, options] of [
  ['a phone, light', { size: PHONE_SIZE, colorScheme: 'light' }],
  ['a wide window, dark', { size: WIDE_SIZE, colorScheme: 'dark' }],
] as const)
  test.describe(`on ${name}`, () => {
    test.use({ options });

    test('every screen and sheet passes axe, and nothing is wider than the window', async ({
      stack: { page, cloud, travel },
    }) => {
      test.setTimeout(180_000);
      await page.goto('/');
      await page.getByRole('button', { name: 'Connect', exact: true }).waitFor();
      await expectClean(page, 'welcome');
      await connectDemo(page);
      await addCloud(page, cloud);
      for (const screen of [
        'models',
        'servers',
        'cloud',
        'settings',
        'reminders',
        'actions',
        'chats',
      ]) {
        await page.goto(`/${screen}`);
        await page.getByRole('heading', { level: 1 }).waitFor();
        await expectClean(page, screen);
        const wide = await page.evaluate(
          () => document.documentElement.scrollWidth > document.documentElement.clientWidth,
        );
        expect(wide, `${screen} scrolls sideways`).toBe(false);
      }
      await page.goto('/models');
      await page.getByText(/^Too big for this phone \(/).click();
      await expectClean(page, 'models that are too big');
      const sheetIsClean = async (name: string): Promise<void> => {
        await page.getByRole('button', { name }).click();
        const sheet = page.getByRole('dialog', { name });
        await sheet.waitFor();
        await expectClean(page, name);
        await page.keyboard.press('Escape');
        await sheet.waitFor({ state: 'hidden' });
      };
      await sheetIsClean('Add a model');
      const card = await addOwnModel(page);
      for (const fold of ['Figures', 'Sampling'])
        await card.getByText(fold, { exact: true }).click();
      await expectClean(page, 'a stored model, unfolded');
      await sheetIsClean('Benchmark this phone');
      await page.goto('/servers');
      await page.getByRole('link', { name: /Travel demo/ }).click();
      await page.getByRole('switch', { name: 'Trust its hints' }).waitFor();
      for (const fold of ['Choose many at once', 'Log (0)', 'How it is reached'])
        await page.getByText(fold, { exact: true }).click();
      await expectClean(page, 'server, unfolded');
      await page.goto(`/?server=${encodeURIComponent(travel.url)}`);
      const adding = page.getByRole('dialog');
      await adding.getByText(/^A link proposes this server/).waitFor();
      for (const fold of ['It wants a key', 'It keeps web apps out'])
        await adding.getByText(fold, { exact: true }).click();
      await expectClean(page, 'add server');
      await adding.getByRole('button', { name: 'Connect', exact: true }).click();
      await adding.getByText('In its own words').click();
      await expectClean(page, 'consent to a server');

      await newConversation(page);
      await expectClean(page, 'empty conversation');
      await chooseMode(page, 'Cloud');
      await say(page, TRAVEL_SENTENCE);
      await page.getByRole('dialog', { name: /^Allow/ }).waitFor();
      await expectClean(page, 'question');
      for (let question = 0; question < 3; question += 1) await allow(page);
      await turnEnded(page);
      await page.getByRole('button', { name: /Save to itinerary/ }).click();
      await page.getByRole('button', { name: /^In the cloud/ }).click();
      await expectClean(page, 'turn with open card and receipt');
      await say(page, 'Give me a long answer in Markdown');
      await turnEnded(page);
      await expectClean(page, 'Markdown');
    });

    test('at twice the text size nothing is cut off and nothing scrolls sideways', async ({
      stack: { page, cloud },
    }) => {
      await page.goto('/');
      await addCloud(page, cloud);
      await newConversation(page);
      for (const screen of ['models', 'servers', 'cloud', 'settings', '?new=1']) {
        await page.goto(`/${screen}`);
        await page.evaluate(() => document.documentElement.style.setProperty('font-size', '200%'));
        await expect
          .poll(() =>
            page.evaluate(
              () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
            ),
          )
          .toBeLessThanOrEqual(0);
      }
      await expect(page.getByRole('textbox', { name: 'Message' })).toBeInViewport();
      await expect(page.getByRole('button', { name: 'Send', exact: true })).toBeInViewport();
    });
  });

/** Presses Tab until something with that name has the focus. */
async function tabTo(page: Page, name: RegExp): Promise<void> {
  const focused = page.locator('*:focus');
  for (let press = 0; press < 60; press += 1) {
    await page.keyboard.press('Tab');
    const label = await focused
      .evaluate((element) => {
        const labels = element instanceof HTMLInputElement ? element.labels : null;
        return (
          element.getAttribute('aria-label') ??
          labels?.[0]?.textContent ??
          element.textContent ??
          ''
        );
      })
      .catch(() => '');
    if (name.test(label.trim())) return;
  }
  throw new Error(`Tab never came to ${String(name)}`);
}

test('the whole travel turn can be done by keyboard alone', async ({
  stack: { page, cloud, travel },
}) => {
  test.setTimeout(120_000);
  await page.goto('/');
  await page.getByRole('button', { name: 'Connect', exact: true }).waitFor();
  await tabTo(page, /^Connect$/);
  await page.keyboard.press('Enter');
  await expect(page.getByText('Connected')).toBeVisible();
  await addCloud(page, cloud);
  await page.goto('/?new=1');
  await page.getByRole('textbox', { name: 'Message' }).waitFor();
  await tabTo(page, /^Auto$/);
  await page.keyboard.press('ArrowRight');
  await expect(page.getByRole('radio', { name: 'Cloud' })).toBeChecked();
  await page.keyboard.press('Shift+Tab');
  await expect(page.getByRole('textbox', { name: 'Message' })).toBeFocused();
  await page.keyboard.type(TRAVEL_SENTENCE);
  await page.keyboard.press('Enter');

  const sheet = page.getByRole('dialog', { name: /^Allow/ });
  for (let question = 1; question <= 3; question += 1) {
    await expect(sheet).toBeVisible();
    const asked = travel.counts()['tools/call'] ?? 0;
    await tabTo(page, /^Allow once$/);
    // A yes in the first half second does not count: press until it is taken.
    await expect(async () => {
      await page.keyboard.press('Enter');
      await expect.poll(() => travel.counts()['tools/call'] ?? 0, { timeout: 700 }).toBe(asked + 1);
    }).toPass({ timeout: 15_000 });
  }
  await turnEnded(page);
  await expect(
    messages(page)
      .getByText(/raincoat/)
      .last(),
  ).toBeVisible();
  expect(travel.itinerary()).toHaveLength(1);
});
