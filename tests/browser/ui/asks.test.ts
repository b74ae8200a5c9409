/** What servers ask, as the person meets it: every kind of field, three ways to answer, nothing unseen. */
import { expect, onTestFinished, test, vi } from 'vitest';
import { page, userEvent } from 'vitest/browser';
import { createAsks, type Asks, type Thought } from '../../../src/mcp/asks.ts';
import type { AskingServer, ElicitRequest, SampleRequest } from '../../../src/mcp/types.ts';
import AsksOf from '../../../src/ui/conversation/Asks.svelte';
import { faults } from './axe.ts';
import { show } from './render.ts';

const travel: AskingServer = { id: 'travel', name: 'Travel', host: 'travel.example:8443' };
const never = (): AbortSignal => new AbortController().signal;

interface Shown {
  readonly asks: Asks;
  readonly thinks: { request: SampleRequest; mode: string }[];
  thought: Thought;
}

async function open(allowed = true): Promise<Shown> {
  const shown: { thought: Thought } & Pick<Shown, 'thinks'> = {
    thinks: [],
    thought: {
      ok: true,
      text: 'A summary.',
      model: 'gemma',
      label: 'Gemma 3',
      place: 'phone',
      stopReason: 'endTurn',
      promptTokens: 41,
      outputTokens: 5,
    },
  };
  let may = allowed;
  const asks = createAsks({
    caller: () => ({ conversation: 'c1', title: 'A trip to Mumbai', mode: 'phone' }),
    mayUseModel: async () => may,
    letUseModel: async () => void (may = true),
    think: async (_server, request, mode) => {
      shown.thinks.push({ request, mode });
      return shown.thought;
    },
    clock: () => Date.now(),
  });
  await show(AsksOf, {}, undefined, { asks });
  return Object.assign(shown, { asks });
}

const sheet = () => page.getByRole('dialog');
const button = (name: string) => page.getByRole('button', { name, exact: true });
/** Until a yes counts. */
const armed = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 550));

const FORM: ElicitRequest = {
  mode: 'form',
  message: 'Who travels?',
  schema: {
    type: 'object',
    required: ['name', 'mail', 'seat', 'bags'],
    properties: {
      name: { type: 'string', title: 'Name', minLength: 2, description: 'As on the passport.' },
      mail: { type: 'string', title: 'Mail', format: 'email' },
      site: { type: 'string', title: 'Site', format: 'uri' },
      day: { type: 'string', title: 'Day', format: 'date' },
      when: { type: 'string', title: 'Time', format: 'date-time' },
      story: { type: 'string', title: 'Story', maxLength: 1000 },
      bags: { type: 'integer', title: 'Bags', minimum: 0, maximum: 3 },
      price: { type: 'number', title: 'Price' },
      news: { type: 'boolean', title: 'News', default: true },
      seat: {
        type: 'string',
        title: 'Seat',
        oneOf: [
          { const: 'w', title: 'Window' },
          { const: 'a', title: 'Aisle' },
        ],
      },
      meals: {
        type: 'array',
        title: 'Meals',
        items: { type: 'string', enum: ['veg', 'fish'] },
        maxItems: 1,
      },
      odd: { type: 'object', title: 'Odd' },
    },
  },
};

test('a form is filled in by keyboard alone, says what is wrong, and gives the server typed values', async () => {
  const { asks } = await open();
  const answer = asks.asks.elicit(travel, FORM, never());
  await expect.element(sheet()).toHaveAccessibleName('Travel asks you');
  for (const words of ['travel.example:8443', 'A trip to Mumbai', 'Who travels?', 'Left out'])
    await expect.element(sheet()).toHaveTextContent(words);
  expect(await faults()).toEqual([]);
  await armed();
  await button('Send').click();
  const name = page.getByRole('textbox', { name: 'Name' });
  await expect.element(name).toHaveFocus();
  await expect.element(name).toHaveAccessibleDescription('Fill this in.');
  await expect.element(page.getByText('Write an email address')).not.toBeInTheDocument();
  expect(await faults()).toEqual([]);
  await userEvent.keyboard('Asha{Tab}asha{Tab}{Tab}');
  await page.getByLabelText('Day (optional)').fill('2026-12-04');
  await page.getByLabelText('Story (optional)').fill('One\ntwo');
  await page.getByLabelText('Bags').fill('7');
  await page.getByLabelText('Price (optional)').fill('1,5');
  await page.getByLabelText('Seat').selectOptions('Aisle');
  await page.getByRole('checkbox', { name: 'fish' }).click();
  await button('Send').click();
  await expect.element(page.getByLabelText('Mail')).toHaveFocus();
  await expect.element(sheet()).toHaveTextContent('Write a number from 0 to 3.');
  await page.getByLabelText('Mail').fill('asha@example.com');
  await page.getByLabelText('Bags').fill('2');
  await page.getByLabelText('Bags').click();
  await userEvent.keyboard('{Enter}');
  expect(await answer).toEqual({
    action: 'accept',
    content: {
      name: 'Asha',
      mail: 'asha@example.com',
      day: '2026-12-04',
      story: 'One\ntwo',
      bags: 2,
      price: 1.5,
      news: true,
      seat: 'a',
      meals: ['fish'],
    },
  });
  await expect.element(sheet()).not.toBeInTheDocument();
});

