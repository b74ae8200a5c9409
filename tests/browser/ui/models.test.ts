/** The models' screen: a download as the person sees it, and what can be done about each state. */
import { expect, test, vi } from 'vitest';
import { page } from 'vitest/browser';
import type { App } from '../../../src/app.ts';
import type { ModelStatus, ModelView } from '../../../src/brain/local/types.ts';
import Models from '../../../src/ui/screens/Models.svelte';
import StorageBar from '../../../src/ui/screens/StorageBar.svelte';
import { fakeSession } from './fake-app.ts';
import { show } from './render.ts';
import { modelRow } from './model-row.ts';

const model = (id: string, status: ModelStatus, more: Partial<ModelView> = {}): ModelView => ({
  row: modelRow(id),
  status,
  stored: 0,
  fit: { verdict: 'well', reason: 'It fits.', asks: [] },
  ...more,
});

/** The screen with these models; what it asks of them is in the spies. */
async function open(views: readonly ModelView[], more: Partial<App['models']> = {}) {
  const called = {
    download: vi.fn(async (_id: string) => undefined),
    pause: vi.fn(async (_id: string) => undefined),
    cancel: vi.fn(async (_id: string) => undefined),
    remove: vi.fn(async (_id: string) => undefined),
    check: vi.fn(async (): Promise<readonly string[]> => []),
  };
  await show(Models, {}, fakeSession(), {
    models: { list: async () => views, ...called, ...more },
  });
  return called;
}

const button = (name: string | RegExp) => page.getByRole('button', { name });

test('a download shows bytes, speed and time left, and can be paused and cancelled', async () => {
  const called = await open([
    model('a', { kind: 'downloading', received: 40e6, total: 100e6, bytesPerSecond: 2e6 }),
  ]);
  await expect.element(page.getByText(/40\u00a0MB of 100\u00a0MB/)).toBeVisible();
  await expect.element(page.getByText(/2\u00a0MB\/s · 30 s left/)).toBeVisible();
  await expect.element(page.getByText(/^Keep this screen open/)).toBeVisible();
  await button('Pause').click();
  expect(called.pause).toHaveBeenCalledWith('a');
  await button('Cancel').click();
  expect(called.cancel).toHaveBeenCalledWith('a');
});

test('one that goes on with the app closed says that instead', async () => {
  await open([
    model('a', {
      kind: 'downloading',
      received: 0,
      total: 100e6,
      bytesPerSecond: 0,
      background: true,
    }),
  ]);
  await expect.element(page.getByText(/goes on when you leave or close Deft/)).toBeVisible();
  expect(page.getByText(/^Keep this screen open/).elements()).toEqual([]);
});

test('one that has arrived and is not verified yet says that it is being checked', async () => {
  const whole = { received: 100e6, total: 100e6, bytesPerSecond: 2e6, background: true };
  await open([model('a', { kind: 'downloading', ...whole })]);
  await expect.element(page.getByText('Arrived, being checked')).toBeVisible();
  expect(page.getByText(/goes on when you leave/).elements()).toEqual([]);
});

test('a paused one says how far it is and why it waits, and goes on at a tap', async () => {
  const called = await open([
    model('a', { kind: 'paused', received: 40e6, total: 100e6, reason: 'There is no network.' }),
  ]);
  await expect.element(page.getByText(/40\u00a0MB of 100\u00a0MB/)).toBeVisible();
  await expect.element(page.getByText('There is no network.')).toBeVisible();
  await button('Resume').click();
  await expect.poll(() => called.download.mock.calls).toEqual([['a']]);
});

test('a phone without room lists what can go, largest first, and one tap frees it', async () => {
  const called = await open([
    model('a', {
      kind: 'failed',
      fault: 'room',
      message: 'This phone ran out of room; the model needs 60 MB more.',
      advice: 'Delete another model.',
    }),
    model('b', { kind: 'ready' }, { stored: 100e6 }),
    model('c', { kind: 'paused', received: 200e6, total: 300e6 }, { stored: 200e6 }),
    model('d', { kind: 'absent' }),
  ]);
  const list = page.getByRole('region', { name: 'Make room' });
  await expect.element(list).toBeVisible();
  expect(
    list
      .getByRole('button')
      .elements()
      .map((one) => one.getAttribute('aria-label')),
  ).toEqual(['Delete Model c, 200\u00a0MB', 'Delete Model b, 100\u00a0MB']);
  await list.getByRole('button', { name: 'Delete Model b' }).click();
  expect(called.remove).toHaveBeenCalledWith('b');
});

