/** A model that failed on this phone: said where the person is, with the safer choice one tap away. */
import { expect, test, vi } from 'vitest';
import { page } from 'vitest/browser';
import type { App } from '../../../src/app.ts';
import type { ModelView, Rung } from '../../../src/brain/local/types.ts';
import ModelCard from '../../../src/ui/screens/ModelCard.svelte';
import Models from '../../../src/ui/screens/Models.svelte';
import { navigate } from '../../../src/ui/router.ts';
import { rungLabel, rungReason, takeRung } from '../../../src/ui/shell/rung.ts';
import { fakeApp, fakeSession } from './fake-app.ts';
import { show } from './render.ts';
import { modelRow } from './model-row.ts';

const MESSAGE = 'The browser closed while Model a was being loaded, probably for want of memory.';

const view = (id: string, more: Partial<ModelView> = {}): ModelView => ({
  row: modelRow(id),
  status: { kind: 'absent' },
  stored: 0,
  fit: { verdict: 'well', reason: 'It fits.', asks: [] },
  ...more,
});
const failed = (next: Rung): ModelView =>
  view('a', {
    status: { kind: 'failed', message: MESSAGE, advice: 'Take the safer choice.' },
    stored: 100e6,
    setback: { message: MESSAGE, next },
  });

test('its card says what happened and what the safer choice means; a tap takes it', async () => {
  const stepDown = vi.fn(async (_id: string) => null);
  const download = vi.fn(async (_id: string) => undefined);
  const next: Rung = { kind: 'context', row: modelRow('a'), contextTokens: 1024 };
  await show(Models, {}, fakeSession(), {
    models: { list: async () => [failed(next)], stepDown, download },
  });
  await expect.element(page.getByText(MESSAGE)).toBeVisible();
  await expect.element(page.getByText(/keeps less of a long conversation in mind/)).toBeVisible();
  await page.getByRole('button', { name: 'Use a smaller window (1,024 tokens)' }).click();
  expect(stepDown).toHaveBeenCalledWith('a');
  await page.getByRole('button', { name: 'Try it as it was' }).click();
  expect(download).toHaveBeenCalledWith('a');
});

test('each choice has its words, and says what it would download', () => {
  const rung = (kind: 'quantisation' | 'cpu' | 'smaller'): Rung => ({
    kind,
    row: modelRow('b'),
    contextTokens: 2048,
  });
  expect(rungLabel(rung('cpu'))).toBe('Run it on the processor');
  expect(rungLabel(rung('smaller'))).toBe('Use Model b');
  expect(rungLabel({ kind: 'cloud' })).toBe('Use the cloud');
  const here = view('b', { status: { kind: 'ready' } });
  expect(rungReason(rung('quantisation'), [here])).toBe(
    'Model b is the same model, packed in another way.',
  );
  expect(rungReason(rung('smaller'), [view('b')])).toMatch(/100\sMB are downloaded first\.$/);
  const coming = view('b', {
    status: { kind: 'downloading', received: 40e6, total: 100e6, bytesPerSecond: 1e6 },
  });
  expect(rungReason(rung('smaller'), [coming])).toMatch(/on its way: 40\sMB of 100\sMB\.$/);
});

test('the cloud is taken for the conversation on the screen', async () => {
  const session = fakeSession();
  const { id } = session.view().conversation;
  navigate(`/c/${id}`);
  const app = fakeApp(session, { models: { stepDown: async () => ({ kind: 'cloud' }) } });
  const set = vi.fn(async () => undefined);
  const withAccount: App = {
    ...app,
    settings: {
      ...app.settings,
      get: async () => ({ ...(await app.settings.get()), cloudAccount: 'account' }),
      set,
    },
  };
  await takeRung(withAccount, 'a', { kind: 'cloud' });
  expect(set).toHaveBeenCalledWith({ mode: 'cloud' });
  expect(session.calls).toContainEqual({ name: 'setMode', args: ['cloud'] });
});

test('a model that waits for another tab says so', async () => {
  await show(ModelCard, {
    model: view('a', { status: { kind: 'loading', fraction: null, waiting: true }, stored: 1 }),
    chosen: true,
  } as never);
  await expect.element(page.getByText('Another tab of Deft is using its model')).toBeVisible();
});
