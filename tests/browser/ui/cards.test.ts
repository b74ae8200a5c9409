/** Cards, notices and receipts: everything a turn did is told, and what can be done is offered. */
import { expect, onTestFinished, test, vi } from 'vitest';
import { page } from 'vitest/browser';
import { reportOf } from '../../../src/mcp/report.ts';
import type { CallPart, NoticeAction, Outcome, Part } from '../../../src/store/records.ts';
import {
  call,
  fakeSession,
  message,
  notice,
  route,
  said,
  step,
  text,
  type FakeSession,
} from './fake-app.ts';
import { showConversation, type Shown } from './render.ts';

type State = Parameters<typeof message>[2];

const turn = (parts: readonly Part[], state: State = {}): FakeSession =>
  fakeSession({ messages: [said('Please'), message('assistant', parts, state)] });

async function openCard(part: CallPart, options = {}): Promise<Shown> {
  const shown = await showConversation(turn([part]), options);
  await page.getByRole('button', { name: part.title }).click();
  return shown;
}

const result = (content: Outcome extends infer O ? O : never): Partial<CallPart> => ({
  outcome: content,
});

test.each<[string, Partial<CallPart>, State, string]>([
  ['proposed', { state: 'proposed' }, { state: 'running' }, 'Waiting'],
  ['allowed', { state: 'allowed' }, { state: 'running' }, 'About to run'],
  ['running', { state: 'running' }, { state: 'running' }, 'Running'],
  ['cut off', { state: 'running' }, { state: 'stopped' }, 'Cut off, outcome unknown'],
  ['denied', { state: 'denied' }, {}, 'You said no'],
  ['refused', { state: 'refused' }, {}, 'Not allowed'],
  ['result', { outcome: { kind: 'result', content: [] } }, {}, 'Done'],
  [
    'tool error',
    { outcome: { kind: 'tool_error', content: [] } },
    {},
    'The tool reported an error',
  ],
  [
    'unavailable',
    { outcome: { kind: 'unavailable', code: 'offline', message: 'No network.', advice: 'Wait.' } },
    {},
    'Could not be reached',
  ],
  [
    'timeout',
    { outcome: { kind: 'timeout', message: 'It took too long.', advice: 'Try later.' } },
    {},
    'No answer in time',
  ],
  [
    'unknown',
    { outcome: { kind: 'unknown', message: 'The line broke.', advice: 'Look there.' } },
    {},
    'Outcome unknown',
  ],
])('a call that is %s says so', async (_name, change, state, label) => {
  const part = call({ state: 'done', ...change });
  const session = turn([part], state);
  if (state?.state === 'running')
    session.show({ activity: { kind: 'calling', callId: part.callId, progress: {} } });
  await showConversation(session);
  const card = page.getByRole('region', { name: `Find flights, Travel: ${label}` });
  await expect.element(card).toBeVisible();
  if (change.outcome && 'message' in change.outcome) {
    await expect.element(card).toHaveTextContent(change.outcome.message);
    await expect.element(card).toHaveTextContent(change.outcome.advice);
  }
});

test('a running call shows how far it is', async () => {
  const part = call({ state: 'running' });
  const session = turn([part], { state: 'running' });
  session.show({
    activity: {
      kind: 'calling',
      callId: part.callId,
      progress: { [part.callId]: { progress: 3, total: 4, message: 'Asking airlines' } },
    },
  });
  await showConversation(session);
  const bar = page.getByRole('progressbar', { name: 'Asking airlines' });
  await expect.element(bar).toHaveAttribute('value', '0.75');
});

test('like objects are a table, others fold, and what is there twice is shown once', async () => {
  const flights = [1, 2].map((n) => ({ flight: `6E ${n}`, price: n * 100 }));
  await openCard(
    call(
      result({
        kind: 'result',
        content: [
          { type: 'text', text: JSON.stringify({ flights }) },
          { type: 'text', text: 'and more words' },
        ],
        structured: { flights },
      }),
    ),
  );
  await expect.element(page.getByRole('columnheader', { name: 'Flight' })).toBeVisible();
  await expect.element(page.getByRole('cell', { name: '6E 2' })).toBeVisible();
  await expect.element(page.getByText('and more words')).toBeVisible();
  expect(document.querySelectorAll('table')).toHaveLength(1);
});

test('a big result folds, and all of it can be opened', async () => {
  const words = `begin ${'x'.repeat(5000)} end`;
  await openCard(
    call(
      result({
        kind: 'result',
        content: [
          { type: 'text', text: words },
          {
            type: 'text',
            text: JSON.stringify({ list: Array.from({ length: 400 }, (_, i) => `piece ${i}`) }),
          },
        ],
      }),
    ),
  );
  await expect.element(page.getByText(/ end$/)).not.toBeInTheDocument();
  await page.getByRole('button', { name: /^Show all 5,010 characters$/ }).click();
  await expect.element(page.getByText(/ end$/)).toBeInTheDocument();
  const list = page.getByText('400 items');
  await list.click();
  await page.getByRole('button', { name: 'Show 200 more of 400' }).click();
  await page.getByRole('button', { name: 'Show 150 more of 400' }).click();
  await expect.element(page.getByText('piece 399')).toBeInTheDocument();
});