test('a model says that it works offline only where that was seen', async () => {
  await open([
    model('a', { kind: 'ready' }, { stored: 100e6, offline: true }),
    model('b', { kind: 'ready' }, { stored: 100e6 }),
  ]);
  await expect.element(page.getByText(/Works offline: every file of it is here/)).toBeVisible();
  expect(page.getByText(/Works offline/).elements()).toHaveLength(1);
});

test('a check of its files tells what it found', async () => {
  const check = vi
    .fn<() => Promise<readonly string[]>>()
    .mockResolvedValueOnce([])
    .mockResolvedValueOnce(['a.gguf']);
  await open([model('a', { kind: 'ready' }, { stored: 100e6 })], { check });
  await page.getByText('Files', { exact: true }).click();
  await button('Check files').click();
  await expect.element(page.getByText('Every file is as it arrived.')).toBeVisible();
  await button('Check files').click();
  await expect
    .element(page.getByText('1 file had gone bad, and is being fetched again.'))
    .toBeVisible();
});

test('a model that can think is kept from it by a switch', async () => {
  const setThinking = vi.fn(async (_id: string, _on: boolean) => undefined);
  const plain = model('b', { kind: 'ready' });
  const thinker = model('a', { kind: 'ready' });
  await open([{ ...thinker, row: { ...thinker.row, thinking: true } }, plain], { setThinking });
  await page.getByText('Sampling', { exact: true }).nth(0).click();
  await page.getByText('Sampling', { exact: true }).nth(1).click();
  const thinks = page.getByRole('switch', { name: 'Thinks before it answers' });
  await expect.element(thinks).toBeChecked();
  expect(thinks.elements()).toHaveLength(1);
  await thinks.click();
  expect(setThinking).toHaveBeenCalledWith('a', false);
});

test('figures that could not be read say so, and are read again at a tap', async () => {
  const figures = vi
    .fn<App['models']['figures']>()
    .mockRejectedValueOnce(new Error('gone'))
    .mockResolvedValue({ device: 'a chip', answers: 1, memory: 5e8, history: [] });
  await open([model('a', { kind: 'ready' }, { stored: 100e6 })], { figures });
  await page.getByText('Figures', { exact: true }).click();
  await expect.element(page.getByText('The figures of Model a could not be read.')).toBeVisible();
  expect(page.getByText('not measured yet').elements()).toEqual([]);
  await button('Try again').click();
  await expect.element(page.getByText('not measured yet').first()).toBeVisible();
  const memory = page.getByText('500\u00a0MB measured, about 300\u00a0MB expected');
  await expect.element(memory).toBeVisible();
  expect(figures).toHaveBeenCalledTimes(2);
});

test('room that could not be counted, and a browser that fails to keep the data, are said', async () => {
  const estimate = vi
    .fn<App['storage']['estimate']>()
    .mockRejectedValueOnce(new Error('gone'))
    .mockResolvedValue({ used: 1e6, quota: 1e9 });
  const persist = vi
    .fn<App['storage']['persist']>()
    .mockRejectedValueOnce(new Error('not now'))
    .mockResolvedValue(false);
  const storage = { estimate, persist };
  await show(StorageBar, {}, fakeSession(), { over: { storage } });
  await expect.element(page.getByText('The room that Deft has could not be read.')).toBeVisible();
  await button('Try again').click();
  await expect.element(page.getByText(/1\u00a0MB used/)).toBeVisible();
  await button('Ask the browser to keep it').click();
  await expect.element(page.getByText('Something in Deft failed.')).toBeVisible();
  await button('Ask the browser to keep it').click();
  await expect.element(page.getByText('Something in Deft failed.')).not.toBeInTheDocument();
  expect(persist).toHaveBeenCalledTimes(2);
});
