/** What an evaluation runs on: the page with the app's brain, and the models that it may fetch. */
import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { build } from 'vite';
import { wllama } from '../../../tools/vite-wllama.ts';

const PAGE = path.resolve('tests/evals/bfcl/page');
const MODELS = path.resolve('models');

/** Builds the page; its version changes with every byte of it and with the list of models. */
export async function buildPage(outDir: string): Promise<{ dist: string; version: string }> {
  await build({
    configFile: false,
    root: PAGE,
    publicDir: false,
    logLevel: 'error',
    plugins: [wllama()],
    worker: { format: 'es', plugins: () => [wllama()] },
    build: { target: 'es2023', outDir, emptyOutDir: true, assetsInlineLimit: 0 },
  });
  const hash = createHash('sha256');
  const names = await readdir(outDir, { recursive: true, withFileTypes: true });
  const files = names
    .filter((one) => one.isFile())
    .map((one) => path.join(one.parentPath, one.name));
  for (const file of files.toSorted()) hash.update(await readFile(file));
  hash.update(await readFile(path.join(MODELS, 'index.json')));
  return { dist: outDir, version: hash.digest('hex').slice(0, 12) };
}

async function ggufRow(file: string): Promise<Record<string, unknown>> {
  const { name, base } = path.parse(file);
  const { size } = await stat(file);
  return {
    id: `${name}.wllama`,
    label: name,
    engine: 'wllama',
    family: 'chatml',
    note: 'Added for the evaluation.',
    folder: 'added/',
    files: [{ path: base, bytes: size }],
    licence: { name: 'its own', url: 'https://example.org/' },
    contextTokens: 2048,
    maxTools: 5,
    memory: 3 * size,
  };
}

/** A folder with everything in `models/` and the files that are added; gives its path. */
export async function gatherModels(folder: string, added: readonly string[]): Promise<string> {
  await rm(folder, { recursive: true, force: true });
  await mkdir(path.join(folder, 'added'), { recursive: true });
  const list = JSON.parse(await readFile(path.join(MODELS, 'index.json'), 'utf8')) as unknown[];
  for (const entry of await readdir(MODELS, { withFileTypes: true }))
    if (entry.isDirectory() && !entry.name.startsWith('.'))
      await symlink(path.join(MODELS, entry.name), path.join(folder, entry.name));
  for (const file of added) {
    await symlink(path.resolve(file), path.join(folder, 'added', path.basename(file)));
    list.push(await ggufRow(path.resolve(file)));
  }
  await writeFile(path.join(folder, 'index.json'), JSON.stringify(list));
  return folder;
}
