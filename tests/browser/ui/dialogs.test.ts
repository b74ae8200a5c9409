/**
 * Every sheet and dialog of the app, opened as a person opens it: axe finds nothing in light or dark,
 * nothing runs out sideways on a narrow phone or with text twice as large, focus is inside, Escape
 * closes it, and focus is back where it was. A dialog that is not in the table fails the last test.
 */
import { expect, onTestFinished, test, vi } from 'vitest';
import { page, userEvent } from 'vitest/browser';
import type { CloudPreset } from '../../../src/brain/cloud/types.ts';
import type { ModelView } from '../../../src/brain/local/types.ts';
import { createAsks } from '../../../src/mcp/asks.ts';
import type { ElicitRequest, SampleRequest, ServerPreview } from '../../../src/mcp/types.ts';
import type {
  ActionEntry,
  AttachmentPart,
  CallPart,
  ContextUse,
} from '../../../src/store/records.ts';
import type { LockChange, Locked } from '../../../src/store/store.ts';
import Asks from '../../../src/ui/conversation/Asks.svelte';
import { navigate } from '../../../src/ui/router.ts';
import Actions from '../../../src/ui/screens/Actions.svelte';
import Backup from '../../../src/ui/screens/Backup.svelte';
import Chats from '../../../src/ui/screens/Chats.svelte';
import Cloud from '../../../src/ui/screens/Cloud.svelte';
import Lock from '../../../src/ui/screens/Lock.svelte';
import Models from '../../../src/ui/screens/Models.svelte';
import Server from '../../../src/ui/screens/Server.svelte';
import Servers from '../../../src/ui/screens/Servers.svelte';
import ServerSignIn from '../../../src/ui/screens/ServerSignIn.svelte';
import Unlock from '../../../src/ui/screens/Unlock.svelte';
import { voice } from '../../../src/ui/shell/voice.svelte.ts';
import VoiceSheet from '../../../src/ui/shell/VoiceSheet.svelte';
import { faults } from './axe.ts';
import {
  call,
  fakeSession,
  message,
  question,
  route,
  said,
  step,
  text,
  type FakeSession,
} from './fake-app.ts';
import { show, showConversation } from './render.ts';
import { serverView } from './server-view.ts';
import { modelRow } from './model-row.ts';

const LONG = 'Donaudampfschifffahrtsgesellschaftskapitänsmützenabzeichen';

const button = (name: string | RegExp) => page.getByRole('button', { name, exact: true }).first();
const box = () => page.getByRole('textbox', { name: 'Message', exact: true });

/** Taps it; it is where focus belongs once the dialog is gone. */
async function tap(name: string | RegExp): Promise<Element> {
  const it = button(name);
  await expect.element(it).toBeVisible();
  const element = it.element();
  await it.click();
  return element;
}

/** For a dialog that nobody tapped for: what had focus when it came. */
function focused(): Element {
  const here = document.createElement('button');
  here.textContent = 'Here';
  document.body.append(here);
  onTestFinished(() => here.remove());
  here.focus();
  return here;
}

// The conversation and what lies above it.

const booking = (change: Partial<CallPart> = {}): CallPart =>
  call({
    callId: 'q1',
    tool: 'book_flight',
    title: 'Book a flight',
    args: { flight: '6E 5312', note: `For ${LONG}`, bags: { count: 2 } },
    days: [],
    state: 'asked',
    why: 'This tool may change something.',
    ...change,
  });

/** A question comes while the person has focus in the box. */
async function asked(...calls: CallPart[]): Promise<Element> {
  const { session } = await showConversation(fakeSession());
  await box().click();
  session.show({
    messages: [said('Book it'), message('assistant', calls, { state: 'running' })],
    activity: { kind: 'asking', callId: 'q1' },
    questions: calls.map(question),
  });
  return box().element();
}

