/**
 * The downloads' worker: fetches the files of one model, one after the other, verifies each and puts
 * it where its engine looks for it. In a worker because hashing and writing would make the page stop.
 */
import { ARRIVALS } from './arrivals.ts';
import { DownloadError, fileFault, roomFault, type DownloadFault } from './download-faults.ts';
import { fetchFile, type PartFile } from './fetch-file.ts';
import {
  contentOf,
  fileName,
  fileUrl,
  folder,
  MANIFEST,
  makeFolder,
  manifestIn,
  partName,
  removeFile,
  removeFiles,
  stored,
  webllmEntry,
  type Manifest,
  type VerifiedFile,
} from './files.ts';
import {
  configOf,
  ListError,
  SHARD_LISTS,
  shardFiles,
  shardListOf,
  tokenizerFile,
  wholeRow,
  withFiles,
  type WantedFile,
} from './resolve.ts';
import { Sha256 } from './sha256.ts';
import { sizeOf } from './size.ts';
import type { CatalogueRow } from './types.ts';

export type DownloadCommand =
  | {
      readonly type: 'start';
      readonly row: CatalogueRow;
      readonly silenceMs: number;
      readonly retryMs: number;
      /** Files that need not be fetched, by path. */
      readonly local: Readonly<Record<string, Blob>>;
    }
  /** Only finds out which files the row consists of. */
  | {
      readonly type: 'resolve';
      readonly row: CatalogueRow;
      readonly silenceMs: number;
      readonly retryMs: number;
    }
  /** Reads every stored file again; what is not as it arrived is removed. */
  | { readonly type: 'check'; readonly row: CatalogueRow }
  | { readonly type: 'cancel' };

export type DownloadReport =
  | {
      readonly type: 'progress';
      readonly received: number;
      readonly total: number;
      readonly bytesPerSecond: number;
    }
  /** `bad`: paths of the files that a check removed. */
  | { readonly type: 'done'; readonly bad: readonly string[] }
  | { readonly type: 'cancelled' }
  | { readonly type: 'failed'; readonly fault: DownloadFault };

/** What TypeScript's library does not have: handles in workers, and renaming. */
interface WorkerFileHandle extends FileSystemFileHandle {
  createSyncAccessHandle(): Promise<PartFile & { close(): void }>;
  move(name: string): Promise<void>;
}

const REPORT_MS = 200;
/** The speed shown is the mean over about this long. */
const SPEED_MS = 3_000;

class Progress {
  readonly #report: (report: DownloadReport) => void;
  readonly #sizes = new Map<string, { received: number; total: number }>();
  #samples: { readonly at: number; readonly received: number }[] = [];
  /** Bytes in all as the row tells them; it counts until every file and its size is known. */
  #about = 0;
  #whole = false;

  constructor(report: (report: DownloadReport) => void) {
    this.#report = report;
  }

