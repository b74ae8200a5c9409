/** Prompts behind a slash, resources behind the clip: by keyboard, offline, and when something is wrong. */
import { expect, test, vi } from 'vitest';
import { page, userEvent } from 'vitest/browser';
import type { App } from '../../../src/app.ts';
import type { AttachmentPart } from '../../../src/store/records.ts';
import { faults } from './axe.ts';
import { call, conversation, fakeSession, message, said, type FakeSession } from './fake-app.ts';
import { serverView } from './server-view.ts';
import { showConversation } from './render.ts';

const notes = serverView({
  prompts: [
    {
      name: 'summary',
      title: 'Sum up',
      description: 'Sums up a note.',
      arguments: [
        { name: 'note', title: 'Note', required: true },
        { name: 'tone', description: 'E.g. formal.' },
      ],
    },
    { name: 'plan', description: 'Plans the day.' },
  ],
  resources: [
    { uri: 'note:1', name: 'first', title: 'First note', mimeType: 'text/plain' },
    { uri: 'note:2', name: 'second' },
  ],
  templates: [{ uriTemplate: 'note:{id}', name: 'Any note', description: 'By its number.' }],
});

const offline = {
  ok: false,
  error: {
    code: 'offline',
    message: 'There is no network, so Notes cannot be reached.',
    advice: 'Go online and try again.',
  },
} as const;

const box = () => page.getByRole('textbox', { name: 'Message' });
const button = (name: string) => page.getByRole('button', { name, exact: true });
const named = (session: FakeSession, name: string): unknown[][] =>
  session.calls.filter((one) => one.name === name).map(({ args }) => [...args]);

const open = (host: Partial<App['host']>, session = fakeSession()) =>
  showConversation(session, {
    servers: [notes],
    host: { complete: async () => offline, ...host },
  });

test('a slash offers the prompts, the keys choose one, its form is completed and its words come into the box', async () => {
  const getPrompt = vi.fn<App['host']['getPrompt']>(async () => ({
    ok: true,
    value: {
      messages: [
        { role: 'user', content: { type: 'text', text: 'Sum up this note.' } },
        {
          role: 'user',
          content: { type: 'resource', resource: { uri: 'note:1', text: 'Buy milk.' } },
        },
      ],
    },
  }));
  const complete = vi.fn<App['host']['complete']>(async () => ({
    ok: true,
    value: { values: ['groceries', 'ideas'], hasMore: false },
  }));
  const { session } = await open({ getPrompt, complete });
  await box().click();
  await userEvent.keyboard('/');
  const list = page.getByRole('listbox', { name: 'Prompts' });
  await expect.element(list.getByRole('option')).toHaveLength(2);
  await expect
    .element(list.getByRole('option', { selected: true }))
    .toHaveTextContent('/summary Notes Sums up a note.');
  await userEvent.keyboard('{ArrowDown}');
  const plan = list.getByRole('option', { selected: true });
  await expect.element(plan).toHaveTextContent('/plan');
  await expect.element(box()).toHaveAttribute('aria-activedescendant', plan.element().id);
  await expect.element(box()).toHaveFocus();
  expect(await faults()).toEqual([]);
  await userEvent.keyboard('sum');
  await expect.element(list.getByRole('option')).toHaveLength(1);
  await userEvent.keyboard('{Enter}');
  const sheet = page.getByRole('dialog', { name: 'Sum up' });
  await expect.element(sheet).toBeVisible();
  expect(await faults()).toEqual([]);
  await button('Use it').click();
  const note = page.getByLabelText('Note');
  await expect.element(note).toHaveFocus();
  await expect.element(note).toHaveAccessibleDescription('Fill this in.');
  await userEvent.keyboard('gro');
  await expect
    .poll(() => complete.mock.lastCall?.slice(0, 4))
    .toEqual(['notes', { type: 'prompt', name: 'summary' }, { name: 'note', value: 'gro' }, {}]);
  await expect
    .poll(() =>
      [...document.querySelectorAll('datalist option')].map((it) => it.getAttribute('value')),
    )
    .toEqual(['groceries', 'ideas']);
  await userEvent.keyboard('ceries{Enter}');
  await expect.element(box()).toHaveValue('Sum up this note.');
  expect(getPrompt.mock.lastCall?.slice(0, 3)).toEqual(['notes', 'summary', { note: 'groceries' }]);
  // The words are the server's until the person has typed them.
  const theirs = [{ source: 'Notes', text: 'Sum up this note.' }];
  expect(named(session, 'setDraft')).toContainEqual(['Sum up this note.', theirs]);
  await expect.element(page.getByRole('list', { name: 'Attached' })).toHaveTextContent('note:1');
  expect(named(session, 'send')).toEqual([]);
  await button('Send').click();
  expect(named(session, 'send')).toMatchObject([
    ['Sum up this note.', { attached: [{ uri: 'note:1', serverName: 'Notes' }] }],
  ]);
});

