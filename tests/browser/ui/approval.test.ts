/** The question before a tool runs: nothing hidden, no yes by accident, every way out is a no. */
import { expect, test } from 'vitest';
import { page, userEvent } from 'vitest/browser';
import { navigate } from '../../../src/ui/router.ts';
import type { FakeSession } from './fake-app.ts';
import { call, fakeSession, message, question, said } from './fake-app.ts';
import { showConversation } from './render.ts';

const ask = (...calls: ReturnType<typeof call>[]): FakeSession =>
  fakeSession({
    messages: [said('Book it'), message('assistant', calls, { state: 'running' })],
    activity: { kind: 'asking', callId: calls[0]?.callId ?? '' },
    questions: calls.map(question),
  });

const booking = (callId: string, args: Record<string, unknown> = { flight: '6E 5312' }) =>
  call({
    callId,
    tool: 'book_flight',
    title: 'Book a flight',
    args,
    days: [],
    state: 'asked',
    why: 'This tool may change something.',
  });

const answers = (session: FakeSession): unknown[][] =>
  session.calls.filter(({ name }) => name === 'answer').map(({ args }) => [...args]);

const button = (name: string) => page.getByRole('button', { name, exact: true });

/** Until a yes counts. */
const armed = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 550));

test('says who asks, where, what may change, and every argument in full', async () => {
  const long = 'word '.repeat(2000).trim();
  await showConversation(ask(booking('q1', { flight: '6E 5312', note: long, bags: { count: 2 } })));
  const sheet = page.getByRole('dialog', { name: 'Allow “Book a flight”?' });
  await expect.element(sheet).toBeVisible();
  await expect.element(sheet).toHaveTextContent('travel.example:8443');
  for (const words of [
    'Travel',
    'book_flight',
    'This tool may change something.',
    'It may delete or overwrite something.',
    'It may reach other people or services.',
    '6E 5312',
    '"count": 2',
  ])
    await expect.element(sheet).toHaveTextContent(words);
  expect(sheet.element().textContent).toContain(long);
  // The buttons stay in sight however long the arguments are.
  await expect
    .poll(() => button('Deny').element().getBoundingClientRect().bottom)
    .toBeLessThanOrEqual(innerHeight);
});

test('shows a day as it was said and as it was understood', async () => {
  await showConversation(ask(call({ callId: 'q1', state: 'asked' })));
  const sheet = page.getByRole('dialog');
  await expect.element(sheet).toHaveTextContent('next Friday');
  await expect.element(sheet).toHaveTextContent('Friday, 4 December');
});

test('a yes in the first half second does nothing, a no counts at once', async () => {
  const { session } = await showConversation(ask(booking('q1'), booking('q2')));
  const yes = button('Allow once').element() as HTMLElement;
  yes.click();
  (button('Always allow').element() as HTMLElement).click();
  expect(answers(session)).toEqual([]);
  (button('Deny').element() as HTMLElement).click();
  expect(answers(session)).toEqual([['q1', { allow: false, scope: 'once' }]]);
});

test.each([
  ['Allow once', { allow: true, scope: 'once' }],
  ['Allow in this conversation', { allow: true, scope: 'conversation' }],
  ['Always allow', { allow: true, scope: 'always' }],
  ['Deny', { allow: false, scope: 'once' }],
] as const)('%s answers exactly that, once', async (name, answer) => {
  const { session } = await showConversation(ask(booking('q1')));
  await armed();
  await button(name).click();
  expect(answers(session)).toEqual([['q1', answer]]);
  await expect.element(page.getByRole('dialog')).not.toBeInTheDocument();
});

test('Escape says no', async () => {
  const { session } = await showConversation(ask(booking('q1')));
  await expect.element(page.getByRole('dialog')).toBeVisible();
  await userEvent.keyboard('{Escape}');
  await expect.poll(() => answers(session)).toEqual([['q1', { allow: false, scope: 'once' }]]);
});

