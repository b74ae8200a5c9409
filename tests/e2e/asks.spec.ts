/**
 * A real server that asks, through the built app on a phone: its tools ask the person and the
 * model, its prompts and resources come into the conversation.
 */
import AxeBuilder from '@axe-core/playwright';
import type { Locator } from '@playwright/test';
import { startEverything } from '../servers/everything.ts';
import {
  addCloud,
  allow,
  chooseMode,
  expect,
  messages,
  newConversation,
  say,
  test,
  turnEnded,
  turnOn,
} from './stack.ts';

/** Taps a yes until it counts: in its first half second it does not. */
async function yes(button: Locator): Promise<void> {
  await expect(async () => {
    if (await button.isVisible()) await button.click({ timeout: 1_000 });
    await expect(button).toBeHidden({ timeout: 1_000 });
  }).toPass();
}

test('a server asks the person and the model, and its prompts and resources come into the conversation', async ({
  stack,
}) => {
  test.setTimeout(180_000);
  const { page, cloud, faults } = stack;
  const everything = await startEverything('streamableHttp');
  try {
    await addCloud(page, cloud);
    await page.goto(`/?server=${encodeURIComponent(everything.url)}`);
    const add = page.getByRole('dialog');
    await add.getByRole('button', { name: 'Connect', exact: true }).click();
    await add.getByRole('button', { name: 'Add', exact: true }).click();
    await expect(add).toBeHidden();

    // A prompt by its name: its words come into the box.
    await newConversation(page);
    await chooseMode(page, 'Cloud');
    const box = page.getByRole('textbox', { name: 'Message' });
    await box.pressSequentially('/simple');
    await page.getByRole('option', { name: /simple-prompt/ }).click();
    await expect(box).toHaveValue('This is a simple prompt without arguments.');

    // A resource hangs on the message, and the model reads it as the server's text.
    await page.getByRole('button', { name: 'Attach a picture or resource' }).click();
    const attach = page.getByRole('dialog', { name: 'Attach a picture or resource' });
    await attach.getByLabel('Search').fill('architecture');
    await attach
      .getByRole('button', { name: /architecture/i })
      .first()
      .click();
    await expect(attach).toBeHidden();
    await say(page, 'What does this say?');
    await turnEnded(page);
    expect(JSON.stringify(cloud.requests.at(-1)?.body)).toContain('[attached: architecture.md');
    await expect(messages(page).getByRole('button', { name: /architecture/i })).toBeVisible();

    // Its tool asks the person, who answers; the call goes on with the answer.
    await say(page, 'Call trigger_elicitation_request');
    await allow(page);
    const form = page.getByRole('dialog', { name: /asks you/ });
    await expect(form).toContainText(new URL(everything.url).host);
    const { violations } = await new AxeBuilder({ page }).analyze();
    expect(violations.map(({ id }) => id)).toEqual([]);
    await form.getByLabel('String', { exact: true }).fill('Asha');
    await yes(form.getByRole('button', { name: 'Send' }));
    await turnEnded(page);
    const results = JSON.stringify(cloud.requests.at(-1)?.body);
    expect(results).toContain('Asha');

    // It may ask the model once the person allowed it; what it asks and what it gets are seen first.
    await page.goto('/servers');
    await page.getByRole('link', { name: /Everything/ }).click();
    await page.getByRole('switch', { name: /ask the model/i }).click();
    const tool = page.getByRole('switch', { name: /Trigger Sampling Request Tool/ });
    await expect(async () => {
      await page.getByRole('button', { name: /^Refresh/ }).click();
      await expect(tool).toBeVisible({ timeout: 3_000 });
    }).toPass();
    await turnOn(page, tool);
    await newConversation(page);
    await chooseMode(page, 'Cloud');
    await say(page, 'Call trigger_sampling_request prompt="Say hello"');
    await allow(page);
    const asked = page.getByRole('dialog', { name: /asks the model/ });
    await expect(asked.getByLabel('As the user')).toHaveValue(/Say hello/);
    await expect(asked.getByLabel('Instructions for the model')).toHaveValue(/test server/);
    await expect(asked.getByRole('radio', { name: 'Cloud' })).toBeChecked();
    await asked.getByLabel('As the user').fill('Say good evening');
    await yes(asked.getByRole('button', { name: 'Ask the model' }));
    const answer = page.getByRole('dialog', { name: 'Give this answer?' });
    await answer.getByLabel('The answer').fill('Good evening, all.');
    await yes(answer.getByRole('button', { name: 'Give the answer' }));
    await turnEnded(page);
    const bodies = cloud.requests.map(({ body }) => JSON.stringify(body));
    expect(bodies.some((body) => body.includes('Say good evening'))).toBe(true);
    expect(bodies.at(-1)).toContain('Good evening, all.');
    await page.getByRole('button', { name: /Trigger Sampling Request Tool/ }).click();
    await expect(messages(page).getByText(/^Asked the model: answered/)).toBeVisible();
    expect(faults).toEqual([]);
  } finally {
    await everything.close();
  }
});