const CONTEXT: ContextUse = {
  window: 4096,
  answer: 512,
  system: 200,
  tools: 400,
  earlier: 900,
  words: 60,
  results: 700,
  dropped: 2,
};
const NOTE: AttachmentPart = {
  kind: 'attachment',
  step: 0,
  server: 'notes',
  serverName: 'Notes',
  uri: 'note:1',
  name: 'First note',
  content: [{ type: 'text', text: `Buy milk. ${LONG} `.repeat(30) }],
  at: 1,
};

/** A turn that went to the cloud, with something attached. */
function past(): FakeSession {
  const words = said('Read it');
  return fakeSession({
    messages: [
      { ...words, parts: [...words.parts, NOTE] },
      message('assistant', [
        route({ place: 'cloud', label: 'Large one', context: CONTEXT }),
        text('Done.'),
        step({ sent: { to: `${LONG}.example`, text: `{"words":"Read it ${LONG}"}`.repeat(40) } }),
      ]),
    ],
  });
}

async function menu(item?: string): Promise<Element> {
  await showConversation(past());
  const more = await tap('More');
  if (item) await tap(item);
  return more;
}

const notes = serverView({
  prompts: [
    {
      name: 'summary',
      title: 'Sum up',
      description: `Sums up a note. ${LONG}`,
      arguments: [{ name: 'note', title: 'Note', required: true }, { name: 'tone' }],
    },
  ],
  resources: [{ uri: `note:${LONG}`, name: 'first', title: `First ${LONG}` }],
  templates: [{ uriTemplate: 'note:{id}', name: 'Any note', description: 'By its number.' }],
});

async function attaching(item?: RegExp): Promise<Element> {
  await showConversation(fakeSession(), { servers: [notes] });
  const clip = await tap(/^Attach/);
  if (item) await tap(item);
  return clip;
}

// What servers ask.

const FORM: ElicitRequest = {
  mode: 'form',
  message: `Who travels? ${LONG}`,
  schema: {
    type: 'object',
    required: ['name'],
    properties: {
      name: { type: 'string', title: `Name ${LONG}`, description: 'As on the passport.' },
      day: { type: 'string', title: 'Day', format: 'date' },
      when: { type: 'string', title: 'Time', format: 'date-time' },
      bags: { type: 'integer', title: 'Bags', minimum: 0, maximum: 3 },
      news: { type: 'boolean', title: 'News', default: true },
      password: { type: 'string' },
      seat: { type: 'string', title: 'Seat', enum: ['w', LONG] },
      meals: { type: 'array', title: 'Meals', items: { type: 'string', enum: ['veg', LONG] } },
    },
  },
};
const REQUEST: SampleRequest = {
  systemPrompt: 'Be brief.',
  maxTokens: 200,
  messages: [{ role: 'user', content: [{ type: 'text', text: `Summarise: ${LONG}` }] }],
};

async function asking(what: ElicitRequest | SampleRequest, isAllowed = true): Promise<Element> {
  const from = { id: 'travel', name: 'Travel', host: `${LONG}.example:8443` };
  const asks = createAsks({
    caller: () => ({ conversation: 'c1', title: 'A trip to Mumbai', mode: 'phone' }),
    mayUseModel: async () => isAllowed,
    letUseModel: async () => undefined,
    think: async () => ({
      ok: true,
      text: `Fog. ${LONG}`,
      model: 'gemma',
      label: 'Gemma 3',
      place: 'phone',
      stopReason: 'endTurn',
      promptTokens: 41,
      outputTokens: 5,
    }),
    clock: () => Date.now(),
  });
  await show(Asks, {}, undefined, { asks });
  const here = focused();
  const { signal } = new AbortController();
  if ('mode' in what) void asks.asks.elicit(from, what, signal);
  else void asks.asks.sample(from, what, signal);
  return here;
}

// The screens.

const model = (change: Partial<ModelView> = {}): ModelView => ({
  row: modelRow('a', `Model ${LONG}`),
  status: { kind: 'absent' },
  stored: 0,
  fit: { verdict: 'well', reason: 'It fits.', asks: ['This is a mobile network: 100 MB.'] },
  ...change,
});
const ready = (): ModelView => model({ status: { kind: 'ready' }, stored: 100e6 });

