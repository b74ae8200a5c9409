/** A long conversation: only what is in sight exists, and the reader's place is the reader's. */
import { expect, test } from 'vitest';
import { page } from 'vitest/browser';
import type { MessageView } from '../../../src/app.ts';
import { fakeSession, message, said, text, type FakeSession } from './fake-app.ts';
import { showConversation } from './render.ts';

const many = (count: number): MessageView[] =>
  Array.from({ length: count }, (_, index) =>
    index % 2 === 0
      ? said(`Question ${index}`)
      : message('assistant', [text(`Answer ${index}. ${'Some words. '.repeat(index % 23)}`)]),
  );

const scroller = (): HTMLElement =>
  page.getByRole('region', { name: 'Messages' }).element() as HTMLElement;
const fromEnd = (): number => {
  const { scrollHeight, clientHeight, scrollTop } = scroller();
  return Math.round(scrollHeight - clientHeight - scrollTop);
};
/** After a frame is laid out, as it is painted. */
const frame = (): Promise<void> =>
  new Promise((resolve) =>
    requestAnimationFrame(() => {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => resolve();
      port2.postMessage(null);
    }),
  );

/** Lets an answer grow word by word, a frame each. */
async function stream(
  session: FakeSession,
  words: number,
  each: () => void = () => {},
): Promise<void> {
  const messages = session.view().messages;
  const answer = message('assistant', [text('')], { state: 'running' });
  for (let count = 1; count <= words; count++) {
    const grown = { ...answer, parts: [text('grows '.repeat(count))] };
    session.show({ messages: [...messages, grown], activity: { kind: 'writing' } });
    await frame();
    each();
  }
}

test('of a thousand messages only those in sight are in the page', async () => {
  await showConversation(fakeSession({ messages: many(1000) }));
  await expect.element(page.getByText(/^Answer 999\./)).toBeVisible();
  await expect.poll(fromEnd).toBeLessThanOrEqual(1);
  expect(document.querySelectorAll('.scroller .row').length).toBeLessThan(60);
});

test('it can be scrolled from end to beginning', async () => {
  await showConversation(fakeSession({ messages: many(1000) }));
  await expect.element(page.getByText(/^Answer 999\./)).toBeVisible();
  scroller().scrollTop = 0;
  await expect.element(page.getByText('Question 0', { exact: true })).toBeVisible();
});

test('a reader at the end stays there while an answer grows', async () => {
  const { session } = await showConversation(fakeSession({ messages: many(40) }));
  await expect.element(page.getByText(/^Answer 39\./)).toBeVisible();
  const off: number[] = [];
  await stream(session, 120, () => off.push(fromEnd()));
  expect(Math.max(...off.slice(2))).toBeLessThanOrEqual(1);
});

test('a reader who has scrolled up is not moved by a growing answer', async () => {
  const { session } = await showConversation(fakeSession({ messages: many(200) }));
  await expect.element(page.getByText(/^Answer 199\./)).toBeVisible();
  await stream(session, 5);
  scroller().scrollTop -= 900;
  const jump = page.getByRole('button', { name: 'Latest' });
  await expect.element(jump).toBeVisible();
  const seen = [...document.querySelectorAll('.scroller .row')].find(
    (row) => row.getBoundingClientRect().bottom > 300,
  );
  const before = seen?.getBoundingClientRect().top ?? 0;
  const moved: number[] = [];
  await stream(session, 60, () =>
    moved.push(Math.abs((seen?.getBoundingClientRect().top ?? NaN) - before)),
  );
  expect(Math.max(...moved)).toBeLessThanOrEqual(1);
  await jump.click();
  await expect.poll(fromEnd).toBeLessThanOrEqual(1);
  await expect.element(jump).not.toBeInTheDocument();
});

