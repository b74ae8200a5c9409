/** The demo model, which is served with the app: the phone's own brain at work within seconds. */
import {
  allow,
  chooseMode,
  connectDemo,
  ENGINES,
  expect,
  messages,
  newConversation,
  say,
  test,
  TRAVEL_SENTENCE,
  trustDemo,
  turnEnded,
  useServedModel,
} from './stack.ts';

/** What a step of so small a model may take where two cores do all the work, in milliseconds. */
const STEP = 40_000;

for (const { name, runsOn } of ENGINES)
  test(`the demo model, ${name}: downloaded in seconds, it plans the trip with the right tools and words, and sets a reminder offline`, async ({
    stack: { page, travel, cloud, context, app },
  }) => {
    test.setTimeout(240_000);
    await connectDemo(page);
    await trustDemo(page);
    await useServedModel(page, 'Demo model', runsOn, STEP);

    travel.setWeather('rain');
    await newConversation(page);
    await chooseMode(page, 'Phone');
    await say(page, TRAVEL_SENTENCE);
    await expect(page.getByRole('dialog', { name: /^Allow/ })).toBeVisible({ timeout: 2 * STEP });
    expect(travel.itinerary()).toHaveLength(0);
    await allow(page);
    await turnEnded(page, STEP);

    const [saved] = travel.itinerary();
    const flight = /[A-Z0-9]{2} \d{2,4}/.exec(saved?.item ?? '')?.[0] ?? 'no flight was saved';
    const answer = messages(page)
      .getByText(/raincoat/)
      .last();
    await expect(answer).toContainText(flight);
    await expect(answer).toContainText('Light rain in Goa, so take a raincoat.');
    expect(cloud.requests).toEqual([]);

    await travel.close();
    await context.setOffline(true);
    await app.close();
    await page.goto(`${app.url}/`);
    await newConversation(page);
    await chooseMode(page, 'Phone');
    await say(page, 'Remind me to call the bank tomorrow at 09:00.');
    await allow(page, STEP);
    await turnEnded(page, STEP);
    await expect(
      messages(page)
        .getByText(/I will remind you tomorrow at 09:00: call the bank/)
        .last(),
    ).toBeVisible();
    await page.goto(`${app.url}/reminders`);
    await expect(page.getByText(/call the bank/i).first()).toBeVisible();
  });
