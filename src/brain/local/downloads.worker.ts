/**
 * The downloads' worker: fetches the files of one model, one after the other, verifies each and puts
 * it where its engine looks for it. In a worker because hashing and writing would make the page stop.
 */
import { DownloadError, fileFault, roomFault, type DownloadFault } from './download-faults.ts';
import { fetchFile, type PartFile } from './fetch-file.ts';
import {
  fileName,
  fileUrl,
  MANIFEST,
  makeFolder,
  partName,
  stored,
  webllmEntry,
  type Manifest,
  type VerifiedFile,
} from './files.ts';
import type { CatalogueRow } from './types.ts';

export type DownloadCommand =
  | { readonly type: 'start'; readonly row: CatalogueRow; readonly silenceMs: number }
  | { readonly type: 'cancel' };

export type DownloadReport =
  | {
      readonly type: 'progress';
      readonly received: number;
      readonly total: number;
      readonly bytesPerSecond: number;
    }
  | { readonly type: 'done' }
  | { readonly type: 'cancelled' }
  | { readonly type: 'failed'; readonly fault: DownloadFault };

type WantedFile = CatalogueRow['files'][number];

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

  constructor(files: readonly WantedFile[], report: (report: DownloadReport) => void) {
    this.#report = report;
    for (const file of files) this.#sizes.set(file.path, { received: 0, total: file.bytes ?? 0 });
  }

  set(path: string, received: number, total: number | undefined): void {
    this.#sizes.set(path, { received, total: Math.max(total ?? 0, received) });
  }

  /** Tells the page how things stand. */
  tell(): void {
    const at = performance.now();
    const sizes = [...this.#sizes.values()];
    const received = sizes.reduce((sum, size) => sum + size.received, 0);
    const total = sizes.reduce((sum, size) => sum + size.total, 0);
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
    file.truncate(0);
    file.write(new TextEncoder().encode(JSON.stringify(manifest)), { at: 0 });
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

async function download(
  row: CatalogueRow,
  silenceMs: number,
  progress: Progress,
  signal: AbortSignal,
): Promise<void> {
  const at = await makeFolder(row.id);
  const files = [...(await stored(row)).files];
  for (const file of files) progress.set(file.path, file.bytes, file.bytes);

  for (const wanted of row.files) {
    if (files.some((file) => file.path === wanted.path)) continue;
    signal.throwIfAborted();
    const url = fileUrl(row, wanted.path);
    const part = await handleIn(at, partName(wanted.path));
    const handle = await part.createSyncAccessHandle();
    let arrived: { bytes: number; sha256: string };
    try {
      arrived = await fetchFile({ ...wanted, url }, handle, {
        signal,
        silenceMs,
        onBytes: (received, total) => progress.set(wanted.path, received, total),
      });
    } finally {
      handle.close();
    }
    const file = { path: wanted.path, ...arrived };
    try {
      await settle(row, file, part, at);
    } catch (error) {
      if (error instanceof Error && error.name === 'QuotaExceededError')
        throw roomFault(file.bytes);
      throw fileFault('internal', url, String(error));
    }
    files.push(file);
    await writeManifest(at, { row, files });
  }
}

const cancel = new AbortController();
const report = (message: DownloadReport): void => self.postMessage(message);

self.addEventListener('message', (message: MessageEvent<DownloadCommand>) => {
  const command = message.data;
  if (command.type === 'cancel') return cancel.abort();
  const progress = new Progress(command.row.files, report);
  const telling = setInterval(() => progress.tell(), REPORT_MS);
  download(command.row, command.silenceMs, progress, cancel.signal).then(
    () => {
      clearInterval(telling);
      progress.tell();
      report({ type: 'done' });
    },
    (error: unknown) => {
      clearInterval(telling);
      if (cancel.signal.aborted) return report({ type: 'cancelled' });
      const { fault } =
        error instanceof DownloadError
          ? error
          : fileFault('internal', command.row.base, String(error));
      report({ type: 'failed', fault });
    },
  );
});