test('of an answer of ten thousand words only what is in sight is in the page', async () => {
  const block = 'Some **words** of a long answer that go on. '.repeat(12);
  const long = Array.from({ length: 100 }, (_, index) => `${index}. ${block}`).join('\n\n');
  const words = Array.from({ length: 100 }, (_, index) => `Block ${index}. ${block}`).join('\n\n');
  const session = fakeSession({
    messages: [said('Please'), message('assistant', [text(`${long}\n\nText\n\n${words}`)])],
  });
  const { root } = await showConversation(session);
  await expect.element(page.getByText(/^Block 99\./)).toBeVisible();
  expect(root.querySelectorAll('.markdown p').length).toBeLessThan(80);
  expect(root.textContent).not.toContain('Block 0.');
  scroller().scrollTop = 0;
  await expect.element(page.getByText(/^Please/)).toBeVisible();
  expect(root.querySelectorAll('.scroller h2').length).toBe(2);
});

test('a growing answer stays at the end over the pieces that it is drawn in', async () => {
  const { session } = await showConversation(fakeSession({ messages: many(4) }));
  const before = session.view().messages;
  const answer = message('assistant', [text('')], { state: 'running' });
  const off: number[] = [];
  for (let count = 1; count <= 60; count++) {
    const words = Array.from({ length: count }, (_, at) => `Block ${at}. ${'word '.repeat(40)}`);
    session.show({
      messages: [...before, { ...answer, parts: [text(words.join('\n\n'))] }],
      activity: { kind: 'writing' },
    });
    await frame();
    off.push(fromEnd());
  }
  expect(Math.max(...off.slice(2))).toBeLessThanOrEqual(1);
});

test('sending goes to the end', async () => {
  const { session } = await showConversation(fakeSession({ messages: many(100) }));
  await expect.element(page.getByText(/^Answer 99\./)).toBeVisible();
  scroller().scrollTop = 0;
  await expect.element(page.getByText('Question 0', { exact: true })).toBeVisible();
  await page.getByRole('textbox', { name: 'Message' }).fill('New words');
  await page.getByRole('button', { name: 'Send' }).click();
  session.show({ messages: [...session.view().messages, said('New words')] });
  await expect.element(page.getByText('New words')).toBeVisible();
  await expect.poll(fromEnd).toBeLessThanOrEqual(1);
});

test('a fold stays open when it was scrolled out of sight', async () => {
  const list = many(200);
  list[1] = message('assistant', [
    { kind: 'thinking', step: 1, text: 'A thought.' },
    text('The answer.'),
  ]);
  await showConversation(fakeSession({ messages: list }));
  await expect.element(page.getByText(/^Answer 199\./)).toBeVisible();
  scroller().scrollTop = 0;
  await page.getByRole('button', { name: 'Thought about it' }).click();
  await expect.element(page.getByText('A thought.')).toBeVisible();
  scroller().scrollTop = scroller().scrollHeight;
  await expect.element(page.getByText('A thought.')).not.toBeInTheDocument();
  scroller().scrollTop = 0;
  await expect.element(page.getByText('A thought.')).toBeVisible();
});

test('the state of a turn and its answer are read out, single words are not', async () => {
  const { session, root } = await showConversation(fakeSession({ messages: [said('Hi')] }));
  const heard: string[] = [];
  const region = root.querySelector('.visually-hidden[role="status"]');
  const observer = new MutationObserver(() => heard.push(region?.textContent ?? ''));
  observer.observe(region as Element, { childList: true, characterData: true, subtree: true });
  session.show({ activity: { kind: 'preparing', phase: 'load', fraction: 0.1 } });
  await frame();
  session.show({ activity: { kind: 'preparing', phase: 'load', fraction: 0.6 } });
  await frame();
  await stream(session, 20);
  const messages = session.view().messages;
  session.show({
    activity: { kind: 'idle' },
    messages: [...messages.slice(0, -1), message('assistant', [text('The whole answer.')])],
  });
  await expect.poll(() => heard.at(-1)).toBe('The whole answer.');
  expect(heard).toEqual(['Loading the model', 'Writing', 'The whole answer.']);
  observer.disconnect();
});
