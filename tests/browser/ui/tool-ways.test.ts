/**
 * What the person decides of single tools: how each stands, how it is undone, and whether a changed one
 * is taken as it is now.
 */
import { expect, test, vi } from 'vitest';
import { page, userEvent } from 'vitest/browser';
import type { App, ToolMode } from '../../../src/app.ts';
import type { ServerTool, ServerView } from '../../../src/mcp/types.ts';
import { differenceOf } from '../../../src/policy/difference.ts';
import { navigate } from '../../../src/ui/router.ts';
import Grants from '../../../src/ui/screens/Grants.svelte';
import Server from '../../../src/ui/screens/Server.svelte';
import { faults } from './axe.ts';
import { fakeSession } from './fake-app.ts';
import { show } from './render.ts';
import { serverView } from './server-view.ts';

const tool = (name: string, title: string, more: Partial<ServerTool> = {}): ServerTool => ({
  name,
  title,
  description: `Does what ${title} says.`,
  inputSchema: { type: 'object', properties: { title: { type: 'string' } } },
  pin: 'f'.repeat(64),
  on: true,
  ...more,
});
const create = tool('create_event', 'Create event', {
  outputSchema: { type: 'object', properties: { id: { type: 'string' } } },
});
const remove = tool('delete_event', 'Delete event', {
  annotations: { destructiveHint: true },
  inputSchema: {
    type: 'object',
    properties: { id: { type: 'string' }, note: { type: 'string' }, more: {} },
    required: ['id', 'note'],
  },
});

const button = (name: string) => page.getByRole('button', { name, exact: true });
const modeOf = (title: string, mode: string) =>
  page
    .getByRole('group', { name: `Before ${title} runs`, exact: true })
    .getByRole('radio', { name: mode, exact: true });

/** A radio button lies under its face, which is what a finger meets. */
const tapMode = (title: string, mode: string) =>
  page
    .getByRole('group', { name: `Before ${title} runs`, exact: true })
    .getByText(mode, { exact: true })
    .click();

