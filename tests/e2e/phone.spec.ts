/** The phone's own brain on real weights: the starter model in both engines, through the whole app. */
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

/** What a step may take where two cores do the work of a phone's GPU, in milliseconds. */
const SLOW_STEP = 300_000;

/**
 * What differs between the engines is tried on both; WebGPU in software is slow, so the rest is tried
 * on the other one.
 */
const isSlow = (name: string): boolean => name.startsWith('WebLLM');

for (const { name, runsOn } of ENGINES)
  test(`the travel sentence on the phone, ${name}: three right calls, the write asked, the right words${isSlow(name) ? '' : ' in rain and in clear sky, and what works without a network'}`, async ({
    stack: { page, travel, cloud, context, app },
  }) => {
    test.setTimeout(1_500_000);
    await connectDemo(page);
    await trustDemo(page);
    await useServedModel(page, 'Gemma 3 270M, tools', runsOn, 180_000);

    for (const weather of isSlow(name) ? (['rain'] as const) : (['rain', 'clear'] as const)) {
      travel.setWeather(weather);
      const saved = travel.itinerary().length;
      await newConversation(page);
      await chooseMode(page, 'Phone');
      await say(page, TRAVEL_SENTENCE);
      await expect(page.getByRole('dialog', { name: /^Allow/ })).toBeVisible({
        timeout: 2 * SLOW_STEP,
      });
      expect(travel.itinerary()).toHaveLength(saved);
      await allow(page);
      await turnEnded(page, SLOW_STEP);

      const item = travel.itinerary().at(-1)?.item ?? '';
      expect(travel.itinerary()).toHaveLength(saved + 1);
      const flight = /[A-Z0-9]{2} \d{2,4}/.exec(item)?.[0] ?? 'no flight in the itinerary';
      const answer = messages(page)
        .getByText(/raincoat/)
        .last();
      await expect(answer).toContainText(flight);
      await expect(answer).toContainText(weather === 'rain' ? /take a raincoat/ : /won't need/);
    }
    expect(cloud.requests).toEqual([]);
    if (isSlow(name)) return;

    // Without a network: the model, the phone's tools and what is stored go on; the rest says so.
    await travel.close();
    await context.setOffline(true);
    await app.close();
    await page.goto(`${app.url}/`);
    await newConversation(page);
    await chooseMode(page, 'Phone');
    await say(page, 'Remind me to call the bank tomorrow at 09:00.');
    await allow(page, SLOW_STEP);
    await turnEnded(page, SLOW_STEP);
    await page.goto(`${app.url}/reminders`);
    await expect(page.getByText(/call the bank/i).first()).toBeVisible();

    await newConversation(page);
    await chooseMode(page, 'Phone');
    await say(page, 'What is the weather in Goa tomorrow?');
    await turnEnded(page, SLOW_STEP);
    await expect(messages(page).getByText('Could not be reached').first()).toBeVisible({
      timeout: SLOW_STEP,
    });
    await expect(
      messages(page)
        .getByText(/did not work|cannot|could not|network/i)
        .last(),
    ).toBeVisible();
  });
