/**
 * Puts what was built where it is served, and writes models/tiny-gemma/rows.json with its hashes:
 *
 *   npx tsx tools/tiny-gemma/publish.ts BUILT
 */
import { copyFile, readdir, readFile, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { sha256, writeWhole, type Pinned } from '../weights/check.ts';
import type { ServedRow } from '../weights/rows.ts';

const MODEL = resolve(import.meta.dirname, '../../models/tiny-gemma');

/** WebLLM wants its configuration first. */
const FIRST = 'mlc-chat-config.json';

const SHARED = {
  family: 'gemma3',
  note: 'Knows only the demo: flights, weather, reminders, this phone.',
  demo: true,
  licence: { name: 'MIT', url: 'https://opensource.org/license/mit' },
  contextTokens: 2048,
  maxTools: 5,
} as const;

async function publish(built: string, folder: string): Promise<Pinned[]> {
  const names = (await readdir(join(built, folder))).sort((a, b) =>
    a === FIRST ? -1 : b === FIRST ? 1 : a < b ? -1 : 1,
  );
  const files: Pinned[] = [];
  for (const path of names) {
    const to = join(MODEL, folder, path);
    await copyFile(join(built, folder, path), to);
    files.push({ path, bytes: (await stat(to)).size, sha256: await sha256(to) });
  }
  return files;
}

const label = (files: readonly Pinned[]): string =>
  `Demo model, ${Math.round(files.reduce((sum, { bytes }) => sum + bytes, 0) / 1e6)} MB`;

/** Bytes of keys and values a token, from the library's configuration of the cache. */
async function cacheBytes(): Promise<number> {
  const text = await readFile(resolve(import.meta.dirname, 'config.py'), 'utf8');
  const size = (name: string): number =>
    Number(new RegExp(`^ +${name}: int = (\\d+)$`, 'm').exec(text)?.[1]);
  return 2 * size('layers') * size('kv_heads') * size('head_dim') * 4;
}

async function main([built]: readonly string[]): Promise<void> {
  if (built === undefined) throw new Error('Usage: publish.ts BUILT');
  const webllm = await publish(built, 'webllm');
  const wllama = await publish(built, 'gguf');
  const kvBytesPerToken = await cacheBytes();
  const rows: ServedRow[] = [
    {
      id: 'demo.webllm',
      label: label(webllm),
      engine: 'webllm',
      folder: 'tiny-gemma/webllm/',
      files: webllm,
      memory: 150e6,
      quantisation: 'q0f32',
      kvBytesPerToken,
      ...SHARED,
    },
    {
      id: 'demo.wllama',
      label: label(wllama),
      engine: 'wllama',
      folder: 'tiny-gemma/gguf/',
      files: wllama,
      memory: 100e6,
      quantisation: 'F16',
      kvBytesPerToken: kvBytesPerToken / 2,
      ...SHARED,
    },
  ];
  await writeWhole(join(MODEL, 'rows.json'), `${JSON.stringify(rows, null, 2)}\n`);
}

await main(process.argv.slice(2));
