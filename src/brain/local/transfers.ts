/**
 * The downloads of the phone's models as the person sees them: running, paused, waiting for the
 * network, failed; and what of a model is on the phone.
 *
 * Promises: what a status says survives a reload and a killed tab; a download that was running then
 * goes on by itself at the next start, except over a connection that costs, where it is offered as
 * paused; one that lost the network goes on when it is back; what the person paused stays paused; what
 * one tab fetches, no other tab takes from under it, and where that tab is killed, another goes on.
 */
import type { ModelRecord } from '../../store/records.ts';
import type { Store } from '../../store/store.ts';
import { StoppedOutside, tidyArrivals, wasStopped } from './background.ts';
import { DownloadError, evictedFault, sourceGone, type DownloadFault } from './download-faults.ts';
import { check, download, DOWNLOAD_LOCK } from './downloads.ts';
import { isEngineKept, keepEngine } from './engines/engines.ts';
import { checkGpu } from './engines/gpu.ts';
import { EngineError } from './errors.ts';
import { removeFiles, removeParts, stored } from './files.ts';
import { sizeOf } from './size.ts';
import type { CatalogueRow, ModelStatus } from './types.ts';

/** What is known of a row, apart from what is in memory. */
export type Kept = Exclude<ModelStatus, { kind: 'loading' | 'warm' | 'generating' }>;

export interface Entry {
  /** With all of its files, once they are known. */
  readonly row: CatalogueRow;
  readonly kept: Kept;
  /** Bytes on this phone. */
  readonly stored: number;
  /** Every file of it and of its engine was seen to be here. */
  readonly offline: boolean;
}

export interface TransfersDeps {
  readonly store: Pick<Store, 'models' | 'settings'>;
  /** Shows how a row stands now. */
  readonly show: (entry: Entry) => void;
  /** Asks the browser to keep the data, before the first large download. */
  readonly askPersist?: () => Promise<unknown>;
  /** Whether the connection is one that costs. */
  readonly metered: () => Promise<boolean>;
}

export interface Transfers {
  /** Reads how a row stands. */
  look(row: CatalogueRow): Promise<Entry>;
  readonly running: ReadonlySet<string>;
  /** Takes up what was running when the last page was closed or killed. */
  takeUp(rows: readonly CatalogueRow[]): Promise<void>;
  /** Resolves when the download has ended, well or not. `local`: files that need not be fetched. */
  download(row: CatalogueRow, local?: Readonly<Record<string, Blob>>): Promise<void>;
  pause(row: CatalogueRow): Promise<void>;
  cancel(row: CatalogueRow): Promise<void>;
  /** Removes all that is here of it. */
  remove(row: CatalogueRow): Promise<void>;
  /** Verifies what is stored and removes what is bad. Resolves with the bad files' paths. */
  check(row: CatalogueRow): Promise<readonly string[]>;
}

/** A download of at least this many bytes is worth the question whether the data may be kept. */
const LARGE = 10e6;

const NO_NETWORK = 'There is no network. It goes on by itself when the network is back.';
const ELSEWHERE = 'Deft is fetching it in another tab.';
const BEGINS_AGAIN = 'The file that was under way begins again; those that were whole stay.';
const STOPPED = 'You stopped it in the notification of the browser.';
const COSTS_NOW = 'The network that is here now may cost, so it waits for you.';
const COSTS = 'It stopped when Deft was closed. This connection may cost, so it waits for you.';

/** Held by the tab that fetches the row, until it has noted how that ended. */
const lockOf = ({ id }: CatalogueRow): string => `deft-transfer/${id}`;

/** What is under way in another tab cannot be stopped or removed from this one. */
export class ElsewhereError extends Error {
  override readonly name = 'ElsewhereError';
  readonly advice = 'Stop it there, or close that tab, then try again.';

  constructor() {
    super(ELSEWHERE);
  }
}

/** Why a download was ended from here. */
type Ending = 'pause' | 'cancel';

interface Running {
  readonly done: Promise<void>;
  end(how: Ending): void;
}

export async function isHeld(lock: string): Promise<boolean> {
  return ((await navigator.locks.query()).held ?? []).some(({ name }) => name === lock);
}