  expect(row: CatalogueRow, whole: boolean): void {
    this.#about = row.approxBytes ?? 0;
    this.#whole = whole;
    for (const file of row.files)
      if (!this.#sizes.has(file.path))
        this.#sizes.set(file.path, { received: 0, total: file.bytes ?? 0 });
  }

  set(path: string, received: number, total: number | undefined): void {
    this.#sizes.set(path, { received, total: Math.max(total ?? 0, received) });
  }

  /** Tells the page how things stand. */
  tell(): void {
    const at = performance.now();
    const sizes = [...this.#sizes.values()];
    const received = sizes.reduce((sum, size) => sum + size.received, 0);
    const known = sizes.reduce((sum, size) => sum + size.total, 0);
    const isKnown = this.#whole && sizes.every((size) => size.total > 0);
    const total = isKnown ? known : Math.max(known, this.#about);
    this.#samples.push({ at, received });
    this.#samples = this.#samples.filter((sample) => at - sample.at <= SPEED_MS);
    const first = this.#samples[0]!;
    const seconds = (at - first.at) / 1000;
    this.#report({
      type: 'progress',
      received,
      total,
      bytesPerSecond: seconds > 0 ? Math.max(0, received - first.received) / seconds : 0,
    });
  }
}

async function handleIn(at: FileSystemDirectoryHandle, name: string): Promise<WorkerFileHandle> {
  return (await at.getFileHandle(name, { create: true })) as WorkerFileHandle;
}

/** Writes the manifest aside and renames it, so that it is never half written. */
async function writeManifest(at: FileSystemDirectoryHandle, manifest: Manifest): Promise<void> {
  const handle = await handleIn(at, `${MANIFEST}.new`);
  const file = await handle.createSyncAccessHandle();
  try {
    const text = new TextEncoder().encode(JSON.stringify(manifest));
    file.truncate(0);
    if (file.write(text, { at: 0 }) !== text.length)
      throw new DOMException('not written', 'QuotaExceededError');
    file.flush();
  } finally {
    file.close();
  }
  await handle.move(MANIFEST);
}

/** Puts a verified file where its engine looks for it. */
async function settle(
  row: CatalogueRow,
  file: VerifiedFile,
  part: WorkerFileHandle,
  at: FileSystemDirectoryHandle,
): Promise<void> {
  if (row.engine === 'wllama') return part.move(fileName(file.path));
  const entry = webllmEntry(row, file.path);
  const type = file.path.endsWith('.wasm') ? 'application/wasm' : 'application/octet-stream';
  const response = new Response(await part.getFile(), {
    headers: { 'Content-Type': type, 'Content-Length': String(file.bytes) },
  });
  await (await caches.open(entry.scope)).put(entry.url, response);
  await at.removeEntry(part.name);
}

interface Ways {
  readonly silenceMs: number;
  readonly retryMs: number;
  readonly local: Readonly<Record<string, Blob>>;
}

/** The download of one model: what is known of it, and what of it is here. */
class Arriving {
  readonly #at: FileSystemDirectoryHandle;
  readonly #ways: Ways;
  readonly #progress: Progress;
  readonly #signal: AbortSignal;
  #manifest: Manifest;
  #noting: Promise<void> = Promise.resolve();
  /** The last file that was fetched, on its way into its place while the next one is fetched. */
  #settling: Promise<void> = Promise.resolve();

  constructor(
    at: FileSystemDirectoryHandle,
    manifest: Manifest,
    ways: Ways,
    progress: Progress,
    signal: AbortSignal,
  ) {
    this.#at = at;
    this.#manifest = manifest;
    this.#ways = ways;
    this.#progress = progress;
    this.#signal = signal;
    progress.expect(manifest.row, false);
    for (const file of manifest.files) progress.set(file.path, file.bytes, file.bytes);
  }

  /** One write at a time: the file of a manifest has only one writer. */
  async note(change: Partial<Manifest>): Promise<void> {
    this.#manifest = { ...this.#manifest, ...change };
    const before = this.#noting.catch(() => undefined);
    this.#noting = before.then(() => writeManifest(this.#at, this.#manifest));
    await this.#noting;
  }

