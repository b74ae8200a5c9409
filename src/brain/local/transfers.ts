/**
 * The downloads of the phone's models as the person sees them: running, paused, waiting for the
 * network, failed; and what of a model is on the phone.
 *
 * Promises: what a status says survives a reload and a killed tab; a download that was running then
 * goes on by itself at the next start, except over a connection that costs, where it is offered as
 * paused; one that lost the network goes on when it is back; what the person paused stays paused.
 */
import type { ModelRecord } from '../../store/records.ts';
import type { Store } from '../../store/store.ts';
import { StoppedOutside, tidyArrivals, wasStopped } from './background.ts';
import { DownloadError, evictedFault, type DownloadFault } from './download-faults.ts';
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
const COSTS = 'It stopped when Deft was closed. This connection may cost, so it waits for you.';

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
      const gone = evictedFault(row.label, row.files.length - found.files.length, row.files.length);
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
    try {
      await fetchModel(row, stop.signal, local);
    } catch (error) {
      const ended = stop.signal.aborted ? (stop.signal.reason as Ending) : null;
      if (ended === 'cancel') await clear(row);
      else if (ended === 'pause')
        await write(row, 'paused', inBackground.delete(row.id) ? { error: BEGINS_AGAIN } : {});
      else if (error instanceof StoppedOutside) await write(row, 'paused', { error: STOPPED });
      else if (error instanceof DownloadError && error.fault.kind === 'offline')
        waiting.set(row.id, row);
      else await write(row, 'failed', saidOf(error));
    }
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
      if (await isHeld(DOWNLOAD_LOCK)) return;
      const records = await store.models.all();
      const begun = new Set(records.filter((one) => one.state !== 'ready').map(({ id }) => id));
      await tidyArrivals(rows.filter(({ id }) => begun.has(id)));
      for (const { id, state } of records) {
        const row = rows.find((one) => one.id === id);
        if (state !== 'downloading' || downloads.has(id) || waiting.has(id)) continue;
        if (!row) continue;
        const why = (await wasStopped(row)) ? STOPPED : (await deps.metered()) ? COSTS : null;
        if (why !== null) {
          await write(row, 'paused', { error: why });
          deps.show(await look(row));
        } else void self.download(row);
      }
    },

    download(row, local = {}) {
      const running = downloads.get(row.id);
      if (running) return running.done;
      waiting.delete(row.id);
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
      await clear(row);
      deps.show(await look(row));
    },

    async remove(row) {
      await end(row, 'pause');
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
    for (const row of [...waiting.values()]) void self.download(row);
  });

  return self;
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
