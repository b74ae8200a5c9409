/** Models that a person adds, with real files, through the app's own downloader and real engines. */
import { commands } from 'vitest/browser';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { BrainEvent, BrainRequest } from '../../../src/brain/brain.ts';
import { DOWNLOAD_LOCK } from '../../../src/brain/local/downloads.ts';
import {
  fileName,
  folder,
  makeFolder,
  manifests,
  removeFiles,
  stored,
} from '../../../src/brain/local/files.ts';
import { createModels } from '../../../src/brain/local/models.ts';
import type { CatalogueRow, Models, ModelView, OwnSource } from '../../../src/brain/local/types.ts';
import { openStore } from '../../../src/store/open.ts';
import type { Store } from '../../../src/store/store.ts';
import { never } from './rows.ts';

const REQUEST: BrainRequest = {
  system: '',
  now: 'Sunday 2026-11-29 14:05, Asia/Kolkata',
  messages: [{ role: 'user', text: 'Tell me of the sea, and of the ships that sail on it.' }],
  tools: [],
  toolChoice: 'none',
  maxTokens: 24,
};

let server: string;
let store: Store;
let opened: Models[] = [];

function open(): Models {
  const models = createModels({
    store,
    index: new URL('/made/no-index.json', server).href,
    publicRows: async () => [],
  });
  opened.push(models);
  return models;
}

async function view(models: Models, id: string): Promise<ModelView | undefined> {
  return (await models.list()).find(({ row }) => row.id === id);
}

/** How often a GGUF file was asked for so far. */
const ggufRequests = async (): Promise<number> =>
  (await commands.fileRequests(server)).filter((one) => one.includes('.gguf')).length;

const ANSWERED = expect.stringMatching(/^(stop|length)$/) as string;

async function inspected(models: Models, source: OwnSource): Promise<CatalogueRow> {
  const found = await models.inspect(source, never());
  if (!found.ok) throw new Error(`${found.message} ${found.advice}`);
  return found.row;
}

async function answer(models: Models, id: string): Promise<{ text: string; end: BrainEvent }> {
  const brain = await models.brain(id);
  let text = '';
  let end: BrainEvent | undefined;
  for await (const event of brain!.stream(REQUEST, never())) {
    if (event.type === 'text') text += event.text;
    end = event;
  }
  return { text, end: end! };
}

beforeAll(async () => {
  server = await commands.startFileServer();
});
afterAll(() => commands.stopFileServer(server));
beforeEach(async () => {
  for (const { row } of await manifests()) await removeFiles(row);
  await caches.delete('deft-catalogue');
  localStorage.clear();
  store = await openStore({ name: `own-${crypto.randomUUID()}` });
});
afterEach(async () => {
  for (const models of opened) await models.unload();
  opened = [];
  store.close();
});

test('a GGUF by its address is listed, fetched, used, measured, and taken away again', async () => {
  const models = open();
  expect(await models.list()).toEqual([]);
  const before = await ggufRequests();
  const row = await inspected(models, { kind: 'gguf', url: `${server}made/random.gguf` });
  expect((await ggufRequests()) - before).toBe(1);
  expect(await models.list()).toEqual([]);

  await models.add(row);
  const next = open();
  expect(await view(next, row.id)).toMatchObject({
    row: { own: 'url' },
    status: { kind: 'absent' },
  });
  await next.download(row.id);
  expect((await view(next, row.id))?.status.kind).toBe('ready');
  expect(await next.figures(row.id)).toBeNull();

  expect((await answer(next, row.id)).end).toMatchObject({ reason: ANSWERED });
  await expect.poll(async () => (await next.figures(row.id))?.answers).toBe(1);
  expect(await next.figures(row.id)).toMatchObject({
    prefillRate: expect.any(Number) as number,
    decodeRate: expect.any(Number) as number,
    firstTokenMs: expect.any(Number) as number,
  });
  // What was measured here is the reason that its card gives.
  expect((await view(next, row.id))?.fit.reason).toMatch(/^Measured on this phone: .* a second\.$/);

  await next.remove(row.id);
  expect(await view(next, row.id)).toBeUndefined();
  expect(await manifests()).toEqual([]);
  expect(await open().list()).toEqual([]);
});

