/**
 * Downloads of models, for both engines. A thin page's side: the work is done in a worker.
 *
 * Promises: there is room, or a sentence that says how much is missing; what was fetched and verified
 * is never fetched again, and a broken file goes on where it stopped; over all tabs one download runs
 * at a time, so that no file is written twice.
 */
import { fetchInBackground } from './background.ts';
import { DownloadError, fileFault, roomFault, type DownloadFault } from './download-faults.ts';
import workerUrl from './downloads.worker.ts?worker&url';
import type { DownloadCommand, DownloadReport } from './downloads.worker.ts';
import { spawnWorker } from './engines/spawn.ts';
import { stored, type Stored } from './files.ts';
import { isOpen } from './resolve.ts';
import { sizeOf } from './size.ts';
import { stayAwake } from './stay-awake.ts';
import type { CatalogueRow } from './types.ts';

export interface DownloadProgress {
  readonly received: number;
  /** As far as it is known yet. */
  readonly total: number;
  readonly bytesPerSecond: number;
  /** It goes on when the app is closed. */
  readonly background?: true;
}

export interface DownloadOptions {
  readonly signal: AbortSignal;
  readonly onProgress: (progress: DownloadProgress) => void;
  /** Milliseconds without a byte after which a connection counts as lost. */
  readonly silenceMs?: number;
  /** Milliseconds before a failed request is made again, about; doubled each time. */
  readonly retryMs?: number;
  /** Files that need not be fetched, by their path in the row; verified like the others. */
  readonly local?: Readonly<Record<string, Blob>>;
}

/** Held while a download runs, in any tab. */
export const DOWNLOAD_LOCK = 'deft-download';

const SILENCE_MS = 60_000;
const RETRY_MS = 1_000;
/** Left free beside the model, for conversations and for the browser's own needs. */
const SPARE = 20e6;

/** Throws where the browser says that the rest of the model will not fit. */
async function ensureRoom({ row, bytes }: Stored): Promise<void> {
  const { quota, usage } = await navigator.storage.estimate();
  if (quota === undefined || usage === undefined) return;
  // A file for WebLLM is there twice for a moment, when it goes from the disk into its cache.
  const twice = row.engine === 'webllm' ? Math.max(...row.files.map((file) => file.bytes ?? 0)) : 0;
  const needed = sizeOf(row) - bytes + twice + SPARE;
  const free = Math.max(0, quota - usage);
  if (needed > free) throw roomFault(needed, free);
}

/** A connection that broke because there is no network at all is told as that. */
function failure(row: CatalogueRow, fault: DownloadFault): DownloadError {
  const offline = fault.kind === 'unreachable' && !navigator.onLine;
  return offline ? fileFault('offline', row.base) : new DownloadError(fault);
}

/** Gives a worker one thing to do. Resolves with the paths that a check found bad. */
function run(
  command: Exclude<DownloadCommand, { type: 'cancel' }>,
  { signal, onProgress }: Pick<DownloadOptions, 'signal' | 'onProgress'>,
): Promise<readonly string[]> {
  const { row } = command;
  const worker = spawnWorker(workerUrl, 'downloads');
  const send = (one: DownloadCommand): void => worker.postMessage(one);
  const cancel = (): void => send({ type: 'cancel' });
  signal.addEventListener('abort', cancel, { once: true });
  return new Promise<readonly string[]>((resolve, reject) => {
    worker.addEventListener('message', (message: MessageEvent<DownloadReport>) => {
      const report = message.data;
      if (report.type === 'progress') onProgress(report);
      else if (report.type === 'failed') reject(failure(row, report.fault));
      else if (report.type === 'cancelled') reject(signal.reason as Error);
      else resolve(report.bad);
    });
    worker.addEventListener('error', (event) => {
      event.preventDefault();
      reject(fileFault('internal', row.base, event.message ?? 'its worker could not be started'));
    });
    send(command);
    if (signal.aborted) cancel();
  }).finally(() => {
    signal.removeEventListener('abort', cancel);
    worker.terminate();
  });
}

/** What stops with the page: the screen stays on for it. */
async function inPage<T>(work: () => Promise<T>): Promise<T> {
  const rest = stayAwake();
  try {
    return await work();
  } finally {
    rest();
  }
}

/**
 * Resolves when every file of the row is on the phone and verified. Rejects with a DownloadError, or
 * with the signal's reason; what has arrived stays and is used by the next download.
 */
export async function download(row: CatalogueRow, options: DownloadOptions): Promise<void> {
  const { signal, local = {}, silenceMs = SILENCE_MS, retryMs = RETRY_MS } = options;
  await navigator.locks.request(DOWNLOAD_LOCK, { signal }, async () => {
    let found = await stored(row);
    if (found.complete) return;
    if (isOpen(found.row)) {
      await run({ type: 'resolve', row, silenceMs, retryMs }, options);
      found = await stored(row);
    }
    await ensureRoom(found);
    signal.throwIfAborted();
    if (Object.keys(local).length === 0) await fetchInBackground(found, { ...options, silenceMs });
    await inPage(() => run({ type: 'start', row: found.row, silenceMs, retryMs, local }, options));
  });
}

/**
 * Reads every stored file of the row again. What is not as it arrived is removed, so that the next
 * download fetches it and nothing else. Resolves with the paths of the bad files.
 */
export async function check(row: CatalogueRow, signal: AbortSignal): Promise<readonly string[]> {
  return navigator.locks.request(DOWNLOAD_LOCK, { signal }, () =>
    run({ type: 'check', row }, { signal, onProgress: () => undefined }),
  );
}