test('back says no and stays on the screen', async () => {
  const here = location.href;
  const { session } = await showConversation(ask(booking('q1')));
  await expect.element(page.getByRole('dialog')).toBeVisible();
  history.back();
  await expect.poll(() => answers(session)).toEqual([['q1', { allow: false, scope: 'once' }]]);
  expect(location.href).toBe(here);
});

test('a tap beside the sheet and the close button say no', async () => {
  const { session } = await showConversation(ask(booking('q1'), booking('q2')));
  const dialog = page.getByRole('dialog').element();
  dialog.dispatchEvent(new PointerEvent('pointerdown', { bubbles: true }));
  dialog.dispatchEvent(new MouseEvent('click', { bubbles: true }));
  await expect.poll(() => answers(session).length).toBe(1);
  await button('Close').click();
  await expect.poll(() => answers(session).length).toBe(2);
  expect(answers(session).every(([, answer]) => !(answer as { allow: boolean }).allow)).toBe(true);
});

test('Enter meant for something else answers nothing: focus is on the heading', async () => {
  const { session } = await showConversation(ask(booking('q1')));
  await armed();
  await userEvent.keyboard('{Enter} ');
  expect(answers(session)).toEqual([]);
  expect(document.activeElement?.textContent).toBe('Allow “Book a flight”?');
});

test('questions come one after the other, each with a half second of its own', async () => {
  const { session } = await showConversation(
    ask(booking('q1'), call({ callId: 'q2', state: 'asked', title: 'Find flights' })),
  );
  await expect.element(page.getByText('Question 1 of 2')).toBeVisible();
  await armed();
  await button('Allow once').click();
  await expect.element(page.getByRole('heading', { name: 'Allow “Find flights”?' })).toBeVisible();
  (button('Allow once').element() as HTMLElement).click();
  expect(answers(session)).toHaveLength(1);
  await armed();
  await button('Allow once').click();
  expect(answers(session).map(([id]) => id)).toEqual(['q1', 'q2']);
});

test('a yes never comes to lie where the person has just tapped', async () => {
  const { session } = await showConversation(ask(booking('q1'), booking('q2')));
  await armed();
  const yes = button('Allow once');
  const place = yes.element().getBoundingClientRect();
  const x = place.left + place.width / 2;
  const y = place.top + place.height / 2;
  yes
    .element()
    .dispatchEvent(new PointerEvent('pointerdown', { bubbles: true, clientX: x, clientY: y }));
  (yes.element() as HTMLElement).click();
  await expect.poll(() => answers(session).length).toBe(1);
  await expect
    .poll(() => document.elementFromPoint(x, y)?.closest('button')?.textContent?.trim())
    .toBe('Deny');
});

test('a question answered elsewhere goes away without an answer from here', async () => {
  const { session } = await showConversation(ask(booking('q1')));
  await expect.element(page.getByRole('dialog')).toBeVisible();
  session.show({ questions: [] });
  await expect.element(page.getByRole('dialog')).not.toBeInTheDocument();
  expect(answers(session)).toEqual([]);
});

test('a question found after a restart is asked, not passed over', async () => {
  const part = booking('q1');
  const { session } = await showConversation(
    fakeSession({
      messages: [said('Book it'), message('assistant', [part], { state: 'running' })],
      questions: [question(part)],
      interrupted: true,
    }),
  );
  await expect.element(page.getByRole('dialog')).toBeVisible();
  await expect.element(page.getByText('This turn was cut off.')).not.toBeInTheDocument();
  await armed();
  await button('Allow once').click();
  expect(answers(session)).toHaveLength(1);
});

test('going to another screen answers nothing', async () => {
  const home = location.pathname + location.search;
  const { session } = await showConversation(ask(booking('q1')));
  await expect.element(page.getByRole('dialog')).toBeVisible();
  navigate('/servers');
  await expect.poll(() => location.pathname).toBe('/servers');
  expect(answers(session)).toEqual([]);
  history.replaceState(null, '', home);
});