test('a GGUF from a file is stored without a network, stays, and is taken away with its file', async () => {
  const bytes = await (await fetch(`${server}made/random.gguf`)).blob();
  const file = new File([bytes], 'my own model.gguf');
  const models = open();
  const before = await ggufRequests();
  const row = await inspected(models, { kind: 'file', file });
  await models.add(row, file);
  expect((await view(models, row.id))?.status.kind).toBe('ready');

  const next = open();
  expect(await view(next, row.id)).toMatchObject({
    row: { own: 'file' },
    status: { kind: 'ready' },
  });
  expect((await answer(next, row.id)).end).toMatchObject({ reason: ANSWERED });
  expect(await ggufRequests()).toBe(before);

  await next.remove(row.id);
  expect(await next.list()).toEqual([]);
  expect(await open().list()).toEqual([]);
});

/** A file of this phone that is brought in. */
async function broughtIn(models: Models): Promise<CatalogueRow> {
  const bytes = await (await fetch(`${server}made/random.gguf`)).blob();
  const file = new File([bytes], 'my own model.GGUF');
  const row = await inspected(models, { kind: 'file', file });
  await models.add(row, file);
  return row;
}
const lose = async ({ id, files }: CatalogueRow): Promise<void> =>
  (await folder(id))!.removeEntry(fileName(files[0]!.path));
const GONE = {
  kind: 'failed',
  message: expect.stringMatching(/^Deft no longer has the file that .* came from\.$/) as string,
  advice: 'Remove it from the list and add the file again.',
};

test('a file that the browser cleared is copied again while the page has it, then asked for', async () => {
  const models = open();
  const row = await broughtIn(models);
  await lose(row);
  expect(await models.check(row.id)).toEqual(['my%20own%20model.gguf']);
  await expect.poll(async () => (await view(models, row.id))?.status.kind).toBe('ready');

  await lose(row);
  expect((await view(open(), row.id))?.status).toMatchObject(GONE);
  const next = open();
  await next.download(row.id);
  expect((await view(next, row.id))?.status).toMatchObject(GONE);
});

test('a file whose copying was cut off after its first byte is not fetched from nowhere', async () => {
  const row = await broughtIn(open());
  await lose(row);
  await store.models.put({ id: row.id, state: 'downloading', bytes: 0, updatedAt: 1 });
  const next = open();
  await expect.poll(async () => (await view(next, row.id))?.status).toMatchObject(GONE);
});

test('a model from a file is saved, deleted and brought in again', async () => {
  const models = open();
  const row = await broughtIn(models);
  const saved = new Blob([await (await models.export(row.id))!.arrayBuffer()]);
  await models.remove(row.id);
  expect(await models.import(saved)).toEqual({ ok: true, id: row.id });
  expect(await view(models, row.id)).toMatchObject({
    row: { own: 'file' },
    status: { kind: 'ready' },
  });
});

test('a saved model of another version takes nothing from the one that is here', async () => {
  const models = open();
  const row = await broughtIn(models);
  const saved = new Uint8Array(await (await models.export(row.id))!.arrayBuffer());
  const { sha256 } = (await stored(row)).files[0]!;
  // The digest stands in the header, as text: another one is another version.
  const at = new TextDecoder('latin1').decode(saved.subarray(0, 4096)).lastIndexOf(sha256);
  saved.set(new TextEncoder().encode('f'.repeat(64)), at);
  expect(await models.import(new Blob([saved]))).toEqual({
    ok: false,
    message: `Another version of ${row.label} is here.`,
    advice: 'Delete that one first, then bring the file in again.',
  });
  expect((await view(models, row.id))?.status.kind).toBe('ready');
  expect((await stored(row)).complete).toBe(true);
});

