import { commands } from 'vitest/browser';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Brain, BrainEvent, BrainRequest } from '../../../src/brain/brain.ts';
import {
  fileName,
  folder,
  manifests,
  removeFiles,
  webllmEntry,
} from '../../../src/brain/local/files.ts';
import { wllamaFiles } from '../../../src/brain/local/engines/wllama.ts';
import { createModels, type ModelsDeps } from '../../../src/brain/local/models.ts';
import type { CatalogueRow, Models, ModelView } from '../../../src/brain/local/types.ts';
import { openStore } from '../../../src/store/open.ts';
import type { Settings } from '../../../src/store/records.ts';
import type { Store } from '../../../src/store/store.ts';
import { never, randomGguf, tinyGemma } from './rows.ts';

const INDEX = '/made/index.json';
const TINY = 'tiny-gemma.webllm';
const RANDOM = 'random.wllama';
const REQUEST: BrainRequest = {
  system: '',
  now: 'Sunday 2026-11-29 14:05, Asia/Kolkata',
  messages: [{ role: 'user', text: 'Hello' }],
  tools: [],
  toolChoice: 'none',
  maxTokens: 8,
};

let server: string;
let rows: CatalogueRow[];
let store: Store;
let opened: Models[] = [];

/** The list beside the app, with changes to its rows. */
async function list(change: (row: CatalogueRow) => object = () => ({})): Promise<void> {
  const index = new URL(INDEX, server).href;
  const entries = rows.map((row) => {
    const folder = new URL(row.base).pathname
      .replace('/made/', './')
      .replace('/tests/', '../tests/');
    if (new URL(folder, index).href !== row.base) throw new Error(`${folder} is not ${row.base}`);
    return { ...row, base: undefined, beside: undefined, folder, ...change(row) };
  });
  await commands.makeFile(INDEX, JSON.stringify(entries));
}

/** What a freshly opened page makes of what is stored. */
function open(more: Partial<ModelsDeps> = {}): Models {
  const models = createModels({
    store,
    index: new URL(INDEX, server).href,
    publicRows: async () => [],
    ...more,
  });
  opened.push(models);
  return models;
}

async function view(models: Models, id: string): Promise<ModelView> {
  const found = (await models.list()).find((one) => one.row.id === id);
  if (!found) throw new Error(`${id} is not listed`);
  return found;
}

const kind = async (models: Models, id: string): Promise<string> =>
  (await view(models, id)).status.kind;

async function collect(brain: Brain | null, request = REQUEST): Promise<BrainEvent[]> {
  const events: BrainEvent[] = [];
  for await (const event of brain!.stream(request, never())) events.push(event);
  return events;
}

const endOf = (events: readonly BrainEvent[]): BrainEvent | undefined => events.at(-1);

beforeAll(async () => {
  server = await commands.startFileServer();
  rows = [await tinyGemma(server), await randomGguf(server)];
});
afterAll(() => commands.stopFileServer(server));

beforeEach(async () => {
  for (const { row } of await manifests()) await removeFiles(row);
  await caches.delete('deft-catalogue');
  localStorage.clear();
  store = await openStore({ name: `models-${crypto.randomUUID()}` });
  await list();
});
afterEach(async () => {
  for (const models of opened) await models.unload();
  opened = [];
  store.close();
});

