import { commands } from 'vitest/browser';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import {
  DownloadError,
  fileFault,
  type DownloadFaultKind,
} from '../../../src/brain/local/download-faults.ts';
import { check, download, type DownloadProgress } from '../../../src/brain/local/downloads.ts';
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
import {
  createTransfers,
  type Entry,
  type TransfersDeps,
} from '../../../src/brain/local/transfers.ts';
import type { CatalogueRow } from '../../../src/brain/local/types.ts';
import { openStore } from '../../../src/store/open.ts';
import type { Store } from '../../../src/store/store.ts';
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
    retryMs: 20,
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

async function sha256(data: ArrayBuffer): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', data));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('');
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
      url: `${server}models/tiny-gemma/webllm/resolve/main/params_shard_0.bin`,
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
    expect(await stored(webllm)).toMatchObject({ files: [], bytes: 0, complete: false });
    for (const file of webllm.files) {
      const entry = webllmEntry(webllm, file.path);
      expect(await (await caches.open(entry.scope)).match(entry.url)).toBeUndefined();
    }
    expect(await folder(webllm.id)).toBeNull();
  });

  const atShard = async (row: CatalogueRow): Promise<Response | undefined> => {
    const { scope, url } = webllmEntry(row, 'params_shard_0.bin');
    return (await caches.open(scope)).match(url);
  };

  test('leaves what another model uses as well', async () => {
    const other = { ...webllm, id: 'other.webllm' };
    await get(webllm);
    await get(other);
    await removeFiles(other);
    expect((await stored(webllm)).complete).toBe(true);
    await removeFiles(webllm);
    expect(await atShard(webllm)).toBeUndefined();
  });

  test('leaves nothing at the old address when the list has a new one', async () => {
    const moved = faulty(webllm, 'redirect', 'params_shard_0.bin');
    await get(webllm);
    await get(moved);
    expect(await atShard(webllm)).toBeUndefined();
    expect((await stored(moved)).complete).toBe(true);
    await removeFiles(webllm);
    expect(await atShard(moved)).toBeUndefined();
  });
});

describe('two tabs', () => {
  let store: Store;
  beforeEach(async () => {
    store = await openStore({ name: `tabs-${crypto.randomUUID()}` });
  });
  afterEach(() => store.close());

  const ELSEWHERE = 'Deft is fetching it in another tab.';
  function tab(more: Partial<TransfersDeps> = {}) {
    const shown = new Map<string, Entry>();
    const transfers = createTransfers({
      store,
      show: (entry) => shown.set(entry.row.id, entry),
      metered: async () => false,
      askPersist: async () => undefined,
      ...more,
    });
    return { transfers, shown };
  }
  const stateOf = async ({ id }: CatalogueRow) => (await store.models.get(id))?.state;

  test('what one fetches the other cannot cancel or remove, nor by waiting for it', async () => {
    const row = faulty(wllama, 'stall', 'random.gguf');
    const [here, there] = [tab(), tab()];
    const done = here.transfers.download(row);
    await expect.poll(() => here.shown.get(row.id)?.stored ?? 0).toBeGreaterThan(0);
    await expect(there.transfers.cancel(row)).rejects.toThrow(ELSEWHERE);
    await expect(there.transfers.remove(row)).rejects.toThrow(ELSEWHERE);
    const waits = there.transfers.download(row);
    await there.transfers.cancel(row);
    await waits;
    expect(await stateOf(row)).toBe('downloading');
    expect((await stored(row)).bytes).toBeGreaterThan(0);
    expect(here.transfers.running.size).toBe(1);
    await here.transfers.cancel(row);
    await done;
    expect(await manifests()).toEqual([]);
  });

  test('where one is killed the other goes on', async () => {
    await store.models.put({ id: wllama.id, state: 'downloading', bytes: 0, updatedAt: 1 });
    const { transfers } = tab();
    const kill = await new Promise<() => void>((begun) => {
      const life = (): Promise<void> => new Promise((end) => begun(end));
      void navigator.locks.request(`deft-transfer/${wllama.id}`, life);
    });
    await transfers.takeUp([wllama]);
    expect(transfers.running.size).toBe(0);
    kill();
    await expect.poll(() => stateOf(wllama)).toBe('ready');
    expect((await stored(wllama)).complete).toBe(true);
  });

  test('a download that lost the network asks before it goes on over one that costs', async () => {
    let costs = false;
    const row = { ...wllama, files: [{ path: 'random.gguf', bytes: 50e6 }] };
    const { transfers, shown } = tab({
      metered: async () => costs,
      askPersist: () => Promise.reject(fileFault('offline', row.base)),
    });
    await store.models.put({ id: row.id, state: 'downloading', bytes: 0, updatedAt: 1 });
    await transfers.download(row);
    expect(shown.get(row.id)?.kept).toMatchObject({
      reason: expect.stringMatching(/^There is no network/) as string,
    });
    costs = true;
    dispatchEvent(new Event('online'));
    await expect
      .poll(() => shown.get(row.id)?.kept)
      .toMatchObject({
        kind: 'paused',
        reason: 'The network that is here now may cost, so it waits for you.',
      });
    expect(await stateOf(row)).toBe('paused');
  });
});