test('a saved model that was paused on its way in is not said to be here', async () => {
  const models = open();
  const row = await broughtIn(models);
  const saved = new Blob([await (await models.export(row.id))!.arrayBuffer()]);
  await models.remove(row.id);
  const release = await new Promise<() => void>((held) => {
    const life = (): Promise<void> => new Promise((end) => held(end));
    void navigator.locks.request(DOWNLOAD_LOCK, life);
  });
  const coming = models.import(saved);
  await expect.poll(async () => (await view(models, row.id))?.status.kind).toBe('downloading');
  await models.pause(row.id);
  expect(await coming).toEqual({
    ok: false,
    message: 'It was not brought in whole.',
    advice: 'Bring the file in again.',
  });
  release();
});

test('of a file whose copying a killed page left behind, nothing stays', async () => {
  const stray = await makeFolder('own-left-behind-12345678.wllama');
  const part = await (await stray.getFileHandle('a.gguf.part', { create: true })).createWritable();
  await part.write('half of it');
  await part.close();
  await makeFolder('gemma3-270m-tools.wllama');
  await open().list();
  expect(await folder('own-left-behind-12345678.wllama')).toBeNull();
  // What can go on is left alone.
  expect(await folder('gemma3-270m-tools.wllama')).not.toBeNull();
});

test('a model packed by MLC runs with a library from elsewhere', async () => {
  const models = open();
  const row = await inspected(models, {
    kind: 'webllm',
    url: `${server}models/tiny-gemma/webllm`,
    // No fault: only another address for the same file.
    library: `${server}fault/none/-/models/tiny-gemma/webllm/tiny-gemma3-q0f32-webgpu.wasm`,
  });
  await models.add({ ...row, overrides: { prefill_chunk_size: 128 } });
  await models.download(row.id);
  expect(await view(models, row.id)).toMatchObject({ status: { kind: 'ready' } });
  const { end } = await answer(models, row.id);
  expect(end).toMatchObject({ type: 'end', reason: ANSWERED });
});

test('a benchmark runs every stored model on its tasks, and its result is kept with the figures', async () => {
  const models = open();
  const row = await inspected(models, { kind: 'gguf', url: `${server}made/random.gguf` });
  await models.add(row);
  await models.download(row.id);
  const steps: number[] = [];
  const report = await models.benchmark(({ done }) => void steps.push(done), never());
  expect(report.models).toMatchObject([
    { id: row.id, engine: 'wllama', of: 10, decodeRate: expect.any(Number) as number },
  ]);
  expect(report.models[0]?.tasks).toHaveLength(10);
  expect(steps.at(-1)).toBe(11);
  expect(report.device).toMatch(/\d cores/);
  expect((await models.figures(row.id))?.benchmark).toMatchObject({ of: 10 });
});

test('sampling that the person chose is used from the next answer on, survives a reload, and can be reset', async () => {
  const models = open();
  const row = await inspected(models, { kind: 'gguf', url: `${server}made/random.gguf` });
  await models.add(row);
  await models.download(row.id);
  const greedy = (await answer(models, row.id)).text;
  expect((await answer(models, row.id)).text).toBe(greedy);

  await models.setSampling(row.id, { temperature: 2, topP: 1, topK: 0 });
  expect((await answer(models, row.id)).text).not.toBe(greedy);
  expect((await view(open(), row.id))?.sampling).toEqual({ temperature: 2, topP: 1, topK: 0 });

  await models.setSampling(row.id, null);
  expect((await view(models, row.id))?.sampling).toBeUndefined();
  expect((await answer(models, row.id)).text).toBe(greedy);
});

test('a model that can think is kept from it where the person wants that, after a reload too', async () => {
  const models = open();
  const row = await inspected(models, { kind: 'gguf', url: `${server}made/random.gguf` });
  await models.add({ ...row, thinking: true });
  expect((await view(models, row.id))?.unthinking).toBeUndefined();
  await models.setThinking(row.id, false);
  expect((await view(open(), row.id))?.unthinking).toBe(true);
  await models.setThinking(row.id, true);
  expect((await view(models, row.id))?.unthinking).toBeUndefined();
});
