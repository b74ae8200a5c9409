/**
 * The phone's models: which there are, what of them is on this phone, and the one in memory.
 *
 * Promises: `list` needs no network once a list was seen, and no disk once it is there; what it says
 * survives a reload and is the same in all tabs; a download that was cut off can go on.
 */
import type { Brain } from '../brain.ts';
import type { ModelRecord } from '../../store/records.ts';
import type { Store } from '../../store/store.ts';
import { fetchRows, inOrder, keptRows, type Phone, unfitness } from './catalogue.ts';
import { takeFlag } from './crash-flag.ts';
import { DownloadError, type DownloadFault } from './download-faults.ts';
import { download, DOWNLOAD_LOCK, sizeOf } from './downloads.ts';
import { createEngine, keepEngine } from './engines/engines.ts';
import { checkGpu, probeGpu } from './engines/gpu.ts';
import { EngineError } from './errors.ts';
import { manifests, noStorage, removeFiles, stored } from './files.ts';
import { createMemory, type InMemory } from './memory.ts';
import { MODEL_LOCK } from './tab-lock.ts';
import type { CatalogueRow, Models, ModelStatus, ModelView } from './types.ts';

export interface ModelsDeps {
  readonly store: Pick<Store, 'models' | 'settings' | 'changes'>;
  /** Address of the list beside the app; default: `/models/index.json`. */
  readonly index?: string;
  /** Asks the browser to keep the data, before the first large download; see `askPersist`. */
  readonly askPersist?: () => Promise<unknown>;
}

/** A download of at least this many bytes is worth the question whether the data may be kept. */
const LARGE = 10e6;

/** What is known of a row, apart from what is in memory. */
type Kept = Exclude<ModelStatus, { kind: 'loading' | 'warm' }>;

interface Entry {
  readonly row: CatalogueRow;
  readonly kept: Kept;
  readonly stored: number;
}

const DIED: Pick<DownloadFault, 'message' | 'advice'> = {
  message: 'The browser closed while this model was being loaded, probably for want of memory.',
  advice: 'Close other apps and tabs, then try again, or choose a smaller model.',
};

