/** What the person is told when a download ends while the app is closed, and where a tap leads. */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { arrived, clicked, open, stopped, type Surroundings } from '../../../src/sw/arrivals.ts';

const ID = ['deft-arrivals', 'gemma', 'Gemma 3/270M'].map(encodeURIComponent).join('/');

const kept = new Map<string, Response>();
beforeEach(() => {
  kept.clear();
  const cache = { put: async (url: string, response: Response) => void kept.set(url, response) };
  vi.stubGlobal('caches', { open: async () => cache });
});
afterEach(() => vi.unstubAllGlobals());

/** A job of one file, that arrived. */
const job = (id = ID) => ({
  id,
  matchAll: async () => [
    {
      request: new Request('https://models.example/a.gguf'),
      responseReady: Promise.resolve(new Response('weights')),
    },
  ],
});

function world(pages: number, permission: 'granted' | 'denied' = 'granted') {
  const open = Array.from({ length: pages }, () => ({
    focus: vi.fn(async () => undefined),
    postMessage: vi.fn(),
  }));
  const notify = vi.fn(async (_title: string, _options?: NotificationOptions) => undefined);
  const openWindow = vi.fn(async (_url: string) => null);
  const around: Surroundings = {
    origin: 'https://deft.example',
    pages: async () => open,
    openWindow,
    mayNotify: () => permission === 'granted',
    notify,
  };
  return { around, open, notify, openWindow };
}

describe('a download that has arrived', () => {
  test('is told by name where no page is open, and what comes next', async () => {
    const { around, notify } = world(0);
    const updateUI = vi.fn(async () => undefined);
    await arrived({ registration: job(), updateUI }, true, around);
    expect(updateUI).toHaveBeenCalledWith({ title: 'Gemma 3/270M has arrived' });
    expect(notify.mock.calls).toEqual([
      [
        'Gemma 3/270M has arrived',
        {
          body: 'Open Deft: it checks the files, and then the model works without a network.',
          tag: ID,
          data: { url: '/models' },
        },
      ],
    ]);
    expect([...kept.keys()]).toEqual(['https://models.example/a.gguf']);
  });

  test('is told by no notification that the person did not allow', async () => {
    const { around, notify } = world(0, 'denied');
    await arrived({ registration: job() }, true, around);
    expect(notify).not.toHaveBeenCalled();
    expect(kept.size).toBe(1);
  });

  test('is told to an open page alone', async () => {
    const { around, notify, open: pages } = world(1);
    await arrived({ registration: job() }, true, around);
    expect(pages[0]!.postMessage).toHaveBeenCalledWith({
      type: 'background',
      id: ID,
      ended: 'kept',
    });
    expect(notify).not.toHaveBeenCalled();
  });

  test('in part only, or of another app, is no news', async () => {
    const { around, notify } = world(0);
    await arrived({ registration: job() }, false, around);
    await arrived({ registration: job('of another app') }, true, around);
    expect(notify).not.toHaveBeenCalled();
  });
});

describe('a tap', () => {
  test('on the notification of a model opens the models, and takes the notification away', async () => {
    const { around, notify, openWindow } = world(0);
    await arrived({ registration: job() }, true, around);
    const close = vi.fn();
    const data: unknown = notify.mock.calls[0]![1]!.data;
    await clicked({ close, data }, around);
    expect(close).toHaveBeenCalledOnce();
    expect(openWindow).toHaveBeenCalledWith('/models');
  });

  test('brings the page that is open to the front, and there', async () => {
    const { around, open: pages, openWindow } = world(2);
    await open('/models', around);
    expect(pages[0]!.focus).toHaveBeenCalledOnce();
    expect(pages[0]!.postMessage).toHaveBeenCalledWith({ type: 'open', url: '/models' });
    expect(pages[1]!.postMessage).not.toHaveBeenCalled();
    expect(openWindow).not.toHaveBeenCalled();
  });

  test('on a notification that names no place opens the start', async () => {
    const { around, openWindow } = world(0);
    await clicked({ close: () => undefined, data: null }, around);
    expect(openWindow).toHaveBeenCalledWith('/');
  });
});

test('a download that was stopped is noted where no page is there to be told', async () => {
  const { around } = world(0);
  await stopped(job(), around);
  expect([...kept.keys()]).toContain(`https://deft.example/stopped/${encodeURIComponent(ID)}`);
  kept.clear();
  const { around: there, open: pages } = world(1);
  await stopped(job(), there);
  expect([...kept.keys()]).toEqual(['https://models.example/a.gguf']);
  expect(pages[0]!.postMessage).toHaveBeenCalledWith({
    type: 'background',
    id: ID,
    ended: 'stopped',
  });
});
