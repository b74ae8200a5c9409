/**
 * Which files a model consists of, where its row does not name all of them: a WebLLM repository lists
 * its tokenizer in `mlc-chat-config.json` and its shards in `tensor-cache.json`, which older ones call
 * `ndarray-cache.json`. Pure: what comes from a host is checked before it becomes an address.
 */
import type { CatalogueRow } from './types.ts';

export type WantedFile = CatalogueRow['files'][number];

export const CONFIG = 'mlc-chat-config.json';
/** What newer libraries read beside it: which of their functions do what (Gemma 4's do). */
export const PACKAGE = 'mlc-model-manifest.json';
/** Newest first. */
export const SHARD_LISTS = ['tensor-cache.json', 'ndarray-cache.json'] as const;

export const lastPart = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

const isShardList = (path: string): boolean =>
  (SHARD_LISTS as readonly string[]).includes(lastPart(path));

/** True where the row leaves open which files hold the weights. */
export const isOpen = (row: CatalogueRow): boolean =>
  row.engine === 'webllm' && !row.files.some((file) => file.path.endsWith('.bin'));

/** The files that the row itself names, its library among them. */
export function namedFiles(row: CatalogueRow): readonly WantedFile[] {
  const { library, files } = row;
  if (library === undefined || files.some((file) => file.path === library)) return files;
  return [...files, { path: library }];
}

/** The row with all of its files; null where they are not known yet. `known`: as it was stored. */
export function wholeRow(row: CatalogueRow, known: CatalogueRow | undefined): CatalogueRow | null {
  if (!isOpen(row)) return { ...row, files: namedFiles(row) };
  if (!known || isOpen(known) || known.base !== row.base) return null;
  return withFiles(row, known.files);
}

/** The row's own files, in their own words, and those of `found` that it does not name. */
export function withFiles(row: CatalogueRow, found: readonly WantedFile[]): CatalogueRow {
  const named = namedFiles(row);
  const more = found.filter(
    (file) =>
      !named.some((other) => other.path === file.path) &&
      // A library that the row does not ask for any more.
      !file.path.endsWith('.wasm'),
  );
  return { ...row, files: [...named, ...more] };
}

/** The name under which the row has its list of shards; undefined where it names none. */
export const shardListOf = (row: CatalogueRow): WantedFile | undefined =>
  row.files.find((file) => isShardList(file.path));

export const configOf = (row: CatalogueRow): WantedFile =>
  row.files.find((file) => lastPart(file.path) === CONFIG) ?? { path: CONFIG };

/** Something in a list that no honest list has. */
export class ListError extends Error {}

/** A plain file name: no folder, no other host. */
function plainName(value: unknown): string {
  if (typeof value === 'string' && /^[\w][\w.-]*$/.test(value)) return value;
  throw new ListError('it lists a file without a plain name');
}

const parsed = (text: string): Record<string, unknown> => {
  const value: unknown = JSON.parse(text);
  if (typeof value !== 'object' || value === null) throw new ListError('it is no list');
  return value as Record<string, unknown>;
};

/** The one tokenizer file that WebLLM reads, out of the text of the model's configuration. */
export function tokenizerFile(config: string, folder: string): WantedFile {
  const { tokenizer_files: listed } = parsed(config);
  const names: unknown[] = Array.isArray(listed) ? listed : [];
  const name = ['tokenizer.json', 'tokenizer.model'].find((one) => names.includes(one));
  if (name === undefined) throw new ListError('it names no tokenizer that can be read');
  return { path: folder + name };
}

const isCount = (value: unknown): value is number =>
  Number.isSafeInteger(value) && Number(value) >= 0;

/** The shards that a list names, with their sizes. */
export function shardFiles(list: string, folder: string): WantedFile[] {
  const { records } = parsed(list);
  if (!Array.isArray(records) || records.length === 0) throw new ListError('it lists no shards');
  const names = new Set<string>();
  return records.map((record: Record<string, unknown>) => {
    const { dataPath, nbytes, records: tensors } = record ?? {};
    const name = plainName(dataPath);
    if (!name.endsWith('.bin') || names.has(name))
      throw new ListError(`it lists ${name} where a shard should be`);
    names.add(name);
    if (!isCount(nbytes) || nbytes === 0) throw new ListError(`it gives ${name} no size`);
    for (const tensor of Array.isArray(tensors) ? (tensors as Record<string, unknown>[]) : []) {
      const { byteOffset, nbytes: size } = tensor ?? {};
      if (!isCount(byteOffset) || !isCount(size) || byteOffset + size > nbytes)
        throw new ListError(`it puts a tensor outside of ${name}`);
    }
    return { path: folder + name, bytes: nbytes };
  });
}