test('pictures come from the result itself, never from an address', async () => {
  const pixel =
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
  const { root } = await openCard(
    call(
      result({
        kind: 'result',
        content: [
          { type: 'image', data: pixel, mimeType: 'image/png' },
          { type: 'image', data: 'https://evil.example/x.png', mimeType: 'image/png' },
          { type: 'resource_link', uri: 'https://files.example/report.pdf', name: 'Report' },
          { type: 'resource_link', uri: 'javascript:alert(1)', name: 'Trap' },
        ],
      }),
    ),
  );
  await expect.element(page.getByRole('img', { name: 'Image from the tool' })).toBeVisible();
  expect([...root.querySelectorAll('img')].every((image) => image.src.startsWith('blob:'))).toBe(
    true,
  );
  expect([...root.querySelectorAll('.result a')].map((link) => link.textContent)).toEqual([
    'Report',
  ]);
});

test('a result that is HTML stays text', async () => {
  const { root } = await openCard(
    call(
      result({
        kind: 'result',
        content: [{ type: 'text', text: '<img src=x onerror=alert(1)><script>1</script>' }],
      }),
    ),
  );
  await expect.element(page.getByText('<img src=x')).toBeVisible();
  expect(root.querySelector('.result img, .result script')).toBeNull();
});

test('a standing yes can be taken back on the card', async () => {
  const { app } = await openCard(call({ outcome: { kind: 'result', content: [] } }), {
    grants: [
      {
        id: 'g1',
        serverName: 'Travel',
        tool: 'find_flights',
        verdict: 'allow',
        conversation: null,
        createdAt: 1,
      },
    ],
  });
  await page.getByRole('button', { name: 'Ask again from now on' }).click();
  expect(app.calls).toContainEqual({ name: 'revokeTool', args: ['travel', 'find_flights'] });
  await expect.element(page.getByText('Runs without asking.')).not.toBeInTheDocument();
});

test('a call that was not usable is small, and whole when opened', async () => {
  await showConversation(
    turn([
      {
        kind: 'badcall',
        step: 1,
        callId: 'b',
        name: 'get_wether',
        raw: 'get_wether(',
        error: 'No.',
      },
    ]),
  );
  await page.getByRole('button', { name: /get_wether/ }).click();
  await expect.element(page.getByText('get_wether(', { exact: true })).toBeVisible();
});

test.each<[NoticeAction, string, unknown[] | null]>([
  ['continue', 'Continue', [undefined]],
  ['retry', 'Try again', [undefined]],
  ['cloud', 'Use the cloud', [{ place: 'cloud' }]],
])('the notice that offers %s does it', async (action, label, args) => {
  const { session } = await showConversation(
    turn([notice({ action, advice: 'What to do.' })], { state: 'paused' }),
  );
  await expect.element(page.getByText('I stopped after 8 steps.')).toBeVisible();
  await expect.element(page.getByText('What to do.')).toBeVisible();
  await page.getByRole('button', { name: label }).click();
  expect(session.calls.find(({ name }) => name === 'resume')?.args).toEqual(args);
});

test.each<[NoticeAction, string, string]>([
  ['models', 'Models', '/models'],
  ['keys', 'Cloud keys', '/cloud'],
  ['servers', 'Servers', '/servers'],
])('the notice that offers %s leads there', async (action, label, path) => {
  const home = location.pathname + location.search;
  await showConversation(turn([notice({ code: 'brain-auth', action })], { state: 'paused' }));
  await page.getByRole('button', { name: label, exact: true }).click();
  await expect.poll(() => location.pathname).toBe(path);
  history.replaceState(null, '', home);
});

test('only the last turn offers to go on', async () => {
  await showConversation(
    fakeSession({
      messages: [
        said('One'),
        message('assistant', [notice({ action: 'continue' })], { state: 'paused' }),
        said('Two'),
        message('assistant', [text('Done.')]),
      ],
    }),
  );
  await expect.element(page.getByText('I stopped after 8 steps.')).toBeVisible();
  await expect.element(page.getByRole('button', { name: 'Continue' })).not.toBeInTheDocument();
});

test('a turn that was cut off says so and can be resumed', async () => {
  const session = turn([text('Half an ans')], { state: 'running' });
  session.show({ interrupted: true });
  await showConversation(session);
  await page.getByRole('button', { name: 'Resume' }).click();
  expect(session.calls.map(({ name }) => name)).toContain('resume');
});