test('a prompt of a server that cannot be reached says so; a lone slash goes as it is', async () => {
  const getPrompt = vi
    .fn<App['host']['getPrompt']>()
    .mockRejectedValueOnce(new Error('broken'))
    .mockResolvedValueOnce(offline)
    .mockResolvedValueOnce({
      ok: true,
      value: { messages: [{ role: 'user', content: { type: 'text', text: 'Plan my day.' } }] },
    });
  const { session } = await open({ getPrompt });
  await box().click();
  await userEvent.keyboard('/pl');
  await expect.element(page.getByRole('option', { name: /plan/ })).toBeVisible();
  await userEvent.keyboard('{Enter}');
  const sheet = page.getByRole('dialog', { name: 'plan' });
  await expect.element(sheet.getByRole('alert')).toHaveTextContent('Something in Deft failed.');
  await button('Try again').click();
  await expect.element(sheet.getByRole('alert')).toHaveTextContent('Notes cannot be reached');
  await button('Try again').click();
  await expect.element(box()).toHaveValue('Plan my day.');
  await box().fill('');
  await userEvent.keyboard('/');
  await expect.element(page.getByRole('listbox')).toBeVisible();
  await userEvent.keyboard('{Escape}');
  await expect.element(page.getByRole('listbox')).not.toBeInTheDocument();
  await userEvent.keyboard('{Enter}');
  expect(named(session, 'send')).toEqual([['/', undefined]]);
});

test('a resource is searched, read and attached; changed at its server it is read anew; it goes without words, too', async () => {
  let text = 'Buy milk.';
  let changed = (): void => undefined;
  const stop = vi.fn();
  const readResource = vi
    .fn<App['host']['readResource']>(async (_id, uri) => ({ ok: true, value: [{ uri, text }] }))
    .mockRejectedValueOnce(new Error('broken'))
    .mockResolvedValueOnce(offline);
  const { session } = await open({
    readResource,
    async watchResource(_id, _uri, listener) {
      changed = listener;
      return stop;
    },
  });
  await button('Attach a picture or resource').click();
  const sheet = page.getByRole('dialog', { name: 'Attach a picture or resource' });
  await expect.element(sheet.getByRole('listitem')).toHaveLength(3);
  expect(await faults()).toEqual([]);
  await page.getByLabelText('Search').fill('first');
  await expect.element(sheet.getByRole('listitem')).toHaveLength(1);
  await sheet.getByRole('button', { name: /First note/ }).click();
  await expect.element(sheet.getByRole('alert')).toHaveTextContent('Something in Deft failed.');
  await sheet.getByRole('button', { name: /First note/ }).click();
  await expect.element(sheet.getByRole('alert')).toHaveTextContent('Go online and try again.');
  await sheet.getByRole('button', { name: /First note/ }).click();
  await expect.element(sheet).not.toBeInTheDocument();
  const list = page.getByRole('list', { name: 'Attached' });
  await expect.element(list).toHaveTextContent('First note Notes');
  text = 'Buy milk and tea.';
  changed();
  await expect.element(list).toHaveTextContent('Changed since attached');
  expect(await faults()).toEqual([]);
  await button('Update First note').click();
  await expect.element(list).not.toHaveTextContent('Changed');
  await list.getByRole('button', { name: 'First note Notes' }).click();
  const viewer = page.getByRole('dialog', { name: 'First note' });
  await expect.element(viewer).toHaveTextContent('Buy milk and tea.');
  expect(await faults()).toEqual([]);
  await userEvent.keyboard('{Escape}');
  await button('Send').click();
  const [[words, options]] = named(session, 'send') as [
    [string, { attached: readonly AttachmentPart[] }],
  ];
  expect(words).toBe('');
  expect(options.attached[0]).toMatchObject({
    content: [{ type: 'resource', resource: { text: 'Buy milk and tea.' } }],
  });
  // Sent: it hangs on the draft no more. What the server tells of it is said at the message, and read by nobody.
  await expect.element(list).not.toBeInTheDocument();
  const reads = readResource.mock.calls.length;
  session.show({ messages: [message('user', options.attached)] });
  const chip = page.getByRole('button', { name: /^First note/ });
  await expect.element(chip).toHaveTextContent('First note Notes');
  changed();
  await expect.element(chip).toHaveTextContent('First note Changed since attached');
  await expect.element(button('Update First note')).not.toBeInTheDocument();
  expect(readResource).toHaveBeenCalledTimes(reads);
});

