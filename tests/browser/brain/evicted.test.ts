/**
 * A model whose files the browser has cleared behind the app's back: noticed when the next page opens,
 * and said there by the shell, before anybody learns it from a turn that fails.
 */
import { flushSync, mount, unmount, type Component } from 'svelte';
import { commands, page } from 'vitest/browser';
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import { manifests, removeFiles, webllmEntry } from '../../../src/brain/local/files.ts';
import { createModels } from '../../../src/brain/local/models.ts';
import type { CatalogueRow, Models } from '../../../src/brain/local/types.ts';
import { openStore } from '../../../src/store/open.ts';
import type { Store } from '../../../src/store/store.ts';
import { navigate } from '../../../src/ui/router.ts';
import Shell from '../../../src/ui/shell/Shell.svelte';
import { fakeApp, fakeSession } from '../ui/fake-app.ts';
import Harness from '../ui/Harness.svelte';
import { randomGguf, tinyGemma } from './rows.ts';

let server: string;
let tiny: CatalogueRow;
let random: CatalogueRow;
let store: Store;

beforeAll(async () => {
  server = await commands.startFileServer();
  tiny = await tinyGemma(server);
  random = await randomGguf(server);
  await commands.makeFile('/made/index.json', '[]');
});
afterAll(() => commands.stopFileServer(server));
beforeEach(async () => {
  for (const { row } of await manifests()) await removeFiles(row);
  store = await openStore({ name: `evicted-${crypto.randomUUID()}` });
  onTestFinished(() => store.close());
});

/** The models as a freshly opened page has them. */
const open = (): Models =>
  createModels({
    store,
    index: new URL('/made/index.json', server).href,
    publicRows: async () => [tiny, random],
  });

/** The shell over a conversation, with these models. */
async function showShell(models: Models): Promise<void> {
  await page.viewport(360, 780);
  const home = location.pathname + location.search;
  const session = fakeSession();
  navigate(`/c/${session.view().conversation.id}`);
  const settings = {
    get: () => store.settings.get(),
    set: (change: object) => store.settings.set(change),
    subscribe: () => () => undefined,
  };
  const root = document.createElement('div');
  document.body.append(root);
  const mounted = mount(Harness, {
    target: root,
    props: {
      app: { ...fakeApp(session, { models }), settings },
      component: Shell as Component<Record<string, unknown>>,
      props: {},
    },
  });
  flushSync();
  onTestFinished(async () => {
    await unmount(mounted);
    root.remove();
    history.replaceState(null, '', home);
  });
}

test('is said over the conversation, with the way to the models, where it is said no more', async () => {
  await open().download(tiny.id);
  const entry = webllmEntry(tiny, 'tokenizer.json');
  await (await caches.open(entry.scope)).delete(entry.url);

  const models = open();
  await showShell(models);
  const banner = page.getByRole('region', { name: /^1 of the 5 files of tiny-gemma\.webllm/ });
  await expect.element(banner).toBeVisible();
  await expect.element(banner.getByText(/^Download it again: only what is missing/)).toBeVisible();
  const link = banner.getByRole('link', { name: 'Models', exact: true });
  await expect.element(link).toHaveAttribute('href', '/models');
  navigate('/models');
  await expect.element(banner).not.toBeInTheDocument();
  navigate('/chats');
  await expect.element(banner).toBeVisible();
  await models.download(tiny.id);
  await expect.element(banner).not.toBeInTheDocument();
});

test('closed, it stays closed until the model was had again and is gone again', async () => {
  await open().download(random.id);
  await removeFiles(random);

  const models = open();
  await showShell(models);
  const banner = page.getByRole('region', {
    name: 'The browser has cleared random.wllama from this phone to make room.',
  });
  await banner.getByRole('button', { name: 'Close' }).click();
  await expect.element(banner).not.toBeInTheDocument();
  await models.download(random.id);
  await expect.element(banner).not.toBeInTheDocument();
  await removeFiles(random);
  await models.warm(random.id);
  await expect.element(banner).toBeVisible();
});