describe('the list', () => {
  test('shows what is beside the app, the engine for the CPU before an emulated GPU', async () => {
    const views = await open().list();
    expect(views.map(({ row, status, stored }) => [row.id, status.kind, stored])).toEqual([
      [RANDOM, 'absent', 0],
      [TINY, 'absent', 0],
    ]);
    expect(views.every((one) => one.row.beside && one.unfit === undefined)).toBe(true);
  });

  test('is shown also where it came before the rest of the catalogue could be read', async () => {
    const task = (): Promise<void> => new Promise((resolve) => setTimeout(resolve));
    let reads = 0;
    const publicRows = async (): Promise<readonly CatalogueRow[]> => {
      reads += 1;
      if (reads > 1) return [];
      const kept = await caches.open('deft-catalogue');
      await expect.poll(async () => (await kept.keys()).length).toBe(1);
      for (let tasks = 0; tasks < 20; tasks += 1) await task();
      return [];
    };
    const views = await open({ publicRows }).list();
    expect(views.map(({ row }) => row.id)).toEqual([RANDOM, TINY]);
  });

  test('is found when it came after the page', async () => {
    await commands.makeFile(INDEX, '[]');
    const models = open();
    expect(await models.list()).toEqual([]);
    const told = vi.fn();
    models.subscribe(told);
    await list();
    expect((await models.list()).map(({ row }) => row.id)).toEqual([RANDOM, TINY]);
    expect(told).toHaveBeenCalled();
  });

  test('says of what cannot run here why not', async () => {
    const adapter = vi.spyOn(GPU.prototype, 'requestAdapter').mockResolvedValue(null);
    const models = open();
    expect((await view(models, TINY)).unfit).toBe('This browser offers no usable GPU.');
    // Nothing is fetched for it either.
    const before = (await commands.fileRequests(server)).length;
    await models.download(TINY);
    expect((await view(models, TINY)).status).toMatchObject({ kind: 'failed' });
    expect((await commands.fileRequests(server)).length).toBe(before);
    adapter.mockRestore();
  });

  test('says so where the browser keeps no files, and goes on', async () => {
    const folder = vi
      .spyOn(StorageManager.prototype, 'getDirectory')
      .mockRejectedValue(new DOMException('no', 'SecurityError'));
    const models = open();
    for (const one of await models.list()) {
      expect(one.unfit).toMatch(/does not let the app keep files/);
      await models.download(one.row.id);
      expect(await models.brain(one.row.id)).toBeNull();
    }
    folder.mockRestore();
  });

  test('is empty where there is none, and the app goes on', async () => {
    await commands.makeFile(INDEX, '<!doctype html><title>Not here</title>');
    expect(await open().list()).toEqual([]);
  });
});

