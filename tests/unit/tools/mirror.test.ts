import { createHash } from 'node:crypto';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { parseIndex } from '../../../src/brain/local/catalogue.ts';
import { mirror } from '../../../tools/mirror.ts';
import { randomGemma3 } from '../../models/gguf.ts';

let root: string;
beforeEach(async () => {
  root = await mkdtemp(path.join(tmpdir(), 'deft-mirror-'));
});
afterEach(() => rm(root, { recursive: true, force: true }));

const lines: string[] = [];
/** Makes the list, and gives the rows that the app makes of it. */
async function made() {
  lines.length = 0;
  const whole = await mirror(root, (line) => lines.push(line));
  const text = await readFile(path.join(root, 'index.json'), 'utf8');
  return { whole, rows: parseIndex(text, 'https://school.example/models/index.json')! };
}

test('plain folders become rows, each file with its size and hash', async () => {
  await cp('models/tiny-gemma/webllm', path.join(root, 'mlc/tiny'), { recursive: true });
  await mkdir(path.join(root, 'my models'));
  const gguf = randomGemma3();
  await writeFile(path.join(root, 'my models/random.gguf'), gguf);

  const { whole, rows } = await made();
  expect(whole).toBe(true);
  expect(rows).toMatchObject([
    {
      engine: 'webllm',
      family: 'gemma3',
      base: 'https://school.example/models/mlc/tiny/',
      beside: true,
    },
    {
      engine: 'wllama',
      base: 'https://school.example/models/my%20models/',
      files: [
        {
          path: 'random.gguf',
          bytes: gguf.length,
          sha256: createHash('sha256').update(gguf).digest('hex'),
        },
      ],
    },
  ]);
  expect(rows[0]?.files.map((file) => file.path)).toEqual([
    'mlc-chat-config.json',
    'tiny-gemma3-q0f32-webgpu.wasm',
    'tokenizer.json',
    'tensor-cache.json',
    'params_shard_0.bin',
  ]);
  expect(rows.every((row) => row.files.every((file) => file.sha256 && file.bytes))).toBe(true);
  expect(lines.at(-1)).toMatch(/^2 listed in .*index\.json, 0 left out$/);
});

test('links are followed, as in the cache of a hub, and none of them round and round', async () => {
  await mkdir(path.join(root, 'blobs'));
  await mkdir(path.join(root, 'snapshots/abc'), { recursive: true });
  await writeFile(path.join(root, 'blobs/0123'), randomGemma3());
  await symlink('../../blobs/0123', path.join(root, 'snapshots/abc/my random.gguf'));
  await symlink('../../snapshots', path.join(root, 'snapshots/abc/again'));
  await symlink('../../blobs/none', path.join(root, 'snapshots/abc/gone.gguf'));
  const { rows } = await made();
  expect(rows.map(({ base, files }) => [base, files[0]!.path])).toEqual([
    ['https://school.example/models/snapshots/abc/', 'my%20random.gguf'],
  ]);
  expect(lines).toContain(
    'left out snapshots/abc/gone.gguf: gone.gguf is missing. Copy the folder again, whole.',
  );

  // What it says itself of a file whose name has a blank is found again.
  const list = await readFile(path.join(root, 'index.json'), 'utf8');
  await writeFile(path.join(root, 'snapshots/abc/rows.json'), list);
  expect((await made()).rows).toMatchObject([{ files: [{ path: 'my%20random.gguf' }] }]);
});

test('a model that the app knows is the same model, from here', async () => {
  await mkdir(path.join(root, 'gguf'));
  await writeFile(path.join(root, 'gguf/gemma-3-270m-it-Q4_0.gguf'), randomGemma3());
  const { rows } = await made();
  expect(rows).toMatchObject([
    {
      id: 'gemma-3-270m-it-Q4_0.wllama',
      label: 'Gemma 3 270M',
      licence: { name: 'Gemma Terms of Use' },
      base: 'https://school.example/models/gguf/',
    },
  ]);
  expect(rows[0]).not.toHaveProperty('approxBytes');
});

test('a folder with rows.json is taken by its word, and held to it', async () => {
  const folder = path.join(root, 'told');
  await cp('models/tiny-gemma/webllm', folder, { recursive: true });
  await made();
  const [row] = JSON.parse(await readFile(path.join(root, 'index.json'), 'utf8')) as [object];
  await writeFile(path.join(folder, 'rows.json'), JSON.stringify([{ ...row, label: 'As told' }]));
  expect((await made()).rows).toMatchObject([{ label: 'As told' }]);

  await writeFile(path.join(folder, 'tokenizer.json'), '{}');
  const { whole, rows } = await made();
  expect([whole, rows]).toEqual([false, []]);
  expect(lines).toContain(
    'left out told: tokenizer.json is not as rows.json says. Copy or build it again.',
  );
});

test('what cannot be used is named with the reason, and the rest is listed all the same', async () => {
  await writeFile(path.join(root, 'good.gguf'), randomGemma3());
  await writeFile(path.join(root, 'page.gguf'), '<!doctype html><title>Sign in</title>');
  await writeFile(path.join(root, 'short.gguf'), randomGemma3().subarray(0, 1_000_000));
  await cp('models/tiny-gemma/webllm', path.join(root, 'bare'), { recursive: true });
  await rm(path.join(root, 'bare/tiny-gemma3-q0f32-webgpu.wasm'));
  await cp('models/tiny-gemma/webllm', path.join(root, 'cut'), { recursive: true });
  await writeFile(path.join(root, 'cut/params_shard_0.bin'), 'short');

  const { whole, rows } = await made();
  expect(whole).toBe(false);
  expect(rows).toMatchObject([{ files: [{ path: 'good.gguf' }] }]);
  const said = lines.join('\n');
  expect(said).toMatch(/left out page\.gguf: It is not a GGUF file/);
  expect(said).toMatch(/left out short\.gguf: This file is cut off/);
  expect(said).toMatch(/left out bare: There is no library/);
  expect(said).toMatch(/left out cut: params_shard_0\.bin has not the size/);
  expect((await readdir(root)).toSorted()).toEqual(
    ['bare', 'cut', 'good.gguf', 'index.json', 'page.gguf', 'short.gguf'].toSorted(),
  );
});
