/** What can go wrong with the store as a whole, in words. Want of room is `QuotaError` (store.ts). */
import { QuotaError } from './store.ts';

/**
 * blocked: another tab keeps an old version open · outdated: a newer version, or an erasure, in
 * another tab closed this one's connection · newer: the data was written by a newer version ·
 * upgrade: older data could not be brought up to date · unavailable: the browser gives no storage ·
 * closed: the store was closed here · gone: what was to be written to has been deleted · locked: the
 * app lock is on and this tab has not opened it, or it was turned on or off in another tab
 */
export type StoreErrorKind =
  'blocked' | 'outdated' | 'newer' | 'upgrade' | 'unavailable' | 'closed' | 'gone' | 'locked';

const WORDS: Record<StoreErrorKind, readonly [message: string, advice: string]> = {
  blocked: [
    'Deft is open in another tab with an older version.',
    'Close the other tabs of Deft, then reload this one.',
  ],
  outdated: ['Deft was updated, or its data erased, in another tab.', 'Reload this tab to go on.'],
  newer: [
    'The data on this phone was written by a newer version of Deft.',
    'Connect to the network and reload, so that the app is updated.',
  ],
  upgrade: [
    'The data on this phone could not be brought up to date. It is unharmed.',
    'Reload. If this comes again, update the app and report it.',
  ],
  unavailable: [
    'The browser does not let Deft store anything.',
    'Leave private browsing, or allow site data for this address, then reload.',
  ],
  closed: ['The store is closed.', 'Reload the app.'],
  locked: ['Deft is locked, or its lock was changed in another tab.', 'Reload this tab to go on.'],
  gone: ['This conversation or message was deleted.', 'Open another conversation.'],
};

export class StoreError extends Error {
  override readonly name = 'StoreError';
  readonly kind: StoreErrorKind;
  /** A sentence for the person: what to do. */
  readonly advice: string;

  constructor(kind: StoreErrorKind, cause?: unknown) {
    super(WORDS[kind][0], cause === undefined ? undefined : { cause });
    this.kind = kind;
    this.advice = WORDS[kind][1];
  }
}

const named = (error: unknown, name: string): boolean =>
  typeof error === 'object' && error !== null && (error as { name?: unknown }).name === name;

/** What a failed transaction is reported as: `QuotaError` where any of its faults was want of room. */
export function transactionError(faults: readonly unknown[]): unknown {
  const quota = faults.find((fault) => named(fault, 'QuotaExceededError'));
  if (quota === undefined) return faults[0];
  return new QuotaError('This phone has no room left for Deft. Nothing was stored by this write.', {
    cause: quota,
  });
}

/** What a failed opening is reported as. */
export function openError(error: unknown): unknown {
  if (named(error, 'VersionError')) return new StoreError('newer', error);
  if (named(error, 'QuotaExceededError')) return transactionError([error]);
  return error instanceof StoreError ? error : new StoreError('unavailable', error);
}

/** What a failed migration is reported as. */
export function upgradeError(fault: unknown): unknown {
  const error = transactionError([fault]);
  return error instanceof QuotaError ? error : new StoreError('upgrade', fault);
}

/** True where a connection has died under us and a new one may work. */
export function isDeadConnection(error: unknown): boolean {
  return named(error, 'InvalidStateError') || named(error, 'UnknownError');
}
