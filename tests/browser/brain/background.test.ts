/**
 * Downloads that go on with the app closed, in parts: what is worth a job, what the service worker keeps
 * of one, what becomes of what it kept. The whole, with the browser's own Background Fetch, is in
 * tests/e2e/background.spec.ts.
 */
import { commands } from 'vitest/browser';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { ARRIVALS } from '../../../src/brain/local/arrivals.ts';
import {
  fetchInBackground,
  isWorthAJob,
  jobId,
  StoppedOutside,
  tidyArrivals,
  wasStopped,
} from '../../../src/brain/local/background.ts';
import { download } from '../../../src/brain/local/downloads.ts';
import { fileUrl, removeFiles, stored, type Stored } from '../../../src/brain/local/files.ts';
import type { CatalogueRow } from '../../../src/brain/local/types.ts';
import { jobOf, keepFiles, noteStopped } from '../../../src/sw/background.ts';
import { faulty, never, randomGguf } from './rows.ts';

let server: string;
let row: CatalogueRow;

beforeAll(async () => {
  server = await commands.startFileServer();
  row = { ...(await randomGguf(server)), label: 'Gemma 3/270M, é' };
});
afterAll(() => commands.stopFileServer(server));
beforeEach(async () => {
  await removeFiles(row);
  await caches.delete(ARRIVALS);
});
afterEach(() => vi.restoreAllMocks());

const url = (): string => fileUrl(row, 'random.gguf');
const get = (one = row): Promise<void> =>
  download(one, { signal: never(), onProgress: () => undefined, retryMs: 20 });
const requests = async (): Promise<number> => (await commands.fileRequests(server)).length;
const waiting = async (): Promise<string[]> =>
  (await (await caches.open(ARRIVALS)).keys()).map((request) => request.url);

const found = (bytes: number, here: Partial<Stored> = {}): Stored => ({
  row: { ...row, files: [{ path: 'random.gguf', bytes }] },
  files: [],
  bytes: 0,
  complete: false,
  wasWhole: false,
  ...here,
});

describe('a job', () => {
  test('is worth it for large files of which no part is here', () => {
    expect(isWorthAJob(found(300e6))).toBe(true);
    expect(isWorthAJob(found(5e6))).toBe(false);
    // The page goes on with a part; a job would begin it again.
    expect(isWorthAJob(found(300e6, { bytes: 100e6 }))).toBe(false);
  });

  test('is known to the service worker by its id, whatever the label', () => {
    expect(jobOf(jobId(row))).toEqual({ cache: ARRIVALS, label: row.label });
    expect(jobOf('of another app')).toBeNull();
  });

  test('is not begun where the browser has none', async () => {
    await fetchInBackground(found(300e6), {
      signal: never(),
      onProgress: () => expect.unreachable(),
      silenceMs: 1,
    });
  });

  /** A browser whose jobs do what the test says. */
  function withJob(job: EventTarget & { abort(): Promise<boolean> }): void {
    const fake = Object.assign(job, { id: jobId(row), downloaded: 0, result: '' });
    const backgroundFetch = { get: async () => undefined, fetch: async () => fake };
    const registration = { active: {}, backgroundFetch } as unknown as ServiceWorkerRegistration;
    vi.spyOn(ServiceWorkerContainer.prototype, 'getRegistration').mockResolvedValue(registration);
  }
  const job = () => Object.assign(new EventTarget(), { abort: vi.fn(async () => true) });
  const attended = (more: { silenceMs?: number; signal?: AbortSignal } = {}): Promise<void> =>
    fetchInBackground(found(300e6), {
      signal: never(),
      onProgress: () => undefined,
      silenceMs: 60_000,
      ...more,
    });
  const say = (ended: 'kept' | 'stopped'): boolean =>
    navigator.serviceWorker.dispatchEvent(
      new MessageEvent('message', { data: { type: 'background', id: jobId(row), ended } }),
    );

  test('that makes no headway is ended, and the page takes over', async () => {
    const one = job();
    withJob(one);
    await attended({ silenceMs: 30 });
    expect(one.abort).toHaveBeenCalledOnce();
  });

  test('ends when the service worker has taken its files in', async () => {
    const one = job();
    withJob(one);
    const progress = vi.fn();
    const done = fetchInBackground(found(300e6), {
      signal: never(),
      onProgress: progress,
      silenceMs: 60_000,
    });
    await expect.poll(() => progress.mock.calls.length).toBeGreaterThan(0);
    expect(progress.mock.calls[0]![0]).toMatchObject({ total: 300e6, background: true });
    say('kept');
    await done;
    expect(one.abort).not.toHaveBeenCalled();
  });

  test('that the person stops in the notification is told as that', async () => {
    withJob(job());
    const done = attended();
    const ending = expect(done).rejects.toBeInstanceOf(StoppedOutside);
    await expect.poll(() => (say('stopped'), true)).toBe(true);
    const again = setInterval(() => say('stopped'), 10);
    await ending;
    clearInterval(again);
  });

  test('is ended with the download', async () => {
    const one = job();
    withJob(one);
    const stop = new AbortController();
    const done = attended({ signal: stop.signal });
    stop.abort();
    await expect(done).rejects.toThrow(/abort/i);
    expect(one.abort).toHaveBeenCalled();
  });
});

