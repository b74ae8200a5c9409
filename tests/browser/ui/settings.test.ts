/**
 * The settings and the screens beside them: what could not be read says so and is tried again, each by
 * itself; a limit that is changed is stored; words that nobody looked at are not passed off as harmless.
 */
import { expect, test, vi } from 'vitest';
import { page, userEvent } from 'vitest/browser';
import type { ServerPreview } from '../../../src/mcp/types.ts';
import type { Settings as Stored } from '../../../src/store/records.ts';
import Cloud from '../../../src/ui/screens/Cloud.svelte';
import Findings from '../../../src/ui/screens/Findings.svelte';
import Reminders from '../../../src/ui/screens/Reminders.svelte';
import Settings from '../../../src/ui/screens/Settings.svelte';
import { faults } from './axe.ts';
import { fakeApp, fakeSession } from './fake-app.ts';
import { show } from './render.ts';

const button = (name: string) => page.getByRole('button', { name, exact: true });
const gone = () => new Error('The storage did not answer.');
/** Fails once, then gives the value. */
const onceBroken = <T>(value: T) =>
  vi.fn<() => Promise<T>>(async () => value).mockRejectedValueOnce(gone());
const SETTINGS = await fakeApp(fakeSession()).settings.get();

test('settings that cannot be read say so and are tried again, and hide nothing else', async () => {
  let isBroken = true;
  const get = async () => {
    if (isBroken) throw gone();
    return SETTINGS;
  };
  await show(Settings, {}, undefined, { over: { settings: { get } } });
  await expect.element(page.getByText('Your settings could not be read.')).toBeVisible();
  await expect.element(page.getByText('What you have decided for good')).toBeVisible();
  await expect.element(button('Save everything to a file')).toBeVisible();
  await expect.element(page.getByRole('link', { name: /App lock/ })).toBeVisible();
  await expect.element(page.getByText('Loading')).not.toBeInTheDocument();
  expect(await faults()).toEqual([]);
  isBroken = false;
  await button('Try again').click();
  await expect.element(page.getByRole('radio', { name: 'Dark' })).toBeInTheDocument();
  await expect.element(page.getByText('Limits of one turn')).toBeVisible();
  await expect.element(page.getByText('Your settings could not be read.')).not.toBeInTheDocument();
});

test('cloud models that cannot be read say so and are tried again, and others can be added meanwhile', async () => {
  const account = {
    id: 'a1',
    preset: 'other',
    kind: 'openai' as const,
    label: 'Mine',
    baseUrl: 'https://cloud.example/v1',
    model: 'large',
    contextTokens: 32_000,
    addedAt: 1,
  };
  const get = onceBroken({ ...SETTINGS, cloudAccount: 'a1' });
  await show(Cloud, {}, undefined, {
    over: { cloud: { accounts: onceBroken([account]) }, settings: { get } },
  });
  await expect.element(page.getByText('Your cloud models could not be read.')).toBeVisible();
  await expect.element(page.getByText('With a key, or a server of your own')).toBeVisible();
  await expect.element(page.getByText('Loading')).not.toBeInTheDocument();
  await button('Try again').click();
  const radio = page.getByRole('radio', { name: /Mine/ });
  await expect.element(radio).not.toBeChecked();
  await expect.element(page.getByText('Which of them you chose could not be read.')).toBeVisible();
  await button('Try again').click();
  await expect.element(radio).toBeChecked();
  await expect.element(page.getByRole('alert')).not.toBeInTheDocument();
});

test('reminders that cannot be read say so and are tried again', async () => {
  const list = onceBroken([{ id: 'r', text: 'Call Ravi', at: 1 }]);
  await show(Reminders, {}, undefined, { over: { reminders: { list } } });
  await expect.element(page.getByText('Your reminders could not be read.')).toBeVisible();
  await expect.element(page.getByText('Loading')).not.toBeInTheDocument();
  await expect.element(page.getByText('No reminders')).not.toBeInTheDocument();
  await button('Try again').click();
  await expect.element(page.getByText('Call Ravi')).toBeVisible();
});

test('each limit of a turn is shown in its unit, and a changed one is stored within its bounds', async () => {
  let stored: Stored = SETTINGS;
  const listeners = new Set<() => void>();
  await show(Settings, {}, undefined, {
    over: {
      settings: {
        get: async () => stored,
        async set(change) {
          stored = { ...stored, ...change };
          for (const changed of listeners) changed();
        },
        subscribe(listener) {
          listeners.add(listener);
          return () => listeners.delete(listener);
        },
      },
    },
  });
  await page.getByText('Limits of one turn').click();
  const field = (label: string) => page.getByLabelText(label, { exact: true });
  const was = stored.limits;
  for (const [label, typed, shown, limit] of [
    ['Steps', '12', '12', { steps: 12 }],
    ['Steps', '0', '1', { steps: 1 }],
    ['Tool calls', '7', '7', { calls: 7 }],
    ['Calls of one tool', '999', '200', { toolCalls: 200 }],
    ['The same call again', '3', '3', { equalCalls: 3 }],
    ['Time, seconds', '90', '90', { ms: 90_000 }],
    ['Time, seconds', '5', '10', { ms: 10_000 }],
    ['Tokens written', '2500', '2500', { tokens: 2500 }],
    ['Cloud models, a day, US dollars', '1.259', '1.26', { dayCost: 1.26 }],
    ['Cloud models, a day, US dollars', '', '1.26', { dayCost: 1.26 }],
  ] as const) {
    await field(label).fill(typed);
    await userEvent.keyboard('{Tab}');
    await expect.poll(() => stored.limits).toMatchObject(limit);
    await expect.element(field(label)).toHaveValue(Number(shown));
  }
  expect(stored.limits).toEqual({
    ...was,
    steps: 1,
    calls: 7,
    toolCalls: 200,
    equalCalls: 3,
    ms: 10_000,
    tokens: 2500,
    dayCost: 1.26,
  });
  expect(await faults()).toEqual([]);
});

test('tools whose words could not be looked at are said to be so, and looked at on a second try', async () => {
  const tools: ServerPreview['tools'] = [
    { name: 'put_note', description: 'Writes.', inputSchema: {}, pin: 'p' },
  ];
  let answer = (): void => undefined;
  const scan = vi
    .fn(async () => [])
    .mockRejectedValueOnce(gone())
    .mockImplementationOnce(() => new Promise((resolve) => (answer = () => resolve([]))));
  await show(Findings, { tools, stored: null }, undefined, { servers: [], safety: { scan } });
  await expect
    .element(page.getByRole('status'))
    .toHaveTextContent('The words of these tools were not looked at.');
  await expect.element(page.getByText(/none of the known tricks/)).not.toBeInTheDocument();
  expect(await faults()).toEqual([]);
  await button('Try again').click();
  await expect.element(button('Try again')).toHaveAttribute('aria-busy', 'true');
  answer();
  await expect.element(page.getByText(/none of the known tricks/)).toBeVisible();
  await expect.element(button('Try again')).not.toBeInTheDocument();
});

test('while the words of tools are looked through, that is what is said', async () => {
  const tools: ServerPreview['tools'] = [{ name: 'put_note', inputSchema: {}, pin: 'p' }];
  let answer = (): void => undefined;
  const scan = () => new Promise<[]>((resolve) => (answer = () => resolve([])));
  await show(Findings, { tools, stored: null }, undefined, { servers: [], safety: { scan } });
  await expect
    .element(page.getByRole('status'))
    .toHaveTextContent("Its tools' words are being looked through.");
  await expect
    .poll(() => (answer(), page.getByText(/none of the known tricks/).query()))
    .not.toBeNull();
});
