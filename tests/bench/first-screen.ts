/**
 * Time to the first screen of the built app on a slow phone: the processor slowed down six times.
 * Cold is the welcome in a new profile, warm a stored conversation under the service worker.
 */
import path from 'node:path';
import { expect, type Browser, type BrowserContext, type Page } from '@playwright/test';
import { startServer } from '../../tools/serve.ts';
import { bringIn, launch, PHONE, takeFunctions } from './browser.ts';
import { median, type Measured } from './figures.ts';

const SLOW_DOWN = 6;
const ROUNDS = 3;
const TIMEOUT_MS = 60_000;

/** Milliseconds from the start of the navigation until what is looked for has been painted. */
async function timeToSee(page: Page, address: string, selector: string): Promise<number> {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('Emulation.setCPUThrottlingRate', { rate: SLOW_DOWN });
  await page.addInitScript((wanted) => {
    const look = (): void => {
      if (!document.querySelector(wanted)) return void requestAnimationFrame(look);
      // A task that is posted from a frame runs when the frame is done.
      const painted = new MessageChannel();
      painted.port1.onmessage = () => performance.mark('first-screen');
      requestAnimationFrame(() => painted.port2.postMessage(null));
    };
    requestAnimationFrame(look);
  }, selector);
  await page.goto(address);
  const seen = await page.waitForFunction(
    () => performance.getEntriesByName('first-screen')[0]?.startTime ?? null,
    undefined,
    { timeout: TIMEOUT_MS },
  );
  return (await seen.jsonValue()) ?? 0;
}

async function inNewProfile<T>(
  browser: Browser,
  work: (context: BrowserContext) => Promise<T>,
): Promise<T> {
  const context = await browser.newContext({ viewport: PHONE });
  try {
    await takeFunctions(context);
    return await work(context);
  } finally {
    await context.close();
  }
}

async function warmRounds(context: BrowserContext, origin: string): Promise<number[]> {
  const first = await context.newPage();
  const conversation = await bringIn(first, origin, 20);
  await first.evaluate(async () => void (await navigator.serviceWorker.ready));
  await first.goto(`${origin}${conversation}`);
  await expect(first.getByRole('region', { name: 'Messages' })).toBeVisible();
  await expect
    .poll(() => first.evaluate(() => navigator.serviceWorker.controller !== null))
    .toBe(true);
  await first.close();
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const page = await context.newPage();
    times.push(await timeToSee(page, `${origin}${conversation}`, '[aria-label="Messages"] p'));
    await page.close();
  }
  return times;
}

export async function measureFirstScreen(): Promise<Measured> {
  const app = await startServer({
    port: 0,
    dist: path.resolve('dist'),
    models: path.resolve('models'),
  });
  const browser = await launch();
  try {
    const cold: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1)
      cold.push(
        await inNewProfile(browser, async (context) =>
          timeToSee(await context.newPage(), `${app.url}/`, 'main h1'),
        ),
      );
    const warm = await inNewProfile(browser, (context) => warmRounds(context, app.url));
    return {
      figures: { 'firstScreen.coldMs': median(cold), 'firstScreen.warmMs': median(warm) },
      cases: [
        ...cold.map((value) => ({ figure: 'firstScreen.coldMs' as const, value })),
        ...warm.map((value) => ({ figure: 'firstScreen.warmMs' as const, value })),
      ],
    };
  } finally {
    await browser.close();
    await app.close();
  }
}
