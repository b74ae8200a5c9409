/**
 * The servers' screens: what is shown of each state, what a tap asks the host for, and that a
 * thousand tools are as quick as ten.
 */
import { expect, test, vi } from 'vitest';
import { page } from 'vitest/browser';
import type { App } from '../../../src/app.ts';
import type { ServerPreview, ServerTool, ServerView } from '../../../src/mcp/types.ts';
import { navigate } from '../../../src/ui/router.ts';
import AddServer from '../../../src/ui/screens/AddServer.svelte';
import Server from '../../../src/ui/screens/Server.svelte';
import Servers from '../../../src/ui/screens/Servers.svelte';
import { fakeSession } from './fake-app.ts';
import { show } from './render.ts';
import { serverView } from './server-view.ts';

const tool = (name: string, more: Partial<ServerTool> = {}): ServerTool => ({
  name,
  description: `Does ${name}.`,
  inputSchema: { type: 'object', properties: { id: { type: 'string' } } },
  pin: 'f'.repeat(64),
  on: true,
  ...more,
});

const preview = (change: Partial<ServerPreview> = {}): ServerPreview => ({
  url: 'https://notes.example/mcp',
  host: 'notes.example',
  name: 'Notes',
  stored: null,
  era: 'modern',
  instructions: 'Read a note before you write one.',
  tools: [tool('get_note'), tool('put_note')],
  prompts: [{ name: 'summary' }],
  resources: [],
  templates: [],
  cut: [],
  ...change,
});

/** Shows the page of one server, or the list of several; what it asks the host for is in the spies. */
async function open(views: readonly ServerView[], host: Partial<App['host']> = {}) {
  const asked = {
    update: vi.fn(async () => undefined),
    setTool: vi.fn(async () => undefined),
    setAll: vi.fn(async () => undefined),
    setRule: vi.fn(async () => undefined),
    markSeen: vi.fn(async () => undefined),
    refresh: vi.fn(async () => ({ ok: true }) as const),
    signIn: vi.fn(async () => ({ ok: true }) as const),
    ...host,
  };
  const only = views.length === 1 ? views[0] : undefined;
  navigate(only ? `/servers/${only.record.id}` : '/servers', { replace: true });
  const shown = await show(only ? Server : Servers, {}, fakeSession(), {
    servers: views,
    host: asked,
  });
  return { asked, root: shown.root };
}

const button = (name: string | RegExp) => page.getByRole('button', { name });
const switchOf = (name: string) => page.getByRole('switch', { name, exact: true });

test('the list says of each server how it is, and offers to sign in again where that is what it wants', async () => {
  const { asked } = await open([
    serverView({ record: { id: 'a', name: 'Calendar' }, auth: 'expired', tools: [tool('x')] }),
    serverView({ record: { id: 'b', name: 'Paused one', enabled: false } }),
    serverView({
      record: { id: 'c', name: 'Grown' },
      tools: [tool('new_tool', { on: false })],
      appeared: ['new_tool'],
      missing: [{ name: 'old', at: 1 }],
    }),
  ]);
  await expect.element(page.getByText('Sign-in expired')).toBeVisible();
  await expect.element(page.getByText('Paused', { exact: true })).toBeVisible();
  await expect.element(page.getByText('1 new tool, off · 1 tool missing')).toBeVisible();
  await expect.element(page.getByText(/^1 tool · listed/)).toBeVisible();
  await button('Reconnect Calendar').click();
  expect(asked.signIn).toHaveBeenCalledWith('a', expect.anything());
  await button('Refresh all').click();
  await expect.element(page.getByText('2 lists renewed.')).toBeVisible();
  expect(vi.mocked(asked.refresh).mock.calls).toEqual([['a'], ['c']]);
});

test('a sign-in from the list can be given up, and that is no error', async () => {
  const signIn = vi.fn<App['host']['signIn']>(
    (_id, signal) =>
      new Promise((resolve) => {
        const error = { code: 'auth', message: 'It was given up.', advice: 'Try again.' } as const;
        signal.addEventListener('abort', () => resolve({ ok: false, error }));
      }),
  );
  const expired = serverView({ record: { id: 'a', name: 'Calendar' }, auth: 'expired' });
  await open([expired, serverView({ record: { id: 'b' } })], { signIn });
  await button('Reconnect Calendar').click();
  await button('Cancel').click();
  await expect.element(button('Cancel')).not.toBeInTheDocument();
  await expect.element(page.getByText('It was given up.')).not.toBeInTheDocument();
  await expect.element(button('Reconnect Calendar')).toBeEnabled();
});

