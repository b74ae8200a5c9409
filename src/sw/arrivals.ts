/**
 * What the service worker does when a background job ends or a notification is tapped: it tells the open
 * pages; where none is open it says so by a notification, if the person allowed them, and a tap on that
 * leads to the models.
 */
import {
  jobOf,
  keepFiles,
  noteStopped,
  type BackgroundFetch,
  type BackgroundFetchEvent,
} from './background.ts';
import type { OpenMessage, PageMessage } from './messages.ts';

/** Of the worker's own world, what is needed here. */
export interface Surroundings {
  readonly origin: string;
  /** The open pages of the app. */
  pages(): Promise<
    readonly { focus(): Promise<unknown>; postMessage(message: PageMessage | OpenMessage): void }[]
  >;
  openWindow(url: string): Promise<unknown>;
  /** Whether the person allowed notifications. */
  mayNotify(): boolean;
  notify: ServiceWorkerRegistration['showNotification'];
}

async function tellPages(message: PageMessage, around: Surroundings): Promise<void> {
  for (const page of await around.pages()) page.postMessage(message);
}

/** Brings the app to the front, at this address. */
export async function open(url: string, around: Surroundings): Promise<void> {
  const [page] = await around.pages();
  if (!page) {
    await around.openWindow(url);
    return;
  }
  await page.focus();
  page.postMessage({ type: 'open', url });
}

/** A tap on a notification of ours: a reminder's, or that a model has arrived. */
export async function clicked(
  notification: Pick<Notification, 'close' | 'data'>,
  around: Surroundings,
): Promise<void> {
  notification.close();
  const data = notification.data as { url?: string } | null;
  await open(data?.url ?? '/', around);
}

/** All of a job has arrived, or has ended as it will: an open page takes it from here. */
export async function arrived(
  event: BackgroundFetchEvent,
  whole: boolean,
  around: Surroundings,
): Promise<void> {
  const { id } = event.registration;
  const job = jobOf(id);
  await keepFiles(event.registration);
  await tellPages({ type: 'background', id, ended: 'kept' }, around);
  if (!whole || !job) return;
  const title = `${job.label} has arrived`;
  await event.updateUI?.({ title });
  if ((await around.pages()).length > 0 || !around.mayNotify()) return;
  const body = 'Open Deft: it checks the files, and then the model works without a network.';
  await around.notify(title, { body, tag: id, data: { url: '/models' } });
}

/** The person stopped a job in the browser's own notification. */
export async function stopped(registration: BackgroundFetch, around: Surroundings): Promise<void> {
  await keepFiles(registration);
  if ((await around.pages()).length === 0) await noteStopped(registration, around.origin);
  await tellPages({ type: 'background', id: registration.id, ended: 'stopped' }, around);
}