describe('a repository whose row does not name its files', () => {
  const base = (name: string): string => `${server}made/${name}/`;

  /** tiny-gemma's files under another address, changed as the test wants it. */
  async function publish(
    name: string,
    change: Readonly<Record<string, string | null>> = {},
  ): Promise<CatalogueRow> {
    const listed = await (await fetch(new URL('tensor-cache.json', webllm.base))).text();
    const config = await (await fetch(new URL('mlc-chat-config.json', webllm.base))).text();
    const texts = { 'tensor-cache.json': listed, 'mlc-chat-config.json': config, ...change };
    for (const [path, text] of Object.entries(texts))
      if (text !== null) await commands.makeFile(`/made/${name}/${path}`, text);
    for (const path of ['tokenizer.json', 'params_shard_0.bin'])
      await commands.copyFile(`/models/tiny-gemma/webllm/${path}`, `/made/${name}/${path}`);
    return {
      ...webllm,
      id: `${name}.webllm`,
      base: base(name),
      files: [],
      library: `${server}models/tiny-gemma/webllm/tiny-gemma3-q0f32-webgpu.wasm`,
      approxBytes: 4_000_000,
    };
  }

  test('is taken whole: tokenizer and shards out of its lists, and its library', async () => {
    const row = await publish('open');
    const seen: DownloadProgress[] = [];
    expect(await stored(row)).toMatchObject({ complete: false });
    await download(row, { signal: never(), onProgress: (progress) => seen.push(progress) });
    expect(seen.every(({ total }) => total >= 4_000_000)).toBe(true);
    const { files, complete, row: whole } = await stored(row);
    expect(complete).toBe(true);
    expect(files.map((file) => file.path)).toEqual([
      row.library,
      'mlc-chat-config.json',
      'tensor-cache.json',
      'tokenizer.json',
      'params_shard_0.bin',
    ]);
    expect(whole.files.at(-1)).toEqual({
      path: 'params_shard_0.bin',
      bytes: webllm.files.at(-1)!.bytes,
    });
    expect(webllmEntry(row, row.library!)).toEqual({ scope: 'webllm/wasm', url: row.library });

    // A file that is gone makes it incomplete, and is the only one to be fetched.
    const entry = webllmEntry(row, 'params_shard_0.bin');
    await (await caches.open(entry.scope)).delete(entry.url);
    expect((await stored(row)).complete).toBe(false);
    const before = (await commands.fileRequests(server)).length;
    await get(row);
    expect((await commands.fileRequests(server)).slice(before)).toEqual([
      '/made/open/params_shard_0.bin',
    ]);
  });

  test('may call its list of shards by the old name; the engine finds it by the new one', async () => {
    const list = await (await fetch(new URL('tensor-cache.json', webllm.base))).text();
    const row = await publish('old', { 'ndarray-cache.json': list, 'tensor-cache.json': null });
    await get(row);
    expect((await stored(row)).complete).toBe(true);
    expect(webllmEntry(row, 'ndarray-cache.json').url).toBe(
      `${base('old')}resolve/main/tensor-cache.json`,
    );
  });

  const lists: readonly [string, string | null, DownloadFaultKind, RegExp][] = [
    ['no list at all', null, 'missing', /does not have the file tensor-cache\.json/],
    ['another JSON', '{"a": 1}', 'damaged', /it has no records/],
    ['an empty list', '{"records": []}', 'damaged', /it lists no shards/],
    [
      'a path that leads elsewhere',
      '{"records": [{"dataPath": "../../other.bin", "nbytes": 5}]}',
      'damaged',
      /without a plain name/,
    ],
    ['a shard without a size', '{"records": [{"dataPath": "a.bin"}]}', 'damaged', /no size/],
    ['a page', '<!doctype html><title>Sign in</title>', 'page', /a web page in place of/],
  ];
  test.each(lists)('with %s is refused in a sentence', async (name, list, kind, says) => {
    const row = await publish(`bad-${name.replaceAll(' ', '-')}`, { 'tensor-cache.json': list });
    const found = await fault(row);
    expect(found.kind).toBe(kind);
    expect(found.message).toMatch(says);
    // Nothing that would mislead the next try is kept.
    expect((await stored(row)).files.map((file) => file.path)).not.toContain('tensor-cache.json');
  });

  test('a shard that is not as long as the list says is not kept', async () => {
    const bytes = webllm.files.at(-1)!.bytes!;
    const list = `{"records": [{"dataPath": "params_shard_0.bin", "nbytes": ${bytes + 1}}]}`;
    const row = await publish('longer', { 'tensor-cache.json': list });
    expect((await fault(row)).message).toContain(`(${bytes} bytes, not ${bytes + 1})`);
  });

  test('a library whose code has changed is not taken again in its place, unless the model was deleted', async () => {
    const library = `${server}made/changed.wasm`;
    await commands.makeFile('/made/changed.wasm', '\0asm\x01\0\0\0');
    const row = { ...(await publish('changed')), library };
    await get(row);
    const lose = async (): Promise<void> => {
      const { scope, url } = webllmEntry(row, library);
      await (await caches.open(scope)).delete(url);
    };
    await lose();
    // Another library, as sound as the first.
    await commands.makeFile('/made/changed.wasm', '\0asm\x01\0\0\0\0\x01\0');
    const found = await fault(row);
    expect(found.kind).toBe('changed');
    expect(found.message).toMatch(/now hands out other code as changed\.wasm/);
    expect((await stored(row)).complete).toBe(false);
    // The one that came first is welcome, and so is the new one to whoever begins anew.
    await commands.makeFile('/made/changed.wasm', '\0asm\x01\0\0\0');
    await get(row);
    expect((await stored(row)).complete).toBe(true);
    await removeFiles(row);
    await commands.makeFile('/made/changed.wasm', '\0asm\x01\0\0\0\0\x01\0');
    await get(row);
    expect((await stored(row)).complete).toBe(true);
  });

  test('a library that is no WebAssembly is not kept', async () => {
    await commands.makeFile('/made/wrong.wasm', 'not a library');
    const row = { ...(await publish('wrong')), library: `${server}made/wrong.wasm` };
    expect((await fault(row)).message).toBe(
      'The file wrong.wasm arrived damaged (not a WebAssembly library), so it was not kept.',
    );
  });
});

