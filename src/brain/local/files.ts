/**
 * Where a model's files lie on this phone, and what of them is there.
 *
 * A model has a folder in the origin's private file system. In it: `manifest.json`, which names the
 * files that arrived whole and were verified; parts of files that are still arriving; and for wllama
 * the files themselves. WebLLM reads its files out of three caches by address, so its verified files
 * are put there, under the addresses that the library will ask for.
 */
import { ARRIVALS } from './arrivals.ts';
import { CONFIG, lastPart, namedFiles, PACKAGE, SHARD_LISTS, wholeRow } from './resolve.ts';
import type { CatalogueRow } from './types.ts';

export interface VerifiedFile {
  readonly path: string;
  readonly bytes: number;
  /** Hex, computed while it arrived. */
  readonly sha256: string;
}

export interface Manifest {
  /** The row as it was when its download began, with all of its files as soon as they are known. */
  readonly row: CatalogueRow;
  readonly files: readonly VerifiedFile[];
  /** What the host called the version of a file (ETag) whose part is here, by path. */
  readonly versions?: Readonly<Record<string, string>>;
  /** SHA-256 of the libraries that came first, by path: no other code is taken in their place. */
  readonly code?: Readonly<Record<string, string>>;
  /** It was whole once: what is here of it is not given up lightly. */
  readonly whole?: true;
}

const ROOT = 'models';
export const MANIFEST = 'manifest.json';

/** A file-system name out of any text. */
const safeName = (text: string): string => encodeURIComponent(text).replaceAll('*', '%2A');

/** File systems end at 255 characters; the end of a path is what tells files apart. */
const LONGEST = 200;

/** Name of a file of the model in its folder. */
export const fileName = (path: string): string => safeName(path).slice(-LONGEST);
/** Name of the same file while it is arriving. */
export const partName = (path: string): string => `${fileName(path)}.part`;

/** Why this browser cannot keep models at all, as a sentence for the person; undefined where it can. */
export async function noStorage(): Promise<string | undefined> {
  if (!isSecureContext)
    return 'Models are kept only by pages that come over https or from this device.';
  try {
    await navigator.storage.getDirectory();
    await caches.has(ROOT);
    return undefined;
  } catch {
    return 'This browser does not let the app keep files, perhaps because the window is private.';
  }
}

async function orNull<T>(found: Promise<T>): Promise<T | null> {
  try {
    return await found;
  } catch (error) {
    if (error instanceof DOMException && error.name === 'NotFoundError') return null;
    throw error;
  }
}

async function root(): Promise<FileSystemDirectoryHandle> {
  const storage = await navigator.storage.getDirectory();
  return storage.getDirectoryHandle(ROOT, { create: true });
}

/** The model's folder, made where there is none. */
export async function makeFolder(id: string): Promise<FileSystemDirectoryHandle> {
  return (await root()).getDirectoryHandle(safeName(id), { create: true });
}

/** The model's folder, or null. */
export async function folder(id: string): Promise<FileSystemDirectoryHandle | null> {
  return orNull((await root()).getDirectoryHandle(safeName(id)));
}

/** A file in a folder, or null. */
export async function fileIn(at: FileSystemDirectoryHandle, name: string): Promise<File | null> {
  const handle = await orNull(at.getFileHandle(name));
  return handle ? handle.getFile() : null;
}

/** The manifests of all models of which something is here. */
export async function manifests(): Promise<Manifest[]> {
  const found: Manifest[] = [];
  for await (const handle of (await root()).values()) {
    if (handle.kind !== 'directory') continue;
    const manifest = await manifestIn(handle as FileSystemDirectoryHandle);
    if (manifest) found.push(manifest);
  }
  return found;
}

/**
 * Removes the folders whose model `isStray` names and of which nothing was ever whole: what a killed
 * page left of a file that was being copied in.
 */
export async function removeStrays(isStray: (id: string) => boolean): Promise<void> {
  const at = await root();
  const found: string[] = [];
  for await (const handle of at.values()) {
    if (handle.kind !== 'directory' || !isStray(decodeURIComponent(handle.name))) continue;
    if (!(await manifestIn(handle as FileSystemDirectoryHandle))) found.push(handle.name);
  }
  for (const name of found) await at.removeEntry(name, { recursive: true });
}

/** The manifest in a model's folder; null where there is none or it is cut off. */
export async function manifestIn(at: FileSystemDirectoryHandle): Promise<Manifest | null> {
  const file = await fileIn(at, MANIFEST);
  if (!file) return null;
  try {
    return JSON.parse(await file.text()) as Manifest;
  } catch {
    return null;
  }
}

/** Where a file of the row is fetched from. */
export const fileUrl = (row: CatalogueRow, path: string): string => new URL(path, row.base).href;

/**
 * The address that WebLLM takes for the model: it appends `resolve/main/` to an address that does
 * not hold `/resolve/…/` already (`cleanModelUrl`).
 */
export function webllmModelUrl(row: CatalogueRow): string {
  const config = row.files.find((file) => lastPart(file.path) === CONFIG);
  const at = new URL('./', fileUrl(row, config?.path ?? CONFIG)).href;
  return /.+\/resolve\/.+\//.test(at) ? at : `${at}resolve/main/`;
}

export interface CacheEntry {
  readonly scope: 'webllm/config' | 'webllm/wasm' | 'webllm/model';
  readonly url: string;
}