test('declining and closing are told apart; the questions come one after the other', async () => {
  const { asks } = await open();
  const ask = (message: string) =>
    asks.asks.elicit(travel, { mode: 'form', message, schema: { properties: {} } }, never());
  const answers = ['One?', 'Two?', 'Three?', 'Four?'].map(ask);
  await expect.element(sheet()).toHaveTextContent('Question 1 of 4');
  await expect.element(page.getByText('4 questions of servers wait')).toBeInTheDocument();
  // A tap meant for something else is no yes.
  (button('Send').element() as HTMLElement).click();
  await expect.element(sheet()).toHaveTextContent('One?');
  await button('Decline').click();
  await expect.element(sheet()).toHaveTextContent('Two?');
  await userEvent.keyboard('{Escape}');
  await expect.element(sheet()).toHaveTextContent('Three?');
  history.back();
  await expect.element(sheet()).toHaveTextContent('Four?');
  await button('Cancel').click();
  await expect.element(sheet()).not.toBeInTheDocument();
  expect((await Promise.all(answers)).map(({ action }) => action)).toEqual([
    'decline',
    'cancel',
    'cancel',
    'cancel',
  ]);
});

test('a field for a secret comes with a warning, and does not show what is typed', async () => {
  const { asks } = await open();
  const schema = { properties: { apiKey: { type: 'string' }, city: { type: 'string' } } };
  void asks.asks.elicit(travel, { mode: 'form', message: '', schema }, never());
  await expect.element(sheet()).toHaveTextContent('This looks like a secret.');
  await expect.element(page.getByLabelText('Api key')).toHaveAttribute('type', 'password');
  await expect.element(page.getByLabelText('City')).toHaveAttribute('type', 'text');
  expect(await faults()).toEqual([]);
});

test('a page is named by its real host and opens with a tap alone, in a tab of its own', async () => {
  const { asks } = await open();
  const visit = (url: string) =>
    asks.asks.elicit(travel, { mode: 'url', message: 'Pay', url, elicitationId: 'e' }, never());
  const answer = visit('https://bank.example@pay.evil.example/x?id=1');
  const link = page.getByRole('link', { name: 'Open pay.evil.example' });
  await expect.element(link).toHaveAttribute('target', '_blank');
  await expect.element(link).toHaveAttribute('rel', 'noopener noreferrer');
  await expect.element(link).toHaveAttribute('href', 'https://pay.evil.example/x?id=1');
  await expect.element(sheet()).toHaveTextContent('https://pay.evil.example/x?id=1');
  expect(await faults()).toEqual([]);
  const opened: string[] = [];
  const listen = (event: MouseEvent): void => {
    const { href } = (event.target as Element).closest('a') ?? {};
    if (href && !event.defaultPrevented) opened.push(href);
    event.preventDefault();
  };
  document.addEventListener('click', listen);
  onTestFinished(() => document.removeEventListener('click', listen));
  (link.element() as HTMLElement).click();
  expect(opened).toEqual([]);
  await armed();
  await link.click();
  expect(await answer).toEqual({ action: 'accept' });
  expect(opened).toEqual(['https://pay.evil.example/x?id=1']);
  const bad = visit('javascript:alert(1)');
  await expect.element(sheet()).toHaveTextContent('not an address that Deft opens');
  await expect.element(page.getByRole('link')).not.toBeInTheDocument();
  await button('Decline').click();
  expect(await bad).toEqual({ action: 'decline' });
});