async function models(view: ModelView, ...taps: readonly string[]): Promise<Element> {
  await show(Models, {}, undefined, { models: { list: async () => [view] } });
  let from: Element = document.body;
  for (const name of taps) from = await tap(name);
  return from;
}

const CHAT = fakeSession().view().conversation;
async function chats(item?: string): Promise<Element> {
  const conversation = { ...CHAT, title: `A trip to ${LONG}` };
  await show(Chats, {}, undefined, {
    over: { conversations: { list: async () => [conversation] } },
  });
  const more = await tap(/^More about/);
  if (item) await tap(item);
  return more;
}

const PRESET: CloudPreset = {
  id: 'mistral',
  label: 'Mistral',
  kind: 'openai',
  baseUrl: `https://${LONG}.example/v1`,
  needsKey: true,
  signIn: false,
  defaultModel: 'small',
  contextTokens: 32_000,
  keyUrl: `https://${LONG}.example/keys`,
  hint: `The key starts with ${LONG}.`,
};
async function cloud(name: string | RegExp): Promise<Element> {
  const account = {
    id: 'a1',
    preset: 'mistral',
    kind: 'openai' as const,
    label: 'Mine',
    baseUrl: PRESET.baseUrl,
    model: LONG,
    contextTokens: 32_000,
    addedAt: 1,
  };
  await show(Cloud, {}, undefined, {
    over: { cloud: { presets: () => [PRESET], accounts: async () => [account] } },
  });
  return tap(name);
}

const PREVIEW: ServerPreview = {
  url: 'https://notes.example/mcp',
  host: 'notes.example',
  name: `Notes ${LONG}`,
  stored: null,
  era: 'modern',
  instructions: `Read a note before you write one. ${LONG}`,
  tools: [
    {
      name: LONG.toLowerCase().slice(0, 40),
      description: 'Says too much.',
      inputSchema: {},
      pin: 'p',
    },
    { name: 'put_note', description: 'Writes a note.', inputSchema: {}, pin: 'p' },
  ],
  prompts: [{ name: 'summary' }],
  resources: [],
  templates: [],
  cut: [],
};
const REFUSED = {
  code: 'auth',
  message: `${LONG}.example wants to know who is asking.`,
  advice: 'Sign in.',
  signIn: true,
} as const;

async function addServer(look: 'preview' | 'refusal' | null, then?: string): Promise<Element> {
  navigate('/servers', { replace: true });
  await show(Servers, {}, undefined, {
    servers: [],
    host: {
      look: async () =>
        look === 'preview' ? { ok: true, preview: PREVIEW } : { ok: false, error: REFUSED },
    },
    safety: { scan: async () => [{ kind: 'instruction', text: 'It gives orders.', quote: LONG }] },
  });
  const from = await tap('Add a server');
  if (look !== null) {
    await page.getByLabelText('Address', { exact: true }).fill(PREVIEW.url);
    await tap('Connect');
  }
  if (then) await tap(then);
  return from;
}

/** The sheet that adds a server, at the camera: this browser has neither reader nor camera. */
async function scanning(): Promise<Element> {
  const canvas = document.createElement('canvas');
  canvas.getContext('2d')?.fillRect(0, 0, 10, 10);
  class Detector {
    static getSupportedFormats = async () => ['qr_code'];
    detect = async () => [{ rawValue: 'WIFI:S:home;;' }];
  }
  vi.stubGlobal('BarcodeDetector', Detector);
  vi.spyOn(navigator.mediaDevices, 'getUserMedia').mockImplementation(async () =>
    canvas.captureStream(10),
  );
  vi.spyOn(navigator.mediaDevices, 'enumerateDevices').mockResolvedValue([
    { kind: 'videoinput' } as MediaDeviceInfo,
  ]);
  onTestFinished(() => {
    vi.unstubAllGlobals();
    vi.restoreAllMocks();
  });
  return addServer(null, 'Scan a code');
}

