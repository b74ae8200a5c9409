import { commands } from 'vitest/browser';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { DownloadError, type DownloadFaultKind } from '../../../src/brain/local/download-faults.ts';
import { download, type DownloadProgress } from '../../../src/brain/local/downloads.ts';
import {
  fileIn,
  fileName,
  folder,
  manifests,
  partName,
  removeFiles,
  stored,
  webllmEntry,
} from '../../../src/brain/local/files.ts';
import type { CatalogueRow } from '../../../src/brain/local/types.ts';
import { faulty, never, randomGguf, tinyGemma } from './rows.ts';

let server: string;
let webllm: CatalogueRow;
let wllama: CatalogueRow;

beforeAll(async () => {
  server = await commands.startFileServer();
  [webllm, wllama] = await Promise.all([tinyGemma(server), randomGguf(server)]);
});
afterAll(() => commands.stopFileServer(server));
beforeEach(async () => {
  for (const { row } of await manifests()) await removeFiles(row);
  for (const row of [webllm, wllama]) await removeFiles(row);
});

const get = (row: CatalogueRow, silenceMs?: number): Promise<void> =>
  download(row, {
    signal: never(),
    onProgress: () => undefined,
    ...(silenceMs === undefined ? {} : { silenceMs }),
  });

async function fault(row: CatalogueRow, silenceMs?: number): Promise<DownloadError['fault']> {
  const error = await get(row, silenceMs).then(
    () => null,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof DownloadError)) throw new Error(`Not a DownloadError: ${String(error)}`);
  return error.fault;
}

/** Bytes of the unfinished part of a file. */
async function partOf(row: CatalogueRow, path: string): Promise<number | undefined> {
  const at = await folder(row.id);
  return at ? (await fileIn(at, partName(path)))?.size : undefined;
}

const asked = async (path: string): Promise<string[]> =>
  (await commands.fileRequests(server)).filter((request) => request.includes(path));

describe('a download', () => {
  test('reports bytes, total and speed, and ends with every file verified in its place', async () => {
    const seen: DownloadProgress[] = [];
    await download(webllm, { signal: never(), onProgress: (progress) => seen.push(progress) });
    const total = webllm.files.reduce((sum, file) => sum + file.bytes!, 0);
    expect(seen.length).toBeGreaterThan(0);
    expect(seen.every((progress) => progress.total === total)).toBe(true);
    expect(seen.every((progress, at) => progress.received >= (seen[at - 1]?.received ?? 0))).toBe(
      true,
    );

    const { files, bytes, complete } = await stored(webllm);
    expect({ bytes, complete }).toEqual({ bytes: total, complete: true });
    expect(files).toEqual(webllm.files);
    const shard = webllmEntry(webllm, 'params_shard_0.bin');
    expect(shard).toEqual({
      scope: 'webllm/model',
      url: `${server}tests/tiny-gemma/resolve/main/params_shard_0.bin`,
    });
    const kept = await (await caches.open(shard.scope)).match(shard.url);
    expect((await kept!.arrayBuffer()).byteLength).toBe(webllm.files.at(-1)!.bytes);
    expect(await partOf(webllm, 'params_shard_0.bin')).toBeUndefined();
  });

  test('keeps a GGUF as a file, and its row, without a network', async () => {
    await get(wllama);
    const at = await folder(wllama.id);
    expect((await fileIn(at!, fileName('random.gguf')))?.size).toBe(wllama.files[0]!.bytes);
    expect((await manifests()).map((manifest) => manifest.row)).toEqual([wllama]);
  });

  test('fetches nothing twice', async () => {
    await get(webllm);
    const before = (await commands.fileRequests(server)).length;
    await get(webllm);
    expect((await commands.fileRequests(server)).length).toBe(before);
  });

  test('fetches a file again when the list asks for another version of it', async () => {
    const [file] = wllama.files;
    await get({ ...wllama, files: [{ path: file!.path }] });
    expect((await stored(wllama)).complete).toBe(true);
    const newer = { ...wllama, files: [{ ...file!, sha256: '0'.repeat(64) }] };
    expect(await stored(newer)).toMatchObject({ complete: false, files: [] });
  });

  test('leaves nothing behind when the model is removed', async () => {
    await get(webllm);
    await removeFiles(webllm);
    expect(await stored(webllm)).toEqual({ files: [], bytes: 0, complete: false });
    for (const file of webllm.files) {
      const entry = webllmEntry(webllm, file.path);
      expect(await (await caches.open(entry.scope)).match(entry.url)).toBeUndefined();
    }
    expect(await folder(webllm.id)).toBeNull();
  });
});

