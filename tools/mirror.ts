/**
 * `npm run mirror -- FOLDER`: writes FOLDER/index.json for the models that lie in it, for a school, a
 * firm or a place without the internet that serves them itself. What it takes, and how the result is
 * served: models/README.md.
 *
 * Promises: every file that it lists was read and hashed; a folder that it cannot use is named with
 * the reason, and the others are listed all the same; nothing in the folder but index.json is touched.
 */
import { createReadStream } from 'node:fs';
import { readdir, readFile, realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseIndex } from '../src/brain/local/catalogue.ts';
import { PUBLIC_ROWS } from '../src/brain/local/catalogue-rows.ts';
import {
  GgufHeaderError,
  readGgufHeader,
  type GgufHeader,
} from '../src/brain/local/gguf-header.ts';
import { judgeGguf, judgeMlc, OwnModelError } from '../src/brain/local/own-models.ts';
import {
  CONFIG,
  PACKAGE,
  ListError,
  SHARD_LISTS,
  shardFiles,
  tokenizerFile,
} from '../src/brain/local/resolve.ts';
import type { CatalogueRow } from '../src/brain/local/types.ts';
import { sha256, writeWhole, type Pinned } from './weights/check.ts';
import { Problem } from './weights/problem.ts';
import { readRows, type ServedRow } from './weights/rows.ts';

/** Folders below the one that is mirrored. */
const DEPTH = 4;
/** A header with a vocabulary of 262,144 tokens has about 8 MB. */
const MOST_HEADER = 64 << 20;
const FIRST_READ = 1 << 20;

export interface MirrorResult {
  readonly rows: readonly ServedRow[];
  /** What could not be listed, and why, as sentences. */
  readonly problems: readonly string[];
}

async function readHeader(file: string): Promise<GgufHeader> {
  const parts: Buffer[] = [];
  let length = 0;
  let next = 24;
  for await (const piece of createReadStream(file, { highWaterMark: FIRST_READ })) {
    parts.push(piece as Buffer);
    length += (piece as Buffer).length;
    if (length < next) continue;
    try {
      return readGgufHeader(Buffer.concat(parts));
    } catch (error) {
      const goesOn = error instanceof GgufHeaderError && error.fault === 'cut';
      if (!goesOn || length > MOST_HEADER) throw error;
      next = length * 2;
    }
  }
  return readGgufHeader(Buffer.concat(parts));
}

async function pin(folder: string, file: string): Promise<Pinned> {
  const absolute = path.join(folder, file);
  const found = await stat(absolute).catch(() => null);
  if (!found?.isFile()) throw new Problem(`${file} is missing.`, 'Copy the folder again, whole.');
  return { path: encodeURIComponent(file), bytes: found.size, sha256: await sha256(absolute) };
}

/** The address, below the mirror's own, under which a folder will be served. */
const urlOf = (root: string, folder: string): string => {
  const parts = path.relative(root, folder).split(path.sep).filter(Boolean);
  return parts.map((part) => `${encodeURIComponent(part)}/`).join('') || './';
};

/** Stands for the mirror's address, which nobody knows yet. */
const SOMEWHERE = 'https://mirror.invalid/';

/** What a row says of where it was found: a list says it by its own address. */
const ELSEWHERE: ReadonlySet<string> = new Set(['base', 'beside', 'own', 'library', 'approxBytes']);

/** A judged row as the list has it. A model that the app knows is the same model, from here. */
function served(row: CatalogueRow, folder: string, files: readonly Pinned[]): ServedRow {
  const known = PUBLIC_ROWS.find(({ engine, base, files: [first] }) => {
    if (engine !== row.engine) return false;
    if (engine === 'wllama') return first?.path === row.files[0]?.path;
    const repository = /\/([^/]+)\/resolve\//.exec(base)?.[1];
    return repository === decodeURIComponent(folder).split('/').at(-2);
  });
  const told = known ?? { ...row, id: row.id.replace(/^own-/, ''), note: 'Served from here.' };
  const rest = Object.entries(told).filter(([name]) => !ELSEWHERE.has(name));
  return { ...(Object.fromEntries(rest) as typeof told), folder, files };
}

/** Where it came from before it was put here, nobody knows. */
const withoutPage = (row: CatalogueRow): CatalogueRow => ({
  ...row,
  licence: { ...row.licence, url: '' },
});

async function ggufRow(root: string, folder: string, file: string): Promise<ServedRow> {
  const pinned = await pin(folder, file);
  const at = urlOf(root, folder);
  const url = new URL(pinned.path, new URL(at, SOMEWHERE));
  const header = await readHeader(path.join(folder, file));
  const { row } = await judgeGguf(header, { kind: 'url', url, bytes: pinned.bytes });
  return served(withoutPage(row), at, [pinned]);
}