test('an address with gaps asks for its values first, and what is attached can be taken off again', async () => {
  const readResource = vi.fn<App['host']['readResource']>(async (_id, uri) => ({
    ok: true,
    value: [{ uri, text: 'Words.' }],
  }));
  await open({ readResource });
  await button('Attach a picture or resource').click();
  await page.getByRole('button', { name: /Any note/ }).click();
  await button('Attach').click();
  await expect.element(page.getByLabelText('Id')).toHaveFocus();
  await userEvent.keyboard('a b{Enter}');
  await expect.element(page.getByRole('dialog')).not.toBeInTheDocument();
  expect(readResource.mock.lastCall?.[1]).toBe('note:a%20b');
  await button('Remove note:a b').click();
  await expect.element(page.getByRole('list', { name: 'Attached' })).not.toBeInTheDocument();
  await expect.element(button('Send')).toBeDisabled();
});

test('without servers that have any, there is no list, and the clip is for pictures', async () => {
  await showConversation(fakeSession());
  await box().fill('/');
  await expect.element(button('Send')).toBeEnabled();
  await expect.element(page.getByRole('listbox')).not.toBeInTheDocument();
  await expect.element(button('Attach a picture')).toBeVisible();
});

test('what was attached is shown with the words, and queued words take theirs back with them', async () => {
  const part: AttachmentPart = {
    kind: 'attachment',
    step: 0,
    server: 'notes',
    serverName: 'Notes',
    uri: 'note:1',
    name: 'First note',
    content: [{ type: 'text', text: 'Buy milk.' }],
    at: 1,
  };
  const sent = said('Read it');
  const { session } = await open(
    {},
    fakeSession({
      messages: [{ ...sent, parts: [...sent.parts, part] }],
      conversation: conversation({ queue: [{ text: 'And this', attached: [part] }] }),
    }),
  );
  await expect.element(page.getByRole('button', { name: 'First note Notes' })).toBeVisible();
  await button('Take back').click();
  await expect.element(box()).toHaveValue('And this');
  // The session hangs it on the draft as it gives the words back.
  expect(named(session, 'setAttached')).toEqual([]);
  await expect
    .element(page.getByRole('list', { name: 'Attached' }).getByText('First note'))
    .toBeVisible();
});

const WAV = (() => {
  const samples = 800;
  const bytes = new Uint8Array(44 + samples);
  const view = new DataView(bytes.buffer);
  const ascii = (at: number, text: string) =>
    [...text].forEach((char, n) => view.setUint8(at + n, char.charCodeAt(0)));
  ascii(0, 'RIFF');
  view.setUint32(4, 36 + samples, true);
  ascii(8, 'WAVEfmt ');
  view.setUint32(16, 16, true);
  view.setUint16(20, 1, true);
  view.setUint16(22, 1, true);
  view.setUint32(24, 8000, true);
  view.setUint32(28, 8000, true);
  view.setUint16(32, 1, true);
  view.setUint16(34, 8, true);
  ascii(36, 'data');
  view.setUint32(40, samples, true);
  bytes.fill(128, 44);
  return btoa(String.fromCharCode(...bytes));
})();
const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