describe('what a job brought', () => {
  const record = (path: string, response: Promise<Response>) => ({
    request: new Request(new URL(path, row.base)),
    responseReady: response,
  });

  test('is kept by the service worker as far as it arrived whole', async () => {
    const kept = await keepFiles({
      id: jobId(row),
      matchAll: async () => [
        record('a.gguf', Promise.resolve(new Response('whole'))),
        record('b.gguf', Promise.resolve(new Response('not here', { status: 404 }))),
        record('c.gguf', Promise.reject(new Error('cut off'))),
      ],
    });
    expect(kept).toBe(1);
    expect(await waiting()).toEqual([new URL('a.gguf', row.base).href]);
    expect(await keepFiles({ id: 'of another app', matchAll: async () => [] })).toBe(0);
  });

  test('is verified and taken, and nothing is fetched', async () => {
    const content = await (await fetch(url())).blob();
    await (await caches.open(ARRIVALS)).put(url(), new Response(content));
    const before = await requests();
    await get();
    expect((await stored(row)).complete).toBe(true);
    expect(await requests()).toBe(before);
    expect(await waiting()).toEqual([]);
  });

  test('does not count where it is damaged: that file is fetched by the page', async () => {
    await (await caches.open(ARRIVALS)).put(url(), new Response('<!doctype html><p>Sign in</p>'));
    const before = await requests();
    await get();
    expect((await stored(row)).complete).toBe(true);
    expect(await requests()).toBe(before + 1);
    expect(await waiting()).toEqual([]);
  });

  test('goes with the model, and where nobody waits for it any more', async () => {
    const cache = await caches.open(ARRIVALS);
    await cache.put(url(), new Response('x'));
    await tidyArrivals([row]);
    expect(await waiting()).toEqual([url()]);
    await tidyArrivals([]);
    expect(await waiting()).toEqual([]);
    await cache.put(url(), new Response('x'));
    await removeFiles(row);
    expect(await waiting()).toEqual([]);
  });

  test('a job that was stopped with the app closed is known as stopped, once', async () => {
    await noteStopped({ id: jobId(row), matchAll: async () => [] }, location.origin);
    await tidyArrivals([]);
    expect(await wasStopped(row)).toBe(true);
    expect(await wasStopped(row)).toBe(false);
  });
});

describe('a download of the page itself', () => {
  test('keeps the screen on while it runs, and not after', async () => {
    const release = vi.fn(async () => undefined);
    const request = vi
      .spyOn(WakeLock.prototype, 'request')
      .mockResolvedValue({ release } as unknown as WakeLockSentinel);
    vi.spyOn(Document.prototype, 'visibilityState', 'get').mockReturnValue('visible');
    await get(faulty(row, 'slow', 'random.gguf'));
    expect(request).toHaveBeenCalledWith('screen');
    expect(release).toHaveBeenCalledOnce();
  });

  test('goes on where the phone does not let the screen be kept on', async () => {
    vi.spyOn(WakeLock.prototype, 'request').mockRejectedValue(
      new DOMException('no', 'NotAllowedError'),
    );
    await get();
    expect((await stored(row)).complete).toBe(true);
  });
});
