/** The composer loses nothing: drafts, queues, refusals, texts that are too long. */
import { expect, onTestFinished, test, vi } from 'vitest';
import { page, userEvent } from 'vitest/browser';
import {
  conversation,
  fakeApp,
  fakeSession,
  message,
  said,
  text,
  type FakeSession,
} from './fake-app.ts';
import { followLaunches, launch } from '../../../src/ui/shell/launch.ts';
import { showConversation } from './render.ts';

const box = () => page.getByRole('textbox', { name: 'Message' });
const named = (session: FakeSession, name: string): unknown[] =>
  session.calls.filter((call) => call.name === name).map(({ args }) => args[0]);

test('Enter sends, Shift and Enter make a new line', async () => {
  const { session } = await showConversation(fakeSession());
  await box().click();
  await userEvent.keyboard('one{Shift>}{Enter}{/Shift}two{Enter}');
  expect(named(session, 'send')).toEqual(['one\ntwo']);
  await expect.element(box()).toHaveValue('');
});

test('under a thumb Enter is a new line', async () => {
  const real = window.matchMedia.bind(window);
  vi.spyOn(window, 'matchMedia').mockImplementation((query) =>
    query === '(pointer: coarse)' ? ({ matches: true } as MediaQueryList) : real(query),
  );
  const { session } = await showConversation(fakeSession());
  await box().click();
  await userEvent.keyboard('one{Enter}two');
  expect(named(session, 'send')).toEqual([]);
  await expect.element(box()).toHaveValue('one\ntwo');
  vi.restoreAllMocks();
});

test('nothing is sent that holds no words', async () => {
  const { session } = await showConversation(fakeSession());
  await box().fill('  \n ');
  await expect.element(page.getByRole('button', { name: 'Send' })).toBeDisabled();
  await userEvent.keyboard('{Enter}');
  expect(named(session, 'send')).toEqual([]);
});

test('the draft is kept while it is typed, and shown again', async () => {
  const { session } = await showConversation(
    fakeSession({ conversation: conversation({ draft: 'Half a ' }) }),
  );
  await expect.element(box()).toHaveValue('Half a ');
  await box().fill('Half a sentence');
  await expect.poll(() => named(session, 'setDraft')).toEqual(['Half a sentence']);
});

test('a draft is stored at once where the page goes away', async () => {
  const { session } = await showConversation(fakeSession());
  await box().fill('Not lost');
  window.dispatchEvent(new Event('pagehide'));
  expect(named(session, 'setDraft')).toEqual(['Not lost']);
});

test('words that could not be stored come back into the box with a sentence', async () => {
  const { session } = await showConversation(fakeSession());
  session.failNextSend(Object.assign(new Error('full'), { name: 'QuotaError' }));
  await box().fill('Precious words');
  await page.getByRole('button', { name: 'Send' }).click();
  await expect.element(box()).toHaveValue('Precious words');
  await expect.element(page.getByRole('alert')).toHaveTextContent('no room left');
});

test('words typed while others are being stored are kept, whether those can be or not', async () => {
  const { session } = await showConversation(fakeSession());
  let done = (_: Error | null): void => undefined;
  session.send = () =>
    new Promise((resolve, reject) => {
      done = (cause) => (cause ? reject(cause) : resolve());
    });
  await box().fill('First');
  await userEvent.keyboard('{Enter}');
  await expect.element(box()).toHaveValue('');
  await box().fill('Second');
  window.dispatchEvent(new Event('pagehide'));
  // A page that never comes back has lost neither.
  expect(named(session, 'setDraft').at(-1)).toBe('First\n\nSecond');
  done(null);
  await expect.poll(() => named(session, 'setDraft').at(-1)).toBe('Second');
  await expect.element(box()).toHaveValue('Second');

  await userEvent.keyboard('{Enter}');
  await box().fill('Third');
  done(new Error('broken'));
  await expect.element(box()).toHaveValue('Second\n\nThird');
  await expect.poll(() => named(session, 'setDraft').at(-1)).toBe('Second\n\nThird');
});

test.each(['create', 'setDraft'] as const)(
  'shared words that meet an app without room (%s) come into the box with a sentence',
  async (what) => {
    const full = Object.assign(new Error('full'), { name: 'QuotaError' });
    // The new conversation is the one that is shown.
    const session = fakeSession({ conversation: conversation({ id: 'new' }) });
    const home = location.pathname + location.search;
    history.replaceState(null, '', '/c/new');
    onTestFinished(() => history.replaceState(null, '', home));
    const { app } = await showConversation(session);
    if (what === 'create') app.conversations.create = () => Promise.reject(full);
    else session.setDraft = () => Promise.reject(full);
    const faults: unknown[] = [];
    onTestFinished(followLaunches(app, (cause) => faults.push(cause)));
    const data = { type: 'open', url: '/share?text=Milk%20and%20bread' };
    navigator.serviceWorker.dispatchEvent(new MessageEvent('message', { data }));
    await expect.element(box()).toHaveValue('Milk and bread');
    await expect.element(page.getByRole('alert')).toHaveTextContent('no room left');
    expect(faults).toEqual([]);
  },
);