describe('a download', () => {
  test('shows its progress, ends ready, and is ready for the next page too', async () => {
    const models = open();
    const kinds = new Set<string>();
    models.subscribe(() => void kind(models, TINY).then((one) => kinds.add(one)));
    await models.download(TINY);
    expect(await view(models, TINY)).toMatchObject({ status: { kind: 'ready' } });
    expect(kinds).toContain('downloading');
    expect(await store.models.get(TINY)).toMatchObject({ state: 'ready' });
    expect((await view(models, TINY)).stored).toBe((await store.models.get(TINY))!.bytes);

    const next = open();
    expect(await kind(next, TINY)).toBe('ready');
    expect(await kind(next, RANDOM)).toBe('absent');
    expect(await next.brain(RANDOM)).toBeNull();
    expect((await next.brain(TINY))?.describe()).toMatchObject({ place: 'phone', model: TINY });
  });

  test('of the first model makes it the one in use; a later one changes no choice', async () => {
    const models = open();
    await models.download(RANDOM);
    expect((await store.settings.get()).phoneModel).toBe(RANDOM);
    await models.download(TINY);
    expect((await store.settings.get()).phoneModel).toBe(RANDOM);
  });

  test('that fails chooses nothing', async () => {
    await list((row) => (row.id === RANDOM ? { folder: '../fault/html/random.gguf/made/' } : {}));
    await open().download(RANDOM);
    expect((await store.settings.get()).phoneModel).toBeNull();
  });

  test('asked for twice is one download', async () => {
    const models = open();
    const before = (await commands.fileRequests(server)).length;
    await Promise.all([models.download(RANDOM), models.download(RANDOM)]);
    const asked = (await commands.fileRequests(server)).slice(before);
    expect(asked.filter((request) => request.includes('.gguf'))).toHaveLength(1);
  });

  test('that fails says why and what to do, also after a reload, and can be tried again', async () => {
    const fault = { folder: '../fault/html/random.gguf/made/' };
    await list((row) => (row.id === RANDOM ? fault : {}));
    const models = open();
    await models.download(RANDOM);
    const failed = {
      kind: 'failed',
      fault: 'page',
      message: expect.stringMatching(/web page in place of the file random\.gguf/) as string,
      advice: expect.stringMatching(/sign in/) as string,
    };
    expect((await view(models, RANDOM)).status).toEqual(failed);
    expect((await view(open(), RANDOM)).status).toEqual(failed);
    expect(await models.brain(RANDOM)).toBeNull();

    await list();
    const healed = open();
    await expect.poll(async () => (await view(healed, RANDOM)).row.base).not.toMatch(/fault/);
    await healed.download(RANDOM);
    expect(await kind(healed, RANDOM)).toBe('ready');
  });

  /** A list from which the second half of the model does not come. */
  const stalling = (): Promise<void> => {
    const stall = { folder: '../fault/stall/random.gguf/made/' };
    return list((row) => (row.id === RANDOM ? stall : {}));
  };

  /** Starts it, and resolves when a part of it is here. */
  async function begin(models: Models): Promise<{ done: Promise<void> }> {
    await expect.poll(async () => (await view(models, RANDOM)).row.base).toMatch(/stall/);
    const done = models.download(RANDOM);
    await expect
      .poll(async () => {
        const { status } = await view(models, RANDOM);
        return status.kind === 'downloading' && status.received;
      })
      .toBeGreaterThan(0);
    return { done };
  }

  test('takes the room for what it still brings from what another model is offered', async () => {
    const size = ({ files }: CatalogueRow): number =>
      files.reduce((sum, { bytes = 0 }) => sum + bytes, 0);
    // Beside what is always left free: room for the one, or for the rest of the other.
    const free = 64e6 + size(rows[0]!) + size(rows[1]!) / 4;
    const estimate = vi
      .spyOn(StorageManager.prototype, 'estimate')
      .mockResolvedValue({ quota: free, usage: 0 });
    try {
      await stalling();
      const models = open();
      const fits = async () => (await view(models, TINY)).fit;
      expect(await fits()).not.toHaveProperty('blocked');
      const { done } = await begin(models);
      // The room is counted anew every two seconds at most.
      await expect.poll(fits).toMatchObject({
        blocked: 'room',
        reason: expect.stringMatching(/the browser has \d+ MB left for Deft/) as string,
      });
      await models.pause(RANDOM);
      await done;
      expect(await fits()).not.toHaveProperty('blocked');
    } finally {
      estimate.mockRestore();
    }
  });

  test('that is paused says how far it is, stays so, and goes on where it was', async () => {
    await stalling();
    const models = open();
    const { done } = await begin(models);
    await models.pause(RANDOM);
    await done;
    const { status, stored, row } = await view(models, RANDOM);
    expect(stored).toBeGreaterThan(0);
    expect(status).toEqual({ kind: 'paused', received: stored, total: row.files[0]!.bytes });

    await list();
    const next = open();
    await expect.poll(async () => (await view(next, RANDOM)).row.base).not.toMatch(/fault/);
    expect((await view(next, RANDOM)).status).toEqual(status);
    await next.resume(RANDOM);
    expect((await commands.fileRequests(server)).at(-1)).toBe(`/made/random.gguf from ${stored}`);
    expect(await kind(next, RANDOM)).toBe('ready');
  });

  test('that is cancelled leaves nothing behind, running or paused', async () => {
    await stalling();
    const models = open();
    for (const pause of [false, true]) {
      const { done } = await begin(models);
      if (pause) await models.pause(RANDOM);
      await models.cancel(RANDOM);
      await done;
      expect(await view(models, RANDOM)).toMatchObject({ status: { kind: 'absent' }, stored: 0 });
      expect(await store.models.get(RANDOM)).toBeUndefined();
      expect(await manifests()).toEqual([]);
    }
  });

  test('that is cancelled while one bad file is fetched again keeps the good ones', async () => {
    const models = open();
    await models.download(TINY);
    const entry = webllmEntry(rows[0]!, 'tokenizer.json');
    await (await caches.open(entry.scope)).delete(entry.url);
    await models.cancel(TINY);
    expect((await manifests())[0]!.files).toHaveLength(5);
    expect((await view(models, TINY)).status).toMatchObject({ kind: 'failed', fault: 'evicted' });
  });

  test('that lost the network waits for it, and goes on by itself when it is back', async () => {
    await list((row) => (row.id === RANDOM ? { folder: '../fault/drop/random.gguf/made/' } : {}));
    const models = open();
    await models.list();
    const online = vi.spyOn(Navigator.prototype, 'onLine', 'get').mockReturnValue(false);
    try {
      await models.download(RANDOM);
      expect((await view(models, RANDOM)).status).toMatchObject({
        kind: 'paused',
        received: expect.any(Number) as number,
        reason: 'There is no network. It goes on by itself when the network is back.',
      });
    } finally {
      online.mockRestore();
    }
    const before = (await commands.fileRequests(server)).length;
    dispatchEvent(new Event('online'));
    await expect
      .poll(async () => (await commands.fileRequests(server)).slice(before))
      .toContainEqual(expect.stringMatching(/random\.gguf from \d+$/));
    await models.pause(RANDOM);
  });

  test('that a killed page left behind goes on by itself', async () => {
    await store.models.put({ id: RANDOM, state: 'downloading', bytes: 0, updatedAt: 1 });
    const models = open();
    await expect.poll(() => kind(models, RANDOM)).toBe('ready');
  });

  test('goes on by itself only over a connection that does not cost', async () => {
    await store.models.put({ id: RANDOM, state: 'downloading', bytes: 0, updatedAt: 1 });
    const { connection } = navigator as unknown as { connection: object };
    const prototype = Object.getPrototypeOf(connection) as { readonly saveData: boolean };
    const saving = vi.spyOn(prototype, 'saveData', 'get').mockReturnValue(true);
    const models = open();
    expect((await view(models, RANDOM)).status).toMatchObject({
      kind: 'paused',
      reason: 'It stopped when Deft was closed. This connection may cost, so it waits for you.',
    });
    saving.mockRestore();
    // And once it was said it stays so.
    expect(await kind(open(), RANDOM)).toBe('paused');
  });

  test('of another tab is shown as that', async () => {
    await stalling();
    const here = open();
    await begin(here);
    expect((await view(open(), RANDOM)).status).toMatchObject({
      kind: 'paused',
      reason: 'Deft is fetching it in another tab.',
    });
    await here.cancel(RANDOM);
  });

  test('of a large model asks first that the data be kept; a small one does not ask', async () => {
    const askPersist = vi.fn(async () => undefined);
    const small = open({ askPersist });
    await small.download(RANDOM);
    expect(askPersist).not.toHaveBeenCalled();
    await small.remove(RANDOM);
    await list(() => ({ files: [{ path: 'random.gguf', bytes: 50e6 }] }));
    const models = open({ askPersist });
    await expect.poll(async () => (await view(models, RANDOM)).row.files[0]?.bytes).toBe(50e6);
    await models.download(RANDOM);
    expect(askPersist).toHaveBeenCalledOnce();
  });

  test('can be removed, and nothing of it stays', async () => {
    const models = open();
    await models.download(RANDOM);
    await collect(await models.brain(RANDOM));
    expect(await kind(models, RANDOM)).toBe('warm');
    await models.remove(RANDOM);
    expect(await view(models, RANDOM)).toMatchObject({ status: { kind: 'absent' }, stored: 0 });
    expect(await store.models.get(RANDOM)).toBeUndefined();
    expect(await manifests()).toEqual([]);
  });
});

