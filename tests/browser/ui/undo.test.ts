/** Undo on a call's card: offered where it can be done, once, and what became of it is told. */
import { expect, test } from 'vitest';
import { page } from 'vitest/browser';
import type { UndoOffer } from '../../../src/mcp/types.ts';
import { faults } from './axe.ts';
import { call, fakeSession, message, said, text, travelServer } from './fake-app.ts';
import { showConversation } from './render.ts';

const offer = (title: string): UndoOffer => ({
  args: { id: 'e1' },
  tool: {
    ...{ server: 'travel', serverName: 'Travel', name: 'cancel', modelName: 'cancel', title },
    ...{ description: '', inputSchema: {}, annotations: {}, pin: 'p', local: false },
    ...{ readOnly: false, idempotent: false, private: false },
  },
});
const result = { kind: 'result', content: [{ type: 'text', text: 'Held.' }] } as const;
const button = (name: string) => page.getByRole('button', { name, exact: true });
const UNDO = 'Undo Hold a seat, with Let the seat go; you are asked first';
const card = page.getByRole('region', { name: 'Hold a seat, Travel: Done' });

test('a finished call offers its undo once, asks for nothing else, and tells what became of it', async () => {
  const held = call({ callId: 'made', title: 'Hold a seat', outcome: result, days: [] });
  const first = message('assistant', [held, text('It is held.', 2)]);
  const request = said('Hold a seat');
  const session = fakeSession({ messages: [request, first] });
  await showConversation(session, {
    servers: [travelServer],
    host: { undoOf: async () => offer('Let the seat go') },
  });
  await button(UNDO).click();
  expect(session.calls).toContainEqual({ name: 'undo', args: ['made'] });

  const undoing = call({ callId: 'un', title: 'Let the seat go', undoes: 'made', state: 'asked' });
  const show = (change: Parameters<typeof call>[0], kind: 'idle' | 'routing') =>
    session.show({
      activity: { kind },
      messages: [
        request,
        first,
        {
          ...message('assistant', [{ ...undoing, ...change }]),
          message: { ...first.message, id: 'u' },
        },
      ],
    });
  show({}, 'routing');
  await expect.element(card).toHaveTextContent('Undo waits for your answer');
  await expect.element(button(UNDO)).not.toBeInTheDocument();

  show({ state: 'denied' }, 'idle');
  await expect.element(card).toHaveTextContent('Not undone: you said no.');
  await expect.element(button(UNDO)).toBeVisible();
  expect(await faults()).toEqual([]);

  show({ state: 'done', outcome: result }, 'idle');
  await expect.element(card).toHaveTextContent('Undone');
  await expect.element(button(UNDO)).not.toBeInTheDocument();
  await expect.element(button('More for this answer')).not.toBeInTheDocument();
  await button('Show the undo of Hold a seat').click();
  await expect.element(page.getByRole('button', { name: /^Let the seat go/ })).toHaveFocus();
  await expect.element(page.getByText('You tapped Undo at an earlier call')).toBeVisible();
  expect(await faults()).toEqual([]);
});

test('a call of unknown outcome offers to check, and a wish that comes to nothing says why', async () => {
  const outcome = { kind: 'unknown', message: 'The line broke.', advice: 'Look there.' } as const;
  const session = fakeSession({
    messages: [
      said('Hold two seats'),
      message('assistant', [
        call({ title: 'Lost', outcome }),
        call({ callId: 'made', title: 'Hold a seat', outcome: result }),
      ]),
    ],
  });
  session.undo = async () => ({ message: 'It is too late.', advice: 'Ask for it in words.' });
  await showConversation(session, { host: { undoOf: async () => offer('Let the seat go') } });
  await expect.element(button('Check')).toBeVisible();
  await button(UNDO).click();
  await expect.element(card).toHaveTextContent('It is too late. Ask for it in words.');
  expect(page.getByRole('button', { name: /^Undo/ }).all()).toHaveLength(1);
});
