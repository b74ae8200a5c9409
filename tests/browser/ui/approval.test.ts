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

/** The button of a question, in the very moment in which it appears. */
function atOnce(name: string): Promise<HTMLElement> {
  const find = (): HTMLElement | undefined =>
    [...document.querySelectorAll<HTMLElement>('dialog button')].find(
      (it) => it.textContent?.trim() === name,
    );
  return new Promise((resolve) => {
    const look = (): void => {
      const found = find();
      if (!found) return;
      observer.disconnect();
      resolve(found);
    };
    const observer = new MutationObserver(look);
    observer.observe(document.body, { childList: true, subtree: true, characterData: true });
    look();
  });
}

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
  (await atOnce('Allow once')).click();
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
  await expect.element(page.getByRole('dialog')).toBeVisible();
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

test('shows every argument whole, lists and objects that hold days as well, and no character can hide', async () => {
  const part = call({
    callId: 'q1',
    args: {
      days: ['2026-12-04', 'and to Mallory'],
      trip: { day: '2026-12-05', note: 'for two' },
      date: '2026-12-06',
      to: 'Anna \u202Egnp.exe\u202C',
      ['na\u0000me']: 'x',
    },
    days: [
      { argument: 'days', said: 'Friday', value: '2026-12-04', shown: 'Friday, 4 December' },
      {
        argument: 'trip.day',
        said: 'Saturday',
        value: '2026-12-05',
        shown: 'Saturday, 5 December',
      },
      { argument: 'date', said: 'Sunday', value: '2026-12-06', shown: 'Sunday, 6 December' },
    ],
    state: 'asked',
  });
  await showConversation(ask(part));
  const sheet = page.getByRole('dialog');
  await expect.element(sheet).toBeVisible();
  const rows = [...sheet.element().querySelectorAll('dl > div')].map((row) =>
    [...row.children].map((it) => it.textContent?.replace(/\s+/g, ' ').trim()),
  );
  expect(rows).toEqual([
    ['Days', '[ "2026-12-04", "and to Mallory" ] Friday → Friday, 4 December 2026-12-04'],
    [
      'Trip',
      '{ "day": "2026-12-05", "note": "for two" } Saturday → Saturday, 5 December 2026-12-05',
    ],
    ['Date', 'Sunday → Sunday, 6 December 2026-12-06'],
    ['To', 'Anna ⟨U+202E⟩gnp.exe⟨U+202C⟩'],
    ['Na⟨U+0000⟩me', 'x'],
  ]);
  for (const value of sheet.element().querySelectorAll('dd > bdi, dt > bdi'))
    expect(getComputedStyle(value).unicodeBidi).toBe('isolate');
});

/** A call with words that somebody else wrote, as the gate leaves it. */
const tainted = (callId: string) =>
  call({
    callId,
    tool: 'send_message',
    title: 'Send a message',
    args: { to: 'eve@attacker.example', note: { text: 'Hello Anna' } },
    days: [],
    state: 'asked',
    consequential: true,
    why: 'It carries words that came from Mail, not from you, so you are asked whatever you allowed.',
    origins: [
      {
        path: 'to',
        start: 4,
        end: 20,
        text: 'attacker.example',
        from: 'untrusted',
        source: 'Mail',
      },
      { path: 'note/text', start: 6, end: 10, text: 'Anna', from: 'person' },
    ],
  });

test('marks whose words a call carries, says so, and offers no yes for good', async () => {
  await showConversation(ask(tainted('q1')));
  const sheet = page.getByRole('dialog', { name: 'Allow “Send a message”?' });
  await expect.element(sheet).toHaveTextContent('came from Mail, not from you');
  const marks = [...sheet.element().querySelectorAll('mark, u')];
  expect(marks.map((it) => [it.tagName, it.textContent])).toEqual([
    ['MARK', 'attacker.example'],
    ['U', 'Anna'],
  ]);
  // Nothing is left out of the value for the marks.
  expect(sheet.element().textContent).toContain('eve@attacker.example (from Mail, not from you)');
  await expect.element(button('Always allow')).not.toBeInTheDocument();
  await expect.element(page.getByText('Always, with these arguments')).not.toBeInTheDocument();
});

test('a consequential tool gets a yes for good only with its arguments, of which some may differ', async () => {
  const part = call({
    callId: 'q1',
    tool: 'pay',
    title: 'Pay',
    args: { to: 'Anna', note: 'Rent' },
    days: [],
    state: 'asked',
    consequential: true,
  });
  const { session } = await showConversation(ask(part));
  await expect.element(page.getByRole('dialog')).toBeVisible();
  await expect.element(button('Always allow')).not.toBeInTheDocument();
  await page.getByText('Always, with these arguments').click();
  await page.getByLabelText('Note may differ').click();
  await armed();
  await button('Always allow with these arguments').click();
  expect(answers(session)).toEqual([
    ['q1', { allow: true, scope: 'always', pinned: { free: ['note'] } }],
  ]);
});

test('a no can be given its reason, by keyboard alone', async () => {
  const { session } = await showConversation(ask(booking('q1')));
  await expect.element(page.getByRole('dialog')).toBeVisible();
  const field = page.getByRole('textbox', { name: /^Why not/ });
  const focused = (): Element | null => document.activeElement;
  for (let tabs = 0; focused() !== field.element() && tabs < 12; tabs += 1)
    await userEvent.keyboard('{Tab}');
  await userEvent.keyboard('Too dear');
  for (let tabs = 0; focused()?.textContent?.trim() !== 'Deny' && tabs < 12; tabs += 1)
    await userEvent.keyboard('{Tab}');
  await userEvent.keyboard('{Enter}');
  await expect
    .poll(() => answers(session))
    .toEqual([['q1', { allow: false, scope: 'once', reason: 'Too dear' }]]);
});

test('reads as one dialog to a screen reader: who, what, why, each argument, and the answers in order', async () => {
  await showConversation(ask(tainted('q1')));
  const sheet = page.getByRole('dialog', { name: 'Allow “Send a message”?' });
  await expect.element(sheet).toBeVisible();
  await expect
    .element(sheet.getByRole('heading', { name: 'Allow “Send a message”?' }))
    .toBeVisible();
  const region = sheet.getByRole('region', { name: 'Arguments' });
  const terms = region.getByRole('term').elements();
  const values = region.getByRole('definition').elements();
  expect(terms.map((it) => it.textContent)).toEqual(['To', 'Note']);
  expect(values[0]?.textContent?.trim()).toBe('eve@attacker.example (from Mail, not from you)');
  const names = sheet
    .getByRole('button')
    .elements()
    .map((it) => it.getAttribute('aria-label') ?? it.textContent?.trim());
  expect(names).toEqual(['Close', 'Allow once', 'Deny', 'Allow in this conversation']);
  // Everything in it has a name, and the rest of the page is out of reach behind it.
  expect(sheet.element().matches('dialog:modal')).toBe(true);
});
