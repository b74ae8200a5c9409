/**
 * `npm run screenshots`: every screen of the built app, at phone and desktop size, light and dark,
 * into docs/screenshots/, those of the README among them.
 */
import path from 'node:path';
import type { Page } from '@playwright/test';
import {
  addCloud,
  allow,
  chooseMode,
  connectDemo,
  newConversation,
  PHONE_SIZE,
  say,
  startStack,
  TRAVEL_SENTENCE,
  trustDemo,
  turnEnded,
  WIDE_SIZE,
} from '../tests/e2e/stack.ts';

const OUT = path.resolve('docs/screenshots');

async function still(page: Page): Promise<void> {
  await page.evaluate(async () => {
    await document.fonts.ready;
    // One that is cut short by what comes next is as good as finished; an endless one never is.
    const ending = document.getAnimations().filter((animation) => {
      const { iterations } = animation.effect?.getComputedTiming() ?? {};
      return iterations !== Infinity;
    });
    await Promise.allSettled(ending.map((animation) => animation.finished));
  });
}

for (const [sizeName, size] of [
  ['phone', PHONE_SIZE],
  ['wide', WIDE_SIZE],
] as const)
  for (const colorScheme of ['light', 'dark'] as const) {
    const stack = await startStack({ size, colorScheme });
    const { page, cloud, travel } = stack;
    const shoot = async (name: string): Promise<void> => {
      await still(page);
      await page.screenshot({ path: path.join(OUT, `${name}-${sizeName}-${colorScheme}.png`) });
      console.log(`${name}-${sizeName}-${colorScheme}`);
    };
    travel.setWeather('rain');
    await page.goto('/');
    await page.getByRole('button', { name: 'Connect', exact: true }).waitFor();
    await shoot('welcome');
    await connectDemo(page);
    await trustDemo(page);
    await shoot('server');
    await page.goto(`/?server=${encodeURIComponent(travel.url)}`);
    const adding = page.getByRole('dialog');
    await adding.getByText(/^A link proposes this server/).waitFor();
    await shoot('add-server');
    await adding.getByRole('button', { name: 'Connect', exact: true }).click();
    await adding.getByRole('button', { name: 'Add', exact: true }).waitFor();
    await shoot('consent');
    await page.goto('/cloud');
    await page.getByRole('button', { name: /^Anthropic/ }).waitFor();
    await shoot('cloud-empty');
    await addCloud(page, cloud);
    await newConversation(page);
    await shoot('conversation-empty');
    await chooseMode(page, 'Cloud');
    await say(page, TRAVEL_SENTENCE);
    await page.getByRole('dialog', { name: /^Allow/ }).waitFor();
    await shoot('question');
    await allow(page);
    await turnEnded(page);
    const later = page.getByRole('button', { name: /^(Not now|Close|Dismiss)/ });
    if (await later.first().isVisible()) await later.first().click();
    await shoot('travel');
    await page.getByRole('button', { name: /Save to itinerary/ }).click();
    await page.getByRole('button', { name: /^In the cloud/ }).click();
    await shoot('receipt');
    await newConversation(page);
    await say(page, 'Give me a long answer in Markdown');
    await turnEnded(page);
    await shoot('markdown');
    for (const screen of [
      'chats',
      'models',
      'servers',
      'cloud',
      'settings',
      'reminders',
      'actions',
    ]) {
      await page.goto(`/${screen}`);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await page.getByRole('status', { name: 'Loading' }).waitFor({ state: 'hidden' });
      await shoot(screen);
    }
    await stack.close();
  }