test('a question whose call ended says so, sends nothing, and keeps what was typed in sight', async () => {
  const { asks } = await open();
  const call = new AbortController();
  const answer = asks.asks.elicit(travel, FORM, call.signal);
  await page.getByLabelText('Name').fill('Asha');
  await page.getByLabelText('Story').fill('By train\nfrom Pune');
  const written = vi.spyOn(navigator.clipboard, 'writeText').mockResolvedValue();
  onTestFinished(() => written.mockRestore());
  call.abort();
  await expect.element(sheet()).toHaveTextContent('It no longer waits for this.');
  await expect.element(sheet()).toHaveTextContent('What you wrote stays below');
  await expect.element(page.getByText('Asha', { exact: true })).toBeVisible();
  await button('Copy what you wrote').click();
  expect(written).toHaveBeenCalledWith('Name: Asha\nStory: By train\nfrom Pune');
  expect(await faults()).toEqual([]);
  expect(await answer).toEqual({ action: 'cancel' });
  await expect.element(button('Send')).not.toBeInTheDocument();
  await sheet().getByRole('button', { name: 'Close' }).last().click();
  await expect.element(sheet()).not.toBeInTheDocument();
});

test('what was changed of a request whose call ended stays, too, and no model gets it', async () => {
  const { asks, thinks } = await open();
  const call = new AbortController();
  const answer = asks.asks.sample(travel, REQUEST, call.signal);
  await page.getByLabelText('As the user').fill('Summarise: fog in Agra, in Hindi.');
  call.abort();
  await expect.element(sheet()).toHaveTextContent('It got no answer.');
  await expect.element(page.getByText('Summarise: fog in Agra, in Hindi.')).toBeVisible();
  // What the person did not touch is the server's, and goes.
  await expect.element(page.getByText('Be brief.')).not.toBeInTheDocument();
  expect(await answer).toMatchObject({ ok: false });
  expect(thinks).toEqual([]);
});

const REQUEST: SampleRequest = {
  systemPrompt: 'Be brief.',
  maxTokens: 200,
  messages: [
    { role: 'user', content: [{ type: 'text', text: 'Summarise: fog in Delhi.' }] },
    { role: 'assistant', content: [{ type: 'text', text: 'Sure.' }] },
  ],
};

test('the model is asked with what the person left, and its answer given as the person left it', async () => {
  const shown = await open(false);
  const answer = shown.asks.asks.sample(travel, REQUEST, never());
  await expect.element(sheet()).toHaveTextContent('This is off for this server.');
  await armed();
  await button('Allow for this server').click();
  const words = page.getByRole('textbox', { name: 'As the user' });
  await expect.element(words).toHaveValue('Summarise: fog in Delhi.');
  await expect.element(page.getByLabelText('Instructions for the model')).toHaveValue('Be brief.');
  await expect.element(page.getByLabelText('As the model')).toHaveValue('Sure.');
  await expect.element(sheet()).toHaveTextContent('Nothing leaves this phone');
  expect(await faults()).toEqual([]);
  await words.fill('Summarise: fog.');
  await page.getByText('Cloud', { exact: true }).click();
  await expect.element(sheet()).toHaveTextContent('may leave this phone');
  shown.thought = { ok: false, message: 'There is no cloud key.', advice: 'Add a key.' };
  await armed();
  await button('Ask the model').click();
  await expect.element(page.getByRole('alert')).toHaveTextContent('There is no cloud key.');
  shown.thought = {
    ok: true,
    text: 'Fog, in short.',
    model: 'gemma',
    label: 'Gemma 3',
    place: 'phone',
    stopReason: 'endTurn',
    promptTokens: 41,
    outputTokens: 5,
  };
  await armed();
  await page.getByText('Phone', { exact: true }).click();
  await button('Ask the model').click();
  await expect.element(sheet()).toHaveAccessibleName('Give this answer?');
  await expect
    .element(sheet())
    .toHaveTextContent('Gemma 3, on this phone · read 41 tokens · written 5 tokens');
  expect(await faults()).toEqual([]);
  await page.getByLabelText('The answer').fill('Fog.');
  await armed();
  await button('Give the answer').click();
  expect(await answer).toEqual({ ok: true, text: 'Fog.', model: 'gemma', stopReason: 'endTurn' });
  expect(shown.thinks.map(({ mode }) => mode)).toEqual(['cloud', 'phone']);
  expect(shown.thinks[1]?.request).toMatchObject({
    systemPrompt: 'Be brief.',
    maxTokens: 200,
    messages: [{ content: [{ text: 'Summarise: fog.' }] }, { role: 'assistant' }],
  });
});

test('closing it in any way refuses the model', async () => {
  const { asks } = await open();
  const first = asks.asks.sample(travel, REQUEST, never());
  await expect.element(sheet()).toBeVisible();
  await userEvent.keyboard('{Escape}');
  expect(await first).toMatchObject({ ok: false });
  const second = asks.asks.sample(travel, REQUEST, never());
  await button('Refuse').click();
  expect(await second).toMatchObject({ ok: false });
});
