/**
 * Where a model's files lie on this phone, and what of them is there.
 *
 * A model has a folder in the origin's private file system. In it: `manifest.json`, which names the
 * files that arrived whole and were verified; parts of files that are still arriving; and for wllama
 * the files themselves. WebLLM reads its files out of three caches by address, so its verified files
 * are put there, under the addresses that the library will ask for.
 */
import type { CatalogueRow } from './types.ts';

export interface VerifiedFile {
  readonly path: string;
  readonly bytes: number;
  /** Hex, computed while it arrived. */
  readonly sha256: string;
}

export interface Manifest {
  /** The row as it was when its first file arrived: known without any network. */
  readonly row: CatalogueRow;
  readonly files: readonly VerifiedFile[];
}

const ROOT = 'models';
export const MANIFEST = 'manifest.json';

/** A file-system name out of any text. */
const safeName = (text: string): string => encodeURIComponent(text).replaceAll('*', '%2A');

/** Name of a file of the model in its folder. */
export const fileName = (path: string): string => safeName(path);
/** Name of the same file while it is arriving. */
export const partName = (path: string): string => `${safeName(path)}.part`;

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

const CONFIG = 'mlc-chat-config.json';

/**
 * The address that WebLLM takes for the model: it appends `resolve/main/` to an address that does
 * not hold `/resolve/…/` already (`cleanModelUrl`).
 */
export function webllmModelUrl(row: CatalogueRow): string {
  const config = row.files.find((file) => file.path.endsWith(CONFIG));
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
  const name = path.slice(path.lastIndexOf('/') + 1);
  const scope = name === CONFIG ? 'webllm/config' : 'webllm/model';
  return { scope, url: webllmModelUrl(row) + name };
}

/** Whether a verified file is the one that the row asks for. */
export function isCurrent(file: VerifiedFile, wanted: CatalogueRow['files'][number]): boolean {
  return (
    file.path === wanted.path &&
    (wanted.sha256 === undefined || wanted.sha256 === file.sha256) &&
    (wanted.bytes === undefined || wanted.bytes === file.bytes)
  );
}

/** True where a verified file is really there; storage can be cleared behind our back. */
export async function isPresent(row: CatalogueRow, file: VerifiedFile): Promise<boolean> {
  if (row.engine === 'webllm') {
    const entry = webllmEntry(row, file.path);
    const cache = await caches.open(entry.scope);
    return (await cache.match(entry.url)) !== undefined;
  }
  const at = await folder(row.id);
  const found = at && (await fileIn(at, fileName(file.path)));
  return found?.size === file.bytes;
}

export interface Stored {
  /** Verified files that the row asks for. */
  readonly files: readonly VerifiedFile[];
  /** Bytes on this phone, unfinished parts included. */
  readonly bytes: number;
  /** Every file of the row is here. */
  readonly complete: boolean;
}

/** What of a row is on this phone. */
export async function stored(row: CatalogueRow): Promise<Stored> {
  const at = await folder(row.id);
  if (!at) return { files: [], bytes: 0, complete: false };
  const manifest = await manifestIn(at);
  const files: VerifiedFile[] = [];
  let bytes = 0;
  for (const wanted of row.files) {
    const file = manifest?.files.find((verified) => isCurrent(verified, wanted));
    if (file && (await isPresent(row, file))) {
      files.push(file);
      bytes += file.bytes;
    } else bytes += (await fileIn(at, partName(wanted.path)))?.size ?? 0;
  }
  return { files, bytes, complete: files.length === row.files.length };
}

/** Removes all that is here of the row, from the caches too. */
export async function removeFiles(row: CatalogueRow): Promise<void> {
  const at = await folder(row.id);
  const manifest = at && (await manifestIn(at));
  if (row.engine === 'webllm')
    for (const path of new Set([...row.files, ...(manifest?.files ?? [])].map((f) => f.path))) {
      const entry = webllmEntry(row, path);
      await (await caches.open(entry.scope)).delete(entry.url);
    }
  if (at) await (await root()).removeEntry(safeName(row.id), { recursive: true });
}
