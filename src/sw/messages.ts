/** What a page may say to the service worker. */
export type WorkerMessage =
  /** The person agreed to the update: take over now. */
  | { readonly type: 'skip-waiting' }
  /** A page that was reloaded past the worker (a forced reload) wants to be served by it again. */
  | { readonly type: 'claim' };

/** What the service worker says to a page about a download that goes on while the app is closed. */
export interface PageMessage {
  readonly type: 'background';
  readonly id: string;
  /** kept: its files are in the cache · stopped: the person stopped it. */
  readonly ended: 'kept' | 'stopped';
}

/** A notification was tapped: the page goes there. */
export interface OpenMessage {
  readonly type: 'open';
  readonly url: string;
}
