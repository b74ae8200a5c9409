import { cdp, commands } from 'vitest/browser';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import {
  folder,
  manifests,
  partName,
  fileIn,
  removeFiles,
} from '../../../src/brain/local/files.ts';
import { createModels } from '../../../src/brain/local/models.ts';
import type { CatalogueRow, Models, ModelView } from '../../../src/brain/local/types.ts';
import { openStore } from '../../../src/store/open.ts';
import type { Store } from '../../../src/store/store.ts';
import { randomGguf, tinyGemma } from './rows.ts';

/** The browser's own limit, set low: what is more it refuses itself, at whatever byte that is. */

const INDEX = '/made/quota.json';
const MEGA = 1e6;

let server: string;
let rows: CatalogueRow[];
let store: Store;
let models: Models;

/** The part of the DevTools protocol that this needs. */
interface Protocol {
  send(method: 'Storage.overrideQuotaForOrigin', to: object): Promise<unknown>;
}

/** Bytes that the browser gives this origin beyond what is used; undefined: as many as it likes. */
async function leave(bytes?: number): Promise<void> {
  const { usage = 0 } = await navigator.storage.estimate();
  const limit = bytes === undefined ? {} : { quotaSize: Math.round(usage + bytes) };
  await (cdp() as unknown as Protocol).send('Storage.overrideQuotaForOrigin', {
    origin: location.origin,
    ...limit,
  });
}

/** Resolves when the browser has counted all that was removed: it does so a while behind. */
async function counted(): Promise<void> {
  let last = NaN;
  let equal = 0;
  await expect
    .poll(
      async () => {
        const { usage = 0 } = await navigator.storage.estimate();
        equal = usage === last ? equal + 1 : 0;
        last = usage;
        return equal;
      },
      { interval: 100, timeout: 20_000 },
    )
    .toBeGreaterThanOrEqual(5);
}

async function view(id: string): Promise<ModelView> {
  const found = (await models.list()).find((one) => one.row.id === id);
  if (!found) throw new Error(`${id} is not listed`);
  return found;
}

/** Bytes of files and parts in the origin's private file system, of one model. */
async function partOf(id: string, path: string): Promise<number> {
  const at = await folder(id);
  return (at && (await fileIn(at, partName(path)))?.size) ?? 0;
}

const asked = async (path: string): Promise<string[]> =>
  (await commands.fileRequests(server)).filter((request) => request.includes(path));

beforeAll(async () => {
  server = await commands.startFileServer();
  const small = await randomGguf(server);
  // 30 MB behind a GGUF's header: larger than what the browser sets aside in advance.
  await commands.growFile('/made/random.gguf', '/made/large.gguf', 30 * MEGA);
  const large: CatalogueRow = {
    ...small,
    id: 'large.wllama',
    // Its size is not known beforehand, so that nothing but the browser's own limit can stop it.
    files: [{ path: 'large.gguf' }],
  };
  rows = [small, large, await tinyGemma(server)];
  const list = rows.map((row) => ({
    ...row,
    base: undefined,
    folder: new URL(row.base).pathname.replace('/made/', './').replace('/tests/', '../tests/'),
  }));
  await commands.makeFile(INDEX, JSON.stringify(list));
});
afterAll(() => commands.stopFileServer(server));
beforeEach(async () => {
  for (const { row } of await manifests()) await removeFiles(row);
  const root = await navigator.storage.getDirectory();
  for await (const name of root.keys()) await root.removeEntry(name, { recursive: true });
  // Whole caches: of single entries that were removed the browser goes on counting the bytes.
  for (const name of await caches.keys()) await caches.delete(name);
  store = await openStore({ name: `quota-${crypto.randomUUID()}` });
  models = createModels({
    store,
    index: new URL(INDEX, server).href,
    publicRows: async () => [],
  });
  await models.list();
  await counted();
});
afterEach(async () => {
  await leave();
  await models.unload();
  store.close();
});

test('a phone that fills up in the midst of a download: told, nothing half-kept but the part, room made, gone on', async () => {
  const id = 'large.wllama';
  await models.download('random.wllama');
  expect((await view('random.wllama')).status.kind).toBe('ready');
  // Enough for the first look, not for the model.
  await leave(22 * MEGA);
  await models.download(id);
  const { status, stored } = await view(id);
  expect(status).toMatchObject({
    kind: 'failed',
    fault: 'room',
    message: expect.stringMatching(
      /^This phone (ran out of room|has .* left for this app); the model needs \d+ [kMG]B more\.$/,
    ) as string,
    advice:
      'Delete another model, photos or apps, then press Download again: it goes on where it stopped.',
  });
  const part = await partOf(id, 'large.gguf');
  expect(part).toBeGreaterThan(MEGA);
  expect(part).toBeLessThan(30 * MEGA);
  expect(stored).toBe(part);
  expect((await manifests()).find(({ row }) => row.id === id)?.files).toEqual([]);
  // The model that was there is untouched.
  expect((await view('random.wllama')).status.kind).toBe('ready');

  await models.remove('random.wllama');
  await leave(40 * MEGA);
  await models.resume(id);
  expect((await view(id)).status.kind).toBe('ready');
  expect(await partOf(id, 'large.gguf')).toBe(0);
  expect((await asked('large.gguf')).at(-1)).toBe(`/made/large.gguf from ${part}`);
});

test('a cache that cannot take a verified file leaves it as a part, which counts when there is room', async () => {
  const id = 'tiny-gemma.webllm';
  const shard = 'params_shard_0.bin';
  const { bytes } = rows[2]!.files.at(-1)!;
  // The last and largest file fits once, and not twice for the moment in which it moves.
  const before = rows[2]!.files.slice(0, -1).reduce((sum, file) => sum + file.bytes!, 0);
  await leave(before + bytes! + bytes! / 2);
  await models.download(id);
  expect((await view(id)).status).toMatchObject({ kind: 'failed', fault: 'room' });
  expect((await manifests())[0]!.files).toHaveLength(4);
  expect(await partOf(id, shard)).toBe(bytes);

  await leave(3 * bytes!);
  const requests = await asked(shard);
  await models.resume(id);
  expect((await view(id)).status.kind).toBe('ready');
  expect(await asked(shard)).toEqual(requests);
});