/** Shows a server's page over views that can be changed as another tab would. */
async function open(view: ServerView, host: Partial<App['host']> = {}) {
  const views = [view];
  const listeners = new Set<() => void>();
  const modes = new Map<string, ToolMode>();
  const setMode = vi.fn(async ({ tool: name }: { tool: string }, mode: ToolMode) => {
    modes.set(name, mode);
  });
  const setUndo = vi.fn<App['host']['setUndo']>(async () => undefined);
  navigate(`/servers/${view.record.id}`, { replace: true });
  await show(Server, {}, fakeSession(), {
    servers: views,
    standing: { setMode, modes: async () => new Map(modes) },
    host: {
      setUndo,
      list: async () => [...views],
      subscribe: (listener) => {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
      ...host,
    },
    safety: {
      isConsequential: async ({ annotations }) => annotations?.destructiveHint === true,
      difference: async (...input) => differenceOf(...input),
    },
  });
  const changed = () => listeners.forEach((listener) => listener());
  return { setMode, setUndo, modes, views, changed };
}

test('each tool is asked about, let run or never; what pays or deletes is let run after a warning', async () => {
  const reads = tool('list_events', 'List events', { annotations: { readOnlyHint: true } });
  const held = tool('move_event', 'Move event', { held: tool('move_event', 'Move an event') });
  const { setMode, modes, changed } = await open(
    serverView({ record: { trustHints: true }, tools: [create, remove, reads, held] }),
  );
  const pin = create.pin;
  await expect.element(modeOf('Create event', 'Ask')).toBeChecked();
  await expect.element(modeOf('List events', 'Runs, it only reads')).toBeChecked();
  await expect.element(modeOf('Move event', 'Allow')).toBeDisabled();
  modeOf('Create event', 'Ask').element().focus();
  await userEvent.keyboard('{ArrowRight}');
  await vi.waitFor(() =>
    expect(setMode).toHaveBeenLastCalledWith(
      { server: 'notes', tool: 'create_event', pin },
      'allow',
    ),
  );

  await tapMode('Delete event', 'Allow');
  const sheet = page.getByRole('dialog', { name: 'Let Delete event run without asking?' });
  await expect.element(sheet).toBeVisible();
  expect(await faults()).toEqual([]);
  await button('Keep asking').click();
  await expect.element(modeOf('Delete event', 'Ask')).toBeChecked();
  expect(setMode).toHaveBeenCalledTimes(1);
  await tapMode('Delete event', 'Allow');
  await button('Allow it').click();
  await expect.element(sheet).not.toBeInTheDocument();
  const at = { server: 'notes', tool: 'delete_event', pin };
  expect(setMode).toHaveBeenLastCalledWith(at, 'allow', true);
  await expect.element(modeOf('Delete event', 'Allow')).toBeChecked();

  modes.set('create_event', 'never');
  changed();
  await expect.element(modeOf('Create event', 'Never')).toBeChecked();
  expect(await faults()).toEqual([]);
});

test('a mode that could not be stored says so, and the one in force is shown', async () => {
  const { setMode } = await open(serverView({ tools: [create, remove] }));
  setMode.mockRejectedValueOnce(new Error('no room'));
  await tapMode('Create event', 'Never');
  await expect.element(page.getByRole('alert')).toBeVisible();
  await expect.element(modeOf('Create event', 'Ask')).toBeChecked();
});

test('the person says with which tool another is undone, and where its values come from', async () => {
  const { setUndo, views, changed } = await open(serverView({ tools: [create, remove] }));
  await page.getByText('Details', { exact: true }).first().click();
  await button('Undo Create event with…').click();
  await button('Keep it').click();
  await expect.element(page.getByText('Choose a tool, or close this.')).toBeVisible();
  await page.getByLabelText('The tool that undoes it').selectOptions('Delete event');
  await expect.element(page.getByLabelText('Its id', { exact: true })).toHaveValue('result.id');
  await button('Keep it').click();
  await expect.element(page.getByText('Choose where the value comes from.')).toBeVisible();
  await page.getByLabelText('Its note', { exact: true }).selectOptions('A fixed text');
  await page.getByLabelText('Text for note', { exact: true }).fill('taken back');
  expect(await faults()).toEqual([]);
  await button('Keep it').click();
  const rule = { tool: 'delete_event', arguments: { id: '$result.id', note: 'taken back' } };
  expect(setUndo).toHaveBeenCalledWith('notes', 'create_event', rule);

  views[0] = { ...views[0]!, undo: [{ of: 'create_event', ...rule }] };
  changed();
  await expect.element(page.getByText('Undone with delete_event, as you chose')).toBeVisible();
  await button('Undo Create event with…').click();
  await expect
    .element(page.getByLabelText('Text for note', { exact: true }))
    .toHaveValue('taken back');
  await button('Take it back').click();
  expect(setUndo).toHaveBeenLastCalledWith('notes', 'create_event', null);
});

test('changed tools are held with their differences; each is accepted or turned off, however quick the taps', async () => {
  const before = tool('send_note', 'Send note', {
    description: 'Sends a note to you.',
    pin: 'a'.repeat(64),
  });
  const changedSend = tool('send_note', 'Send note', {
    description: 'Sends a note to everybody.',
    inputSchema: {
      type: 'object',
      properties: { title: { type: 'string' }, to: { type: 'string' } },
      required: ['to'],
    },
    held: before,
  });
  const changedPut = tool('put_note', 'Put note', {
    undo: { tool: 'wipe', arguments: {} },
    held: tool('put_note', 'Put note', { pin: 'b'.repeat(64) }),
  });
  const gates: (() => void)[] = [];
  const acceptTool = vi.fn<App['host']['acceptTool']>(
    () => new Promise((done) => gates.push(done)),
  );
  const setTool = vi.fn<App['host']['setTool']>(async () => undefined);
  const start = serverView({ tools: [changedSend, changedPut] });
  const { views, changed } = await open(start, { acceptTool, setTool });
  const send = page.getByRole('region', { name: 'Send note of Notes has changed', exact: true });
  const put = page.getByRole('region', { name: 'Put note of Notes has changed', exact: true });
  await expect.element(send).toHaveTextContent('Sends a note to you.everybody.');
  await expect.element(send).toHaveTextContent('New argument “to”, which it must be given.');
  await expect.element(put).toHaveTextContent('Its server now says that it is undone by “wipe”');
  expect(await faults()).toEqual([]);

  await send.getByRole('button', { name: 'Accept the change', exact: true }).click();
  await put.getByRole('button', { name: 'Turn it off', exact: true }).click();
  expect(acceptTool).toHaveBeenCalledWith('notes', 'send_note', changedSend.pin);
  expect(setTool).not.toHaveBeenCalled();
  gates.shift()?.();
  await vi.waitFor(() => expect(setTool).toHaveBeenCalledWith('notes', 'put_note', false));

  // One more look: what is held is read off the list, and nothing else.
  const { held, ...taken } = changedSend;
  views[0] = { ...start, tools: [taken, { ...changedPut, on: false }] };
  changed();
  await expect.element(send).not.toBeInTheDocument();
  await expect.element(put).toBeVisible();
  await expect
    .element(put.getByRole('button', { name: 'Turn it off', exact: true }))
    .not.toBeInTheDocument();
  await expect.element(page.getByText('Changed, not used until you accept it')).toBeVisible();
});

test('decisions are taken back one after the other, and one that could not be says so', async () => {
  const grant = {
    serverName: 'Notes',
    verdict: 'allow',
    conversation: null,
    createdAt: 1,
  } as const;
  const grants = ['get_note', 'put_note'].map((name) => ({ ...grant, id: name, tool: name }));
  const { app } = await show(Grants, {}, fakeSession(), { grants });
  const ends: ((end: Promise<void>) => void)[] = [];
  const revoke = vi
    .spyOn(app.grants, 'revoke')
    .mockImplementation(() => new Promise((resolve) => ends.push(resolve)));
  await button('Take back the decision on get_note').click();
  await button('Take back the decision on put_note').click();
  expect(revoke.mock.calls).toEqual([['get_note']]);
  ends[0]!(Promise.reject(new Error('no room')));
  await vi.waitFor(() => expect(revoke.mock.calls).toEqual([['get_note'], ['put_note']]));
  ends[1]!(Promise.resolve());
  await expect.element(page.getByRole('alert')).toBeVisible();
});