export function createModels(deps: ModelsDeps): Models {
  const { store } = deps;
  const index = deps.index ?? new URL('/models/index.json', location.origin).href;
  const listeners = new Set<() => void>();
  const brains = new Map<string, Brain>();
  const downloads = new Map<string, { readonly done: Promise<void>; cancel(): void }>();
  let entries = new Map<string, Entry>();
  let inMemory: InMemory = null;
  let phone: Phone = { gpu: { usable: false, why: '' } };

  const changed = (): void => listeners.forEach((listener) => listener());
  const memory = createMemory({
    engine: (name) => createEngine[name](),
    onChange(state) {
      inMemory = state;
      changed();
    },
    onAbsent: refresh,
  });

  function set(entry: Entry): void {
    entries.set(entry.row.id, entry);
    changed();
  }

  /** Reads what of a row is on the phone; `failed` stays until the next try. */
  async function look(row: CatalogueRow): Promise<Entry> {
    const [record, found] = [await store.models.get(row.id), await stored(row)];
    let kept: Kept = { kind: found.complete ? 'ready' : 'absent' };
    if (record?.state === 'failed')
      kept = { kind: 'failed', message: record.error ?? '', advice: record.advice ?? '' };
    return { row, kept, stored: found.bytes };
  }

  /** Looks again, behind what is shown: where that fails, what is shown stays. */
  function refresh(row: CatalogueRow): void {
    void look(row).then(set, () => undefined);
  }

  /** A list of which nothing can be kept here. */
  function show(rows: readonly CatalogueRow[]): void {
    for (const row of rows) entries.set(row.id, { row, kept: { kind: 'absent' }, stored: 0 });
  }

  /** Takes a new list; a whole model that the list no longer has, or has anew, stays as it is. */
  async function take(rows: readonly CatalogueRow[]): Promise<void> {
    const found = new Map<string, Entry>();
    for (const row of rows) found.set(row.id, await look(row));
    for (const { row } of await manifests()) {
      if (found.get(row.id)?.kept.kind === 'ready') continue;
      const old = await look(row);
      if (old.kept.kind === 'ready' || !found.has(row.id)) found.set(row.id, old);
    }
    for (const id of downloads.keys()) {
      const running = entries.get(id);
      if (running) found.set(id, running);
    }
    entries = found;
    brains.clear();
    changed();
  }

  const held = async (name: string): Promise<boolean> =>
    ((await navigator.locks.query()).held ?? []).some((lock) => lock.name === name);

  /** What an earlier page left behind when it was closed or killed. */
  async function tidy(): Promise<void> {
    if (!(await held(MODEL_LOCK))) {
      const died = takeFlag();
      if (died) await fail(died, DIED);
    }
    if (await held(DOWNLOAD_LOCK)) return;
    for (const record of await store.models.all())
      if (record.state === 'downloading') await store.models.delete(record.id);
  }

  async function write(
    id: string,
    state: ModelRecord['state'],
    bytes: number,
    fault?: Pick<DownloadFault, 'message' | 'advice'>,
  ): Promise<void> {
    const said = fault ? { error: fault.message, advice: fault.advice } : {};
    await store.models.put({ id, state, bytes, updatedAt: Date.now(), ...said });
  }

  async function fail(id: string, fault: Pick<DownloadFault, 'message' | 'advice'>): Promise<void> {
    await write(id, 'failed', entries.get(id)?.stored ?? 0, fault);
  }

  async function start(): Promise<void> {
    const { deviceMemory } = navigator as { deviceMemory?: number };
    const missing = await noStorage();
    phone = {
      gpu: await probeGpu(),
      ...(missing === undefined ? {} : { noStorage: missing }),
      ...(deviceMemory === undefined ? {} : { memory: deviceMemory * 2 ** 30 }),
    };
    if (missing !== undefined) return show((await fetchRows(index)) ?? []);
    await tidy();
    const kept = await keptRows(index);
    // Where the new list cannot be had or taken, the one that was kept stays.
    const fetched = fetchRows(index).then((rows) =>
      rows ? take(rows).catch(() => undefined) : undefined,
    );
    await take(kept);
    // The first time there is nothing to show before the list has come.
    if (kept.length === 0) await fetched;
  }

  const started = start();

  store.changes.subscribe(({ topic, key, remote }) => {
    const entry = entries.get(key);
    if (topic === 'models' && remote && entry && !downloads.has(key)) refresh(entry.row);
  });

  async function askPersist(): Promise<void> {
    if (deps.askPersist) return void (await deps.askPersist());
    const { persisted } = await store.settings.get();
    if (persisted !== true)
      await store.settings.set({ persisted: await navigator.storage.persist() });
  }

  async function fetchModel(row: CatalogueRow, signal: AbortSignal): Promise<void> {
    if (row.engine === 'webllm') await checkGpu(row);
    if (sizeOf(row) >= LARGE) await askPersist();
    await write(row.id, 'downloading', entries.get(row.id)?.stored ?? 0);
    await download(row, {
      signal,
      onProgress: (progress) =>
        set({ row, kept: { kind: 'downloading', ...progress }, stored: progress.received }),
    });
    await keepEngine(row.engine);
    await write(row.id, 'ready', (await stored(row)).bytes);
  }

  async function runDownload(row: CatalogueRow, signal: AbortSignal): Promise<void> {
    try {
      await fetchModel(row, signal);
    } catch (error) {
      const noting = signal.aborted ? store.models.delete(row.id) : fail(row.id, faultOf(error));
      // Where there is no room even for that, the next look says what is here.
      await noting.catch(() => undefined);
    }
  }

  function statusOf(entry: Entry): ModelStatus {
    if (inMemory?.id !== entry.row.id) return entry.kept;
    if (inMemory.state === 'warm') return { kind: 'warm' };
    return { kind: 'loading', fraction: inMemory.fraction };
  }

  async function entryOf(id: string): Promise<Entry | undefined> {
    await started;
    return entries.get(id);
  }

  /** Where there was no list at the start, it may have come since. */
  async function lookAgain(): Promise<void> {
    if (entries.size > 0 || phone.noStorage !== undefined) return;
    const rows = await fetchRows(index);
    if (rows && rows.length > 0 && entries.size === 0) await take(rows);
  }

  return {
    async list() {
      await started;
      await lookAgain();
      const rows = inOrder(
        [...entries.values()].map((entry) => entry.row),
        phone,
      );
      return rows.map((row): ModelView => {
        const entry = entries.get(row.id)!;
        const unfit = unfitness(row, phone);
        return {
          row,
          status: statusOf(entry),
          stored: entry.stored,
          ...(unfit === undefined ? {} : { unfit }),
        };
      });
    },

    async download(id) {
      const entry = await entryOf(id);
      const running = downloads.get(id);
      if (running) return running.done;
      if (!entry || phone.noStorage !== undefined) return;
      const { row } = entry;
      const stop = new AbortController();
      const done = runDownload(row, stop.signal).then(async () => {
        downloads.delete(id);
        set(await look(row));
      });
      downloads.set(id, { done, cancel: () => stop.abort() });
      const total = sizeOf(row);
      set({
        ...entry,
        kept: { kind: 'downloading', received: entry.stored, total, bytesPerSecond: 0 },
      });
      return done;
    },

    cancel(id) {
      downloads.get(id)?.cancel();
    },

    async remove(id) {
      const entry = await entryOf(id);
      if (!entry) return;
      const running = downloads.get(id);
      running?.cancel();
      await running?.done;
      if (inMemory?.id === id) await memory.unload();
      await removeFiles(entry.row);
      await store.models.delete(id);
      set(await look(entry.row));
    },

    unload: () => memory.unload(),

    async brain(id) {
      const entry = await entryOf(id);
      if (entry?.kept.kind !== 'ready') return null;
      // Dialects, grammar and repair come with the first brain: no screen needs them.
      const { createLocalBrain } = await import('./brain.ts');
      const known = brains.get(id);
      if (known) return known;
      const brain = createLocalBrain({ row: entry.row, engine: memory.engine(entry.row) });
      brains.set(id, brain);
      return brain;
    },

    subscribe(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

function faultOf(error: unknown): Pick<DownloadFault, 'message' | 'advice'> {
  if (error instanceof DownloadError) return error.fault;
  if (error instanceof EngineError)
    return { message: error.message, advice: 'Choose a model that runs without WebGPU.' };
  return {
    message: 'The model could not be stored.',
    advice: 'Reload the app and try again.',
  };
}
