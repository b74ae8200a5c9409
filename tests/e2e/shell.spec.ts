/** The shell on the built app: installed, strict, offline, updated only with a yes. */
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Page } from '@playwright/test';
import { HEADERS } from '../../tools/headers.ts';
import { startServer } from '../../tools/serve.ts';
import { expect, newConversation, test } from './stack.ts';

/** Every screen, by an address of its own, and its heading. */
const ROUTES: readonly (readonly [string, RegExp])[] = [
  ['/welcome', /Deft/],
  ['/chats', /Conversations/],
  ['/models', /Models on this phone/],
  ['/servers', /Servers/],
  ['/servers/phone', /./],
  ['/cloud', /Cloud models/],
  ['/settings', /Settings/],
  ['/reminders', /Reminders/],
  ['/actions', /Action log/],
];

/** Resolves when the service worker serves this page and holds the whole shell. */
async function controlled(page: Page): Promise<void> {
  await page.waitForFunction(async () => {
    await navigator.serviceWorker.ready;
    return navigator.serviceWorker.controller !== null;
  });
}

const heading = (page: Page, name: RegExp) => page.getByRole('heading', { level: 1, name });

test('the app can be installed, and its manifest has no fault', async ({ stack }) => {
  const { page, context } = stack;
  await page.goto('/');
  await controlled(page);
  const cdp = await context.newCDPSession(page);
  const { installabilityErrors } = await cdp.send('Page.getInstallabilityErrors');
  expect(installabilityErrors).toEqual([]);
  const { errors, data } = await cdp.send('Page.getAppManifest');
  expect(errors).toEqual([]);
  const manifest = JSON.parse(data ?? '{}') as {
    shortcuts: { name: string; url: string }[];
    icons: { purpose: string; src: string }[];
    screenshots: { src: string; form_factor: string }[];
  };
  expect(manifest.shortcuts.map(({ name }) => name)).toEqual([
    'New chat',
    'Ask by voice',
    'Servers',
  ]);
  expect(new Set(manifest.icons.map(({ purpose }) => purpose))).toEqual(
    new Set(['any', 'maskable', 'monochrome']),
  );
  const files = [...manifest.icons, ...manifest.screenshots].map(({ src }) => src);
  for (const file of files) expect((await page.request.get(file)).status(), file).toBe(200);
});

test('every answer carries the strict policy, and the page repeats it for other hosts', async ({
  stack,
}) => {
  const { page, app } = stack;
  const policy = HEADERS['Content-Security-Policy'] ?? '';
  expect(policy).toBe(
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self' data: blob:; media-src blob:; " +
      "font-src 'self'; connect-src 'self' https: http://localhost:* http://127.0.0.1:*; worker-src 'self'; " +
      "manifest-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; " +
      "require-trusted-types-for 'script'; trusted-types svelte-trusted-html sw-url worker-url",
  );
  // What is used is the app's own; the rest of what a browser controls is nobody's.
  expect(HEADERS['Permissions-Policy']).toBe(
    'microphone=(self), on-device-speech-recognition=(self), camera=(self), autoplay=(self), ' +
      'media-playback-while-not-visible=(self), publickey-credentials-get=(self), ' +
      'publickey-credentials-create=(self), clipboard-write=(self), screen-wake-lock=(self), ' +
      'local-network=(self), local-network-access=(self), loopback-network=(self), accelerometer=(), ' +
      'aria-notify=(), browsing-topics=(), captured-surface-control=(), clipboard-read=(), ' +
      'compute-pressure=(), cross-origin-isolated=(), deferred-fetch=(), deferred-fetch-minimal=(), ' +
      'digital-credentials-create=(), digital-credentials-get=(), display-capture=(), ' +
      'encrypted-media=(), fullscreen=(), gamepad=(), geolocation=(), gyroscope=(), hid=(), ' +
      'identity-credentials-get=(), idle-detection=(), interest-cohort=(), keyboard-map=(), ' +
      'language-detector=(), language-model=(), local-fonts=(), magnetometer=(), midi=(), ' +
      'otp-credentials=(), payment=(), picture-in-picture=(), private-state-token-issuance=(), ' +
      'private-state-token-redemption=(), serial=(), speaker-selection=(), storage-access=(), ' +
      'summarizer=(), sync-xhr=(), translator=(), unload=(), usb=(), window-management=(), ' +
      'xr-spatial-tracking=()',
  );
  for (const route of ['/', '/servers/x', '/sw.js', '/manifest.webmanifest', '/assets/none.js']) {
    const headers = (await page.request.get(route)).headers();
    for (const [name, value] of Object.entries(HEADERS))
      expect(headers[name.toLowerCase()], `${name} of ${route}`).toBe(value);
  }
  const warnings: string[] = [];
  page.on('console', (message) => {
    if (/Permissions-Policy|permissions policy/i.test(message.text()))
      warnings.push(message.text());
  });
  await page.goto('/');
  // Every name of it is known here, and nothing is used that it keeps back.
  expect(warnings).toEqual([]);
  const meta = page.locator('meta[http-equiv="Content-Security-Policy"]');
  await expect(meta).toHaveAttribute('content', policy.replace(" frame-ancestors 'none';", ''));

  // The copy that the service worker serves is as strict as the one from the network.
  await controlled(page);
  await app.close();
  const served = await page.goto('/settings');
  expect(served?.fromServiceWorker()).toBe(true);
  expect(served?.headers()['content-security-policy']).toBe(policy);
});

