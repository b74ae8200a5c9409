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
  turnEnded,
} from './stack.ts';

test('without a network the app opens, earlier conversations are there, and what needs a network says so', async ({
  stack: { context, page, cloud, app },
}) => {
  await connectDemo(page);
  await addCloud(page, cloud);
  await newConversation(page);
  await chooseMode(page, 'Cloud');
  await say(page, 'Hello');
  await turnEnded(page);
  const words = await messages(page).innerText();
  await page.evaluate(async () => {
    await navigator.serviceWorker.ready;
  });
  await expect
    .poll(() => page.evaluate(() => navigator.serviceWorker.controller !== null))
    .toBe(true);
  const address = page.url();

  await context.setOffline(true);
  await app.close();
  await page.goto(`${app.url}/`);
  await expect(page.getByRole('textbox', { name: 'Message' })).toBeVisible();
  await page.goto(address);
  await expect.poll(() => messages(page).innerText()).toBe(words);

  await say(page, 'And now?');
  await expect(
    messages(page)
      .getByText(/no network/i)
      .first(),
  ).toBeVisible();
  // The words are kept, and the turn can be tried again.
  await expect(messages(page).getByText('And now?')).toBeVisible();
  await expect(page.getByRole('button', { name: /Try again/i })).toBeVisible();
});

test('a remote tool that cannot be reached says so plainly, and the turn goes on', async ({
  stack: { page, cloud, travel },
}) => {
  await connectDemo(page);
  await addCloud(page, cloud);
  await newConversation(page);
  await chooseMode(page, 'Cloud');
  await travel.close();
  await say(page, 'What is the weather in Goa tomorrow?');
  await allow(page);
  await turnEnded(page);
  await expect(
    messages(page)
      .getByText(/Could not be reached/)
      .first(),
  ).toBeVisible();
  await expect(messages(page).getByText(/reach/i).last()).toBeVisible();
});
