/** A public repository that lists its own files, from its row to an answer of the real engine. */
import { commands } from 'vitest/browser';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { BrainEvent } from '../../../src/brain/brain.ts';
import { manifests, removeFiles } from '../../../src/brain/local/files.ts';
import { createModels } from '../../../src/brain/local/models.ts';
import type { CatalogueRow } from '../../../src/brain/local/types.ts';
import { openStore } from '../../../src/store/open.ts';
import { never, tinyGemma } from './rows.ts';

let server: string;

beforeAll(async () => {
  server = await commands.startFileServer();
});
afterAll(() => commands.stopFileServer(server));

test('a repository of the old kind is fetched whole by its lists, and WebLLM answers without a network', async () => {
  for (const { row } of await manifests()) await removeFiles(row);
  const known = await tinyGemma(server);
  for (const path of ['mlc-chat-config.json', 'tokenizer.json', 'params_shard_0.bin'])
    await commands.copyFile(`/models/tiny-gemma/webllm/${path}`, `/made/old-kind/${path}`);
  await commands.copyFile(
    '/models/tiny-gemma/webllm/tensor-cache.json',
    '/made/old-kind/ndarray-cache.json',
  );
  const row: CatalogueRow = {
    ...known,
    id: 'old-kind.webllm',
    base: `${server}made/old-kind/`,
    files: [],
    library: `${server}models/tiny-gemma/webllm/tiny-gemma3-q0f32-webgpu.wasm`,
    approxBytes: 5_000_000,
  };
  const store = await openStore({ name: `repository-${crypto.randomUUID()}` });
  const models = createModels({
    store,
    index: `${server}made/none.json`,
    publicRows: async () => [row],
  });
  await models.download(row.id);
  const [view] = await models.list();
  expect(view).toMatchObject({ status: { kind: 'ready' } });
  expect(view!.row.files.map(({ path }) => path.slice(path.lastIndexOf('/') + 1))).toEqual([
    'tiny-gemma3-q0f32-webgpu.wasm',
    'mlc-chat-config.json',
    'ndarray-cache.json',
    'tokenizer.json',
    'params_shard_0.bin',
  ]);

  const port = Number(new URL(server).port);
  await commands.stopFileServer(server);
  try {
    const events: BrainEvent[] = [];
    const brain = await models.brain(row.id);
    const request = {
      system: '',
      now: 'Sunday 2026-11-29 14:05, Asia/Kolkata',
      messages: [{ role: 'user' as const, text: 'Hello' }],
      tools: [],
      toolChoice: 'none' as const,
      maxTokens: 8,
    };
    for await (const event of brain!.stream(request, never())) events.push(event);
    expect(events.at(-1)).toMatchObject({
      type: 'end',
      reason: expect.not.stringMatching('error') as string,
    });
  } finally {
    expect(await commands.startFileServer(port)).toBe(server);
    await models.unload();
    store.close();
  }
});
