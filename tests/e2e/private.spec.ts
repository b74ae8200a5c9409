/** Results of a private server, watched on the wire: they reach no cloud by themselves. */
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
  turnOnDemo,
} from './stack.ts';

test('what a private server gave leaves the phone in no mode by itself, and only in the one turn that the person sends', async ({
  stack: { page, cloud, travel, faults },
}) => {
  const sent = (): string => JSON.stringify(cloud.requests.map(({ body }) => body));
  await connectDemo(page);
  await addCloud(page, cloud);
  await turnOnDemo(page, 'Private');

  await newConversation(page);
  await chooseMode(page, 'Cloud');
  await say(page, 'Call get_weather with city "Goa" and date "2026-12-04"');
  await allow(page);
  await turnEnded(page);
  expect(travel.counts()['tools/call']).toBe(1);
  // The model in the cloud wished for the call, and is not shown what came of it.
  await expect(
    messages(page)
      .getByText(/results of a private server/)
      .first(),
  ).toBeVisible();
  expect(sent()).toContain('get_weather');
  expect(sent()).not.toContain('high_c');
  const before = cloud.requests.length;

  // Nor later, in either mode, nor after a reload.
  for (const mode of ['Auto', 'Cloud'] as const) {
    await chooseMode(page, mode);
    await say(page, 'And now?');
    await turnEnded(page);
    expect(cloud.requests).toHaveLength(before);
    await page.reload();
    await expect(page.getByRole('textbox', { name: 'Message' })).toBeVisible();
  }

  // The person may send one turn themselves; the next one stays again.
  await page.getByRole('button', { name: 'More for this answer' }).last().click();
  await page.getByRole('button', { name: 'In the cloud', exact: true }).click();
  await expect.poll(() => cloud.requests.length).toBeGreaterThan(before);
  await turnEnded(page);
  expect(sent()).toContain('high_c');
  const after = cloud.requests.length;
  await say(page, 'And after that?');
  await turnEnded(page);
  expect(cloud.requests).toHaveLength(after);
  expect(faults).toEqual([]);
});
