/** The life of a model on the phone: killed while it loads, and asked for in two tabs at once. */
import { createHash } from 'node:crypto';
import { cp, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { chromium, type BrowserContext, type Page } from '@playwright/test';
import { CHROMIUM_FLAGS, findChromium } from '../../tools/chromium.ts';
import { randomGemma3 } from '../models/gguf.ts';
import {
  addCloud,
  chooseMode,
  expect,
  messages,
  newConversation,
  say,
  startStack,
  test as base,
  turnEnded,
  type Stack,
} from './stack.ts';

const WORDS = 'Tell me a story.';

/** A folder of models: one of Gemma's shape on WebGPU with two windows, and the same on the processor. */
async function makeModels(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'deft-models-'));
  await cp('models/tiny-gemma/webllm', path.join(folder, 'webllm'), { recursive: true });
  await cp('models/tiny-gemma/webllm/NOTICE', path.join(folder, 'gguf/NOTICE'));
  await writeFile(path.join(folder, 'gguf/random.gguf'), randomGemma3());
  const fileOf = async (inside: string, name: string): Promise<object> => {
    const at = path.join(folder, inside, name);
    const sha256 = createHash('sha256')
      .update(await readFile(at))
      .digest('hex');
    return { path: name, bytes: (await stat(at)).size, sha256 };
  };
  const common = {
    label: 'Tiny Gemma',
    family: 'gemma3',
    licence: { name: 'test', url: 'https://example.org/' },
    maxTools: 3,
  };
  const webllm = [
    'mlc-chat-config.json',
    'tiny-gemma3-q0f32-webgpu.wasm',
    'tokenizer.json',
    'tensor-cache.json',
    'params_shard_0.bin',
  ];
  const rows = [
    {
      ...common,
      id: 'tiny-gemma.webllm',
      engine: 'webllm',
      note: 'On WebGPU.',
      folder: 'webllm/',
      files: await Promise.all(webllm.map((name) => fileOf('webllm', name))),
      contextTokens: 2048,
      contexts: [1024],
      memory: 100e6,
    },
    {
      ...common,
      id: 'tiny-gemma.wllama',
      engine: 'wllama',
      note: 'On the processor.',
      folder: 'gguf/',
      files: [await fileOf('gguf', 'random.gguf')],
      contextTokens: 2048,
      memory: 60e6,
    },
  ];
  await writeFile(path.join(folder, 'index.json'), JSON.stringify(rows));
  return folder;
}

const test = base.extend<{ stack: Stack }>({
  // eslint-disable-next-line no-empty-pattern
  stack: async ({}, use) => {
    const models = await makeModels();
    const stack = await startStack({ models });
    await use(stack);
    await stack.close();
    await rm(models, { recursive: true, force: true });
  },
});

/** Downloads the model for an engine, and makes it the one in use. */
async function useModel(page: Page, runsOn: RegExp): Promise<void> {
  await page.goto('/models');
  const card = page
    .getByRole('listitem')
    .filter({ hasText: 'Tiny Gemma' })
    .filter({ hasText: runsOn });
  await card.getByRole('button', { name: /^Download/ }).click();
  await expect(card.getByText('In use')).toBeVisible({ timeout: 60_000 });
}

/** Resolves when the database says that a model is loading or answers for the first time. */
async function underWay(page: Page): Promise<void> {
  const read = (): Promise<boolean> =>
    page.evaluate(
      () =>
        new Promise<boolean>((resolve, reject) => {
          const opening = indexedDB.open('deft');
          opening.onerror = () => reject(opening.error);
          opening.onsuccess = () => {
            const database = opening.result;
            const reading = database
              .transaction('settings')
              .objectStore('settings')
              .get('settings');
            reading.onsuccess = () => {
              database.close();
              resolve(Boolean(reading.result?.value.underWay));
            };
          };
        }),
    );
  await expect.poll(read, { intervals: [10] }).toBe(true);
}

/** Kills the page as a phone does that runs out of memory, while a model is being loaded. */
async function killLoading(context: BrowserContext, page: Page): Promise<void> {
  await underWay(page);
  const devtools = await context.newCDPSession(page);
  const crashed = page.waitForEvent('crash');
  devtools.send('Page.crash').catch(() => undefined);
  await crashed;
  await page.close();
}

const DIED = /^The browser closed while Tiny Gemma (was being loaded|began to answer)/;
const banner = (page: Page) => page.getByRole('region', { name: DIED });