async function showServer(): Promise<void> {
  navigate('/servers/notes', { replace: true });
  const tools = ['put_note', 'drop_note'].map((tool) => ({
    name: tool,
    description: `Does ${tool}. ${LONG}`,
    inputSchema: {
      type: 'object',
      required: [LONG],
      properties: { [LONG]: { type: 'string' } },
    },
    pin: 'p',
    on: true,
  }));
  await show(Server, {}, undefined, {
    servers: [{ ...notes, tools, status: 'connected' }],
    host: {
      listSkills: async () => ({
        ok: true,
        value: [{ uri: 'skill://tidy', name: 'Tidy', description: LONG, files: [] }],
      }),
      readSkill: async (_id, uri) => ({
        ok: true,
        value: { uri, bytes: new Uint8Array(), text: `# Tidy up ${LONG}` },
      }),
    },
    safety: { isConsequential: async () => true },
  });
}
async function server(name: string): Promise<Element> {
  await showServer();
  return tap(name);
}

async function signOut(): Promise<Element> {
  const view = serverView({ record: { name: `Notes ${LONG}` }, auth: 'signed-in' });
  await show(ServerSignIn, { server: view }, undefined, {
    servers: [view],
    signIn: {
      view: async () => ({
        state: 'signed-in',
        at: 'auth.example',
        who: 'ada@example.test',
        scopes: [],
        wanted: [],
        clientId: null,
        needsClient: false,
      }),
    },
  });
  return tap('Sign out');
}

async function backup(): Promise<Element> {
  const sealed = { ok: false, sealed: true, message: 'It is locked.', advice: 'Type it.' } as const;
  const { root } = await show(Backup, {}, undefined, {
    over: { archive: { import: async () => sealed } },
  });
  const row = button(/^Bring a file back in/).element();
  (row as HTMLElement).focus();
  const input = root.querySelector<HTMLInputElement>('input[type=file]')!;
  const files = new DataTransfer();
  files.items.add(new File(['{}'], 'deft.deft'));
  input.files = files.files;
  input.dispatchEvent(new Event('change', { bubbles: true }));
  return row;
}

const CHANGE: LockChange = {
  setWay: async () => undefined,
  removeWay: async () => undefined,
  turnOff: async () => undefined,
};
async function lock(isOn: boolean, name: string, passphrase?: string): Promise<Element> {
  await show(Lock, {}, undefined, {
    lock: {
      on: () => isOn,
      ways: async () => (isOn ? [{ kind: 'passphrase' }] : []),
      prove: async () => ({ ok: true, change: CHANGE }),
    },
  });
  const from = await tap(name);
  if (passphrase) {
    await page.getByLabelText('Passphrase', { exact: true }).fill(passphrase);
    await tap('Unlock');
  }
  return from;
}

async function unlock(): Promise<Element> {
  const locked: Locked = {
    ways: async () => [{ kind: 'passphrase' }],
    wait: async () => 0,
    open: async () => ({ ok: true }),
    erase: async () => undefined,
  };
  await show(Unlock, { locked, onopen: () => undefined });
  return tap(/Delete everything/);
}

const ACTION: ActionEntry = {
  seq: 0,
  at: 1,
  event: 'ended',
  callId: 'k',
  conversation: 'c1',
  server: 'notes',
  serverName: 'Notes',
  tool: 'put_note',
  title: 'Put note',
  args: {},
  decision: { by: 'rule', allowed: true },
  brain: 'Gemma',
  outcome: 'result',
  prev: '',
  hash: 'h',
};

interface Row {
  /** File under src/ui, and which of its dialogs, from 0. */
  readonly use: `${string}.svelte ${number}`;
  /** Its title, which tells it from its other forms. */
  readonly title: string;
  /**
   * Opens it; answers with what is to have focus again. Null: the list of messages, which holds no
   * more than is in sight, has let go of it for the large text.
   */
  readonly open: () => Promise<Element | null>;
  /** Seen in it once it is as the row wants it. */
  readonly shows?: string | RegExp;
}

