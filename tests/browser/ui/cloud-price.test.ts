/** What a cloud model costs: set by the person, shown again, taken back; not asked of who tells it. */
import { mount, unmount, type Component } from 'svelte';
import { expect, onTestFinished, test } from 'vitest';
import { page, userEvent } from 'vitest/browser';
import { createCloud } from '../../../src/brain/cloud/accounts.ts';
import type { CloudAccount } from '../../../src/store/records.ts';
import { openStore } from '../../../src/store/open.ts';
import Cloud from '../../../src/ui/screens/Cloud.svelte';
import { faults } from './axe.ts';
import { fakeApp, fakeSession } from './fake-app.ts';
import Harness from './Harness.svelte';

const account = (id: string, label: string): CloudAccount => ({
  id,
  kind: 'openai',
  preset: id,
  label,
  baseUrl: `https://${id}.example/v1`,
  model: 'strong',
  contextTokens: 128_000,
});

test('a price is set by the keyboard, kept, shown again, refused in words where it is none, and cleared', async () => {
  const store = await openStore({ name: `price-${crypto.randomUUID()}`, channel: false });
  onTestFinished(() => store.close());
  await store.accounts.put(account('openai', 'OpenAI'));
  await store.accounts.put(account('openrouter', 'OpenRouter'));
  const app = { ...fakeApp(fakeSession()), cloud: createCloud({ store }) };
  await page.viewport(360, 780);
  const root = document.createElement('div');
  document.body.append(root);
  const open = () =>
    mount(Harness, {
      target: root,
      props: { app, component: Cloud as Component<Record<string, unknown>>, props: {} },
    });
  let mounted = open();
  onTestFinished(async () => {
    await unmount(mounted);
    root.remove();
  });
  const price = async () => (await store.accounts.get('openai'))?.price;
  const fold = page.getByText('What it costs', { exact: true });
  const read = page.getByLabelText('OpenAI: a million tokens read, US dollars');
  const written = page.getByLabelText('OpenAI: a million tokens written, US dollars');
  const keep = page.getByRole('button', { name: 'Keep the price' });

  await fold.nth(1).click();
  await expect
    .element(page.getByText('OpenRouter says with each answer what it cost'))
    .toBeVisible();
  await fold.nth(0).click();
  await expect.element(keep).toBeVisible();
  expect(keep.elements()).toHaveLength(1);
  await expect.element(read).toHaveValue('');
  await read.fill('0,15');
  await userEvent.keyboard('{Enter}');
  await expect
    .element(written)
    .toHaveAccessibleDescription('This one is missing. Enter both prices, or leave both empty.');
  await written.fill('a lot');
  await expect
    .element(written)
    .toHaveAccessibleDescription('This is not a price. Enter a number of US dollars, like 0.15.');
  expect(await faults()).toEqual([]);
  expect(root.scrollWidth).toBeLessThanOrEqual(360);
  expect(await price()).toBeUndefined();
  await written.fill('0.6');
  await userEvent.keyboard('{Enter}');
  await expect.element(page.getByText('Kept. Its answers count by this price.')).toBeVisible();
  expect(await price()).toEqual({ input: 0.15, output: 0.6 });
  await expect.element(read).toHaveValue('0.15');

  await unmount(mounted);
  mounted = open();
  await fold.nth(0).click();
  await expect.element(read).toHaveValue('0.15');
  await expect.element(written).toHaveValue('0.6');
  await read.fill('');
  await written.fill('');
  await keep.click();
  await expect.element(page.getByText('Kept as not known.')).toBeVisible();
  expect(await store.accounts.get('openai')).toEqual(account('openai', 'OpenAI'));
});