test('a page killed while its model loads, three times: each time something safer is offered, the cloud last, and nothing that was written is lost', async ({
  stack: { context, page, cloud },
}) => {
  test.setTimeout(240_000);
  await addCloud(page, cloud);
  await useModel(page, /WebGPU/);
  await newConversation(page);
  await chooseMode(page, 'Phone');
  await say(page, WORDS);
  await expect(messages(page).getByText(WORDS)).toBeVisible();
  const address = page.url();
  await killLoading(context, page);

  const ladder = [
    { offer: 'Use a smaller window (1,024 tokens)', why: /less memory/ },
    { offer: 'Run it on the processor', why: /on the processor too/ },
    { offer: 'Use the cloud', why: /No safer choice is left/ },
  ];
  for (const [nth, { offer, why }] of ladder.entries()) {
    const tab = await context.newPage();
    await tab.goto(address);
    await expect(messages(tab).getByText(WORDS)).toBeVisible();
    await expect(banner(tab)).toBeVisible();
    await expect(banner(tab)).toContainText(why);
    // Its card tells the same.
    await tab.goto('/models');
    await expect(tab.getByRole('listitem').getByText(DIED)).toBeVisible();
    await expect(tab.getByRole('listitem').getByRole('button', { name: offer })).toBeVisible();
    await tab.goto(address);

    await banner(tab).getByRole('button', { name: offer }).click();
    await expect(banner(tab)).toBeHidden({ timeout: 30_000 });
    await tab.getByRole('button', { name: 'Resume' }).click();
    if (nth < ladder.length - 1) await killLoading(context, tab);
    else {
      await turnEnded(tab);
      await expect(tab.getByRole('radio', { name: 'Cloud', exact: true })).toBeChecked();
      expect(cloud.requests.length).toBeGreaterThan(0);
      await expect(messages(tab).getByText(WORDS, { exact: true })).toBeVisible();
      await tab.close();
    }
  }
});

test('the whole browser killed while a model loads, moments after it began, is noticed too', async ({
  stack: { app },
}) => {
  test.setTimeout(120_000);
  const profile = await mkdtemp(path.join(tmpdir(), 'deft-killed-'));
  const open = (): Promise<BrowserContext> =>
    chromium.launchPersistentContext(profile, {
      executablePath: findChromium()!,
      args: CHROMIUM_FLAGS,
      baseURL: app.url,
    });
  const context = await open();
  const page = context.pages()[0]!;
  await useModel(page, /WebGPU/);
  await newConversation(page);
  await chooseMode(page, 'Phone');
  const devtools = await context.browser()!.newBrowserCDPSession();
  const { processInfo } = await devtools.send('SystemInfo.getProcessInfo');
  await say(page, WORDS);
  await expect(messages(page).getByText(WORDS)).toBeVisible();
  const address = page.url();
  await underWay(page);
  for (const { id } of processInfo) process.kill(id, 'SIGKILL');
  await context.close().catch(() => undefined);

  const again = await open();
  const tab = again.pages()[0]!;
  await tab.goto(address);
  await expect(messages(tab).getByText(WORDS)).toBeVisible();
  await expect(banner(tab)).toBeVisible();
  await again.close();
  await rm(profile, { recursive: true, force: true });
});

test('two tabs: who waits for the model says so, and has it when the owner closes', async ({
  stack: { context, page },
}) => {
  test.setTimeout(120_000);
  await useModel(page, /WebGPU/);
  // A phone so slow that its answer does not come: the engine is never asked.
  await page.addInitScript(() => {
    const { postMessage } = Worker.prototype;
    Worker.prototype.postMessage = function (this: Worker, message: { type?: string }, ...rest) {
      if (message.type !== 'generate') Reflect.apply(postMessage, this, [message, ...rest]);
    };
  });
  await newConversation(page);
  await chooseMode(page, 'Phone');
  await say(page, WORDS);
  await expect(messages(page).getByText('Reading', { exact: true })).toBeVisible({
    timeout: 60_000,
  });

  const other = await context.newPage();
  await newConversation(other);
  await chooseMode(other, 'Phone');
  await say(other, WORDS);
  await expect(
    messages(other).getByText('Another tab of Deft is using the model; this one comes next'),
  ).toBeVisible();
  await page.close();
  await turnEnded(other, 60_000);
  await expect(messages(other).getByText(WORDS, { exact: true })).toBeVisible();
  await expect(messages(other).getByText(/^Once upon a time/)).toBeVisible();
});
