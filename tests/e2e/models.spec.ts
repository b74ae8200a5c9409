/** The models' screen of the built app: what fits, a model of one's own, its figures, the benchmark. */
import { readFile } from 'node:fs/promises';
import type { BenchmarkReport } from '../../src/brain/local/types.ts';
import { addOwnModel, chooseMode, expect, newConversation, say, test, turnEnded } from './stack.ts';

test('each model says how it fits and why; the best for this phone is first and stands out', async ({
  stack: { page },
}) => {
  await page.goto('/models');
  const cards = page.getByRole('listitem');
  await expect(cards.first()).toContainText('Gemma 3 270M, tools');
  await expect(cards.first()).toContainText('Runs well');
  for (const card of await cards.all())
    await expect(card).toContainText(/Runs well|May be slow|Too big/);
  // No f16 in an imitated GPU: what needs it is there, behind a fold, with the reason.
  await page.getByText(/^Too big for this phone \(/).click();
  const tooBig = cards.filter({ hasText: 'Llama 3.2 1B' });
  await expect(tooBig).toContainText('cannot calculate in 16 bits');
  await expect(tooBig.getByRole('button')).toHaveCount(0);
});

test.describe('a download that may cost or go wrong', () => {
  test('is asked first: a connection by the megabyte, a battery that runs low', async ({
    stack: { page },
  }) => {
    await page.addInitScript(() => {
      Object.defineProperty(navigator, 'connection', { value: { type: 'cellular' } });
      Object.assign(navigator, { getBattery: async () => ({ level: 0.14, charging: false }) });
    });
    await page.goto('/models');
    const card = page.getByRole('listitem').first();
    await card.getByRole('button', { name: 'Download' }).click();
    const sheet = page.getByRole('dialog', { name: 'Download it now?' });
    await expect(sheet).toContainText(/may cost by the megabyte: about 292 MB/);
    await expect(sheet).toContainText('The battery is at 14%');
    await sheet.getByRole('button', { name: 'Not now' }).click();
    await expect(sheet).toBeHidden();
    await expect(card.getByRole('button', { name: 'Download' })).toBeVisible();
  });

  test('is the person’s to override where it is not impossible, with the consequence said', async ({
    stack: { page },
  }) => {
    await page.addInitScript(() => Object.defineProperty(navigator, 'deviceMemory', { value: 1 }));
    await page.goto('/models');
    await page.getByText(/^Too big for this phone \(/).click();
    const card = page
      .getByRole('listitem')
      .filter({ hasText: 'Gemma 3 270M, tools' })
      .filter({ hasText: 'processor' });
    await expect(card).toContainText('too much for this phone');
    await card.getByRole('button', { name: 'Download anyway' }).click();
    const sheet = page.getByRole('dialog', { name: 'Download it anyway?' });
    await expect(sheet).toContainText('The browser may close the app while the model loads.');
    await page.route('**/*.gguf', () => undefined);
    await sheet.getByRole('button', { name: 'Download anyway' }).click();
    await expect(card.getByRole('button', { name: 'Pause' })).toBeVisible();
    await card.getByRole('button', { name: 'Cancel' }).click();
    // What asks for more than the phone has cannot be had.
    const large = page.getByRole('listitem').filter({ hasText: 'Gemma 3 1B' });
    await expect(large.first()).toContainText(/too much for this phone|16 bits/);
    await expect(large.first().getByRole('button')).toHaveCount(0);
  });
});

test('a model of one’s own is looked at, refused where it is none, stored, used, measured, ranked and taken away', async ({
  stack: { page, faults },
}) => {
  test.setTimeout(180_000);
  await page.goto('/models');
  await page.getByRole('button', { name: 'Add a model' }).click();
  const sheet = page.getByRole('dialog', { name: 'Add a model' });
  await sheet.getByLabel('Address of the file').fill('http://models.example/a.gguf');
  await sheet.getByRole('button', { name: 'Look at it' }).click();
  await expect(sheet).toContainText('Models are fetched over https only');
  await page.keyboard.press('Escape');
  await expect(sheet).toBeHidden();

  const card = await addOwnModel(page);
  // The first model on a phone is the one in use.
  await expect(card.getByText('In use')).toBeVisible();
  await card.getByText('Sampling', { exact: true }).click();
  await card.getByLabel('Temperature').fill('0.7');
  await card.getByLabel('Temperature').blur();
  const reset = card.getByRole('button', { name: /^Reset/ });
  await reset.click();
  await expect(reset).toBeHidden();
  await expect(card.getByLabel('Temperature')).toHaveValue('0');

  await newConversation(page);
  await chooseMode(page, 'Phone');
  await say(page, 'Tell me of the sea and of the ships that sail on it.');
  await turnEnded(page);
  await page.goto('/models');
  await card.getByText('Figures', { exact: true }).click();
  await expect(card).toContainText(/The middle of \d+ answers? on this phone/);
  await expect(card.getByText(/tokens a second/).first()).toBeVisible();

  await page.getByRole('button', { name: 'Benchmark this phone' }).click();
  const benchmark = page.getByRole('dialog', { name: 'Benchmark this phone' });
  await benchmark.getByRole('button', { name: 'Start' }).click();
  const save = benchmark.getByRole('button', { name: 'Save as JSON' });
  await expect(save).toBeVisible({ timeout: 120_000 });
  const [download] = await Promise.all([page.waitForEvent('download'), save.click()]);
  const report = JSON.parse(await readFile(await download.path(), 'utf8')) as BenchmarkReport;
  expect(report.models).toMatchObject([{ label: 'Random weights', engine: 'wllama', of: 10 }]);
  await page.keyboard.press('Escape');
  await expect(benchmark).toBeHidden();
  await expect(card).toContainText(/\d+ of 10 right/);

  await card.getByRole('button', { name: 'Delete' }).click();
  const confirm = page.getByRole('dialog', { name: 'Delete this model?' });
  await expect(confirm).toContainText('you need its file');
  await confirm.getByRole('button', { name: 'Delete' }).click();
  await expect(card).toHaveCount(0);
  expect(faults).toEqual([]);
});
