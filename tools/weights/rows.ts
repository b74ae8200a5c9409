/**
 * The list of models served beside the app. Each folder of `models/` describes its own in rows.json
 * (committed, with the hash of every file); index.json is made from those whose files are all there.
 * Format: models/README.md.
 */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { CatalogueRow } from '../../src/brain/local/types.ts';
import { findWrong, writeWhole, type Pinned } from './check.ts';

/** A row of index.json: the app derives `base` from the file's own address and `folder`. */
export interface ServedRow extends Omit<CatalogueRow, 'base' | 'beside' | 'files'> {
  /** Folder of the files, relative to index.json, with a trailing slash. */
  readonly folder: string;
  readonly files: readonly Pinned[];
}

/** The rows of one folder of models. */
export async function readRows(models: string, folder: string): Promise<ServedRow[]> {
  return JSON.parse(await readFile(join(models, folder, 'rows.json'), 'utf8')) as ServedRow[];
}

/** Writes `models`/index.json: the rows of every folder whose files are there and right. */
export async function writeIndex(models: string, memoryPath: string): Promise<void> {
  const entries = await readdir(models, { withFileTypes: true });
  const folders = entries.filter((entry) => entry.isDirectory() && !entry.name.startsWith('.'));
  const served: ServedRow[] = [];
  for (const { name } of folders.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const rows = await readRows(models, name).catch(() => []);
    for (const row of rows) {
      const wrong = await findWrong(join(models, row.folder), row.files, memoryPath);
      if (wrong.length === 0) served.push(row);
    }
  }
  const path = join(models, 'index.json');
  const text = `${JSON.stringify(served, null, 2)}\n`;
  if ((await readFile(path, 'utf8').catch(() => null)) !== text) await writeWhole(path, text);
}
