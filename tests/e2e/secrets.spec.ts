/**
 * Every secret that Deft is given, followed through everything that leaves it: requests, files,
 * reports, the console, the pages, and the bytes that the browser keeps on the disk.
 */
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Page } from '@playwright/test';
import { unseal } from '../../src/store/sealed.ts';
import { startAuthorization } from '../servers/authorization.ts';
import {
  addCloud,
  allow,
  chooseMode,
  expect,
  newConversation,
  pasted,
  saveAll,
  say,
  test,
  turnEnded,
} from './stack.ts';

const CLOUD_KEY = 'sk-test-key-1234567890';
const SERVER_KEY = 'key-of-the-travel-server-0987654321';
const MARKER = 'journey to nowhere in particular';

/** Every file under a folder whose bytes hold a text, as Latin-1 or UTF-16, which is how V8 keeps strings. */
async function filesHolding(folder: string, text: string): Promise<string[]> {
  const forms = [Buffer.from(text, 'latin1'), Buffer.from(text, 'utf16le')];
  const found: string[] = [];
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const bytes = await readFile(path.join(entry.parentPath, entry.name)).catch(() => null);
    if (bytes && forms.some((form) => bytes.includes(form))) found.push(entry.name);
  }
  return found;
}

async function downloaded(page: Page, press: () => Promise<void>): Promise<string> {
  const saving = page.waitForEvent('download');
  await press();
  return readFile(await (await saving).path(), 'latin1');
}

test('a secret reaches its own origin and nothing else: no file, no report, no log, no page, no byte on the disk', async ({
  stack: { page, context, profile, app, cloud, travel },
}) => {
  test.slow();
  const server = await startAuthorization();
  const origin = (url: string): string => new URL(url).origin;
  /** Each secret, with the origins that it is for. */
  const secrets = new Map<string, string[]>([
    [CLOUD_KEY, [origin(cloud.url)]],
    [SERVER_KEY, [origin(travel.url)]],
  ]);
  const told: string[] = [];
  const sent: { readonly to: string; readonly what: string }[] = [];
  context.on('console', (message) => told.push(message.text()));
  const reading: Promise<unknown>[] = [];
  context.on('request', (request) => {
    reading.push(
      request
        .allHeaders()
        .catch(() => request.headers())
        .then((headers) =>
          sent.push({
            to: request.url(),
            what: `${request.url()}\n${JSON.stringify(headers)}\n${request.postData() ?? ''}`,
          }),
        ),
    );
  });
  /** Which secrets of the sign-in came by: in the form of a request, or in an answer. */
  const found = new Set<string>();
  context.on('response', (response) => {
    const { pathname, origin: from } = new URL(response.url());
    if (from !== origin(server.issuer) || response.request().method() !== 'POST') return;
    const keep = (name: string, value: unknown, origins: string[]): void => {
      if (typeof value !== 'string' || value === '') return;
      secrets.set(value, origins);
      found.add(name);
    };
    if (pathname === '/token') {
      const form = new URLSearchParams(response.request().postData() ?? '');
      keep('code_verifier', form.get('code_verifier'), [from]);
    }
    if (pathname !== '/token' && pathname !== '/reg') return;
    reading.push(
      response.json().then((body: Readonly<Record<string, unknown>>) => {
        for (const name of ['access_token', 'refresh_token', 'id_token'])
          keep(name, body[name], [from, origin(server.mcp.url)]);
        for (const name of ['client_secret', 'registration_access_token'])
          keep(name, body[name], [from]);
      }),
    );
  });
  try {
    await context.grantPermissions(['clipboard-write'], { origin: app.url });
    await addCloud(page, cloud);

    await page.goto('/servers');
    await page.getByRole('button', { name: 'Add a server' }).click();
    let sheet = page.getByRole('dialog');
    await sheet.getByLabel('Address').fill(travel.url);
    await sheet.getByText('It wants a key').click();
    await sheet.getByLabel('Key', { exact: true }).fill(SERVER_KEY);
    await sheet.getByRole('button', { name: 'Connect', exact: true }).click();
    await sheet.getByRole('button', { name: 'Add', exact: true }).click();
    await expect(sheet).toBeHidden();

    await page.goto('/servers');
    await page.getByRole('button', { name: 'Add a server' }).click();
    sheet = page.getByRole('dialog');
    await sheet.getByLabel('Address').fill(server.mcp.url);
    await sheet.getByRole('button', { name: 'Connect', exact: true }).click();
    await sheet.getByRole('button', { name: 'Sign in', exact: true }).click();
    const opening = page.waitForEvent('popup');
    await sheet.getByRole('button', { name: 'Sign in and add' }).click();
    const window = await opening;
    await window.getByRole('button', { name: 'Sign in as Ada' }).click();
    await window.getByRole('button', { name: 'Allow', exact: true }).click();
    await expect(sheet).toBeHidden();

    // A turn with both servers and the cloud in it.
    await newConversation(page);
    await chooseMode(page, 'Cloud');
    await say(page, 'Call read_notes');
    await allow(page);
    await turnEnded(page);
    await say(page, `Call get_itinerary of the ${MARKER}`);
    await allow(page);
    await turnEnded(page);
    expect(travel.counts()['tools/call']).toBe(1);
    const shown = [await page.content()];

    // A server that fails, with the key in hand, and the report of it.
    await travel.close();
    await page.goto('/servers');
    await page.getByRole('link', { name: /Travel/ }).click();
    await page.getByRole('button', { name: 'Refresh' }).first().click();
    await page.getByRole('button', { name: 'Copy report' }).first().click();
    await expect(page.getByRole('button', { name: 'Copied' }).first()).toBeVisible();
    const report = await pasted(page);
    expect(report).toContain(new URL(travel.url).host);
    for (const place of ['/servers', '/cloud', '/settings', '/actions']) {
      await page.goto(place);
      await expect(page.getByRole('main')).toBeVisible();
      shown.push(await page.content());
    }

    const log = await downloaded(page, () =>
      page.getByRole('button', { name: 'Save as a file' }).click(),
    );
    expect(log.includes('read_notes')).toBe(true);
    await page.goto('/settings');
    const file = await saveAll(page, 'four words and more');
    const opened = await unseal(new Blob([await readFile(file)]), 'four words and more');
    const everything = opened.ok ? await opened.content.text() : '';
    expect(everything.includes(MARKER)).toBe(true);

    await Promise.all(reading);
    for (const name of ['code_verifier', 'access_token', 'refresh_token'])
      expect([...found]).toContain(name);
    await context.close();

    // What the person wrote is there in the clear, so a secret would be found if it were.
    expect(await filesHolding(profile, MARKER)).not.toEqual([]);
    for (const [secret, origins] of secrets) {
      const places = sent.filter(({ what }) => what.includes(secret)).map(({ to }) => origin(to));
      expect([...new Set(places)].every((place) => origins.includes(place))).toBe(true);
      expect(sent.some(({ to }) => to.includes(secret))).toBe(false);
      for (const text of [...shown, ...told, report, log, everything])
        expect(text.includes(secret)).toBe(false);
      expect(await filesHolding(profile, secret)).toEqual([]);
    }
    for (const key of [CLOUD_KEY, SERVER_KEY])
      expect(sent.some(({ what }) => what.includes(key))).toBe(true);
  } finally {
    await server.close();
  }
});
