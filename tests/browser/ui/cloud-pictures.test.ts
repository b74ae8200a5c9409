/** Whether a cloud model can see pictures: told by its name, said by the person, changed later. */
import { mount, unmount, type Component } from 'svelte';
import { expect, onTestFinished, test } from 'vitest';
import { commands, page } from 'vitest/browser';
import { createCloud } from '../../../src/brain/cloud/accounts.ts';
import { openStore } from '../../../src/store/open.ts';
import Cloud from '../../../src/ui/screens/Cloud.svelte';
import { faults } from './axe.ts';
import { fakeApp, fakeSession } from './fake-app.ts';
import Harness from './Harness.svelte';

test('a new account says by its model’s name whether it sees, and the person knows better', async () => {
  const url = await commands.startCloudServer();
  onTestFinished(() => commands.stopCloudServer(url));
  const store = await openStore({ name: `sight-${crypto.randomUUID()}`, channel: false });
  onTestFinished(() => store.close());
  const cloud = createCloud({ store });
  await page.viewport(360, 780);
  const root = document.createElement('div');
  document.body.append(root);
  const app = { ...fakeApp(fakeSession()), cloud };
  const mounted = mount(Harness, {
    target: root,
    props: { app, component: Cloud as Component<Record<string, unknown>>, props: {} },
  });
  onTestFinished(async () => {
    await unmount(mounted);
    root.remove();
  });

  await page.getByRole('button', { name: /^Other/ }).click();
  const sheet = page.getByRole('dialog', { name: 'Other (OpenAI-compatible)' });
  const sees = sheet.getByRole('switch', { name: 'It can see pictures' });
  await expect.element(sees).not.toBeChecked();
  const model = sheet.getByLabelText('Model');
  await model.fill('llava:13b');
  await expect.element(sees).toBeChecked();
  await model.fill('strong');
  await expect.element(sees).not.toBeChecked();
  await sees.click();
  await sheet.getByLabelText('Key, if it wants one').fill('secret-key-1');
  await sheet.getByLabelText('Address').fill(`${url}/v1`);
  expect(await faults()).toEqual([]);
  await sheet.getByRole('button', { name: 'Try and add' }).click();

  const stored = async () => (await cloud.accounts())[0];
  const seen = async () => (await cloud.brain((await stored())!.id))!.describe().can.images;
  const later = page.getByRole('switch', { name: 'Other (OpenAI-compatible) can see pictures' });
  await expect.element(later).toBeChecked();
  expect(await seen()).toBe(true);
  await later.click();
  await expect.poll(async () => (await stored())?.images).toBe(false);
  expect(await seen()).toBe(false);
  await expect.element(later).not.toBeChecked();
  expect(await faults()).toEqual([]);
});