describe('a check of stored files', () => {
  async function spoil(row: CatalogueRow, path: string, how: 'html' | 'short' | 'flipped') {
    const entry = webllmEntry(row, path);
    const cache = await caches.open(entry.scope);
    const good = new Uint8Array(await (await cache.match(entry.url))!.arrayBuffer());
    let bad: Uint8Array<ArrayBuffer> = good.slice();
    if (how === 'html') bad = new TextEncoder().encode('<!doctype html><p>Sign in</p>');
    else if (how === 'short') bad = good.slice(0, good.length >> 1);
    else bad[bad.length >> 1]! ^= 1;
    // As another part of the browser would leave it: with the length that is expected.
    const headers = { 'content-length': String(good.length) };
    await cache.put(entry.url, new Response(bad, { headers }));
  }

  test.each(['html', 'short', 'flipped'] as const)(
    'finds what is %s, and only that file is fetched again',
    async (how) => {
      await get(webllm);
      expect(await check(webllm, never())).toEqual([]);
      await spoil(webllm, 'params_shard_0.bin', how);
      expect(await check(webllm, never())).toEqual(['params_shard_0.bin']);
      expect((await stored(webllm)).complete).toBe(false);
      const before = (await commands.fileRequests(server)).length;
      await get(webllm);
      expect((await commands.fileRequests(server)).slice(before)).toEqual([
        '/models/tiny-gemma/webllm/params_shard_0.bin',
      ]);
      expect(await check(webllm, never())).toEqual([]);
    },
  );

  test('finds a changed byte in a GGUF', async () => {
    await get(wllama);
    const at = await folder(wllama.id);
    const handle = await at!.getFileHandle(fileName('random.gguf'));
    const writable = await handle.createWritable({ keepExistingData: true });
    await writable.write({ type: 'write', position: 900_000, data: 'changed' });
    await writable.close();
    expect(await check(wllama, never())).toEqual(['random.gguf']);
    expect(await fileIn(at!, fileName('random.gguf'))).toBeNull();
  });
});

