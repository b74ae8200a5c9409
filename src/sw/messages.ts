/** What a page may say to the service worker. */
export type WorkerMessage =
  /** The person agreed to the update: take over now. */
  | { readonly type: 'skip-waiting' }
  /** A page that was reloaded past the worker (a forced reload) wants to be served by it again. */
  | { readonly type: 'claim' };