test('after one visit every screen opens without a network, by its address and when reloaded', async ({
  stack,
}) => {
  const { page, app, faults } = stack;
  await page.goto('/');
  await controlled(page);
  await app.close();

  for (const [route, name] of ROUTES) {
    await page.goto(route);
    await expect(heading(page, name), route).toBeVisible();
    await page.reload();
    await expect(heading(page, name), `${route}, reloaded`).toBeVisible();
  }
  const cdp = await stack.context.newCDPSession(page);
  await cdp.send('Page.reload', { ignoreCache: true });
  await expect(page.getByRole('heading', { level: 1 }), 'forced reload').toBeVisible();

  await page.goto('/no/such/screen');
  await expect(page.getByText('There is nothing here')).toBeVisible();
  await newConversation(page);
  const address = page.url();
  await page.goto('/settings');
  await page.goto(address);
  await expect(page.getByRole('textbox', { name: 'Message' })).toBeVisible();
  expect(faults).toEqual([]);
});

test('an engine that was fetched once is there without a network, after a forced reload too', async ({
  stack,
}) => {
  const { page, app, context } = stack;
  await page.goto('/settings');
  await controlled(page);
  // As the browser's forced reload: the page comes past the worker, and is taken back by it.
  const cdp = await context.newCDPSession(page);
  await cdp.send('Page.reload', { ignoreCache: true });
  await expect(heading(page, /Settings/)).toBeVisible();
  await controlled(page);

  const worker = await (await page.request.get('/sw.js')).text();
  const engines = worker.match(/\/assets\/(webllm|wllama)[\w.-]+\.(js|wasm)/g) ?? [];
  expect(engines.some((file) => file.includes('webllm'))).toBe(true);
  expect(engines.some((file) => file.includes('wllama'))).toBe(true);
  const read = (file: string) =>
    page.evaluate(async (url) => {
      const response = await fetch(url);
      return { ok: response.ok, bytes: (await response.arrayBuffer()).byteLength };
    }, file);
  const online = [];
  for (const file of engines) online.push(await read(file));
  await app.close();
  for (const [index, file] of engines.entries())
    expect(await read(file), file).toEqual(online[index]);
});

test('an update is offered, never forced, and loses no draft', async ({ stack }) => {
  const { page, context } = stack;
  const dist = await mkdtemp(path.join(tmpdir(), 'deft-update-'));
  await cp(path.resolve('dist'), dist, { recursive: true });
  const served = await startServer({ port: 0, dist, models: path.join(dist, 'none') });
  const build = (tab: Page) => tab.locator('html').getAttribute('data-build');
  const banner = page.getByRole('region', { name: 'A new version of Deft is ready' });
  try {
    await page.goto(`${served.url}/?new=1`);
    await page.waitForURL('**/c/*');
    await controlled(page);
    const conversation = page.url();
    const other = await context.newPage();
    await other.goto(`${served.url}/settings`);
    await controlled(other);

    // The next build: another page, and so another worker.
    const html = path.join(dist, 'index.html');
    await writeFile(
      html,
      (await readFile(html, 'utf8')).replace('<html ', '<html data-build="next" '),
    );
    const worker = path.join(dist, 'sw.js');
    const script = await readFile(worker, 'utf8');
    const version = /version:[`'"]([0-9a-f]{12})/.exec(script)?.[1] ?? '';
    expect(version).toHaveLength(12);
    await writeFile(worker, script.replaceAll(version, 'aaaaaaaaaaaa'));
    await page.evaluate(async () => {
      await (await navigator.serviceWorker.getRegistration())?.update();
    });

    await expect(banner).toBeVisible();
    const message = page.getByRole('textbox', { name: 'Message' });
    await message.fill('Half a sentence that is not');
    await page.reload();
    await expect(banner).toBeVisible();
    expect(await build(page)).toBeNull();

    await message.fill('Half a sentence that is not sent yet');
    await banner.getByRole('button', { name: 'Update' }).click();
    await expect(page.locator('html[data-build="next"]')).toBeAttached();
    expect(page.url()).toBe(conversation);
    await expect(message).toHaveValue('Half a sentence that is not sent yet');
    await expect(banner).toBeHidden();

    // The other tab goes on with what it runs until its person wants otherwise.
    expect(await build(other)).toBeNull();
    const updated = other.getByRole('region', { name: 'Deft was updated' });
    await updated.getByRole('button', { name: 'Reload' }).click();
    await expect(other.locator('html[data-build="next"]')).toBeAttached();
    await expect(heading(other, /Settings/)).toBeVisible();
    const caches = await page.evaluate(() => globalThis.caches.keys());
    expect(caches.filter((name) => name.startsWith('shell-'))).toEqual(['shell-aaaaaaaaaaaa']);
    await other.close();
  } finally {
    await served.close();
    await rm(dist, { recursive: true, force: true });
  }
});

test('words shared from another app wait in the composer and are sent nowhere', async ({
  stack,
}) => {
  const { page } = stack;
  await page.goto('/share?title=Trip&text=Rain+in+Goa%3F&url=https%3A%2F%2Fa.example%2Fgoa');
  await page.waitForURL('**/c/*');
  await expect(page.getByRole('textbox', { name: 'Message' })).toHaveValue(
    'Trip\nRain in Goa?\nhttps://a.example/goa',
  );
});

test('"Ask by voice" says where speech goes before it listens', async ({ stack }) => {
  const { page } = stack;
  await page.goto('/?voice=1');
  const sheet = page.getByRole('dialog', { name: 'Ask by voice' });
  await expect(sheet).toBeVisible();
  await expect(sheet).toContainText(/server of their maker|no speech recognition/);
  await page.goBack();
  await expect(sheet).toBeHidden();
});