test('a launch that leads nowhere is told', async () => {
  const { app } = await showConversation(fakeSession());
  const broken = new Error('broken');
  app.conversations.create = () => Promise.reject(broken);
  const told = new Promise<unknown>((resolve) => {
    onTestFinished(followLaunches(app, resolve));
  });
  const data = { type: 'open', url: '/?new' };
  navigator.serviceWorker.dispatchEvent(new MessageEvent('message', { data }));
  expect(await told).toBe(broken);
});

test('a message of a megabyte is kept, counted and not sent', async () => {
  const { session } = await showConversation(fakeSession());
  const huge = 'x'.repeat(1_000_000);
  const element = box().element() as HTMLTextAreaElement;
  element.value = huge;
  element.dispatchEvent(new InputEvent('input', { bubbles: true }));
  await expect.element(page.getByRole('alert')).toHaveTextContent('1,000,000 characters');
  await expect.element(page.getByRole('button', { name: 'Send' })).toBeDisabled();
  expect(element.value.length).toBe(huge.length);
  await box().fill('short again');
  await page.getByRole('button', { name: 'Send' }).click();
  expect(named(session, 'send')).toEqual(['short again']);
});

test('while a turn runs words queue and the turn can be stopped', async () => {
  const { session } = await showConversation(
    fakeSession({
      messages: [said('Go'), message('assistant', [text('Going')], { state: 'running' })],
      activity: { kind: 'writing' },
      conversation: conversation({ queue: ['First', 'Second'] }),
    }),
  );
  await page.getByRole('button', { name: 'Stop' }).click();
  expect(named(session, 'stop')).toHaveLength(1);
  await box().fill('Third');
  await page.getByRole('button', { name: 'Send next' }).click();
  expect(named(session, 'send')).toEqual(['Third']);
  await page.getByRole('button', { name: 'Take back' }).nth(1).click();
  expect(named(session, 'unqueue')).toEqual([1]);
  await expect.element(box()).toHaveValue('Second');
  await expect.element(page.getByText('Second')).not.toBeInTheDocument();
});

test('the mode is switched by keyboard and remembered by the conversation', async () => {
  const { session } = await showConversation(fakeSession());
  (page.getByRole('radio', { name: 'Auto' }).element() as HTMLElement).focus();
  await userEvent.keyboard('{ArrowRight}');
  expect(named(session, 'setMode')).toEqual(['cloud']);
  await expect.element(page.getByRole('radio', { name: 'Cloud' })).toBeChecked();
});

test('one message can be sent to the other brain', async () => {
  const { session } = await showConversation(fakeSession());
  await box().fill('A hard one');
  await page.getByRole('button', { name: 'More' }).click();
  await page.getByRole('button', { name: 'Send this one to the cloud' }).click();
  expect(session.calls.find(({ name }) => name === 'send')?.args).toEqual([
    'A hard one',
    { place: 'cloud' },
  ]);
});

test('words shared from another app become a draft that is known to be theirs', async () => {
  const home = location.pathname + location.search;
  onTestFinished(() => history.replaceState(null, '', home));
  const session = fakeSession({ conversation: conversation({ id: 'new' }) });
  const words = 'Pay Mallory\nhttps://a.example/';
  const address = new URL(
    `/share?text=Pay+Mallory&url=${encodeURIComponent('https://a.example/')}`,
    location.origin,
  );
  expect(await launch(fakeApp(session), address)).toBe(true);
  expect(session.calls.filter(({ name }) => name === 'setDraft')).toEqual([
    { name: 'setDraft', args: [words, [{ source: 'a shared page', text: words }]] },
  ]);
  expect(location.pathname).toBe('/c/new');
});

test.each([
  ['phone', [['model']]],
  ['auto', [['model']]],
  ['cloud', []],
] as const)(
  'to begin to write loads the model ahead, if it may answer: %s',
  async (mode, calls) => {
    const warm = vi.fn(async (_id: string) => undefined);
    const session = fakeSession({ conversation: conversation({ mode }) });
    const { app } = await showConversation(session, { models: { warm } });
    const settings = await app.settings.get();
    Object.assign(app.settings, { get: async () => ({ ...settings, phoneModel: 'model' }) });
    await box().click();
    await expect.element(box()).toHaveFocus();
    await expect.poll(() => warm.mock.calls).toEqual(calls);
  },
);