async function mlcRow(root: string, folder: string, names: readonly string[]): Promise<ServedRow> {
  const library = names.find((name) => name.endsWith('.wasm'));
  if (library === undefined)
    throw new Problem(
      'There is no library (a file that ends in -webgpu.wasm).',
      'Put the one that was compiled for this model into the same folder.',
    );
  const list = SHARD_LISTS.find((name) => names.includes(name));
  if (list === undefined)
    throw new Problem(`${SHARD_LISTS[0]} is missing.`, 'Copy the folder again, whole.');
  const config = await readFile(path.join(folder, CONFIG), 'utf8');
  const shards = shardFiles(await readFile(path.join(folder, list), 'utf8'), '');
  const packaged = names.includes(PACKAGE);
  const wanted = [
    CONFIG,
    ...(packaged ? [PACKAGE] : []),
    library,
    tokenizerFile(config, '').path,
    list,
  ];
  const files: Pinned[] = [];
  for (const name of [...wanted, ...shards.map((shard) => shard.path)])
    files.push(await pin(folder, name));
  for (const shard of shards) {
    const found = files.find((file) => file.path === shard.path);
    if (found?.bytes !== shard.bytes)
      throw new Problem(`${shard.path} has not the size that ${list} names.`, 'Copy it again.');
  }
  const at = urlOf(root, folder);
  const { row } = await judgeMlc({
    folder: new URL(at, SOMEWHERE),
    library: new URL(encodeURIComponent(library), new URL(at, SOMEWHERE)),
    config: JSON.parse(config) as Record<string, unknown>,
    weights: shards.reduce((sum, shard) => sum + (shard.bytes ?? 0), 0),
  });
  return served(withoutPage(row), at, files);
}

/** Rows that a folder says of itself: each file is checked against them. */
async function ownRows(root: string, folder: string): Promise<ServedRow[]> {
  const rows = await readRows(root, path.relative(root, folder));
  for (const row of rows)
    for (const file of row.files) {
      const pinned = await pin(
        path.join(root, decodeURIComponent(row.folder)),
        decodeURIComponent(file.path),
      );
      if (pinned.bytes !== file.bytes || pinned.sha256 !== file.sha256)
        throw new Problem(`${file.path} is not as rows.json says.`, 'Copy or build it again.');
    }
  return rows;
}

function sentence(error: unknown): string {
  if (error instanceof Problem || error instanceof OwnModelError)
    return `${error.message} ${error.advice}`;
  if (error instanceof GgufHeaderError)
    return `It is not a GGUF file that can be read (${error.message}).`;
  if (error instanceof ListError) return `Its list cannot be used: ${error.message}.`;
  return error instanceof Error ? error.message : String(error);
}

/** What lies there under a name; through links, of which a hub's cache is made. */
async function kindOf(
  folder: string,
  name: string,
): Promise<{ readonly name: string; readonly kind: 'file' | 'folder' }> {
  const found = await stat(path.join(folder, name)).catch(() => null);
  // A link that leads nowhere stays in the list, so that a model behind it is told as missing.
  return { name, kind: found?.isDirectory() ? 'folder' : 'file' };
}

/** The models in a folder, as rows of an index.json in it. */
export async function readMirror(root: string): Promise<MirrorResult> {
  const rows: ServedRow[] = [];
  const problems: string[] = [];
  const attempt = async (what: string, make: () => Promise<ServedRow[]>): Promise<void> => {
    try {
      rows.push(...(await make()));
    } catch (error) {
      problems.push(`${path.relative(root, what) || '.'}: ${sentence(error)}`);
    }
  };

  const seen = new Set<string>();
  async function visit(folder: string, depth: number): Promise<void> {
    const real = await realpath(folder);
    // A link may lead back to where it lies.
    if (seen.has(real)) return;
    seen.add(real);
    const entries = await Promise.all((await readdir(folder)).map((name) => kindOf(folder, name)));
    const names = entries.filter(({ kind }) => kind === 'file').map(({ name }) => name);
    if (names.includes('rows.json')) return attempt(folder, () => ownRows(root, folder));
    if (names.includes(CONFIG))
      return attempt(folder, async () => [await mlcRow(root, folder, names)]);
    for (const name of names.toSorted())
      if (/\.gguf$/i.test(name))
        await attempt(path.join(folder, name), async () => [await ggufRow(root, folder, name)]);
    if (depth === 0) return;
    for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1)))
      if (entry.kind === 'folder' && !entry.name.startsWith('.'))
        await visit(path.join(folder, entry.name), depth - 1);
  }
  await visit(root, DEPTH);
  return { rows: inOrder(rows), problems };
}

/** Best first: as the app's own list has them, then what it does not know. */
function inOrder(rows: readonly ServedRow[]): ServedRow[] {
  const place = (row: ServedRow): number => {
    const index = PUBLIC_ROWS.findIndex(({ id }) => id === row.id);
    return index < 0 ? PUBLIC_ROWS.length : index;
  };
  return rows.toSorted((a, b) => place(a) - place(b));
}

/** Writes the list and says what is in it; false where something could not be listed. */
export async function mirror(root: string, log: (line: string) => void): Promise<boolean> {
  const { rows, problems } = await readMirror(root);
  const text = `${JSON.stringify(rows, null, 2)}\n`;
  const usable = parseIndex(text, `${SOMEWHERE}index.json`) ?? [];
  const lost = rows.filter(({ id }) => !usable.some((row) => row.id === id));
  const all = [...problems, ...lost.map(({ id }) => `${id}: The app could not read this row.`)];
  await writeWhole(path.join(root, 'index.json'), text);
  for (const { label, engine, folder } of rows) log(`listed   ${label} (${engine}) in ${folder}`);
  for (const problem of all) log(`left out ${problem}`);
  log(`${rows.length} listed in ${path.join(root, 'index.json')}, ${all.length} left out`);
  return all.length === 0;
}

async function main(): Promise<void> {
  const [folder, ...more] = process.argv.slice(2);
  if (folder === undefined || folder.startsWith('-') || more.length > 0) {
    console.error('Usage: npm run mirror -- FOLDER');
    process.exit(2);
  }
  const found = await stat(folder).catch(() => null);
  if (!found?.isDirectory()) {
    console.error(`${folder} is no folder.`);
    process.exit(2);
  }
  if (!(await mirror(path.resolve(folder), console.log))) process.exitCode = 1;
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) await main();