test('a refusal stands until the list has been renewed after it', async () => {
  const error = { code: 'auth', message: 'It refused.', advice: 'Try again.' } as const;
  const view = serverView({ tools: [tool('x')] });
  const views = [view];
  const listeners = new Set<() => void>();
  await open(views, {
    refresh: async () => ({ ok: false, error }),
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    list: async () => [...views],
  });
  await button('Refresh').click();
  await expect.element(page.getByText('It refused.')).toBeVisible();
  views[0] = { ...view, listedAt: Date.now() + 1 };
  for (const changed of listeners) changed();
  await expect.element(page.getByText('It refused.')).not.toBeInTheDocument();
});

test('new tools are marked and off, missing ones are shown, and both are seen with one tap', async () => {
  const { asked } = await open([
    serverView({
      tools: [tool('get_note'), tool('drop_note', { on: false })],
      appeared: ['drop_note'],
      missing: [{ name: 'put_note', title: 'Put note', at: 1 }],
    }),
  ]);
  await expect.element(page.getByText('New, off until you turn it on')).toBeVisible();
  await expect.element(page.getByText('Missing', { exact: true })).toBeVisible();
  await expect.element(switchOf('drop_note')).not.toBeChecked();
  await button('I have seen it').click();
  expect(asked.markSeen).toHaveBeenCalledWith('notes');
  await switchOf('drop_note').click();
  expect(asked.setTool).toHaveBeenCalledWith('notes', 'drop_note', true);
});

test('many tools are chosen at once: all, none, or by a rule that is told in words', async () => {
  const { asked } = await open([serverView({ tools: [tool('get_note')] })]);
  await page.getByText('Choose many at once').click();
  await button('All off').click();
  expect(asked.setAll).toHaveBeenLastCalledWith('notes', false);
  await button('All on').click();
  expect(asked.setAll).toHaveBeenLastCalledWith('notes', true);
  await switchOf('Only tools that say they read').click();
  expect(asked.setRule).toHaveBeenLastCalledWith('notes', { readOnly: true });
  await page.getByLabelText('Only tools whose name fits').fill('get_*, list_*');
  await button('Apply').click();
  expect(asked.setRule).toHaveBeenLastCalledWith('notes', { pattern: 'get_*, list_*' });
});

test('a rule that holds is told, and can be dropped', async () => {
  const { asked } = await open([
    serverView({ tools: [tool('get_note')], rule: { readOnly: true, pattern: 'get_*' } }),
  ]);
  await expect
    .element(page.getByText(/tools that say they only read and whose name fits get_\*/))
    .toBeVisible();
  await page.getByText('Choose many at once').click();
  await button('Drop the rule').click();
  expect(asked.setRule).toHaveBeenLastCalledWith('notes', null);
});

test('the page of a server shows all that it offers, its log, its limits, and that it gets no folders', async () => {
  const { asked } = await open([
    serverView({
      tools: [tool('get_note')],
      prompts: [{ name: 'summary', arguments: [{ name: 'topic', required: true }] }],
      resources: [{ uri: 'note://1', name: 'First', mimeType: 'text/plain', size: 2_000_000 }],
      templates: [{ uriTemplate: 'note://{id}', name: 'Any note' }],
      log: [
        { at: 1, level: 'info', text: 'older' },
        { at: 2, level: 'error', logger: 'db', text: 'newer' },
      ],
      cut: ['resources'],
      record: { lastError: { at: 1, code: 'cors', message: 'Kept out.', advice: 'Send it.' } },
    }),
  ]);
  await expect.element(page.getByText('Kept out.')).toBeVisible();
  await expect.element(page.getByText(/^Its list of resources had no end/)).toBeVisible();
  await expect.element(page.getByText(/^It is given no folders of this phone/)).toBeVisible();
  for (const fold of ['Prompts (1)', 'Resources (2)', 'Log (2)'])
    await page.getByText(fold).click();
  await expect.element(page.getByText('summary')).toBeVisible();
  await expect.element(page.getByText('note://{id}')).toBeVisible();
  await expect.element(page.getByText(/^text\/plain · 2.MB$/)).toBeVisible();
  const lines = page.getByText(/^(older|newer)$/);
  await expect.element(lines.first()).toHaveTextContent('newer');

  // A server that keeps web apps out: the field for the proxy is there without a search for it.
  await page.getByLabelText('Your own proxy').fill('http://evil.example');
  await button('Use this proxy').click();
  await expect.element(page.getByText(/must have https/)).toBeVisible();
  expect(asked.update).not.toHaveBeenCalled();
  await page.getByLabelText('Your own proxy').fill('http://localhost:8787/');
  await button('Use this proxy').click();
  expect(asked.update).toHaveBeenLastCalledWith('notes', { proxy: 'http://localhost:8787' });
  await page.getByLabelText(/^Longest wait for a call/).fill('5');
  (document.activeElement as HTMLElement).blur();
  expect(asked.update).toHaveBeenLastCalledWith('notes', { limits: { callMs: 5_000 } });
  await switchOf('May ask the model').click();
  expect(asked.update).toHaveBeenLastCalledWith('notes', { sampling: true });
});

