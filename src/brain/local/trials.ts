/**
 * What became of each model on this phone's own hardware, kept over reloads: what has worked is not
 * tested again, what has failed is not tried again unasked.
 */
import type { ModelTrial } from '../../store/records.ts';
import { windowOf } from './ladder.ts';
import type { CatalogueRow } from './types.ts';

/** Which trial: a version of a model, on a device, with a window. */
export type TrialKey = Pick<ModelTrial, 'model' | 'version' | 'device' | 'contextTokens'>;
export type TrialFault = NonNullable<ModelTrial['failed']>;

/** Where trials are kept: the app's settings. */
export interface TrialStore {
  get(): Promise<{ readonly trials?: readonly ModelTrial[] }>;
  set(change: { readonly trials: readonly ModelTrial[] }): Promise<void>;
}

/** One lost device is bad luck; a second one within this many milliseconds is a failure. */
const LOST_AGAIN = 24 * 3_600_000;

export interface Trials {
  /** Reads what is stored; to be called before anything else is asked, and when it has changed. */
  read(): Promise<void>;
  /** What a row that is loaded now would be a trial of. */
  keyOf(row: CatalogueRow): TrialKey;
  /** It has worked here before, this version and with this window. */
  passed(row: CatalogueRow): boolean;
  /** The row with the window that it should be loaded with, of `atMost` tokens. */
  fitted(row: CatalogueRow, atMost?: number): CatalogueRow;
  /** Those of this device and of the rows' own version. */
  history(rows: readonly CatalogueRow[]): readonly ModelTrial[];
  /** The failure about which the person has not yet chosen. */
  open(row: CatalogueRow): ModelTrial | undefined;
  notePass(row: CatalogueRow): Promise<void>;
  /** Kept as a failure, open until the person has chosen. */
  noteFailure(key: TrialKey, failed: TrialFault, answering?: boolean): Promise<void>;
  /** A device was lost in the midst of an answer: the first time that is no failure yet. */
  noteLoss(row: CatalogueRow): Promise<void>;
  /** The person has taken another choice: the failure stays known. */
  settle(row: CatalogueRow): Promise<void>;
  /** The person wants it tried again as it was. */
  forgive(row: CatalogueRow): Promise<void>;
}

/**
 * FNV-1a over what the catalogue says of the files; of a repository that lists its own, which are known
 * only once it was looked at, over where it and its library are.
 */
function versionOf({ files, base, library }: CatalogueRow): string {
  const text = JSON.stringify(
    library === undefined
      ? files.map(({ path, bytes, sha256 }) => [path, sha256 ?? bytes ?? base])
      : [base, library],
  );
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1)
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193) >>> 0;
  return hash.toString(16);
}

const keyIn = ({ model, version, device, contextTokens }: TrialKey): TrialKey => ({
  model,
  version,
  device,
  contextTokens,
});

const sameKey = (a: TrialKey, b: TrialKey): boolean =>
  a.model === b.model &&
  a.version === b.version &&
  a.device === b.device &&
  a.contextTokens === b.contextTokens;

/** `gpu` names this phone's graphics chip, as far as the browser tells. */
export function createTrials(
  settings: TrialStore,
  gpu: () => string,
  clock: () => number = Date.now,
): Trials {
  let all: readonly ModelTrial[] = [];

  const keyOf = (row: CatalogueRow): TrialKey => ({
    model: row.id,
    version: versionOf(row),
    device: row.engine === 'webllm' ? gpu() : 'cpu',
    contextTokens: row.contextTokens,
  });
  const find = (key: TrialKey): ModelTrial | undefined => all.find((trial) => sameKey(trial, key));

  /** Those of one model as it is now, on this device, whatever the window. */
  function of(row: CatalogueRow): readonly ModelTrial[] {
    const key = keyOf(row);
    return all.filter((trial) =>
      sameKey({ ...trial, contextTokens: 0 }, { ...key, contextTokens: 0 }),
    );
  }

  async function keep(trials: readonly ModelTrial[]): Promise<void> {
    all = trials;
    // Where there is no room for it, it is known until the page goes.
    await settings.set({ trials }).catch(() => undefined);
  }
  const put = (trial: ModelTrial): Promise<void> =>
    keep([...all.filter((other) => !sameKey(other, trial)), trial]);

  const fitted: Trials['fitted'] = (row, atMost = Infinity) => {
    const contextTokens = Math.min(atMost, windowOf(row, of(row)));
    return contextTokens === row.contextTokens ? row : { ...row, contextTokens };
  };

  const noteFailure: Trials['noteFailure'] = (key, failed, answering) =>
    put({
      ...keyIn(key),
      at: clock(),
      failed,
      open: true,
      ...(answering ? { answering } : {}),
    });

  return {
    async read() {
      all = (await settings.get()).trials ?? [];
    },
    keyOf,
    passed: (row) => {
      const known = find(keyOf(row));
      return known !== undefined && known.failed === undefined && known.lostAt === undefined;
    },
    fitted,
    history: (rows) => rows.flatMap(of),
    open: (row) => of(row).find((trial) => trial.open),
    async notePass(row) {
      const key = keyOf(row);
      const known = find(key);
      const shaken = known?.lostAt !== undefined && clock() - known.lostAt >= LOST_AGAIN;
      if (!known || known.failed || shaken) await put({ ...key, at: clock() });
    },
    noteFailure,
    async noteLoss(row) {
      const key = keyOf(row);
      const lostAt = find(key)?.lostAt;
      const now = clock();
      if (lostAt !== undefined && now - lostAt < LOST_AGAIN) return noteFailure(key, 'gpu');
      await put({ ...key, at: now, lostAt: now });
    },
    async settle(row) {
      const known = of(row);
      await keep(all.map((trial) => (known.includes(trial) ? { ...trial, open: false } : trial)));
    },
    async forgive(row) {
      const failed = of(row).filter((trial) => trial.open);
      if (failed.length > 0) await keep(all.filter((trial) => !failed.includes(trial)));
    },
  };
}
