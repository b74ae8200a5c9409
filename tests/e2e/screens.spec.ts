/** The screens that are not a conversation, on the built app with real servers behind them. */
import { readFile } from 'node:fs/promises';
import { startBroken } from '../servers/broken.ts';
import { startEverything } from '../servers/everything.ts';
import { startProxy } from '../servers/proxy.ts';
import {
  addCloud,
  chooseMode,
  connectDemo,
  expect,
  messages,
  newConversation,
  pasted,
  saveAll,
  say,
  test,
  turnEnded,
} from './stack.ts';

declare global {
  interface Window {
    /** Texts of the notifications that the browser took. */
    notified: (string | undefined)[];
  }
}

test('the offer to install comes after the first useful answer, and never again once it was closed', async ({
  stack: { page, cloud },
}) => {
  const offer = page.getByRole('region', { name: 'Install Deft' });
  await addCloud(page, cloud);
  await newConversation(page);
  await chooseMode(page, 'Cloud');
  await expect(offer).toBeHidden();
  await say(page, 'Hello');
  await turnEnded(page);
  await expect(offer.getByRole('button', { name: 'Install' })).toBeVisible();
  await offer.getByRole('button', { name: 'Not now' }).click();
  await page.reload();
  await say(page, 'Hello again');
  await expect(messages(page).getByText('Hello again')).toBeVisible();
  await turnEnded(page);
  await expect(offer).toBeHidden();
});

test('the browser is asked to keep the data, and its answer is shown', async ({
  stack: { page, context, app },
}) => {
  await page.goto('/settings');
  const ask = page.getByRole('button', { name: 'Ask the browser to keep it' });
  await ask.click();
  await expect(page.getByText(/The browser may clear this data/)).toBeVisible();

  const cdp = await context.newCDPSession(page);
  await cdp.send('Browser.grantPermissions', { permissions: ['durableStorage'], origin: app.url });
  await ask.click();
  await expect(page.getByText('The browser keeps this data until you delete it.')).toBeVisible();
  await expect(ask).toBeHidden();
});

test('a server that cannot be added gets a sentence and a report without the key, and the address stays', async ({
  stack: { page, app, context },
}) => {
  await context.grantPermissions(['clipboard-write'], { origin: app.url });
  const deaf = await startBroken({
    fault: { kind: 'hang' },
    times: 0,
    headers: { 'access-control-allow-origin': null },
  });
  const proxy = await startProxy({ origin: app.url });
  try {
    await page.goto('/servers');
    await page.getByRole('button', { name: 'Add a server' }).click();
    const sheet = page.getByRole('dialog', { name: 'Add a server' });
    const address = sheet.getByLabel('Address');
    const alert = sheet.getByRole('alert');
    await sheet.getByText('It wants a key').click();
    const key = sheet.getByLabel('Key', { exact: true });
    for (const [typed, sentence] of [
      ['not an address', /address/i],
      ['http://127.0.0.1:9/mcp', /answer|reach/i],
      [`${app.url}/models/none`, /./],
      [deaf.url, /web pages|browser|CORS/i],
    ] as const) {
      await address.fill(typed);
      // The key that was for another address is gone.
      await expect(key).toHaveValue('');
      await key.fill('a-secret-1234567890');
      await sheet.getByRole('button', { name: 'Connect' }).click();
      await expect(sheet.getByRole('button', { name: 'Connect', exact: true })).toBeEnabled();
      await expect(alert.first(), typed).toContainText(sentence);
      await expect(address).toHaveValue(typed);
    }
    await sheet.getByRole('button', { name: 'Copy report' }).click();
    await expect(sheet.getByRole('button', { name: 'Copied' })).toBeVisible();
    const report = await pasted(page);
    expect(report).toContain(new URL(deaf.url).host);
    expect(report).not.toContain('a-secret-1234567890');

    // The person's own proxy lets the app in where the server does not.
    await sheet.getByText('It keeps web apps out').click();
    await sheet.getByLabel('Your own proxy').fill(proxy.url);
    await sheet.getByRole('button', { name: 'Connect', exact: true }).click();
    const consent = page.getByRole('dialog', { name: 'Add this server?' });
    await expect(consent.getByText(/^Through your proxy at localhost/)).toBeVisible();
    await consent.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByText('How it is reached').click();
    await expect(page.getByLabel('Your own proxy')).toHaveValue(proxy.url);
    expect(proxy.asked()).toContain(deaf.url);
  } finally {
    await deaf.close();
    await proxy.close();
  }
});