describe('what is stored', () => {
  test('is noticed at the start where the browser has cleared it', async () => {
    const models = open();
    await models.download(RANDOM);
    await removeFiles(rows[1]!);
    expect((await view(open(), RANDOM)).status).toMatchObject({
      kind: 'failed',
      fault: 'evicted',
      message: 'The browser has cleared random.wllama from this phone to make room.',
    });
  });

  test('is checked on demand, and only the bad file is fetched again', async () => {
    const models = open();
    await models.download(TINY);
    expect(await models.check(TINY)).toEqual([]);
    const entry = webllmEntry(rows[0]!, 'params_shard_0.bin');
    await (await caches.open(entry.scope)).put(entry.url, new Response('<!doctype html>'));
    const before = (await commands.fileRequests(server)).length;
    expect(await models.check(TINY)).toEqual(['params_shard_0.bin']);
    await expect.poll(() => kind(models, TINY)).toBe('ready');
    expect((await commands.fileRequests(server)).slice(before)).toEqual([
      '/models/tiny-gemma/webllm/params_shard_0.bin',
    ]);
  });

  test('is checked where the engine cannot load it, and what is bad is told', async () => {
    const models = open();
    await models.download(RANDOM);
    const at = await folder(RANDOM);
    const handle = await at!.getFileHandle(fileName('random.gguf'));
    const writable = await handle.createWritable({ keepExistingData: true });
    await writable.write({ type: 'write', position: 0, data: '<!doctype html>' });
    await writable.close();
    const events = await collect(await models.brain(RANDOM));
    expect(endOf(events)).toMatchObject({ type: 'end', reason: 'error' });
    await expect
      .poll(async () => (await view(models, RANDOM)).status)
      .toMatchObject({ kind: 'failed', fault: 'evicted' });
    await models.download(RANDOM);
    expect(endOf(await collect(await models.brain(RANDOM)))).toMatchObject({ reason: 'length' });
  });

  test('is said to work without a network only when the engine is kept too', async () => {
    const models = open();
    await models.download(RANDOM);
    expect((await view(models, RANDOM)).offline).toBeUndefined();
    // As the service worker keeps what the app has fetched.
    const cache = await caches.open('lazy');
    for (const url of wllamaFiles()) await cache.add(url);
    try {
      expect((await view(open(), RANDOM)).offline).toBe(true);
    } finally {
      await caches.delete('lazy');
    }
  });

  test.each([TINY, RANDOM])('of %s is carried to another browser as one file', async (id) => {
    const models = open();
    await models.download(id);
    const bytes = new Uint8Array(await (await models.export(id))!.arrayBuffer());
    expect(bytes.length).toBeGreaterThan((await view(models, id)).stored);
    await models.remove(id);
    const file = new Blob([bytes]);

    // Nothing is fetched, and what was damaged on the way is refused.
    const before = (await commands.fileRequests(server)).length;
    const damaged = bytes.slice();
    damaged[damaged.length - 1000]! ^= 1;
    expect(await models.import(new Blob([damaged]))).toMatchObject({
      ok: false,
      message: expect.stringMatching(/arrived damaged \(wrong checksum\)/) as string,
    });
    for (const [part, says] of [
      [file.slice(0, file.size - 1), 'The file of this model is not whole.'],
      [file.slice(0, 100), 'The file of this model is damaged at its beginning.'],
      [new Blob(['GGUF and so on']), 'This is not a model that Deft has saved.'],
    ] as const)
      expect(await models.import(part)).toMatchObject({ ok: false, message: says });
    expect(await models.import(file)).toEqual({ ok: true, id });
    expect((await commands.fileRequests(server)).length).toBe(before);
    expect(await kind(models, id)).toBe('ready');
    expect(endOf(await collect(await models.brain(id)))).toMatchObject({
      type: 'end',
      reason: expect.not.stringMatching('error') as string,
    });
  });

  test('that is not whole is not carried anywhere', async () => {
    expect(await open().export(RANDOM)).toBeNull();
  });
});

