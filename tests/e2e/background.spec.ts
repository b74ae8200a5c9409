/** A download that goes on with the app closed: the browser's own Background Fetch, and our worker. */
import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { BrowserContext, Page } from '@playwright/test';
import { randomGemma3 } from '../models/gguf.ts';
import { startFiles, type FilesServer } from '../servers/files.ts';
import { expect, startStack, tell, test as base, type Stack } from './stack.ts';

const FILE = '/made/random.gguf';
const BYTES = 30e6;

interface Served extends Stack {
  readonly files: FilesServer;
}

/** The app beside a list with one model of 30 MB, which comes from a host of its own. */
const test = base.extend<{ served: Served }>({
  served: async ({ options }, use, info) => {
    const start = randomGemma3();
    const whole = Buffer.concat([start, randomBytes(BYTES - start.length)]);
    const files = await startFiles({ folders: {}, made: new Map([[FILE, whole]]) });
    const models = await mkdtemp(path.join(tmpdir(), 'deft-models-'));
    const sha256 = createHash('sha256').update(whole).digest('hex');
    const row = {
      id: 'random.wllama',
      label: 'Random 30',
      engine: 'wllama',
      family: 'gemma3',
      note: 'for tests',
      folder: `${files.url}fault/slow/random.gguf/made/`,
      files: [{ path: 'random.gguf', bytes: BYTES, sha256 }],
      licence: { name: 'test', url: 'https://example.org/' },
      contextTokens: 1024,
      maxTools: 5,
      memory: 100e6,
    };
    await writeFile(path.join(models, 'index.json'), JSON.stringify([row]));
    const stack = await startStack({ ...options, models });
    await use({ ...stack, files });
    if (info.status !== info.expectedStatus) await tell(stack);
    await stack.close();
    await files.close();
    await rm(models, { recursive: true, force: true });
  },
});

/** The page of models, served by the service worker, with the model's card. */
async function openModels(page: Page) {
  await page.goto('/models');
  await page.waitForFunction(async () => {
    await navigator.serviceWorker.ready;
    return navigator.serviceWorker.controller !== null;
  });
  return page.getByRole('listitem').filter({ hasText: 'Random 30' });
}

/** Files that wait to be verified, as the service worker sees them. */
async function arrivals(context: BrowserContext): Promise<number> {
  const [worker] = context.serviceWorkers();
  if (!worker) return 0;
  return worker.evaluate(async () => {
    const keys = await (await caches.open('deft-arrivals')).keys();
    return keys.filter(({ url }) => url.endsWith('.gguf')).length;
  });
}

const asked = ({ files }: Served): string[] =>
  files.requests.filter((request) => request.endsWith('.gguf'));

test('goes on while the app is closed; then it is verified and ready, and nothing was fetched twice', async ({
  served,
}) => {
  test.setTimeout(180_000);
  const { page, context } = served;
  const card = await openModels(page);
  await card.getByRole('button', { name: 'Download' }).click();
  await expect(card.getByText(/goes on when you leave or close Deft/)).toBeVisible();
  // The browser itself stays open; no page of the app does.
  await context.newPage();
  await page.close();
  await expect.poll(() => arrivals(context), { timeout: 60_000 }).toBe(1);
  expect(asked(served)).toHaveLength(1);

  const again = await openModels(await context.newPage());
  await expect(again.getByText(/Works offline: every file of it is here/)).toBeVisible({
    timeout: 60_000,
  });
  expect(asked(served)).toHaveLength(1);
  expect(await arrivals(context)).toBe(0);
});

test('can be cancelled, and leaves nothing behind', async ({ served }) => {
  const { page, context } = served;
  const card = await openModels(page);
  await card.getByRole('button', { name: 'Download' }).click();
  await expect(card.getByText(/goes on when you leave or close Deft/)).toBeVisible();
  await card.getByRole('button', { name: 'Cancel' }).click();
  await expect(card.getByRole('button', { name: 'Download' })).toBeVisible();
  expect(await arrivals(context)).toBe(0);
});