const ALLOW = 'Allow “Book a flight”?';
const ROWS: readonly Row[] = [
  {
    use: 'conversation/ApprovalSheet.svelte 0',
    title: ALLOW,
    open: () => asked(booking()),
  },
  {
    use: 'conversation/ApprovalSheet.svelte 0',
    title: ALLOW,
    shows: /^Marked words came from Mail/,
    open: () =>
      asked(
        booking({
          args: { to: `eve@attacker.example ${LONG}`, note: { text: 'Hello Anna' } },
          consequential: true,
          why: 'It carries words that came from Mail, not from you.',
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
        }),
      ),
  },
  {
    use: 'conversation/ApprovalSheet.svelte 0',
    title: ALLOW,
    shows: 'Note may differ',
    async open() {
      const from = await asked(booking({ consequential: true }));
      await page.getByText('Always, with these arguments').click();
      await page.getByLabelText('Note may differ').click();
      return from;
    },
  },
  { use: 'conversation/ConversationMenu.svelte 0', title: 'A trip to Mumbai', open: () => menu() },
  {
    use: 'conversation/ConversationMenu.svelte 1',
    title: 'Answer again',
    open: () => menu('Answer again'),
  },
  {
    use: 'conversation/ConversationMenu.svelte 2',
    title: 'What the model sees',
    open: () => menu('What the model sees'),
  },
  { use: 'conversation/ConversationMenu.svelte 3', title: 'Rename', open: () => menu('Rename') },
  {
    use: 'conversation/ConversationMenu.svelte 4',
    title: 'Delete this conversation?',
    open: () => menu('Delete'),
  },
  {
    use: 'conversation/SentSheet.svelte 0',
    title: 'What left the phone',
    async open() {
      await showConversation(past());
      await tap(/Why and how$/);
      await tap('What left the phone');
      return null;
    },
  },
  {
    use: 'conversation/AttachmentSheet.svelte 0',
    title: 'First note',
    async open() {
      await showConversation(past());
      return tap('First note Notes');
    },
  },
  {
    use: 'conversation/PromptForm.svelte 0',
    title: 'Sum up',
    async open() {
      await showConversation(fakeSession(), { servers: [notes] });
      await box().click();
      await userEvent.keyboard('/sum');
      await expect.element(page.getByRole('option', { name: /summary/ })).toBeVisible();
      await userEvent.keyboard('{Enter}');
      return box().element();
    },
  },
  {
    use: 'conversation/AttachSheet.svelte 0',
    title: 'Attach a picture or resource',
    open: () => attaching(),
  },
  {
    use: 'conversation/AttachSheet.svelte 0',
    title: 'Any note',
    open: () => attaching(/^Any note/),
  },
  {
    use: 'conversation/ElicitationSheet.svelte 0',
    title: 'Travel asks you',
    open: () => asking(FORM),
  },
  {
    use: 'conversation/ElicitationSheet.svelte 0',
    title: 'Open a page?',
    open: () =>
      asking({
        mode: 'url',
        message: 'Pay',
        url: `https://pay.${LONG}.example/x?id=${LONG}`,
        elicitationId: 'e',
      }),
  },
  {
    use: 'conversation/SamplingSheet.svelte 0',
    title: 'Travel asks the model',
    shows: /^This is off for this server/,
    open: () => asking(REQUEST, false),
  },
  {
    use: 'conversation/SamplingSheet.svelte 0',
    title: 'Travel asks the model',
    shows: 'Ask the model',
    open: () => asking(REQUEST),
  },
  {
    use: 'conversation/SamplingSheet.svelte 0',
    title: 'Give this answer?',
    async open() {
      const from = await asking(REQUEST);
      const ask = button('Ask the model');
      await expect.element(ask).toBeVisible();
      // A yes counts once the question was in sight for a while.
      await expect
        .poll(() => {
          (ask.query() as HTMLElement | null)?.click();
          return ask.query();
        })
        .toBeNull();
      return from;
    },
  },
  {
    use: 'shell/VoiceSheet.svelte 0',
    title: 'Ask by voice',
    async open() {
      await show(VoiceSheet, {});
      onTestFinished(() => void (voice.open = false));
      const here = focused();
      voice.open = true;
      return here;
    },
  },
  {
    use: 'screens/Models.svelte 0',
    title: 'Delete this model?',
    open: () => models(ready(), 'Delete'),
  },
  {
    use: 'screens/DownloadAsk.svelte 0',
    title: 'Download it now?',
    open: () => models(model(), 'Download'),
  },
  {
    use: 'screens/AddModel.svelte 0',
    title: 'Add a model',
    open: () => models(model(), 'Add a model'),
  },
  {
    use: 'screens/Benchmark.svelte 0',
    title: 'Benchmark this phone',
    open: () => models(ready(), 'Benchmark this phone'),
  },
  { use: 'screens/Chats.svelte 0', title: `A trip to ${LONG}`, open: () => chats() },
  { use: 'screens/Chats.svelte 1', title: 'Rename conversation', open: () => chats('Rename') },
  {
    use: 'screens/Chats.svelte 2',
    title: 'Delete this conversation?',
    open: () => chats('Delete'),
  },
  { use: 'screens/AddKey.svelte 0', title: 'Mistral', open: () => cloud(/^Mistral/) },
  { use: 'screens/Cloud.svelte 0', title: 'Remove Mine?', open: () => cloud('Remove Mine') },
  { use: 'screens/AddServer.svelte 0', title: 'Add a server', open: () => addServer(null) },
  {
    use: 'screens/AddServer.svelte 0',
    title: 'Add a server',
    shows: /wants to know who is asking/,
    open: () => addServer('refusal'),
  },
  {
    use: 'screens/AddServer.svelte 0',
    title: 'Add this server?',
    shows: 'What was noticed',
    open: () => addServer('preview'),
  },
  {
    use: 'screens/AddServer.svelte 0',
    title: 'Sign in to add this server?',
    open: () => addServer('refusal', 'Sign in'),
  },
  { use: 'screens/AddServer.svelte 0', title: 'Scan a code', open: scanning },
  { use: 'screens/RenameServer.svelte 0', title: 'Rename server', open: () => server('Rename') },
  {
    use: 'screens/ToolUndo.svelte 0',
    title: 'Undo put_note with…',
    shows: /Its Donau/,
    async open() {
      await showServer();
      await page.getByText('Details', { exact: true }).first().click();
      const from = await tap('Undo put_note with…');
      await page.getByLabelText('The tool that undoes it').selectOptions('drop_note');
      return from;
    },
  },
  {
    use: 'screens/ServerSkills.svelte 0',
    title: 'Tidy',
    shows: /Tidy up/,
    async open() {
      await showServer();
      await page.getByText('Skills (1)').click();
      return tap('Read the skill Tidy');
    },
  },
  {
    use: 'screens/Server.svelte 0',
    title: 'Let put_note run without asking?',
    async open() {
      await showServer();
      await page.getByText('Allow', { exact: true }).first().click();
      return page.getByRole('radio', { name: 'Allow', exact: true }).first().element();
    },
  },
  {
    use: 'screens/Server.svelte 1',
    title: 'Remove this server?',
    open: () => server('Remove this server'),
  },
  { use: 'screens/ServerSignIn.svelte 0', title: `Sign out of Notes ${LONG}?`, open: signOut },
  {
    use: 'screens/Backup.svelte 0',
    title: 'Save everything to a file',
    async open() {
      await show(Backup, {});
      return tap('Save everything to a file');
    },
  },
  { use: 'screens/Backup.svelte 1', title: 'This file is locked', open: backup },
  {
    use: 'screens/Lock.svelte 0',
    title: 'Lock with a passphrase',
    open: () => lock(false, 'Lock with a passphrase'),
  },
  {
    use: 'screens/Lock.svelte 1',
    title: 'Turn the lock off',
    open: () => lock(true, 'Turn the lock off'),
  },
  {
    use: 'screens/Lock.svelte 1',
    title: 'New passphrase',
    shows: 'Set the passphrase',
    open: () => lock(true, 'Change the passphrase', 'open sesame'),
  },
  { use: 'screens/Unlock.svelte 0', title: 'Delete everything?', open: unlock },
  {
    use: 'screens/Actions.svelte 0',
    title: 'Clear the action log?',
    async open() {
      await show(Actions, {}, undefined, { over: { actions: { search: async () => [ACTION] } } });
      return tap('Clear');
    },
  },
];

