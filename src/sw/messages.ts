/** What a page may say to the service worker. */
export type WorkerMessage =
  /** The person agreed to the update: take over now. */
  | { readonly type: 'skip-waiting' }
  /**
   * Keep the big files whose names begin with one of `names` (an engine's chunks and WebAssembly),
   * now and through updates. Answered on the transferred port with a `KeepAnswer`.
   */
  | { readonly type: 'keep'; readonly names: readonly string[] };

export interface KeepAnswer {
  /** Paths that are kept now. */
  readonly kept: readonly string[];
  /** Paths that could not be fetched. */
  readonly missing: readonly string[];
}
