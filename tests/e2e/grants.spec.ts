/** A yes for good is one, until it is taken back, wherever that is done; and a limit that was set holds. */
import {
  addCloud,
  chooseMode,
  connectDemo,
  expect,
  messages,
  newConversation,
  say,
  test,
  turnEnded,
} from './stack.ts';

test('always lets a tool run unasked until it is taken back, on its card or in the settings; a limit set there stops a turn', async ({
  stack: { page, travel, cloud, faults },
}) => {
  await connectDemo(page);
  await addCloud(page, cloud);
  await newConversation(page);
  await chooseMode(page, 'Cloud');
  const conversation = page.url();
  const sheet = page.getByRole('dialog', { name: 'Allow “Weather forecast”?' });
  const cards = messages(page).getByRole('region', { name: /^Weather forecast/ });
  const ran = (): number => travel.counts()['tools/call'] ?? 0;
  let asked = 0;

  async function ask(): Promise<void> {
    await say(page, 'What is the weather in Goa tomorrow?');
    asked += 1;
  }
  /** The question is asked and nothing has run; a yes for good lets it, in its time. */
  async function allowAlways(): Promise<void> {
    await expect(sheet).toBeVisible();
    expect(ran()).toBe(asked - 1);
    await expect(async () => {
      if (await sheet.isHidden()) return;
      await sheet
        .getByRole('button', { name: 'Always allow', exact: true })
        .click({ timeout: 1_000 });
      await expect(sheet).toBeHidden({ timeout: 1_000 });
    }).toPass();
    await ended();
  }
  async function ended(): Promise<void> {
    await expect.poll(ran).toBe(asked);
    await turnEnded(page);
  }

  await ask();
  await allowAlways();
  // Unasked from now on.
  await ask();
  await ended();

  await cards.last().getByRole('button').first().click();
  const again = cards.last().getByRole('button', { name: 'Ask again from now on' });
  await again.click();
  await expect(again).toBeHidden();
  await ask();
  await allowAlways();

  await page.goto('/settings');
  const row = page.getByRole('button', { name: /^Take back the decision on/ });
  await row.click();
  await expect(row).toBeHidden();
  await expect(page.getByText('Deft asks each time before a tool changes anything.')).toBeVisible();
  await page.goto(conversation);
  await ask();
  await expect(sheet).toBeVisible();
  expect(ran()).toBe(asked - 1);
  await sheet.getByRole('button', { name: 'Deny', exact: true }).click();
  await turnEnded(page);

  await page.goto('/settings');
  await page.getByText('Limits of one turn').click();
  const steps = page.getByLabel('Steps', { exact: true });
  await steps.fill('1');
  await steps.blur();
  await expect(async () => {
    await page.reload();
    await page.getByText('Limits of one turn').click();
    await expect(steps).toHaveValue('1', { timeout: 2_000 });
  }).toPass();
  await page.goto(conversation);
  await say(page, 'What is the weather in Goa tomorrow?');
  await expect(sheet).toBeVisible();
  await sheet.getByRole('button', { name: 'Deny', exact: true }).click();
  await expect(messages(page).getByText('I stopped after 1 step.', { exact: true })).toBeVisible();
  expect(faults).toEqual([]);
});