test('a thousand tools: only those in sight exist, any is found, and scrolling shows the rest', async () => {
  const tools = Array.from({ length: 1_000 }, (_, index) => tool(`tool_${index}`));
  const { root, asked } = await open([serverView({ tools })]);
  await expect.element(page.getByLabelText('Search its tools')).toBeInTheDocument();
  page.getByLabelText('Search its tools').element().scrollIntoView({ block: 'start' });
  await expect.element(switchOf('tool_0')).toBeVisible();
  expect(root.querySelectorAll('[role=switch]').length).toBeLessThan(60);
  expect(root.querySelector('li[aria-setsize="1000"]')).not.toBeNull();

  const scroller = root.querySelector('.page');
  if (!scroller) throw new Error('The page scrolls.');
  scroller.scrollTop = scroller.scrollHeight * 0.6;
  await vi.waitFor(() => {
    const { top, bottom } = scroller.getBoundingClientRect();
    const inSight = [...root.querySelectorAll('li[aria-posinset]')].filter((row) => {
      const box = row.getBoundingClientRect();
      return box.top > top && box.bottom < bottom && getComputedStyle(row).visibility === 'visible';
    });
    expect(inSight.length).toBeGreaterThan(2);
    expect(root.querySelectorAll('[role=switch]').length).toBeLessThan(60);
  });

  await page.getByLabelText('Search its tools').fill('tool_987');
  await switchOf('tool_987').click();
  expect(asked.setTool).toHaveBeenCalledWith('notes', 'tool_987', false);
});

test('twenty servers with a thousand tools are twenty rows, and each page is its own', async () => {
  const servers = Array.from({ length: 20 }, (_, at) =>
    serverView({
      record: { id: `s${at}`, name: `Server ${at}`, url: `https://s${at}.example/mcp` },
      tools: Array.from({ length: 50 }, (_, index) => tool(`s${at}_tool_${index}`)),
    }),
  );
  const { root } = await open(servers);
  await expect.element(page.getByText('Server 19')).toBeInTheDocument();
  expect(root.querySelectorAll('a[href^="/servers/"]')).toHaveLength(20);
  // What is drawn grows with the servers, not with their tools.
  expect(root.querySelectorAll('*').length).toBeLessThan(800);
});

test('a link proposes a server, which hears nothing before a tap and is stored only by a second one', async () => {
  const look = vi.fn(async () => ({ ok: true, preview: preview() }) as const);
  const record = serverView().record;
  const add = vi.fn(async () => ({ ok: true, server: record }) as const);
  const onadded = vi.fn();
  await show(
    AddServer,
    { open: true, proposed: 'https://notes.example/mcp', onadded },
    fakeSession(),
    { host: { look, add } },
  );
  await expect.element(page.getByText('notes.example', { exact: true })).toBeVisible();
  await expect.element(page.getByText(/^https: what is sent there is encrypted/)).toBeVisible();
  expect(look).not.toHaveBeenCalled();
  await button('Connect').click();
  await expect.element(page.getByText('It offers 2 tools and 1 prompt')).toBeVisible();
  await expect.element(page.getByText(/^Run one of its tools without your yes/)).toBeVisible();
  expect(add).not.toHaveBeenCalled();
  await page.getByText('In its own words').click();
  await expect.element(page.getByText('Read a note before you write one.')).toBeVisible();
  await button('Cancel').click();
  await expect.element(button('Connect')).toBeVisible();
  expect(add).not.toHaveBeenCalled();
  await button('Connect').click();
  await page.getByRole('button', { name: 'Add', exact: true }).click();
  expect(add).toHaveBeenCalledWith(
    {
      url: 'https://notes.example/mcp',
      preview: expect.objectContaining({ name: 'Notes' }),
    },
    expect.any(AbortSignal),
  );
  expect(onadded).toHaveBeenCalledWith(record.id);
});