  /** Fetches, verifies and settles a file, unless it is here. */
  async have(row: CatalogueRow, wanted: WantedFile): Promise<void> {
    if (this.#manifest.files.some((file) => file.path === wanted.path)) return;
    this.#signal.throwIfAborted();
    const local = this.#ways.local[wanted.path];
    if (local) return this.#take(row, wanted, () => new Response(local));
    const url = fileUrl(row, wanted.path);
    const arrivals = await caches.open(ARRIVALS);
    const arrived = await arrivals.match(url);
    if (arrived) {
      // Fetched while the app was closed; only what holds is taken.
      const body = await arrived.blob();
      const take = async (): Promise<boolean> => {
        await this.#take(row, wanted, () => new Response(body));
        await this.settled();
        return true;
      };
      const taken = await take().catch((error: unknown) => {
        if (error instanceof DownloadError && error.fault.kind !== 'room') return false;
        throw error;
      });
      await arrivals.delete(url);
      if (taken) return;
    }
    await this.#take(row, wanted);
  }

  async #take(row: CatalogueRow, wanted: WantedFile, local?: () => Response): Promise<void> {
    const url = fileUrl(row, wanted.path);
    const part = await handleIn(this.#at, partName(wanted.path));
    const handle = await part.createSyncAccessHandle();
    const version = this.#manifest.versions?.[wanted.path];
    let arrived: { bytes: number; sha256: string };
    try {
      const before = this.#manifest.code?.[wanted.path];
      const file = {
        ...wanted,
        url,
        ...(version === undefined ? {} : { version }),
        ...(before === undefined || wanted.sha256 !== undefined ? {} : { before }),
      };
      arrived = await fetchFile(file, handle, {
        ...(local ? { local } : {}),
        signal: this.#signal,
        silenceMs: this.#ways.silenceMs,
        retryMs: this.#ways.retryMs,
        onVersion: (found) => this.#noteVersion(wanted.path, found),
        onBytes: (received, total) => this.#progress.set(wanted.path, received, total),
      });
    } finally {
      handle.close();
    }
    await this.#settling;
    this.#settling = this.#settle(row, { path: wanted.path, ...arrived }, part);
    // Whoever waits for it is told.
    this.#settling.catch(() => undefined);
  }

  async #settle(row: CatalogueRow, file: VerifiedFile, part: WorkerFileHandle): Promise<void> {
    try {
      await settle(row, file, part, this.#at);
      const files = [...this.#manifest.files, file];
      const code = { ...this.#manifest.code, [file.path]: file.sha256 };
      await this.note(file.path.endsWith('.wasm') ? { files, code } : { files });
      await this.#noteVersion(file.path, undefined);
    } catch (error) {
      if (error instanceof Error && error.name === 'QuotaExceededError')
        throw roomFault(file.bytes);
      throw fileFault('internal', fileUrl(row, file.path), String(error));
    }
  }

  /** Resolves when all that was fetched is in its place. */
  settled(): Promise<void> {
    return this.#settling;
  }

  async #noteVersion(path: string, version: string | undefined): Promise<void> {
    const { [path]: before, ...versions } = this.#manifest.versions ?? {};
    if (before === version) return;
    await this.note({
      versions: version === undefined ? versions : { ...versions, [path]: version },
    });
  }

  /** The text of a small file that lists others. */
  async #textOf(row: CatalogueRow, wanted: WantedFile): Promise<string> {
    await this.have(row, wanted);
    await this.settled();
    const content = await contentOf(row, wanted.path);
    if (!content) throw fileFault('internal', fileUrl(row, wanted.path), 'it is gone again');
    return content.text();
  }

  /** Finds out which files the row consists of, from the lists in its folder. */
  async resolve(row: CatalogueRow): Promise<CatalogueRow> {
    const config = configOf(row);
    const folder = config.path.slice(0, config.path.lastIndexOf('/') + 1);
    let reading = config;
    try {
      const tokenizer = tokenizerFile(await this.#textOf(row, config), folder);
      const [list, text] = await this.#shardList(row, folder);
      reading = list;
      const found = [config, list, tokenizer, ...shardFiles(text, folder)];
      const whole = withFiles(row, found);
      this.#progress.expect(whole, true);
      await this.note({ row: whole });
      return whole;
    } catch (error) {
      if (!(error instanceof ListError || error instanceof SyntaxError)) throw error;
      // A list that lists nonsense is no use to the next try either.
      await this.#drop(row, reading.path);
      const how = error instanceof ListError ? error.message : 'not a file of its kind';
      throw fileFault('damaged', fileUrl(row, reading.path), how);
    }
  }

  /** The list of shards: the one that the row names, or the first that the host has. */
  async #shardList(row: CatalogueRow, folder: string): Promise<[WantedFile, string]> {
    const named = shardListOf(row);
    if (named) return [named, await this.#textOf(row, named)];
    const [newer, older] = SHARD_LISTS.map((name) => ({ path: folder + name }));
    // Some hosts answer like that for a file that they do not have.
    const isMissing = (error: unknown): boolean =>
      error instanceof DownloadError && ['missing', 'refused', 'page'].includes(error.fault.kind);
    try {
      return [newer!, await this.#textOf(row, newer!)];
    } catch (error) {
      if (!isMissing(error)) throw error;
      try {
        return [older!, await this.#textOf(row, older!)];
      } catch (second) {
        throw isMissing(second) ? error : second;
      }
    }
  }

  async #drop(row: CatalogueRow, path: string): Promise<void> {
    await removeFile(row, path);
    await this.note({ files: this.#manifest.files.filter((file) => file.path !== path) });
  }
}

async function begin(
  given: CatalogueRow,
  ways: Ways,
  progress: Progress,
  signal: AbortSignal,
): Promise<{ arriving: Arriving; row: CatalogueRow }> {
  const found = await folder(given.id);
  const last = found && (await manifestIn(found));
  // WebLLM's files lie under the address they came from: at another one nothing finds them again.
  const moved = last?.row.engine === 'webllm' && last.row.base !== given.base;
  if (moved) await removeFiles(last.row);
  const before = moved ? null : last;
  const at = await makeFolder(given.id);
  const { row: known, files } = await stored(given);
  const manifest: Manifest = {
    row: known,
    files,
    ...(before?.versions ? { versions: before.versions } : {}),
    ...(before?.code ? { code: before.code } : {}),
    ...(before?.whole ? { whole: true } : {}),
  };
  const arriving = new Arriving(at, manifest, ways, progress, signal);
  await arriving.note({});
  const row = wholeRow(given, before?.row) ?? (await arriving.resolve(given));
  progress.expect(row, true);
  return { arriving, row };
}

async function download(
  given: CatalogueRow,
  ways: Ways,
  progress: Progress,
  signal: AbortSignal,
): Promise<void> {
  const { arriving, row } = await begin(given, ways, progress, signal);
  try {
    for (const wanted of row.files) await arriving.have(row, wanted);
  } finally {
    // What came before a fault is kept; a fault of its own is the last word.
    await arriving.settled();
  }
  await arriving.note({ whole: true });
}

const PIECE = 4 << 20;

/** Reads every stored file again and compares it with what arrived. Gives the bad ones' paths. */
async function check(given: CatalogueRow, signal: AbortSignal): Promise<string[]> {
  const at = await makeFolder(given.id);
  const manifest = await manifestIn(at);
  if (!manifest) return [];
  const bad: string[] = [];
  for (const file of manifest.files) {
    signal.throwIfAborted();
    const content = await contentOf(given, file.path);
    if (content?.size === file.bytes && (await digest(content, signal)) === file.sha256) continue;
    bad.push(file.path);
    await removeFile(given, file.path);
  }
  const files = manifest.files.filter((file) => !bad.includes(file.path));
  if (bad.length > 0) await writeManifest(at, { ...manifest, files });
  return bad;
}

/** Null where it cannot be read. */
async function digest(content: Blob, signal: AbortSignal): Promise<string | null> {
  const hash = new Sha256();
  for (let from = 0; from < content.size; from += PIECE) {
    signal.throwIfAborted();
    try {
      hash.update(new Uint8Array(await content.slice(from, from + PIECE).arrayBuffer()));
    } catch {
      return null;
    }
  }
  return hash.hex();
}

const cancel = new AbortController();
const report = (message: DownloadReport): void => self.postMessage(message);

async function run(
  command: Exclude<DownloadCommand, { type: 'cancel' }>,
  progress: Progress,
): Promise<readonly string[]> {
  const { row } = command;
  if (command.type === 'check') return check(row, cancel.signal);
  if (command.type === 'resolve')
    await begin(row, { ...command, local: {} }, progress, cancel.signal);
  else await download(row, command, progress, cancel.signal);
  return [];
}

self.addEventListener('message', (message: MessageEvent<DownloadCommand>) => {
  const command = message.data;
  if (command.type === 'cancel') return cancel.abort();
  const progress = new Progress(report);
  const telling = setInterval(() => progress.tell(), REPORT_MS);
  run(command, progress).then(
    (bad) => {
      clearInterval(telling);
      progress.tell();
      report({ type: 'done', bad });
    },
    (error: unknown) => {
      clearInterval(telling);
      if (cancel.signal.aborted) return report({ type: 'cancelled' });
      const isRoom = error instanceof Error && error.name === 'QuotaExceededError';
      const { fault } =
        error instanceof DownloadError
          ? error
          : isRoom
            ? roomFault(sizeOf(command.row))
            : fileFault('internal', command.row.base, String(error));
      report({ type: 'failed', fault });
    },
  );
});