describe('files that need not be fetched', () => {
  test('are verified and stored like the others', async () => {
    const { bytes } = wllama.files[0]!;
    const content = await (await fetch(new URL('random.gguf', wllama.base))).blob();
    const row = { ...wllama, id: 'own.wllama', base: 'https://nowhere.invalid/', files: [] };
    const given = { ...row, files: [{ path: 'random.gguf' }] };
    const options = { signal: never(), onProgress: () => undefined };
    await download(given, { ...options, local: { 'random.gguf': content } });
    expect((await stored(given)).files[0]).toMatchObject({ bytes });
    await removeFiles(given);

    const cut = download(given, {
      ...options,
      local: { 'random.gguf': content.slice(0, bytes! - 9) },
    });
    await expect(cut).rejects.toThrow(
      'The file random.gguf arrived damaged (it ends too early), so it was not kept.',
    );
    expect((await stored(given)).bytes).toBe(0);
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

/** The most of a file that a fault may leave: none of it, a part to go on from, or all of it. */
type Kept = 'nothing' | 'a part' | 'the file';

describe('every fault of a host ends well or in a sentence, and says what is kept', () => {
  const FILE = 'params_shard_0.bin';
  interface Case {
    /** Default: the fault's own. */
    readonly name?: string;
    readonly fault: string;
    readonly kind: DownloadFaultKind | null;
    readonly says?: RegExp;
    readonly advice?: RegExp;
    readonly keeps: Kept;
    /** Ranges asked for, `0` for all of it. */
    readonly asks: readonly number[];
  }
  /** `SIZE`: bytes of the file. */
  const casesOf = (SIZE: number, HALF = SIZE >> 1): readonly Case[] => [
    { fault: 'drop-at-1', kind: null, keeps: 'the file', asks: [0, 1] },
    { fault: 'drop-at-70000', kind: null, keeps: 'the file', asks: [0, 70_000] },
    {
      name: 'drop before the last byte',
      fault: `drop-at-${SIZE - 1}`,
      kind: null,
      keeps: 'the file',
      asks: [0, SIZE - 1],
    },
    {
      fault: 'drop',
      kind: 'unreachable',
      says: /^The connection to 127\.0\.0\.1:\d+ was lost\.$/,
      advice: /goes on where it stopped/,
      keeps: 'a part',
      asks: [],
    },
    { fault: 'unsatisfiable', kind: null, keeps: 'the file', asks: [0, HALF, 0] },
    { fault: 'no-range', kind: null, keeps: 'the file', asks: [0, HALF] },
    { fault: 'slow', kind: null, keeps: 'the file', asks: [0] },
    { fault: 'redirect', kind: null, keeps: 'the file', asks: [0] },
    { fault: 'busy', kind: null, keeps: 'the file', asks: [0, 0] },
    {
      fault: 'busy-long',
      kind: 'busy',
      says: /is busy and asks to wait 60 minutes\.$/,
      advice: /^Press Download again after that/,
      keeps: 'nothing',
      asks: [0],
    },
    {
      fault: 'refused',
      kind: 'refused',
      says: /does not hand out the file params_shard_0\.bin \(403\)/,
      advice: /Choose another model/,
      keeps: 'nothing',
      asks: [0],
    },
    {
      fault: 'missing',
      kind: 'missing',
      says: /does not have the file params_shard_0\.bin/,
      advice: /Choose another model/,
      keeps: 'nothing',
      asks: [0],
    },
    {
      fault: 'broken',
      kind: 'server',
      says: /failed to answer \(503\)/,
      advice: /Try again later/,
      keeps: 'nothing',
      asks: [0, 0, 0, 0, 0],
    },
    {
      fault: 'html',
      kind: 'page',
      says: /answered with a web page in place of the file params_shard_0\.bin/,
      advice: /asks for a sign-in/,
      keeps: 'nothing',
      asks: [0],
    },
    {
      fault: 'lost',
      kind: 'page',
      says: /answered with a web page/,
      advice: /asks for a sign-in/,
      keeps: 'nothing',
      asks: [0],
    },
    {
      fault: 'short',
      kind: 'size',
      says: RegExp(`does not have the announced size \\(${HALF} bytes, not ${SIZE}\\)`),
      advice: /Nothing of it was kept/,
      keeps: 'nothing',
      asks: [0],
    },
    {
      fault: 'short-unsaid',
      kind: 'size',
      says: RegExp(`\\(${HALF} bytes, not ${SIZE}\\)`),
      advice: /Nothing of it was kept/,
      keeps: 'nothing',
      asks: [0],
    },
    {
      fault: 'long',
      kind: 'size',
      says: RegExp(`\\(${SIZE + 1} bytes, not ${SIZE}\\)`),
      advice: /Nothing of it was kept/,
      keeps: 'nothing',
      asks: [0],
    },
    {
      fault: 'flipped',
      kind: 'damaged',
      says: /arrived damaged \(wrong checksum\), so it was not kept/,
      advice: /try again/,
      keeps: 'nothing',
      asks: [0],
    },
    // It is fetched anew from the start; that version is not the one that the list means.
    {
      fault: 'changed',
      kind: 'damaged',
      says: /arrived damaged \(wrong checksum\)/,
      advice: /try again/,
      keeps: 'nothing',
      asks: [0, HALF, 0],
    },
  ];

  const nameOf = ({ name, fault }: Case): string => name ?? fault;

  test.each(casesOf(0).map(nameOf))('%s', async (name) => {
    const size = webllm.files.at(-1)!.bytes!;
    const { fault: mode, ...expected } = casesOf(size).find((one) => nameOf(one) === name)!;
    const { kind, says, advice, keeps, asks } = expected;
    const row = faulty(webllm, mode, FILE);
    const before = (await commands.fileRequests(server)).length;
    const thrown = await get(row).then(
      () => null,
      (error: unknown) => error,
    );
    const found = thrown instanceof DownloadError ? thrown.fault : thrown;
    expect(found).toEqual(
      kind === null
        ? null
        : {
            kind,
            message: expect.stringMatching(says!) as string,
            advice: expect.stringMatching(advice!) as string,
          },
    );

    const { files, complete } = await stored(row);
    expect(complete).toBe(keeps === 'the file');
    expect(files).toHaveLength(keeps === 'the file' ? 5 : 4);
    const entry = webllmEntry(row, FILE);
    const kept = await (await caches.open(entry.scope)).match(entry.url);
    expect(kept !== undefined).toBe(keeps === 'the file');
    const part = (await partOf(row, FILE)) ?? 0;
    if (keeps === 'a part') expect(part).toBeGreaterThan(size >> 1);
    else expect(part).toBe(0);

    const asked = (await commands.fileRequests(server))
      .slice(before)
      .filter((request) => request.startsWith(`/fault/${mode}/`) && request.includes('/models/'))
      .filter((request) => request.split(' from ')[0]!.endsWith(FILE))
      .map((request) => Number(request.split(' from ')[1] ?? 0));
    if (asks.length > 0) expect(asked).toEqual(asks);
    else expect(asked[0]).toBe(0);
  });

  test('without a checksum, what changed between two parts is fetched anew, all of one version', async () => {
    const { bytes } = webllm.files.at(-1)!;
    const files = webllm.files.map((file) => (file.path === FILE ? { path: FILE, bytes } : file));
    const row = faulty({ ...webllm, files: files as CatalogueRow['files'] }, 'changed', FILE);
    await get(row);
    const other = await (await fetch(new URL(FILE, row.base))).arrayBuffer();
    const file = (await stored(row)).files.at(-1)!;
    expect(file).toEqual({ path: FILE, bytes, sha256: await sha256(other) });
  });

  test('the part that a killed page left is not mixed with a later version either', async () => {
    const FIRST = 'random.gguf';
    const bare = { ...wllama, files: [{ path: FIRST, bytes: wllama.files[0]!.bytes! }] };
    await fault(faulty(bare, 'drop', FIRST));
    const row = faulty(bare, 'flipped', FIRST);
    const before = (await commands.fileRequests(server)).length;
    await get(row);
    expect((await commands.fileRequests(server)).slice(before)).toHaveLength(2);
    const other = await (await fetch(new URL(FIRST, row.base))).arrayBuffer();
    expect((await stored(row)).files[0]!.sha256).toBe(await sha256(other));
  });
});

describe('a bad file is never kept', () => {
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
      advice:
        'Delete another model, photos or apps, then press Download again: it goes on where it stopped.',
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
