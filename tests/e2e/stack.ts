/**
 * The whole thing, real: the built app on its own server with its real headers, the demo MCP server,
 * a cloud over HTTP, and Chromium with WebGPU in software. One stack a test.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import {
  chromium,
  expect,
  test as base,
  type BrowserContext,
  type Locator,
  type Page,
} from '@playwright/test';
import { CHROMIUM_FLAGS, findChromium } from '../../tools/chromium.ts';
import { startServer, type Served } from '../../tools/serve.ts';
import { randomGemma3 } from '../models/gguf.ts';
import { startCloud, type CloudServer } from '../servers/cloud.ts';
import { startTravel, type Travel } from '../servers/travel.ts';

export const TRAVEL_SENTENCE =
  "I'm flying from Delhi to Goa next Friday. Find me a morning flight, check if I'll need a raincoat, and save the flight to my itinerary.";

export const PHONE_SIZE = { width: 360, height: 780 };
export const WIDE_SIZE = { width: 1280, height: 800 };

export interface Stack {
  readonly app: Served;
  readonly travel: Travel;
  readonly cloud: CloudServer;
  readonly context: BrowserContext;
  readonly page: Page;
  /** Folder of the browser's own files. */
  readonly profile: string;
  /** Errors that reached the page's console or its window. */
  readonly faults: string[];
}

export interface StackOptions {
  /** Size of the window in CSS pixels. */
  readonly size?: { readonly width: number; readonly height: number };
  readonly colorScheme?: 'light' | 'dark';
  /** Folder of the models beside the app; default: the app's own. */
  readonly models?: string;
}

/** Starts everything; `close` stops all of it and deletes the browser's profile. */
export async function startStack(
  options: StackOptions = {},
): Promise<Stack & { close(): Promise<void> }> {
  const { size = PHONE_SIZE, colorScheme = 'light', models = path.resolve('models') } = options;
  const executablePath = findChromium();
  if (!executablePath) throw new Error('There is no Chromium: run npm test, which installs it.');
  const travel = await startTravel({ port: 0 });
  const cloud = await startCloud();
  const app = await startServer({
    port: 0,
    dist: path.resolve('dist'),
    models,
    demo: { url: travel.url, name: 'Travel demo' },
  });
  const profile = await mkdtemp(path.join(tmpdir(), 'deft-e2e-'));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath,
    args: CHROMIUM_FLAGS,
    viewport: size,
    colorScheme,
    baseURL: app.url,
    reducedMotion: 'reduce',
    timezoneId: 'Asia/Kolkata',
  });
  const faults: string[] = [];
  const watch = (page: Page): void => {
    page.on('pageerror', (error) => faults.push(String(error)));
    page.on('console', (message) => {
      if (message.type() === 'error' && !/Failed to load resource/.test(message.text()))
        faults.push(message.text());
    });
  };
  context.on('page', watch);
  const page = context.pages()[0] ?? (await context.newPage());
  watch(page);
  return {
    app,
    travel,
    cloud,
    context,
    page,
    profile,
    faults,
    async close() {
      await context.close();
      await Promise.allSettled([app.close(), travel.close(), cloud.close()]);
      await rm(profile, { recursive: true, force: true });
    },
  };
}

export const test = base.extend<{ options: StackOptions; stack: Stack }>({
  options: [{}, { option: true }],
  stack: async ({ options }, use, info) => {
    const stack = await startStack(options);
    await use(stack);
    if (info.status !== info.expectedStatus) await tell(stack);
    await stack.close();
  },
});

/** What the pages show and what went wrong in them, for whoever reads the output of a failed test. */
export async function tell({ context, faults }: Stack): Promise<void> {
  for (const page of context.pages()) {
    const seen = await page
      .locator('body')
      .ariaSnapshot({ timeout: 5_000 })
      .catch((error: unknown) => String(error));
    console.log(`${page.url()}\n${seen.slice(0, 6_000)}`);
  }
  if (faults.length > 0) console.log(faults.join('\n'));
}

export { expect };

/** First run: looks around with the demo, its server connected by one tap. */
export async function connectDemo(page: Page): Promise<void> {
  await page.goto('/');
  await page.getByRole('button', { name: 'Connect', exact: true }).click();
  await expect(page.getByText('Connected')).toBeVisible();
}

/** The engines that a served model can be had for, and what its card says of them. */
export const ENGINES = [
  { name: 'WebLLM on WebGPU', runsOn: /WebGPU|graphics/i },
  { name: 'wllama on the processor', runsOn: /processor|CPU/i },
] as const;

/** Downloads a served model for an engine through the app's own screen, and waits until it is in use. */
export async function useServedModel(
  page: Page,
  label: string,
  runsOn: RegExp,
  timeout: number,
): Promise<void> {
  await page.goto('/models');
  const card = page.getByRole('listitem').filter({ hasText: runsOn }).filter({ hasText: label });
  await card.getByRole('button', { name: /^(Download|Try again)$/ }).click();
  // The first model on a phone is the one that Phone uses.
  await expect(card.getByText('In use')).toBeVisible({ timeout });
}