test('a turn that was stopped can go on', async () => {
  const { session } = await showConversation(turn([text('Half')], { state: 'stopped' }));
  await expect.element(page.getByText('You stopped it here.')).toBeVisible();
  await page.getByRole('button', { name: 'Go on' }).click();
  expect(session.calls.map(({ name }) => name)).toContain('resume');
});

test('a receipt tells where, why, how fast, and what left the phone', async () => {
  const left = JSON.stringify({ messages: [{ role: 'user', content: 'Please' }] });
  await showConversation(
    turn([
      route(),
      call({ mended: 'a trailing comma' }),
      step(),
      route({
        step: 2,
        place: 'cloud',
        label: 'Big model',
        rule: 'bad-call',
        reason: 'The phone wrote a call that did not fit.',
      }),
      step({
        step: 2,
        usage: { promptTokens: 1204, outputTokens: 310, cost: 0.00123 },
        sent: { to: 'api.example', text: left },
      }),
      text('Here you are.', 2),
    ]),
  );
  await page.getByRole('button', { name: /Phone, then cloud · Big model/ }).click();
  for (const words of [
    'You chose Phone.',
    'The phone wrote a call that did not fit.',
    'Rule: bad-call',
    '812 tokens, 640 from before',
    '0.8 s',
    '14.2 tokens a second',
    'Put right in the call of Find flights: a trailing comma.',
    '$0.0012',
  ])
    await expect.element(page.getByText(words)).toBeVisible();
  await page.getByRole('button', { name: 'What left the phone' }).click();
  const sheet = page.getByRole('dialog', { name: 'What left the phone' });
  await expect.element(sheet).toHaveTextContent('api.example');
  await expect.element(sheet.getByText(left)).toBeVisible();
});

test('an answer can be made again elsewhere', async () => {
  const { session } = await showConversation(turn([route(), text('Hm.')]));
  await page.getByRole('button', { name: 'More for this answer' }).click();
  await page.getByRole('button', { name: 'In the cloud' }).click();
  expect(session.calls.find(({ name }) => name === 'regenerate')?.args).toEqual([
    { place: 'cloud' },
  ]);
});

test('a conversation is renamed and deleted', async () => {
  const { session, app } = await showConversation(turn([text('Hm.')]));
  await page.getByRole('button', { name: 'More', exact: true }).click();
  await page.getByRole('button', { name: 'Rename' }).click();
  const title = page.getByRole('textbox', { name: 'Title' });
  await expect.element(title).toHaveValue('A trip to Mumbai');
  await title.fill('Another name');
  const sheet = page.getByRole('dialog', { name: 'Rename' });
  await sheet.getByRole('button', { name: 'Rename' }).click();
  await expect.element(page.getByRole('heading', { name: 'Another name' })).toBeVisible();
  expect(session.calls.map(({ name }) => name)).toContain('rename');
  await page.getByRole('button', { name: 'More', exact: true }).click();
  await page.getByRole('button', { name: 'Delete' }).click();
  await expect.element(page.getByText('This cannot be undone.', { exact: false })).toBeVisible();
  const home = location.pathname + location.search;
  const last = page.getByRole('dialog', { name: 'Delete this conversation?' });
  await last.getByRole('button', { name: 'Delete', exact: true }).click();
  await expect.poll(() => app.calls).toContainEqual({ name: 'delete', args: ['c1'] });
  history.replaceState(null, '', home);
});

test('a call that failed at its server has a report, with what its own answer looked like', async () => {
  const seen = { status: 429, headers: { 'retry-after': '30' } };
  const part = call({
    state: 'done',
    endedAt: 0,
    outcome: {
      kind: 'unavailable',
      code: 'rate',
      message: 'Travel gets too many requests.',
      advice: 'Try again in 30 seconds.',
      detail: { seen, text: 'HTTP 429' },
    },
  });
  const written = vi.spyOn(navigator.clipboard, 'writeText').mockResolvedValue();
  onTestFinished(() => written.mockRestore());
  const { app } = await openCard(part);
  app.serverReport = async (...about) => reportOf(...about);
  await page.getByRole('button', { name: 'Copy report', exact: true }).click();
  await expect.element(page.getByRole('button', { name: 'Copied', exact: true })).toBeVisible();
  const report = written.mock.calls[0]?.[0] ?? '';
  for (const line of [
    'Tried: Call find_flights',
    'What happened: Travel gets too many requests.',
    'Kind: rate',
    'Status: 429',
    'retry-after: 30',
    'Detail: HTTP 429',
  ])
    expect(report.split('\n')).toContain(line);
});

test('a tool that says itself what was wrong has no report of its server', async () => {
  const content = [{ type: 'text', text: 'No such city.' }];
  await openCard(call({ state: 'done', outcome: { kind: 'tool_error', content } }));
  await expect.element(page.getByText('No such city.')).toBeVisible();
  await expect
    .element(page.getByRole('button', { name: 'Copy report', exact: true }))
    .not.toBeInTheDocument();
});