/** In which cache, under which address, WebLLM looks for a file of the row. */
export function webllmEntry(row: CatalogueRow, path: string): CacheEntry {
  if (path.endsWith('.wasm')) return { scope: 'webllm/wasm', url: fileUrl(row, path) };
  const name = lastPart(path);
  const scope = name === CONFIG || name === PACKAGE ? 'webllm/config' : 'webllm/model';
  // The library asks for the list of shards by its new name only.
  const asked = name === SHARD_LISTS[1] ? SHARD_LISTS[0] : name;
  return { scope, url: webllmModelUrl(row) + asked };
}

/** Whether a verified file is the one that the row asks for. */
export function isCurrent(file: VerifiedFile, wanted: CatalogueRow['files'][number]): boolean {
  return (
    file.path === wanted.path &&
    (wanted.sha256 === undefined || wanted.sha256 === file.sha256) &&
    (wanted.bytes === undefined || wanted.bytes === file.bytes)
  );
}

/** A verified file's content, or null where it is gone; storage can be cleared behind our back. */
export async function contentOf(row: CatalogueRow, path: string): Promise<Blob | null> {
  if (row.engine === 'webllm') {
    const entry = webllmEntry(row, path);
    const found = await (await caches.open(entry.scope)).match(entry.url);
    return found ? found.blob() : null;
  }
  const at = await folder(row.id);
  return at && fileIn(at, fileName(path));
}

/** True where a verified file is really there. */
async function isPresent(row: CatalogueRow, file: VerifiedFile): Promise<boolean> {
  if (row.engine === 'webllm') {
    const entry = webllmEntry(row, file.path);
    const found = await (await caches.open(entry.scope)).match(entry.url);
    return Number(found?.headers.get('content-length')) === file.bytes;
  }
  return (await contentOf(row, file.path))?.size === file.bytes;
}

export interface Stored {
  /** The row with all of its files, as far as they are known. */
  readonly row: CatalogueRow;
  /** Verified files that the row asks for. */
  readonly files: readonly VerifiedFile[];
  /** Bytes on this phone, unfinished parts included. */
  readonly bytes: number;
  /** Every file of the row is here. */
  readonly complete: boolean;
  /** It was whole once. */
  readonly wasWhole: boolean;
}

/** What of a row is on this phone. */
export async function stored(row: CatalogueRow): Promise<Stored> {
  const at = await folder(row.id);
  const manifest = at && (await manifestIn(at));
  const whole = wholeRow(row, manifest?.row);
  const known = whole ?? { ...row, files: namedFiles(row) };
  const wasWhole = manifest?.whole === true;
  if (!at) return { row: known, files: [], bytes: 0, complete: false, wasWhole };
  const files: VerifiedFile[] = [];
  let bytes = 0;
  for (const wanted of known.files) {
    const file = manifest?.files.find((verified) => isCurrent(verified, wanted));
    if (file && (await isPresent(row, file))) {
      files.push(file);
      bytes += file.bytes;
    } else bytes += (await fileIn(at, partName(wanted.path)))?.size ?? 0;
  }
  const complete = whole !== null && files.length === known.files.length;
  return { row: known, files, bytes, complete, wasWhole };
}

/** Removes a verified file from where its engine finds it. */
export async function removeFile(row: CatalogueRow, path: string): Promise<void> {
  if (row.engine === 'webllm') {
    const entry = webllmEntry(row, path);
    await (await caches.open(entry.scope)).delete(entry.url);
    return;
  }
  const at = await folder(row.id);
  await at?.removeEntry(fileName(path)).catch(() => undefined);
}

/** Removes the unfinished parts. */
export async function removeParts(row: CatalogueRow): Promise<void> {
  const at = await folder(row.id);
  if (!at) return;
  for await (const name of at.keys()) if (name.endsWith('.part')) await at.removeEntry(name);
}

const keyOf = ({ scope, url }: CacheEntry): string => `${scope} ${url}`;

/**
 * The entries of WebLLM's caches that belong to other models than `id` too: two of them may share a
 * library, and the same model may have been added twice.
 */
export function entriesOfOthers(all: readonly Manifest[], id: string): ReadonlySet<string> {
  const others = all.filter(({ row }) => row.engine === 'webllm' && row.id !== id);
  return new Set(
    others.flatMap(({ row, files }) => files.map(({ path }) => keyOf(webllmEntry(row, path)))),
  );
}

/**
 * Removes all that is here of the row, from the caches too; also what came from where the row lay
 * when its download began. What another model uses as well stays.
 */
export async function removeFiles(row: CatalogueRow): Promise<void> {
  const at = await folder(row.id);
  const manifest = at && (await manifestIn(at));
  const all = [...namedFiles(row), ...(manifest?.row.files ?? []), ...(manifest?.files ?? [])];
  const paths = new Set(all.map((file) => file.path));
  const shared = entriesOfOthers(await manifests(), row.id);
  const arrivals = await caches.open(ARRIVALS);
  for (const from of manifest ? [row, manifest.row] : [row])
    for (const path of paths) {
      if (from.engine === 'webllm' && !shared.has(keyOf(webllmEntry(from, path))))
        await removeFile(from, path);
      await arrivals.delete(fileUrl(from, path));
    }
  // Of entries that were removed the browser goes on counting the bytes; of whole caches it does not.
  for (const name of ['webllm/config', 'webllm/wasm', 'webllm/model', ARRIVALS])
    if ((await (await caches.open(name)).keys()).length === 0) await caches.delete(name);
  if (at) await (await root()).removeEntry(safeName(row.id), { recursive: true });
}