test('closing the sheet while it adds, going back or Cancel give it up: nothing is added', async () => {
  const look = vi.fn(async () => ({ ok: true, preview: preview() }) as const);
  const signals: AbortSignal[] = [];
  const add = vi.fn<App['host']['add']>(
    (_input, signal) =>
      new Promise((resolve) => {
        if (!signal) throw new Error('It cannot be given up.');
        signals.push(signal);
        signal.addEventListener('abort', () =>
          // Too late to be taken back, as far as the sheet knows.
          resolve({ ok: true, server: serverView().record }),
        );
      }),
  );
  const onadded = vi.fn();
  const ways = [
    () => button('Close').click(),
    () => history.back(),
    () => button('Cancel').click(),
  ];
  for (const [at, leave] of ways.entries()) {
    await show(
      AddServer,
      { open: true, proposed: 'https://notes.example/mcp', onadded },
      fakeSession(),
      { host: { look, add } },
    );
    await button('Connect').last().click();
    await page.getByRole('button', { name: 'Add', exact: true }).last().click();
    await expect.poll(() => signals.length).toBe(at + 1);
    expect(signals[at]?.aborted).toBe(false);
    await leave();
    await expect.poll(() => signals[at]?.aborted).toBe(true);
    if (at === 2) break;
    await expect.element(page.getByRole('dialog')).not.toBeInTheDocument();
  }
  expect(onadded).not.toHaveBeenCalled();
});

test('a key is for one address alone: another one, or closing, takes it away, and a second quick tap adds nothing', async () => {
  const error = { code: 'auth', message: 'It wants a key.', advice: 'Give it one.' } as const;
  const look = vi.fn<App['host']['look']>(async () => ({ ok: false, error }));
  const add = vi.fn<App['host']['add']>(async () => ({ ok: true, server: serverView().record }));
  await show(AddServer, { open: true, onadded: () => undefined }, fakeSession(), {
    host: { look, add },
  });
  const address = page.getByLabelText('Address');
  const key = page.getByLabelText('Key', { exact: true });
  await address.fill('https://one.example/mcp');
  await page.getByText('It wants a key', { exact: true }).click();
  await key.fill('a-secret');
  await button('Connect').click();
  await expect.element(page.getByText('Give it one.')).toBeVisible();
  await expect.element(key).toHaveValue('a-secret');
  await address.fill('https://two.example/mcp');
  await expect.element(key).toHaveValue('');
  look.mockResolvedValue({ ok: true, preview: preview() });
  // At the moment in which it appears, however slow the machine is.
  const tappable = new Promise<boolean>((resolve) => {
    const observer = new MutationObserver(() => {
      const all = [...document.querySelectorAll('button')];
      const yes = all.find(({ textContent }) => textContent.trim() === 'Add');
      if (!yes) return;
      observer.disconnect();
      resolve(!yes.disabled);
    });
    observer.observe(document.body, { childList: true, subtree: true });
  });
  await button('Connect').click();
  expect(await tappable).toBe(false);
  await page.getByRole('button', { name: 'Add', exact: true }).click();
  expect(add).toHaveBeenCalledTimes(1);
  expect(add.mock.calls[0]?.[0]).not.toHaveProperty('key');
});

test('the same link opens its sheet again, and a closed one leaves nothing behind', async () => {
  await open([serverView({ record: { id: 'a' } }), serverView({ record: { id: 'b' } })]);
  const link = '/servers?server=https%3A%2F%2Fnotes.example%2Fmcp';
  const address = page.getByLabelText('Address');
  navigate(link);
  await expect.element(address).toHaveValue('https://notes.example/mcp');
  await address.fill('https://other.example/mcp');
  navigate(link);
  await expect.element(address).toHaveValue('https://notes.example/mcp');
  await expect.element(page.getByText(/^A link proposes this server/)).toBeVisible();
  await button('Close').click();
  await expect.poll(() => location.search).toBe('');
  await button('Add a server').click();
  await expect.element(address).toHaveValue('');
});

test('arguments named alike, and a template with the address of a resource, are all shown', async () => {
  await open([
    serverView({
      prompts: [{ name: 'sum', arguments: [{ name: 'note' }, { name: 'note' }] }],
      resources: [{ uri: 'note:1', name: 'The note' }],
      templates: [{ uriTemplate: 'note:1', name: 'The template' }],
    }),
  ]);
  await page.getByText('Prompts (1)').click();
  expect(page.getByText('note', { exact: true }).elements()).toHaveLength(2);
  await page.getByText('Resources (2)').click();
  await expect.element(page.getByText('The note')).toBeVisible();
  await expect.element(page.getByText('The template')).toBeVisible();
});

