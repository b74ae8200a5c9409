/**
 * Downloads that go on while the app is closed (Background Fetch, WICG). A job's id is
 * `CACHE/MODEL/LABEL`, each part encoded: its files are put into that cache by address, for the app to
 * verify.
 *
 * Promises: every file that arrived whole is kept, whatever became of the others; nothing of a job is
 * believed here; a job that the person stopped while the app was closed is noted as stopped.
 */

/** What TypeScript's library does not have. */
export interface BackgroundFetch {
  readonly id: string;
  matchAll(): Promise<
    readonly { readonly request: Request; readonly responseReady: Promise<Response> }[]
  >;
}

export interface BackgroundFetchEvent {
  readonly registration: BackgroundFetch;
  /** Missing in the events of a job that was stopped or clicked. */
  updateUI?(options: { title: string }): Promise<void>;
}

export interface Job {
  readonly cache: string;
  readonly label: string;
}

/** Null where the id is not one of ours. */
export function jobOf(id: string): Job | null {
  const [cache, model, label] = id.split('/');
  if (!cache || model === undefined || label === undefined) return null;
  return { cache, label: decodeURIComponent(label) };
}

/** Where it is noted, in the job's cache, that the person stopped it; the app looks there. */
export const stoppedAt = (id: string, origin: string): string =>
  new URL(`/stopped/${encodeURIComponent(id)}`, origin).href;

/** Puts the files that arrived whole into the job's cache. Gives how many there are. */
export async function keepFiles(registration: BackgroundFetch): Promise<number> {
  const job = jobOf(registration.id);
  if (!job) return 0;
  const cache = await caches.open(job.cache);
  let kept = 0;
  const records = (await registration.matchAll()).map(({ request, responseReady }) => ({
    request,
    ready: responseReady.catch(() => null),
  }));
  for (const { request, ready } of records) {
    const response = await ready;
    if (response?.status !== 200) continue;
    try {
      await cache.put(request.url, response);
      kept += 1;
    } catch {
      // No room for it: the app fetches it again, and says so where there is still none.
    }
  }
  return kept;
}

/** Notes that a job was stopped while no page was there to see it. */
export async function noteStopped(registration: BackgroundFetch, origin: string): Promise<void> {
  const job = jobOf(registration.id);
  if (!job) return;
  await (await caches.open(job.cache)).put(stoppedAt(registration.id, origin), new Response());
}