/** Turns a switch of the page on, and leaves it stored. */
export async function turnOn(page: Page, toggle: Locator): Promise<void> {
  // A switch is drawn as tapped a moment before that is stored, and a page left then keeps nothing.
  await expect(async () => {
    await toggle.waitFor({ timeout: 5_000 });
    if (!(await toggle.isChecked())) await toggle.click();
    await page.reload();
    await expect(toggle).toBeChecked({ timeout: 3_000 });
  }).toPass();
}

/** Turns one of the demo server's switches on, on its page. */
export async function turnOnDemo(page: Page, name: string): Promise<void> {
  await page.goto('/servers');
  await page.getByRole('link', { name: /Travel demo/ }).click();
  await turnOn(page, page.getByRole('switch', { name }));
}

/** Believes the demo server's word on which of its tools only read. */
export const trustDemo = (page: Page): Promise<void> => turnOnDemo(page, 'Trust its hints');

/** Adds a model of random weights from a file, through the app's own screen; gives its card. */
export async function addOwnModel(page: Page): Promise<Locator> {
  await page.goto('/models');
  await page.getByRole('button', { name: 'Add a model' }).click();
  const sheet = page.getByRole('dialog', { name: 'Add a model' });
  await sheet.getByText('GGUF, file').click();
  await sheet.getByLabel('File', { exact: true }).setInputFiles({
    name: 'random.gguf',
    mimeType: 'application/octet-stream',
    buffer: randomGemma3(),
  });
  await sheet.getByRole('button', { name: 'Look at it' }).click();
  await sheet.getByRole('button', { name: 'Add and store it' }).click();
  await expect(sheet).toBeHidden();
  const card = page.getByRole('listitem').filter({ hasText: 'Random weights' });
  await expect(card.getByRole('button', { name: 'Delete' })).toBeVisible();
  return card;
}

/** Adds the test cloud as an OpenAI-compatible one. */
export async function addCloud(page: Page, cloud: CloudServer, model = 'strong'): Promise<void> {
  await page.goto('/cloud');
  await page.getByRole('button', { name: /^Other/ }).click();
  const sheet = page.getByRole('dialog');
  await sheet.getByLabel(/^Key/).fill('sk-test-key-1234567890');
  await sheet.getByLabel('Model').fill(model);
  await sheet.getByLabel('Address').fill(`${cloud.url}/v1`);
  await sheet.getByRole('button', { name: 'Try and add' }).click();
  await expect(sheet).toBeHidden();
}

export async function newConversation(page: Page): Promise<void> {
  await page.goto('/?new=1');
  await expect(page.getByRole('textbox', { name: 'Message' })).toBeVisible();
  await page.waitForURL('**/c/*');
}

export async function chooseMode(page: Page, mode: 'Phone' | 'Auto' | 'Cloud'): Promise<void> {
  await page.getByRole('radio', { name: mode, exact: true }).check({ force: true });
}

export async function say(page: Page, words: string): Promise<void> {
  await page.getByRole('textbox', { name: 'Message' }).fill(words);
  await page.getByRole('button', { name: 'Send', exact: true }).click();
}

/** The messages of the conversation on the screen. */
export const messages = (page: Page): Locator => page.getByRole('region', { name: 'Messages' });

/**
 * Allows the question on the screen once it comes, within `timeout` milliseconds; a yes in its first
 * half second does not count.
 */
export async function allow(page: Page, timeout = 15_000): Promise<void> {
  const sheet = page.getByRole('dialog', { name: /^Allow/ });
  await expect(sheet).toBeVisible({ timeout });
  const button = sheet.getByRole('button', { name: 'Allow once' });
  await expect(async () => {
    // On a busy machine an earlier click may have been taken late.
    if (await sheet.isHidden()) return;
    await button.click({ timeout: 1_000 });
    await expect(sheet).toBeHidden({ timeout: 1_000 });
  }).toPass({ timeout: 15_000 });
}

/** What is on the clipboard, as a person gets it: the page itself may not read it. */
export async function pasted(page: Page): Promise<string> {
  await page.evaluate(() => {
    const area = document.createElement('textarea');
    area.id = 'pasted';
    // Behind a dialog nothing takes focus.
    (document.querySelector('dialog[open]') ?? document.body).append(area);
    area.focus();
  });
  const area = page.locator('#pasted');
  await page.keyboard.press('Control+V');
  await expect(area).not.toHaveValue('');
  const text = await area.inputValue();
  await area.evaluate((element) => element.remove());
  return text;
}

/** Resolves when no turn runs. */
export async function turnEnded(page: Page, timeout = 30_000): Promise<void> {
  await expect(page.getByRole('button', { name: 'Stop' })).toBeHidden({ timeout });
}

/** On the settings' screen: saves everything to a file, locked with a passphrase; gives its path. */
export async function saveAll(page: Page, passphrase: string): Promise<string> {
  await page.getByRole('button', { name: 'Save everything to a file' }).click();
  const sheet = page.getByRole('dialog', { name: 'Save everything to a file' });
  await sheet.getByLabel('Passphrase', { exact: true }).fill(passphrase);
  await sheet.getByLabel('Passphrase, once more').fill(passphrase);
  const saving = page.waitForEvent('download');
  await sheet.getByRole('button', { name: 'Save', exact: true }).click();
  const file = await (await saving).path();
  await expect(sheet).toBeHidden();
  return file;
}