/** What sticks out sideways, or holds more than it has room for. Boxes that scroll by themselves may. */
function sticksOut(dialog: Element): string[] {
  const { left, right } = dialog.getBoundingClientRect();
  const scrolls = (element: Element): boolean =>
    ['auto', 'scroll'].includes(getComputedStyle(element).overflowX) &&
    !element.matches('.content, .panel');
  const out: string[] = [];
  const walk = (element: Element): void => {
    if (element.matches('.visually-hidden')) return;
    const at = element.getBoundingClientRect();
    const isFull =
      element.clientWidth > 0 &&
      element.scrollWidth > element.clientWidth + 1 &&
      getComputedStyle(element).overflowX !== 'hidden' &&
      !element.matches('input, select, textarea');
    if (
      at.width > 0 &&
      (at.left < left - 1 || at.right > right + 1 || (isFull && !scrolls(element)))
    )
      out.push(element.outerHTML.replace(/\s+/g, ' ').slice(0, 200));
    if (!scrolls(element)) for (const child of element.children) walk(child);
  };
  walk(dialog);
  if (document.documentElement.scrollWidth > innerWidth) out.push('the page behind it');
  return out;
}

/** Sets the look of the page until the test ends. */
function look(theme: 'light' | 'dark', size = ''): void {
  document.documentElement.dataset.theme = theme;
  document.documentElement.style.fontSize = size;
  onTestFinished(() => {
    delete document.documentElement.dataset.theme;
    document.documentElement.style.fontSize = '';
  });
}