describe('the brain of a stored model', () => {
  test('loads at its first use and says so, answers, and is freed on demand', async () => {
    const models = open();
    await models.download(RANDOM);
    const brain = await models.brain(RANDOM);
    const events = await collect(brain);
    expect(events[0]).toMatchObject({ type: 'progress', phase: 'load' });
    expect(endOf(events)).toMatchObject({ type: 'end', reason: 'length' });
    expect(await kind(models, RANDOM)).toBe('warm');
    const again = await collect(brain);
    expect(again.some((event) => event.type === 'progress' && event.phase === 'load')).toBe(false);
    await models.unload();
    expect(await kind(models, RANDOM)).toBe('ready');
  });

  test('works without a network after a reload, WebLLM as well as wllama', async () => {
    const models = open();
    await models.download(TINY);
    await models.download(RANDOM);
    const port = Number(new URL(server).port);
    await commands.stopFileServer(server);
    try {
      const offline = open();
      for (const id of [TINY, RANDOM]) {
        expect(await kind(offline, id)).toBe('ready');
        const events = await collect(await offline.brain(id));
        expect(endOf(events)).toMatchObject({
          type: 'end',
          reason: expect.not.stringMatching('error') as string,
        });
      }
      // One model in memory at a time.
      expect(await kind(offline, TINY)).toBe('ready');
      expect(await kind(offline, RANDOM)).toBe('warm');
    } finally {
      expect(await commands.startFileServer(port)).toBe(server);
    }
  });

  test('two conversations at once are served one after the other', async () => {
    const models = open();
    await models.download(RANDOM);
    const brain = await models.brain(RANDOM);
    const order: string[] = [];
    const run = async (name: string): Promise<void> => {
      for await (const event of brain!.stream({ ...REQUEST, maxTokens: 30 }, never()))
        if (event.type === 'progress' && event.phase === 'prefill') order.push(name);
        else if (event.type === 'end') order.push(`${name} ends`);
    };
    await Promise.all([run('a'), run('b')]);
    const [first] = order;
    expect(order.slice(0, order.indexOf(`${first} ends`)).every((name) => name === first)).toBe(
      true,
    );
    expect(order.filter((name) => name.endsWith('ends'))).toHaveLength(2);
  });

  test('moves to the tab that wants it', async () => {
    const here = open();
    await here.download(RANDOM);
    await collect(await here.brain(RANDOM));
    const there = open();
    const events = await collect(await there.brain(RANDOM));
    expect(endOf(events)).toMatchObject({ type: 'end', reason: 'length' });
    expect(await kind(there, RANDOM)).toBe('warm');
    expect(await kind(here, RANDOM)).toBe('ready');
    // And back.
    await collect(await here.brain(RANDOM));
    expect(await kind(here, RANDOM)).toBe('warm');
    expect(await kind(there, RANDOM)).toBe('ready');
  });

  test('whose files were cleared says that it is gone, and can be had again', async () => {
    const models = open();
    await models.download(TINY);
    const entry = webllmEntry(rows[0]!, 'tokenizer.json');
    await (await caches.open(entry.scope)).delete(entry.url);
    const events = await collect(await models.brain(TINY));
    expect(endOf(events)).toMatchObject({ type: 'end', error: { kind: 'absent' } });
    await expect
      .poll(async () => (await view(models, TINY)).status)
      .toEqual({
        kind: 'failed',
        fault: 'evicted',
        message:
          '1 of the 5 files of tiny-gemma.webllm are missing or damaged: the browser may have cleared them to make room.',
        advice: expect.stringMatching(/only what is missing is fetched/) as string,
      });
    const before = (await commands.fileRequests(server)).length;
    await models.download(TINY);
    const asked = (await commands.fileRequests(server)).slice(before);
    expect(asked).toEqual(['/models/tiny-gemma/webllm/tokenizer.json']);
    expect(await kind(models, TINY)).toBe('ready');
  });

  /** Loads a model as a page does that dies meanwhile: its crash flag stays up. */
  async function dieLoading(id: string): Promise<void> {
    const models = open();
    const answer = collect(await models.brain(id));
    let underWay: Settings['underWay'];
    await expect
      .poll(async () => ({ underWay } = await store.settings.get()).underWay)
      .toBeTruthy();
    await answer;
    await models.unload();
    localStorage.removeItem('deft.over');
    await store.settings.set({ underWay });
  }

  test('in whose loading the last page died is not tried again unasked', async () => {
    await open().download(RANDOM);
    await dieLoading(RANDOM);
    const next = open();
    expect((await view(next, RANDOM)).status).toEqual({
      kind: 'failed',
      message: `The browser closed while ${RANDOM} was being loaded, probably for want of memory.`,
      advice: 'Take the safer choice, or close other apps and tabs and try it again as it was.',
    });
    // Nor by a use, not even after another reload.
    for (const models of [next, open()]) {
      await models.warm(RANDOM);
      expect(endOf(await collect(await models.brain(RANDOM)))).toMatchObject({
        error: { message: `${RANDOM} failed on this phone before, so it was not started again.` },
      });
      expect(await kind(models, RANDOM)).toBe('failed');
    }
    // The person tries again: nothing has to be fetched.
    const before = (await commands.fileRequests(server)).length;
    await next.download(RANDOM);
    expect((await commands.fileRequests(server)).length).toBe(before);
    expect(endOf(await collect(await next.brain(RANDOM)))).toMatchObject({ reason: 'length' });
    expect((await view(next, RANDOM)).setback).toBeUndefined();
  });

  test('that fails again and again is offered smaller, then another one, then the cloud', async () => {
    await list(({ id }) => (id === RANDOM ? { contexts: [512] } : { memory: 50e6 }));
    const models = open();
    await expect.poll(async () => (await view(models, TINY)).row.memory).toBe(50e6);
    await models.download(RANDOM);

    await dieLoading(RANDOM);
    let next = open();
    expect((await view(next, RANDOM)).setback?.next).toMatchObject({
      kind: 'context',
      contextTokens: 512,
    });
    // The same where not the page died, but the engine was refused memory.
    const { trials = [] } = await store.settings.get();
    await store.settings.set({ trials: trials.map((one) => ({ ...one, failed: 'memory' })) });
    next = open();
    expect((await view(next, RANDOM)).setback).toMatchObject({
      message: 'There was not enough memory for random.wllama.',
      next: { kind: 'context', contextTokens: 512 },
    });
    await next.stepDown(RANDOM);
    expect(await view(next, RANDOM)).toMatchObject({ status: { kind: 'ready' } });
    expect((await next.brain(RANDOM))?.describe().contextTokens).toBe(512);

    await dieLoading(RANDOM);
    next = open();
    expect((await view(next, RANDOM)).setback?.next).toMatchObject({ kind: 'smaller' });
    // What is not here yet comes with the same tap, and is the one in use.
    expect(await next.stepDown(RANDOM)).toMatchObject({ row: { id: TINY } });
    expect((await store.settings.get()).phoneModel).toBe(TINY);
    expect(await kind(next, TINY)).toBe('ready');

    await dieLoading(TINY);
    next = open();
    expect((await view(next, TINY)).setback?.next).toEqual({ kind: 'cloud' });
    await next.stepDown(TINY);
    expect((await view(next, TINY)).setback).toBeUndefined();
    expect((await store.settings.get()).phoneModel).toBeNull();
    // Nothing of all this is tried ahead.
    await next.warm(TINY);
    expect(await kind(next, TINY)).toBe('ready');
  });

  test('is ready ahead of its first use, once the person begins to write', async () => {
    const models = open();
    await models.download(RANDOM);
    const kinds: string[] = [];
    models.subscribe(() => void kind(models, RANDOM).then((one) => kinds.push(one)));
    await models.warm(RANDOM);
    expect(await kind(models, RANDOM)).toBe('warm');
    const events = await collect(await models.brain(RANDOM));
    expect(events.some((event) => event.type === 'progress' && event.phase === 'load')).toBe(false);
    await expect.poll(() => kinds).toContain('generating');
    expect(await kind(models, RANDOM)).toBe('warm');
  });
});