export function createTransfers(deps: TransfersDeps): Transfers {
  const { store } = deps;
  const downloads = new Map<string, Running>();
  /** Failures that could not be noted, for want of room. */
  const unnoted = new Map<string, ModelRecord>();
  /** Rows whose files the browser fetches for us: it hands over whole files only. */
  const inBackground = new Set<string>();
  /** Rows whose download waits for the network. */
  const waiting = new Map<string, CatalogueRow>();
  /** Rows whose download was begun over a connection that costs: it may go on over one. */
  const agreed = new Set<string>();

  async function write(
    row: CatalogueRow,
    state: ModelRecord['state'],
    said: Pick<ModelRecord, 'error' | 'advice' | 'fault'> = {},
  ): Promise<void> {
    const { id } = row;
    const { bytes } = await stored(row);
    const record: ModelRecord = { id, state, bytes, updatedAt: Date.now(), ...said };
    unnoted.delete(id);
    try {
      await store.models.put(record);
    } catch (error) {
      if (state !== 'failed') throw error;
      unnoted.set(id, record);
    }
  }

  async function look(given: CatalogueRow): Promise<Entry> {
    const { id } = given;
    const record = unnoted.get(id) ?? (await store.models.get(id));
    const found = await stored(given);
    const { row, bytes, complete } = found;
    const entry = (kept: Kept, offline = false): Entry => ({ row, kept, stored: bytes, offline });
    if (record?.state === 'failed') return entry(failed(record));
    if (complete) return entry({ kind: 'ready' }, await isEngineKept(row.engine));
    if (record?.state === 'ready') {
      const gone =
        row.own === 'file'
          ? sourceGone(row)
          : evictedFault(row.label, row.files.length - found.files.length, row.files.length);
      const { kind: fault, message, advice } = gone;
      return entry({ kind: 'failed', message, advice, fault });
    }
    if (record?.state !== 'paused' && record?.state !== 'downloading')
      return entry({ kind: 'absent' });
    let reason = record.error;
    if (waiting.has(id)) reason = NO_NETWORK;
    else if (record.state === 'downloading') reason = ELSEWHERE;
    const total = Math.max(sizeOf(row), bytes);
    return entry({ kind: 'paused', received: bytes, total, ...(reason ? { reason } : {}) });
  }

  async function askPersist(): Promise<void> {
    if (deps.askPersist) return void (await deps.askPersist());
    const { persisted } = await store.settings.get();
    if (persisted !== true)
      await store.settings.set({ persisted: await navigator.storage.persist() });
  }

  async function fetchModel(
    row: CatalogueRow,
    signal: AbortSignal,
    local: Readonly<Record<string, Blob>>,
  ): Promise<void> {
    if (row.engine === 'webllm') await checkGpu(row);
    if (row.own === 'file') await ensureSource(row, local);
    if (sizeOf(row) >= LARGE) await askPersist();
    await write(row, 'downloading');
    await download(row, {
      signal,
      local,
      onProgress(progress) {
        if (progress.background) inBackground.add(row.id);
        else inBackground.delete(row.id);
        deps.show({
          row,
          kept: { kind: 'downloading', ...progress },
          stored: progress.received,
          offline: false,
        });
      },
    });
    await keepEngine(row.engine);
    await write(row, 'ready');
    // The first model on a phone is the one in use, whoever or whatever finished its download.
    if ((await store.settings.get()).phoneModel === null)
      await store.settings.set({ phoneModel: row.id });
  }

  async function run(
    row: CatalogueRow,
    stop: AbortController,
    local: Readonly<Record<string, Blob>>,
  ): Promise<void> {
    const { signal } = stop;
    try {
      await navigator.locks.request(lockOf(row), { signal }, () => hold(row, stop, local));
    } catch (error) {
      if (!signal.aborted) throw error;
      // Ended while it waited for another tab: what that one fetches and notes is not touched.
      if (!(await isHeld(lockOf(row)))) await noteEnd(row, signal.reason as Ending);
    }
  }

  async function hold(
    row: CatalogueRow,
    stop: AbortController,
    local: Readonly<Record<string, Blob>>,
  ): Promise<void> {
    try {
      await fetchModel(row, stop.signal, local);
    } catch (error) {
      if (stop.signal.aborted) await noteEnd(row, stop.signal.reason as Ending);
      else if (error instanceof StoppedOutside) await write(row, 'paused', { error: STOPPED });
      else if (error instanceof DownloadError && error.fault.kind === 'offline')
        waiting.set(row.id, row);
      else await write(row, 'failed', saidOf(error));
    }
  }

  async function noteEnd(row: CatalogueRow, how: Ending): Promise<void> {
    if (how === 'cancel') await clear(row);
    else await write(row, 'paused', inBackground.delete(row.id) ? { error: BEGINS_AGAIN } : {});
  }

  /** Removes what is unfinished; of a model that was whole once, the good files stay. */
  async function clear(row: CatalogueRow): Promise<void> {
    waiting.delete(row.id);
    if ((await stored(row)).wasWhole) {
      await removeParts(row);
      await write(row, 'ready');
      return;
    }
    await removeFiles(row);
    await store.models.delete(row.id);
  }

  async function isElsewhere(row: CatalogueRow): Promise<boolean> {
    if (waiting.has(row.id)) return false;
    return (await store.models.get(row.id))?.state === 'downloading' && isHeld(lockOf(row));
  }

  /** The network is back: goes on, unless it may cost now and did not before. */
  async function goOn(row: CatalogueRow): Promise<void> {
    const mayCost = row.own !== 'file' && !agreed.has(row.id) && (await deps.metered());
    // Another tab may have ended it since.
    const isWanted = (await store.models.get(row.id))?.state === 'downloading';
    if (!waiting.has(row.id)) return;
    if (isWanted && !mayCost) return self.download(row);
    waiting.delete(row.id);
    if (isWanted) await write(row, 'paused', { error: COSTS_NOW });
    deps.show(await look(row));
  }

  /** Goes on with what was running when its page was closed or killed, if nothing speaks against it. */
  async function takeUpOne(row: CatalogueRow): Promise<void> {
    if ((await store.models.get(row.id))?.state !== 'downloading') return;
    if (downloads.has(row.id) || waiting.has(row.id)) return;
    const costs = row.own !== 'file' && (await deps.metered());
    const why = (await wasStopped(row)) ? STOPPED : costs ? COSTS : null;
    if (why === null) return void self.download(row);
    await write(row, 'paused', { error: why });
    deps.show(await look(row));
  }

  async function end(row: CatalogueRow, how: Ending): Promise<void> {
    const running = downloads.get(row.id);
    running?.end(how);
    await running?.done;
  }

  const self: Transfers = {
    look,

    get running() {
      return new Set(downloads.keys());
    },

    async takeUp(rows) {
      const records = await store.models.all();
      const begun = new Set(records.filter((one) => one.state !== 'ready').map(({ id }) => id));
      if (!(await isHeld(DOWNLOAD_LOCK)))
        await tidyArrivals(rows.filter(({ id }) => begun.has(id)));
      for (const { id, state } of records) {
        const row = rows.find((one) => one.id === id);
        if (state !== 'downloading' || downloads.has(id) || waiting.has(id)) continue;
        if (!row) continue;
        if (await isHeld(lockOf(row))) {
          // Once that tab is done it has noted how it ended; where it was killed, it has not.
          void navigator.locks
            .request(lockOf(row), () => undefined)
            .then(() => takeUpOne(row))
            .catch(() => undefined);
        } else await takeUpOne(row);
      }
    },

    download(row, local = {}) {
      const running = downloads.get(row.id);
      if (running) return running.done;
      waiting.delete(row.id);
      void deps.metered().then(
        (costs) => void (costs ? agreed.add(row.id) : agreed.delete(row.id)),
        () => undefined,
      );
      const stop = new AbortController();
      const done = run(row, stop, local)
        // Where there is no room even for a note, the look says what is here.
        .catch(() => undefined)
        .then(async () => {
          downloads.delete(row.id);
          deps.show(await look(row));
        });
      downloads.set(row.id, { done, end: (how) => stop.abort(how) });
      void stored(row).then(({ bytes }) => {
        if (!downloads.has(row.id)) return;
        const total = Math.max(sizeOf(row), bytes);
        deps.show({
          row,
          kept: { kind: 'downloading', received: bytes, total, bytesPerSecond: 0 },
          stored: bytes,
          offline: false,
        });
      });
      return done;
    },

    async pause(row) {
      if (downloads.has(row.id)) return end(row, 'pause');
      if (!waiting.delete(row.id)) return;
      await write(row, 'paused');
      deps.show(await look(row));
    },

    async cancel(row) {
      if (downloads.has(row.id)) return end(row, 'cancel');
      if (await isElsewhere(row)) throw new ElsewhereError();
      await clear(row);
      deps.show(await look(row));
    },

    async remove(row) {
      await end(row, 'pause');
      if (await isElsewhere(row)) throw new ElsewhereError();
      waiting.delete(row.id);
      await removeFiles(row);
      await store.models.delete(row.id);
      deps.show(await look(row));
    },

    async check(row) {
      await downloads.get(row.id)?.done;
      const bad = await check(row, new AbortController().signal);
      deps.show(await look(row));
      return bad;
    },
  };

  addEventListener('online', () => {
    for (const row of [...waiting.values()]) void goOn(row).catch(() => undefined);
  });

  return self;
}

/** A row whose file came from this phone has nowhere to be fetched from. */
async function ensureSource(
  row: CatalogueRow,
  local: Readonly<Record<string, Blob>>,
): Promise<void> {
  const { row: whole, files } = await stored(row);
  const isHere = (path: string): boolean =>
    local[path] !== undefined || files.some((file) => file.path === path);
  if (!whole.files.every(({ path }) => isHere(path))) throw new DownloadError(sourceGone(row));
}

function failed({ error = '', advice = '', fault }: ModelRecord): Kept {
  return {
    kind: 'failed',
    message: error,
    advice,
    ...(fault === undefined ? {} : { fault: fault as DownloadFault['kind'] }),
  };
}

function saidOf(error: unknown): Pick<ModelRecord, 'error' | 'advice' | 'fault'> {
  if (error instanceof DownloadError) {
    const { kind: fault, message, advice } = error.fault;
    return { error: message, advice, fault };
  }
  if (error instanceof EngineError)
    return { error: error.message, advice: 'Choose a model that runs without WebGPU.' };
  return {
    error: 'The model could not be stored.',
    advice: 'Reload the app and try again.',
  };
}