test.each(ROWS.map((row) => [`${row.title}${row.shows ? `, ${row.shows}` : ''}`, row] as const))(
  '%s: read, seen and left by anyone',
  async (_name, { title, open, shows }) => {
    look('light');
    const from = await open();
    const dialog = page.getByRole('dialog', { name: title, exact: true });
    await expect.element(dialog).toBeVisible();
    if (shows) await expect.element(dialog.getByText(shows).first()).toBeVisible();
    const element = dialog.element();
    expect(element.contains(document.activeElement), 'focus is inside').toBe(true);
    expect(await faults()).toEqual([]);
    expect(sticksOut(element)).toEqual([]);
    look('dark');
    expect(await faults(['color-contrast'])).toEqual([]);
    look('dark', '200%');
    expect(sticksOut(element)).toEqual([]);
    await userEvent.keyboard('{Escape}');
    await expect.element(page.getByRole('dialog')).not.toBeInTheDocument();
    if (from) await expect.poll(() => document.activeElement).toBe(from);
  },
);

test('the table holds every sheet and dialog of the app', () => {
  const sources = import.meta.glob<string>('../../../src/ui/**/*.svelte', {
    query: '?raw',
    import: 'default',
    eager: true,
  });
  const used = Object.entries(sources).flatMap(([path, source]) => {
    const file = path.slice(path.indexOf('src/ui/') + 'src/ui/'.length);
    // The two that the others are made of.
    if (['components/Sheet.svelte', 'screens/Confirm.svelte'].includes(file)) return [];
    const markup = source.replace(/<!--[\s\S]*?-->/g, '').replace(/<script[\s\S]*?<\/script>/g, '');
    return [...markup.matchAll(/<(Sheet|Confirm|dialog)\b|role="(alert)?dialog"/g)].map(
      (_use, index) => `${file} ${index}`,
    );
  });
  expect(used.length).toBeGreaterThan(0);
  expect([...new Set(ROWS.map(({ use }) => use as string))].sort()).toEqual(used.sort());
});
