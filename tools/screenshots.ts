/**
 * `npm run screenshots`: every screen of the built app, at phone and desktop size, light and dark,
 * into docs/screenshots/, those of the README among them. `npm run screenshots -- asks` takes one of
 * the tours alone.
 */
import path from 'node:path';
import type { Page } from '@playwright/test';
import {
  addCloud,
  allow,
  chooseMode,
  connectDemo,
  expect,
  newConversation,
  PHONE_SIZE,
  say,
  startStack,
  type Stack,
  TRAVEL_SENTENCE,
  trustDemo,
  turnEnded,
  WIDE_SIZE,
} from '../tests/e2e/stack.ts';
import { startEverything } from '../tests/servers/everything.ts';

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

type Shoot = (name: string) => Promise<void>;

/** The app with its demo server and a cloud. */
async function app({ page, cloud, travel }: Stack, shoot: Shoot): Promise<void> {
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
}

/** A server that asks: what it has for the box, and the sheets with which it asks person and model. */
async function asks({ page, cloud }: Stack, shoot: Shoot): Promise<void> {
  const everything = await startEverything('streamableHttp');
  try {
    await addCloud(page, cloud);
    await page.goto(`/?server=${encodeURIComponent(everything.url)}`);
    const sheet = page.getByRole('dialog');
    await sheet.getByRole('button', { name: 'Connect', exact: true }).click();
    await sheet.getByRole('button', { name: 'Add', exact: true }).click();
    await sheet.waitFor({ state: 'hidden' });
    await page.getByRole('switch', { name: /ask the model/i }).click();
    // It offers that tool only to who lets it ask.
    const tool = page.getByRole('switch', { name: /Trigger Sampling Request Tool/ });
    await expect(async () => {
      await page.getByRole('button', { name: /^Refresh/ }).click();
      await expect(tool).toBeVisible({ timeout: 3_000 });
    }).toPass();
    await expect(async () => {
      if (!(await tool.isChecked())) await tool.click();
      await page.reload();
      await expect(tool).toBeChecked({ timeout: 3_000 });
    }).toPass();

    await newConversation(page);
    await chooseMode(page, 'Cloud');
    await page.getByRole('button', { name: 'Attach a picture or resource' }).click();
    await sheet.getByRole('listitem').first().waitFor();
    await shoot('attach');
    await page.keyboard.press('Escape');
    await page.getByRole('textbox', { name: 'Message' }).pressSequentially('/args');
    await page.getByRole('option', { name: /args-prompt/ }).click();
    await sheet.getByRole('button', { name: 'Use it', exact: true }).waitFor();
    await shoot('prompt-form');
    await page.keyboard.press('Escape');

    await say(page, 'Call trigger_elicitation_request');
    await allow(page);
    await page.getByRole('dialog', { name: /asks you/ }).waitFor();
    await shoot('elicitation');
    await page.getByRole('button', { name: 'Decline', exact: true }).click();
    await turnEnded(page);
    await say(page, 'Call trigger_sampling_request prompt="Say hello"');
    await allow(page);
    await page.getByRole('dialog', { name: /asks the model/ }).waitFor();
    await shoot('sampling');
  } finally {
    await everything.close();
  }
}

const TOURS = { app, asks };
const only = process.argv[2];
const tours = Object.entries(TOURS).filter(([name]) => only === undefined || name === only);
if (tours.length === 0) throw new Error(`The tours are ${Object.keys(TOURS).join(' and ')}.`);

for (const [sizeName, size] of [
  ['phone', PHONE_SIZE],
  ['wide', WIDE_SIZE],
] as const)
  for (const colorScheme of ['light', 'dark'] as const)
    for (const [, tour] of tours) {
      const stack = await startStack({ size, colorScheme });
      await tour(stack, async (name) => {
        await still(stack.page);
        const file = `${name}-${sizeName}-${colorScheme}.png`;
        await stack.page.screenshot({ path: path.join(OUT, file) });
        console.log(file);
      }).finally(() => stack.close());
    }
