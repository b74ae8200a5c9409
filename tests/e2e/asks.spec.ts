/**
 * A real server that asks, through the built app on a phone: its tool asks the person, its prompts and
 * resources come into the conversation.
 */
import AxeBuilder from '@axe-core/playwright';
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
} from './stack.ts';

test('a server’s question is answered, its prompts and resources come into the conversation', async ({
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
    await page.getByRole('button', { name: 'Attach a resource' }).click();
    const attach = page.getByRole('dialog', { name: 'Attach a resource' });
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
    // A yes in its first half second does not count.
    await expect(async () => {
      if (await form.isVisible())
        await form.getByRole('button', { name: 'Send' }).click({ timeout: 1_000 });
      await expect(form).toBeHidden({ timeout: 1_000 });
    }).toPass();
    await turnEnded(page);
    const results = JSON.stringify(cloud.requests.at(-1)?.body);
    expect(results).toContain('Asha');
    expect(faults).toEqual([]);
  } finally {
    await everything.close();
  }
});
