import { readFile } from 'node:fs/promises';
import {
  addCloud,
  allow,
  chooseMode,
  connectDemo,
  expect,
  messages,
  newConversation,
  say,
  test,
  TRAVEL_SENTENCE,
  turnEnded,
} from './stack.ts';

test('from the first run to the itinerary: one sentence, three tools, one answer, the same after a reload', async ({
  stack: { page, travel, cloud, faults },
}) => {
  travel.setWeather('rain');
  await connectDemo(page);
  await addCloud(page, cloud);
  await newConversation(page);
  await chooseMode(page, 'Cloud');
  const listed = travel.counts()['tools/list'] ?? 0;
  await say(page, TRAVEL_SENTENCE);

  // The two that only read are asked as well: nobody has said that this server is to be trusted.
  for (let question = 0; question < 3; question += 1) {
    expect(travel.itinerary()).toEqual([]);
    await allow(page);
  }
  await turnEnded(page);

  const [saved] = travel.itinerary();
  expect(travel.itinerary()).toHaveLength(1);
  const flight = /[A-Z0-9]{2} \d{2,4}/.exec(saved?.item ?? '')?.[0] ?? 'no flight';
  const answer = messages(page)
    .getByText(/raincoat/)
    .last();
  await expect(answer).toContainText(flight);
  await expect(page.getByText(/next Friday/).first()).toBeVisible();

  const counts = travel.counts();
  expect(counts['tools/call']).toBe(3);
  // The list was fetched when the server was added, and never for a turn.
  expect(counts['tools/list']).toBe(listed);

  const before = await messages(page).innerText();
  await page.reload();
  await expect(
    messages(page)
      .getByText(/raincoat/)
      .last(),
  ).toBeVisible();
  expect(await messages(page).innerText()).toBe(before);
  expect(travel.itinerary()).toHaveLength(1);

  // Every call is in the action log, whatever becomes of the conversation.
  await page.goto('/actions');
  const calls = page.getByRole('main').getByRole('listitem');
  await expect(calls).toHaveCount(3);
  await expect(calls.first()).toContainText('You allowed it, this time.');
  await page.getByPlaceholder('Search the log').fill('itinerary');
  await expect(calls).toHaveCount(1);
  await calls.getByText('What was asked and answered').click();
  await expect(calls.getByText(saved?.item ?? 'no item').first()).toBeVisible();
  await page.getByRole('button', { name: 'Check' }).click();
  await expect(page.getByText('The log is whole')).toBeVisible();
  const saving = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Save as a file' }).click();
  const file = await readFile(await (await saving).path(), 'utf8');
  const lines = file.trimEnd().split('\n');
  expect(lines.map((line) => (JSON.parse(line) as { event: string }).event)).toEqual([
    ...['sent', 'ended', 'sent', 'ended', 'sent', 'ended'],
  ]);
  await page.getByPlaceholder('Search the log').fill('');
  await page.getByRole('button', { name: 'Clear' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Clear' }).click();
  await expect(page.getByText('Nothing was called yet')).toBeVisible();
  expect(faults).toEqual([]);
});

test('each answer says where it ran and why, and shows the exact text that left the phone', async ({
  stack: { page, cloud },
}) => {
  await page.goto('/');
  await addCloud(page, cloud);
  await newConversation(page);
  await chooseMode(page, 'Cloud');
  await say(page, 'Hello');
  await turnEnded(page);
  await page
    .getByRole('button', { name: /^In the cloud/ })
    .last()
    .click();
  await expect(page.getByText('Cloud is chosen for this conversation.')).toBeVisible();
  await page.getByRole('button', { name: 'What left the phone' }).click();
  const body = cloud.requests.at(-1)?.body;
  await expect(page.getByRole('dialog')).toContainText(JSON.stringify(body).slice(0, 40));
  await expect(page.getByRole('dialog')).not.toContainText('sk-test-key');
});

test('a no is taken as a no: nothing runs, the model hears it and says so', async ({
  stack: { page, cloud, travel },
}) => {
  await connectDemo(page);
  await addCloud(page, cloud);
  await newConversation(page);
  await chooseMode(page, 'Cloud');
  await say(page, TRAVEL_SENTENCE);
  const sheet = page.getByRole('dialog', { name: /^Allow/ });
  await expect(sheet).toBeVisible();
  // Both questions of the first step, then whatever the model asks for next.
  await expect(async () => {
    if (await sheet.isVisible()) await page.keyboard.press('Escape');
    await expect(page.getByRole('button', { name: 'Stop' })).toBeHidden({ timeout: 500 });
  }).toPass({ timeout: 20_000 });
  await expect(messages(page).getByText('You said no').first()).toBeVisible();
  expect(travel.counts()['tools/call'] ?? 0).toBe(0);
  expect(travel.itinerary()).toEqual([]);
});