test('a link shows where a server is before anything is sent there, and what it offers before anything is stored', async ({
  stack: { page, travel },
}) => {
  const sheet = page.getByRole('dialog');
  await page.goto(`/?server=${encodeURIComponent(travel.url)}`);
  await expect(sheet.getByText(new URL(travel.url).host, { exact: true })).toBeVisible();
  await page.reload();
  await expect(sheet.getByText(/^A link proposes this server/)).toBeVisible();
  expect(travel.counts()).toEqual({});

  await sheet.getByRole('button', { name: 'Connect', exact: true }).click();
  await expect(sheet.getByText(/^It offers 4 tools/)).toBeVisible();
  await expect(sheet.getByText(/^Run one of its tools without your yes/)).toBeVisible();
  await sheet.getByRole('button', { name: 'Cancel' }).click();
  await sheet.getByRole('button', { name: 'Close' }).click();
  await expect(sheet).toBeHidden();
  expect(new URL(page.url()).search).toBe('');
  await page.reload();
  await expect(page.getByRole('heading', { name: 'No server yet' })).toBeVisible();

  await page.getByRole('button', { name: 'Add a server' }).click();
  await sheet.getByLabel('Address').fill(travel.url);
  await sheet.getByRole('button', { name: 'Connect', exact: true }).click();
  await sheet.getByText('In its own words').click();
  await sheet.getByRole('button', { name: 'Add', exact: true }).click();
  await page.waitForURL('**/servers/*');
  // What was looked at is what is stored: nothing is asked for again.
  await expect(page.getByRole('switch', { name: 'Itinerary', exact: true })).toBeChecked();
  expect(travel.counts()['tools/list']).toBe(2);
  await page.getByText('Choose many at once').click();
  await page.getByRole('button', { name: 'All off' }).click();
  await expect(page.getByRole('switch', { name: 'Itinerary', exact: true })).not.toBeChecked();
  await page.getByRole('switch', { name: 'Only tools that say they read' }).click();
  await expect(page.getByText(/^4 tools, 1 off/)).toBeVisible();
  await page.reload();
  await expect(page.getByText(/^A rule turns on the tools that say they only read/)).toBeVisible();
  await expect(page.getByRole('switch', { name: 'Save to itinerary' })).not.toBeChecked();
});