describe('a broken connection', () => {
  test('is taken up where it broke', async () => {
    const row = faulty(wllama, 'drop-once', 'random.gguf');
    await get(row);
    const half = wllama.files[0]!.bytes! >> 1;
    expect(await asked('drop-once')).toEqual([
      '/fault/drop-once/random.gguf/made/random.gguf',
      `/fault/drop-once/random.gguf/made/random.gguf from ${half}`,
    ]);
    expect((await stored(row)).complete).toBe(true);
  });

  test('that never heals ends with a sentence, and the next download goes on from there', async () => {
    const row = faulty(wllama, 'drop', 'random.gguf');
    expect(await fault(row)).toMatchObject({
      kind: 'unreachable',
      message: `The connection to ${new URL(server).host} was lost.`,
      advice: 'Press Download again: it goes on where it stopped.',
    });
    const had = await partOf(row, 'random.gguf');
    expect(had).toBeGreaterThan(wllama.files[0]!.bytes! / 2);

    await get(wllama);
    expect((await asked('/made/random.gguf')).at(-1)).toBe(`/made/random.gguf from ${had}`);
    expect((await stored(wllama)).complete).toBe(true);
  });

  test('that falls silent counts as broken', async () => {
    const row = faulty(wllama, 'stall', 'random.gguf');
    expect((await fault(row, 300)).kind).toBe('unreachable');
  });

  test('a host that is not there is named', async () => {
    const gone = { ...wllama, base: 'http://127.0.0.1:9/made/' };
    expect((await fault(gone)).message).toBe('The connection to 127.0.0.1:9 was lost.');
  });

  test('without any network says so', async () => {
    const online = vi.spyOn(Navigator.prototype, 'onLine', 'get').mockReturnValue(false);
    const gone = { ...wllama, base: 'http://127.0.0.1:9/made/' };
    expect((await fault(gone)).kind).toBe('offline');
    online.mockRestore();
  });
});

describe('a bad file is never kept', () => {
  const cases: readonly [string, DownloadFaultKind, RegExp][] = [
    ['html', 'page', /answered with a web page in place of the file params_shard_0\.bin/],
    ['missing', 'missing', /does not have the file params_shard_0\.bin/],
    ['refused', 'refused', /does not hand out the file params_shard_0\.bin \(403\)/],
    ['broken', 'server', /failed to answer \(503\)/],
    ['short', 'size', /does not have the announced size \(1101440 bytes, not 2202880\)/],
    ['flipped', 'damaged', /arrived damaged \(wrong checksum\)/],
  ];
  test.each(cases)('%s', async (mode, kind, message) => {
    const row = faulty(webllm, mode, 'params_shard_0.bin');
    const found = await fault(row);
    expect(found.kind).toBe(kind);
    expect(found.message).toMatch(message);
    expect(found.advice).toMatch(/\w/);
    const { files, complete } = await stored(row);
    expect(complete).toBe(false);
    expect(files.map((file) => file.path)).not.toContain('params_shard_0.bin');
    expect(files).toHaveLength(4);
    const entry = webllmEntry(row, 'params_shard_0.bin');
    expect(await (await caches.open(entry.scope)).match(entry.url)).toBeUndefined();
    expect((await partOf(row, 'params_shard_0.bin')) ?? 0).toBe(0);
  });

  test('nor one of the wrong kind, where no checksum is known', async () => {
    const cut = faulty(
      { ...webllm, files: [{ path: 'tokenizer.json' }] },
      'short',
      'tokenizer.json',
    );
    expect((await fault(cut)).message).toMatch(/not a file of its kind/);
  });

  test('a part that an older version left behind is thrown away', async () => {
    await fault(faulty(wllama, 'drop', 'random.gguf'));
    const at = await folder(wllama.id);
    const part = await at!.getFileHandle(partName('random.gguf'));
    const writable = await part.createWritable({ keepExistingData: true });
    await writable.write({ type: 'write', position: 100, data: 'of another version' });
    await writable.close();
    await get(wllama);
    expect((await asked('/made/random.gguf')).at(-1)).toBe('/made/random.gguf');
    expect((await stored(wllama)).complete).toBe(true);
  });
});

describe('room', () => {
  test('is looked at before the first byte', async () => {
    const estimate = vi
      .spyOn(StorageManager.prototype, 'estimate')
      .mockResolvedValue({ quota: 500e6, usage: 485e6 });
    const before = (await commands.fileRequests(server)).length;
    expect(await fault(webllm)).toEqual({
      kind: 'room',
      message: 'This phone has 15 MB left for this app; the model needs 28 MB more.',
      advice: 'Delete another model, photos or apps, or choose a smaller model.',
    });
    expect((await commands.fileRequests(server)).length).toBe(before);
    estimate.mockRestore();
  });
});

describe('cancel', () => {
  test('stops at once and keeps what has arrived', async () => {
    const stop = new AbortController();
    const row = faulty(wllama, 'stall', 'random.gguf');
    const done = download(row, {
      signal: stop.signal,
      onProgress: ({ received }) => {
        if (received > 0) stop.abort();
      },
    });
    await expect(done).rejects.toThrow(/abort/i);
    expect(await partOf(row, 'random.gguf')).toBeGreaterThan(0);
    expect((await stored(row)).bytes).toBeGreaterThan(0);
  });
});