test('what looks like a trick in the words of a tool is told before its server is added', async () => {
  const look = async () => ({ ok: true, preview: preview() }) as const;
  const scan = vi.fn(async ({ name }: { readonly name: string }) =>
    name === 'put_note'
      ? [{ kind: 'instruction', text: 'It gives orders.', quote: 'always call me' } as const]
      : [],
  );
  const other = serverView({ record: { id: 'other' }, tools: [tool('send_mail')] });
  await show(
    AddServer,
    { open: true, proposed: 'https://notes.example/mcp', onadded: () => undefined },
    fakeSession(),
    { servers: [other], host: { look }, safety: { scan } },
  );
  await button('Connect').click();
  await expect
    .element(page.getByText('1 tool of it says what a tool has no need to say'))
    .toBeVisible();
  await page.getByText('What was noticed').click();
  await expect.element(page.getByText('It gives orders.')).toBeVisible();
  await expect.element(page.getByText('always call me')).toBeVisible();
  expect(scan).toHaveBeenCalledWith(expect.objectContaining({ name: 'get_note' }), ['send_mail']);
});

test("a server that keeps web apps out gets the field for the person's own proxy, which is then used", async () => {
  const error = {
    code: 'cors',
    message: 'It keeps web apps out.',
    advice: 'Send headers.',
  } as const;
  const look = vi.fn(async () => ({ ok: false, error }) as const);
  await show(
    AddServer,
    { open: true, proposed: 'https://notes.example/mcp', onadded: () => undefined },
    fakeSession(),
    { host: { look } },
  );
  await button('Connect').click();
  await page.getByLabelText('Your own proxy').fill('http://localhost:8787');
  await button('Connect').click();
  expect(look).toHaveBeenLastCalledWith(
    { url: 'https://notes.example/mcp', proxy: 'http://localhost:8787' },
    expect.anything(),
  );
});

test('a server that wants a sign-in is stored only for it, and is gone again where it fails', async () => {
  const refused = {
    code: 'auth',
    message: 'It wants to know who is asking.',
    advice: 'Sign in.',
  } as const;
  const record = serverView().record;
  const look = vi.fn(async () => ({ ok: false, error: { ...refused, signIn: true } }) as const);
  const add = vi.fn(async () => ({ ok: true, server: record }) as const);
  const signIn = vi.fn(async () => ({ ok: false, error: refused }) as const);
  const remove = vi.fn(async () => undefined);
  await show(
    AddServer,
    { open: true, proposed: 'https://notes.example/mcp', onadded: () => undefined },
    fakeSession(),
    { servers: [], host: { look, add, signIn, remove } },
  );
  await button('Connect').click();
  await button('Sign in').click();
  expect(add).not.toHaveBeenCalled();
  await button('Sign in and add').click();
  await expect.element(page.getByText('It wants to know who is asking.')).toBeVisible();
  expect(add).toHaveBeenCalledWith(
    { url: 'https://notes.example/mcp', auth: 'oauth' },
    expect.any(AbortSignal),
  );
  expect(remove).toHaveBeenCalledWith(record.id);
});

test('a code is read through the camera, proposes its server, and the camera is off afterwards', async () => {
  const canvas = document.createElement('canvas');
  canvas.getContext('2d')?.fillRect(0, 0, 10, 10);
  const stream = canvas.captureStream(10);
  const codes = ['WIFI:S:home;;', 'https://deft.example/?server=https%3A%2F%2Fnotes.example%2Fmcp'];
  class Detector {
    static getSupportedFormats = async () => ['qr_code'];
    detect = async () => [{ rawValue: codes.shift() ?? '' }];
  }
  vi.stubGlobal('BarcodeDetector', Detector);
  vi.spyOn(navigator.mediaDevices, 'getUserMedia').mockResolvedValue(stream);
  vi.spyOn(navigator.mediaDevices, 'enumerateDevices').mockResolvedValue([
    { kind: 'videoinput' } as MediaDeviceInfo,
  ]);
  try {
    await show(AddServer, { open: true, onadded: () => undefined });
    await button('Scan a code').click();
    await expect.element(page.getByText(/^A code proposes this server/)).toBeVisible();
    await expect.element(page.getByLabelText('Address')).toHaveValue('https://notes.example/mcp');
    await vi.waitFor(() => {
      expect(stream.getTracks().map(({ readyState }) => readyState)).toEqual(['ended']);
    });
  } finally {
    vi.unstubAllGlobals();
    vi.restoreAllMocks();
  }
});

test('without a camera or a reader of codes there is no such button, and a sentence says how', async () => {
  await show(AddServer, { open: true, onadded: () => undefined });
  await expect.element(page.getByText(/^To add one by a QR code/)).toBeVisible();
  await expect.element(button('Scan a code')).not.toBeInTheDocument();
});