test('everything of a result is shown, nothing is fetched, and a link is read through its server', async () => {
  const readResource = vi.fn<App['host']['readResource']>(async (_id, uri) => ({
    ok: true,
    value: [{ uri, text: 'The linked words.' }],
  }));
  const done = call({
    title: 'Everything',
    server: 'notes',
    asked: [
      { kind: 'form', message: 'Who travels?', answer: 'sent', at: 1, ms: 2000 },
      {
        kind: 'model',
        message: 'An answer of the model',
        answer: 'sent',
        at: 1,
        ms: 4000,
        label: 'Gemma 3',
        place: 'phone',
        promptTokens: 41,
        outputTokens: 5,
      },
    ],
    outcome: {
      kind: 'result',
      note: 'It is not of the shape that its tool promised.',
      structured: { total: 3 },
      content: [
        { type: 'text', text: '{"total":3}' },
        { type: 'text', text: 'Plain words beside it.' },
        { type: 'image', data: PNG, mimeType: 'image/png' },
        { type: 'image', data: 'AAAA', mimeType: 'image/png' },
        { type: 'audio', data: WAV, mimeType: 'audio/wav' },
        { type: 'audio', data: 'AAAA', mimeType: 'audio/wav' },
        { type: 'resource_link', uri: 'https://good.example@evil.example/x', name: 'Your bank' },
        { type: 'resource_link', uri: 'note:2', name: 'Second note', description: 'Of tea.' },
        {
          type: 'resource',
          resource: { uri: 'file:///a/report.zip', mimeType: 'application/zip', blob: 'QUJD' },
        },
      ],
    },
  });
  await open(
    { readResource },
    fakeSession({ messages: [said('Go'), message('assistant', [done])] }),
  );
  await page.getByRole('button', { name: /Everything/ }).click();
  const card = page.getByRole('region', { name: /Everything/ });
  for (const words of [
    'It is not of the shape',
    'Plain words beside it.',
    'Asked you: answered, after 2 s',
    'Who travels?',
    'Gemma 3, on this phone · read 41 tokens · written 5 tokens',
    'Your bank (evil.example)',
    'Second note',
    'Of tea.',
    'An image that is broken',
    'A sound that is broken',
  ])
    await expect.element(card).toHaveTextContent(words);
  const image = page.getByRole('img', { name: 'Image from the tool' });
  await expect.poll(() => (image.element() as HTMLImageElement).naturalWidth).toBe(1);
  expect(image.element().getAttribute('src')).toMatch(/^blob:/);
  await expect
    .poll(() => (document.querySelector('audio') as HTMLAudioElement).duration)
    .toBeCloseTo(0.1, 2);
  const file = page.getByRole('link', { name: 'Save report.zip' });
  await expect.element(file).toHaveAttribute('download', 'report.zip');
  expect(readResource).not.toHaveBeenCalled();
  await button('Read it through its server').last().click();
  await expect.element(card).toHaveTextContent('The linked words.');
  expect(readResource.mock.lastCall?.slice(0, 2)).toEqual(['notes', 'note:2']);
  const fetched = performance.getEntriesByType('resource').map(({ name }) => name);
  expect(fetched.filter((name) => name.includes('.example'))).toEqual([]);
  expect(await faults()).toEqual([]);
});

test('a call that reports progress shows it and can be stopped', async () => {
  const running = call({ title: 'Long one', state: 'running', outcome: undefined });
  const { session } = await open(
    {},
    fakeSession({
      messages: [said('Go'), message('assistant', [running], { state: 'running' })],
      activity: {
        kind: 'calling',
        callId: running.callId,
        progress: { [running.callId]: { progress: 3, total: 4, message: 'Step 3 of 4' } },
      },
    }),
  );
  const bar = page.getByRole('progressbar', { name: 'Step 3 of 4' });
  await expect.element(bar).toHaveAttribute('value', '0.75');
  await page
    .getByRole('region', { name: /Long one/ })
    .getByText('Stop')
    .click();
  expect(named(session, 'stop')).toHaveLength(1);
});

test('a call whose outcome nobody knows offers to check with the server’s own read tools', async () => {
  const doubtful = call({
    title: 'Book a flight',
    args: { flight: '6E 5312' },
    days: [],
    outcome: {
      kind: 'unknown',
      message: 'Outcome unknown.',
      advice: 'Check before you repeat it.',
    },
  });
  const readers = ['List bookings', 'Find a booking'].map((title) => ({ name: title, title }));
  const { session } = await open(
    { readersOf: async () => readers as never },
    fakeSession({ messages: [said('Book'), message('assistant', [doubtful])] }),
  );
  await button('Check').click();
  await button('List bookings').click();
  await expect
    .element(box())
    .toHaveValue(
      'Use “List bookings” of Travel to check whether this took effect: Book a flight, 6E 5312.',
    );
  // What the server calls itself and its tools, and what the model called them with, the person did not say.
  const theirs = [{ source: 'Travel', text: 'Travel\nList bookings\nBook a flight, 6E 5312' }];
  expect(named(session, 'setDraft').at(-1)?.[1]).toEqual(theirs);
});