test('a newcomer connects the public server-everything, looks at all that it offers, pauses and resumes it', async ({
  stack: { page, faults },
}) => {
  const everything = await startEverything('streamableHttp');
  try {
    await page.goto('/settings');
    await page.getByRole('link', { name: 'Servers' }).click();
    await page.getByRole('button', { name: 'Add a server' }).click();
    const sheet = page.getByRole('dialog');
    await sheet.getByLabel('Address').fill(everything.url);
    await sheet.getByRole('button', { name: 'Connect', exact: true }).click();
    await expect(sheet.getByText('It calls itself Everything Reference Server.')).toBeVisible();
    await expect(sheet.getByText(/^It offers \d+ tools, \d+ prompts, \d+ resources/)).toBeVisible();
    await sheet.getByRole('button', { name: 'Add', exact: true }).click();

    await page.getByLabel('Search its tools').fill('echo');
    await expect(page.getByRole('switch', { name: 'Echo Tool' })).toBeChecked();
    await expect(page.getByRole('switch', { name: 'Get Sum Tool' })).toBeHidden();
    await page.getByText(/^Prompts \(/).click();
    await expect(page.getByText('Simple Prompt')).toBeVisible();
    await page.getByText(/^Resources \(/).click();
    await expect(page.getByText('architecture.md', { exact: true })).toBeVisible();
    await expect(page.getByText(/^It is given no folders of this phone/)).toBeVisible();

    await page.getByRole('switch', { name: 'Use it' }).click();
    await expect(page.getByText('Paused', { exact: true })).toBeVisible();
    await page.getByRole('switch', { name: 'Use it' }).click();
    await page.getByRole('button', { name: 'Refresh' }).click();
    await expect(page.getByText('Connected', { exact: true })).toBeVisible();
  } finally {
    await everything.close();
  }
  expect(faults).toEqual([]);
});

test('a tool is turned off, a server renamed and removed, and all of it is kept', async ({
  stack: { page },
}) => {
  await connectDemo(page);
  await page.goto('/servers');
  await page.getByRole('link', { name: /Travel demo/ }).click();
  const tool = page.getByRole('switch', { name: 'Itinerary', exact: true });
  await expect(tool).toBeChecked();
  await tool.click();
  await expect(page.getByText(/^4 tools, 1 off/)).toBeVisible();
  await page.reload();
  await expect(tool).not.toBeChecked();
  await page.getByRole('button', { name: 'Rename' }).click();
  await page.getByRole('textbox', { name: 'Name' }).fill('Trips');
  await page.getByRole('dialog').getByRole('button', { name: 'Rename' }).click();
  await expect(page.getByRole('heading', { level: 1, name: 'Trips' })).toBeVisible();

  await page.getByRole('button', { name: 'Remove this server' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Keep' }).click();
  await page.getByRole('button', { name: 'Remove this server' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Remove', exact: true }).click();
  await expect(page.getByRole('heading', { level: 1, name: 'Servers' })).toBeVisible();
  await expect(page.getByText('Trips')).toBeHidden();
  await page.reload();
  await expect(page.getByRole('button', { name: 'Connect', exact: true })).toBeVisible();
});

test('a key that is refused is not stored, and one that works is', async ({
  stack: { page, cloud },
}) => {
  await page.goto('/cloud');
  await page.getByRole('button', { name: /^Other/ }).click();
  const sheet = page.getByRole('dialog');
  await sheet.getByLabel(/^Key/).fill('bad-key-1234567890');
  await sheet.getByLabel('Model').fill('strong');
  await sheet.getByLabel('Address').fill(`${cloud.url}/v1`);
  await sheet.getByRole('button', { name: 'Try and add' }).click();
  await expect(sheet.getByRole('alert')).toContainText(/key/i);
  await expect(sheet).not.toContainText('bad-key-1234567890');
  await expect(sheet.getByLabel('Model')).toHaveValue('strong');
  await page.reload();
  await expect(page.getByRole('radio')).toHaveCount(0);

  await addCloud(page, cloud);
  await page.reload();
  await expect(page.getByRole('radio')).toBeChecked();
  await page.getByRole('button', { name: /^Remove/ }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Remove', exact: true }).click();
  await expect(page.getByRole('radio')).toHaveCount(0);
});

test('a sign-in that was declined says so, and its address is not kept', async ({
  stack: { page },
}) => {
  await page.goto('/cloud?error=access_denied&state=unknown');
  await expect(page.getByRole('alert')).toBeVisible();
  expect(new URL(page.url()).search).toBe('');
});

test('conversations are found, renamed, pinned and deleted', async ({ stack: { page, cloud } }) => {
  await addCloud(page, cloud);
  for (const words of ['Names for a sailing boat', 'What is compound interest']) {
    await newConversation(page);
    await chooseMode(page, 'Cloud');
    await say(page, words);
    await turnEnded(page);
  }
  await page.goto('/chats');
  const links = page.getByRole('main').getByRole('link');
  await expect(links).toHaveCount(2);
  await page.getByLabel('Search conversations').fill('BOAT');
  await expect(links).toHaveCount(1);
  await expect(links.first()).toContainText('sailing boat');
  await page.getByLabel('Search conversations').fill('zeppelin');
  await expect(page.getByText('Nothing found')).toBeVisible();
  await page.getByLabel('Search conversations').fill('');

  await page.getByRole('button', { name: /^More about Names/ }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Rename' }).click();
  await page.getByLabel('Title').fill('Boat');
  await page.getByRole('dialog').getByRole('button', { name: 'Rename' }).click();
  await page.getByRole('button', { name: 'More about Boat' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Pin to the top' }).click();
  await expect(page.getByRole('heading', { name: 'Pinned' })).toBeVisible();
  await page.getByRole('button', { name: 'More about Boat' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await page
    .getByRole('dialog', { name: /^Delete/ })
    .getByRole('button', { name: 'Delete' })
    .click();
  await expect(links).toHaveCount(1);
  await page.reload();
  await expect(links).toHaveCount(1);
});

/** A backup as JSON, as earlier versions wrote it, with one reminder. */
const backup = (reminder: object): Buffer =>
  Buffer.from(
    JSON.stringify({
      format: 'deft-archive',
      version: 1,
      exportedAt: Date.now(),
      settings: {},
      servers: [],
      lists: [],
      grants: [],
      reminders: [reminder],
      accounts: [],
      conversations: [],
    }),
  );

test('everything goes into a locked file without its keys and comes back, and a broken or closed file changes nothing', async ({
  stack: { page, cloud },
}) => {
  await addCloud(page, cloud);
  await page.goto('/share?text=A+draft+to+be+kept');
  await page.waitForURL('**/c/*');
  await page.goto('/settings');

  // A slip in the passphrase is noticed before the file is made.
  await page.getByRole('button', { name: 'Save everything to a file' }).click();
  const sheet = page.getByRole('dialog', { name: 'Save everything to a file' });
  await sheet.getByLabel('Passphrase', { exact: true }).fill('four words and more');
  await sheet.getByLabel('Passphrase, once more').fill('four words and mroe');
  await sheet.getByRole('button', { name: 'Save', exact: true }).click();
  await expect(sheet.getByText('The two are not the same.')).toBeVisible();
  await page.keyboard.press('Escape');

  const path = await saveAll(page, 'four words and more');
  const bytes = await readFile(path);
  for (const word of ['A draft to be kept', 'sk-test-key-1234567890', 'conversations'])
    expect(bytes.includes(word)).toBe(false);

  const input = page.getByLabel('Backup file');
  await input.setInputFiles({
    name: 'broken.json',
    mimeType: 'application/json',
    buffer: Buffer.from('{"format":"deft-archive","version":1'),
  });
  await expect(page.getByRole('alert')).toBeVisible();
  await input.setInputFiles(path);
  const lock = page.getByRole('dialog', { name: 'This file is locked' });
  await lock.getByLabel('Passphrase').fill('four words and less');
  await lock.getByRole('button', { name: 'Open' }).click();
  await expect(lock.getByText(/does not open this file/)).toBeVisible();
  await lock.getByLabel('Passphrase').fill('four words and more');
  await lock.getByRole('button', { name: 'Open' }).click();
  await expect(page.getByText(/Brought in .* were here already/)).toBeVisible();
});

test('a tap that comes to nothing says so, wherever it was made', async ({ stack: { page } }) => {
  await newConversation(page);
  await page.evaluate(() => {
    IDBObjectStore.prototype.put = () => {
      throw new DOMException('No room', 'QuotaExceededError');
    };
  });
  await page.getByRole('radio', { name: 'Cloud' }).check({ force: true });
  const banner = page.getByRole('region', { name: /no room left for Deft/ });
  await expect(banner).toContainText('Delete a model or old conversations');
  await banner.getByRole('button', { name: 'Close' }).click();
  await expect(banner).toBeHidden();
});

test('the theme that was chosen is there at the next start', async ({ stack: { page } }) => {
  await page.goto('/settings');
  await page.getByRole('radio', { name: 'Dark' }).check({ force: true });
  await expect(page.locator('html')).toHaveAttribute('data-theme', 'dark');
  await page.reload();
  await expect(page.locator('html')).toHaveAttribute('data-theme', 'dark');
});

test('a reminder that is due is shown, notified where that is allowed, and done with one tap', async ({
  stack: { page, context, app },
}) => {
  await context.grantPermissions(['notifications'], { origin: app.url });
  // To ask the browser for its list drops what it has not yet drawn: what it took is noted here.
  await page.addInitScript(() => {
    window.notified = [];
    const { showNotification } = ServiceWorkerRegistration.prototype;
    ServiceWorkerRegistration.prototype.showNotification = async function (title, options) {
      await showNotification.call(this, title, options);
      window.notified.push(options?.body);
    };
  });
  await page.goto('/settings');
  await page.evaluate(() => navigator.serviceWorker.ready);
  const reminder = {
    id: 'r1',
    text: 'Call Ravi',
    at: Date.now() - 60_000,
    createdAt: Date.now() - 120_000,
    state: 'waiting',
  };
  await page.getByLabel('Backup file').setInputFiles({
    name: 'deft.json',
    mimeType: 'application/json',
    buffer: backup(reminder),
  });
  await expect(page.getByText(/1 reminder/)).toBeVisible();

  const banner = page.getByRole('region', { name: 'Call Ravi' });
  await expect(banner).toBeVisible();
  await expect.poll(() => page.evaluate(() => window.notified)).toEqual(['Call Ravi']);

  await banner.getByRole('link', { name: 'All reminders' }).click();
  const saved = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Add to calendar' }).click();
  const calendar = await readFile(await (await saved).path(), 'utf8');
  expect(calendar).toContain('BEGIN:VCALENDAR');
  expect(calendar).toContain('SUMMARY:Call Ravi');

  await banner.getByRole('button', { name: 'Done' }).click();
  await expect(banner).toBeHidden();
  await page.reload();
  await expect(page.getByText('No reminders', { exact: true })).toBeVisible();
});
