/** A model's window: what it holds is shown, and where its view begins is marked in the list. */
import { expect, test } from 'vitest';
import { page } from 'vitest/browser';
import type { ContextUse, Summary } from '../../../src/store/records.ts';
import { conversation, fakeSession, message, route, said, step, text } from './fake-app.ts';
import type { FakeSession } from './fake-app.ts';
import { showConversation } from './render.ts';

const USE: ContextUse = {
  window: 2048,
  answer: 512,
  system: 90,
  tools: 310,
  earlier: 400,
  words: 60,
  results: 120,
  dropped: 2,
};
const SUMMARY: Summary = { turns: 2, text: 'A flight to Goa was found.', by: 'Gemma', at: 1 };

const turns = (use: ContextUse, summary?: Summary): FakeSession =>
  fakeSession({
    conversation: conversation(summary ? { summary } : {}),
    messages: [1, 2, 3, 4].flatMap((n) => [
      said(`Question ${n}`),
      message('assistant', [route(n === 4 ? { context: use } : {}), text(`Answer ${n}.`), step()]),
    ]),
  });

const boundary = page.getByRole('group', { name: "Where the model's view begins" });
const names = (session: FakeSession): string[] => session.calls.map(({ name }) => name);

test('the menu shows what the window holds, share by share', async () => {
  await showConversation(turns(USE));
  await page.getByRole('button', { name: 'More' }).first().click();
  await page.getByRole('button', { name: 'What the model sees' }).click();
  const sheet = page.getByRole('dialog', { name: 'What the model sees' });
  await expect.element(sheet).toHaveTextContent("72 % of this model's 2,048 tokens is taken.");
  for (const row of ['Tools 310', 'Earlier turns 400', 'Results of tools 120', 'Free 556'])
    await expect.element(sheet).toHaveTextContent(row);
  await expect.element(sheet).toHaveTextContent('2 earlier turns are not shown to it');
});

test('the receipt of a step says the same in a sentence', async () => {
  await showConversation(turns(USE));
  await page.getByRole('button', { name: 'Why and how' }).last().click();
  await expect
    .element(page.getByText('Of 2,048 tokens: instructions 90, tools 310, earlier turns 400'))
    .toBeVisible();
});

test('what the model no longer sees stays in the list, behind a mark, and can be summarised', async () => {
  const session = turns(USE);
  await showConversation(session);
  await expect.element(boundary).toBeVisible();
  await expect.element(page.getByText('Question 1', { exact: true })).toBeVisible();
  const mark = boundary.element();
  const place = (words: string) =>
    mark.compareDocumentPosition(page.getByText(words, { exact: true }).element());
  expect(place('Answer 2.') & Node.DOCUMENT_POSITION_PRECEDING).toBeTruthy();
  expect(place('Question 3') & Node.DOCUMENT_POSITION_FOLLOWING).toBeTruthy();
  await page.getByRole('button', { name: 'Summarise it for the model' }).click();
  expect(names(session)).toContain('summarise');
});

test('a summary is shown where it stands, with its author, and is taken back with one tap', async () => {
  const session = turns(USE, SUMMARY);
  await showConversation(session);
  await expect.element(page.getByText('Summarise it for the model')).not.toBeInTheDocument();
  await page.getByRole('button', { name: /knows what is above as a summary/ }).click();
  await expect.element(boundary).toHaveTextContent('A flight to Goa was found.');
  await expect.element(boundary).toHaveTextContent('Written by Gemma.');
  await page.getByRole('button', { name: 'Undo' }).click();
  expect(names(session)).toContain('forgetSummary');
});

test('a summary that cannot be made says why', async () => {
  const session = turns(USE);
  session.summarise = async () => ({ message: 'There is no model.', advice: 'Download one.' });
  await showConversation(session);
  await page.getByRole('button', { name: 'Summarise it for the model' }).click();
  await expect.element(boundary).toHaveTextContent('There is no model.');
  await expect.element(boundary).toHaveTextContent('Download one.');
});

test('a summary in the making leaves the last answer as it is, and does not have it read again', async () => {
  const session = turns(USE);
  const { root } = await showConversation(session);
  // The last one: buttons that copy have one of their own.
  const heard = () =>
    [...root.querySelectorAll('.visually-hidden[role="status"]')].at(-1)?.textContent;
  const receipts = () => page.getByRole('button', { name: 'Why and how' }).elements().length;
  await expect.poll(receipts).toBe(4);
  session.show({ activity: { kind: 'summarising' } });
  await expect.poll(heard).toBe('Summarising what was said before');
  expect(receipts()).toBe(4);
  session.show({ activity: { kind: 'idle' } });
  await expect.poll(heard).toBe('');
});

test('where everything fits there is no mark', async () => {
  await showConversation(turns({ ...USE, dropped: 0 }));
  await expect.element(page.getByText('Answer 4.')).toBeVisible();
  await expect.element(boundary).not.toBeInTheDocument();
});
