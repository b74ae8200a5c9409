/**
 * Downloads that go on while the app is closed: Background Fetch (WICG), where the browser has it. The
 * service worker puts what arrives into the arrivals' cache; the downloads' worker verifies it there
 * like anything else.
 *
 * Promises: where it cannot be had, does not start or makes no headway, the page's own download takes
 * over; a job that an earlier page began is taken up, not begun again.
 */
import { ARRIVALS } from './arrivals.ts';
import { fileUrl, type Stored } from './files.ts';
import { inTime } from './in-time.ts';
import { sizeOf } from './size.ts';
import type { CatalogueRow } from './types.ts';

/** What TypeScript's library does not have. */
interface Job extends EventTarget {
  readonly id: string;
  readonly downloaded: number;
  readonly result: '' | 'success' | 'failure';
  abort(): Promise<boolean>;
}
interface Manager {
  fetch(
    id: string,
    requests: readonly Request[],
    options: { title: string; downloadTotal?: number },
  ): Promise<Job>;
  get(id: string): Promise<Job | undefined>;
}

/** The person stopped it in the browser's own notification. */
export class StoppedOutside extends Error {}

export interface BackgroundOptions {
  readonly signal: AbortSignal;
  readonly onProgress: (progress: {
    received: number;
    total: number;
    bytesPerSecond: number;
    background: true;
  }) => void;
  /** Milliseconds without headway after which the page's own download takes over. */
  readonly silenceMs: number;
}

/** Smaller downloads are over before the browser has set up a job. */
const LEAST = 20e6;

const TAKING_IN_MS = 600_000;

export const jobId = ({ id, label }: CatalogueRow): string =>
  [ARRIVALS, id, label].map(encodeURIComponent).join('/');

/** Where the service worker notes that the person stopped a job while no page was open. */
const stoppedAt = (row: CatalogueRow): string =>
  new URL(`/stopped/${encodeURIComponent(jobId(row))}`, location.origin).href;

/** Whether the person stopped the row's job while the app was closed; says so once. */
export async function wasStopped(row: CatalogueRow): Promise<boolean> {
  return (await caches.open(ARRIVALS)).delete(stoppedAt(row));
}

/** Removes what jobs brought for models that nobody waits for any more: they were cancelled. */
export async function tidyArrivals(awaited: readonly CatalogueRow[]): Promise<void> {
  const urls = new Set(awaited.flatMap((row) => row.files.map(({ path }) => fileUrl(row, path))));
  const arrivals = await caches.open(ARRIVALS);
  for (const request of await arrivals.keys()) {
    const isNote = new URL(request.url).pathname.startsWith('/stopped/');
    if (!isNote && !urls.has(request.url)) await arrivals.delete(request);
  }
}

/** The browser's Background Fetch; null where there is none, or it may not be used. */
async function manager(): Promise<Manager | null> {
  const registration = await navigator.serviceWorker?.getRegistration();
  const { backgroundFetch } = (registration ?? {}) as { backgroundFetch?: Manager };
  if (!registration?.active || !backgroundFetch) return null;
  const name = 'background-fetch' as PermissionName;
  const permission = await inTime(navigator.permissions.query({ name }), null);
  return permission?.state === 'denied' ? null : backgroundFetch;
}

/** What is still to be fetched, and whether it is worth a job: `whole` files of at least 20 MB. */
export function isWorthAJob(found: Stored): boolean {
  const bytes = found.files.reduce((sum, file) => sum + file.bytes, 0);
  // A part can be gone on with by the page; a job would fetch all of the file again.
  const hasParts = found.bytes > bytes;
  return !hasParts && sizeOf(found.row) - bytes >= LEAST;
}

/**
 * Fetches what is missing of a row in the background, where that can be had and is worth it. Resolves
 * when the job has ended, well or not: what arrived then waits to be verified. Rejects with the
 * signal's reason, or with StoppedOutside.
 */
export async function fetchInBackground(found: Stored, options: BackgroundOptions): Promise<void> {
  const { row } = found;
  const jobs = await manager();
  if (!jobs) return;
  const begun = await jobs.get(jobId(row));
  if (begun) return attend(begun, found, options);
  if (!isWorthAJob(found)) return;
  const arrivals = await caches.open(ARRIVALS);
  const waiting = new Set((await arrivals.keys()).map(({ url }) => url));
  const here = new Set(found.files.map(({ path }) => path));
  const missing = row.files.filter(
    ({ path }) => !here.has(path) && !waiting.has(fileUrl(row, path)),
  );
  if (missing.length === 0) return;
  await wasStopped(row);
  const sizes = missing.map(({ bytes }) => bytes);
  const total = sizes.reduce<number>((sum, bytes) => sum + (bytes ?? NaN), 0);
  const asks = missing.map(
    ({ path }) =>
      new Request(fileUrl(row, path), { credentials: 'omit', referrerPolicy: 'no-referrer' }),
  );
  const job = await jobs
    .fetch(jobId(row), asks, {
      title: row.label,
      ...(Number.isNaN(total) ? {} : { downloadTotal: total }),
    })
    .catch(() => null);
  if (job) await attend(job, found, options);
}

/** Resolves when the service worker has taken in what the job brought. */
function attend(job: Job, found: Stored, options: BackgroundOptions): Promise<void> {
  const { signal, onProgress, silenceMs } = options;
  const total = sizeOf(found.row);
  let last = { at: performance.now(), bytes: job.downloaded };
  let bytesPerSecond = 0;
  return new Promise<void>((resolve, reject) => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const end = (settle: () => void): void => {
      clearTimeout(timer);
      job.removeEventListener('progress', progress);
      navigator.serviceWorker.removeEventListener('message', heard);
      signal.removeEventListener('abort', stop);
      settle();
    };
    const giveUp = (): void => {
      void job.abort().catch(() => undefined);
      end(resolve);
    };
    const watch = (): void => {
      clearTimeout(timer);
      // Once all is here, the service worker may take minutes to put it into its place.
      timer = setTimeout(giveUp, job.result === 'success' ? TAKING_IN_MS : silenceMs);
    };
    const stop = (): void => {
      void job.abort().catch(() => undefined);
      end(() => reject(signal.reason as Error));
    };
    function progress(): void {
      watch();
      const at = performance.now();
      const seconds = (at - last.at) / 1000;
      if (seconds >= 1) {
        bytesPerSecond = Math.max(0, job.downloaded - last.bytes) / seconds;
        last = { at, bytes: job.downloaded };
      }
      const received = found.bytes + job.downloaded;
      onProgress({
        received,
        total: Math.max(total, received),
        bytesPerSecond,
        background: true,
      });
    }
    function heard({ data }: MessageEvent): void {
      const { type, id, ended } = (data ?? {}) as { type?: string; id?: string; ended?: string };
      if (type !== 'background' || id !== job.id) return;
      if (ended === 'stopped') end(() => reject(new StoppedOutside()));
      else end(resolve);
    }
    job.addEventListener('progress', progress);
    navigator.serviceWorker.addEventListener('message', heard);
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
    else progress();
  });
}
