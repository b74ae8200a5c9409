/**
 * The phone's models: which there are, what of them is on this phone, and the one in memory.
 *
 * Promises: `list` needs no network once a list was seen, and no disk once it is there; what it says
 * survives a reload and is the same in all tabs; a download that was cut off can go on.
 */
import type { Brain } from '../brain.ts';
import type { ModelRecord } from '../../store/records.ts';
import type { Store } from '../../store/store.ts';
import { fetchRows, keptRows } from './catalogue.ts';
import { DownloadError, type DownloadFault } from './download-faults.ts';
import { download, DOWNLOAD_LOCK } from './downloads.ts';
import { createEngine, keepEngine } from './engines/engines.ts';
import { checkGpu } from './engines/gpu.ts';
import { EngineError } from './errors.ts';
import { manifests, removeFiles, stored } from './files.ts';
import type { Phone } from './fit.ts';
import { createLife } from './life.ts';
import { phoneNow, readPhone } from './phone.ts';
import { sizeOf } from './size.ts';
import type { CatalogueRow, Models, ModelStatus, ModelView, Setback } from './types.ts';

export interface ModelsDeps {
  readonly store: Pick<Store, 'models' | 'settings' | 'changes'>;
  /** Address of the list beside the app; default: `/models/index.json`. */
  readonly index?: string;
  /** The public models that are known to run; default: `catalogue-rows.ts`. */
  readonly publicRows?: () => Promise<readonly CatalogueRow[]>;
  /** Asks the browser to keep the data, before the first large download; see `askPersist`. */
  readonly askPersist?: () => Promise<unknown>;
}

/** A download of at least this many bytes is worth the question whether the data may be kept. */
const LARGE = 10e6;

/** What is known of a row, apart from what is in memory. */
type Kept = Exclude<ModelStatus, { kind: 'loading' | 'warm' | 'generating' }>;

interface Entry {
  readonly row: CatalogueRow;
  readonly kept: Kept;
  readonly stored: number;
}

/** Milliseconds after which a list beside the app that was not there is looked for again. */
const LOOK_AGAIN_MS = 4_000;

const publicRows = async (): Promise<readonly CatalogueRow[]> =>
  (await import('./catalogue-rows.ts')).PUBLIC_ROWS;

export function createModels(deps: ModelsDeps): Models {
  const { store } = deps;
  const index = deps.index ?? new URL('/models/index.json', location.origin).href;
  const listeners = new Set<() => void>();
  const brains = new Map<string, Brain>();
  const downloads = new Map<string, { readonly done: Promise<void>; cancel(): void }>();
  let entries = new Map<string, Entry>();
  let phone: Phone = { gpu: { usable: false, why: '' } };
  /** When the list beside the app was last looked for in vain; null where it was found. */
  let missedAt: number | null = null;

  const changed = (): void => listeners.forEach((listener) => listener());
  const life = createLife({
    store,
    engine: (name) => createEngine[name](),
    onChange: changed,
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
    await life.start(phone.gpu.usable ? phone.gpu.device : '');
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

  /** The list beside the app, and after it what else can be had. */
  async function whole(beside: readonly CatalogueRow[]): Promise<readonly CatalogueRow[]> {
    const known = new Set(beside.map(({ id }) => id));
    const others = await (deps.publicRows ?? publicRows)().catch(() => []);
    return [...beside, ...others.filter(({ id }) => !known.has(id))];
  }

  async function fetchList(): Promise<readonly CatalogueRow[] | null> {
    const rows = await fetchRows(index);
    missedAt = rows && rows.length > 0 ? null : Date.now();
    return rows;
  }

  async function start(): Promise<void> {
    phone = await readPhone();
    if (phone.noStorage !== undefined) return show(await whole((await fetchList()) ?? []));
    await tidy();
    const kept = await keptRows(index);
    // Where the new list cannot be had or taken, the one that was kept stays.
    const fetched = fetchList().then(async (rows) =>
      rows ? take(await whole(rows)).catch(() => undefined) : undefined,
    );
    await take(await whole(kept));
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

  const statusOf = ({ row, kept }: Entry): ModelStatus =>
    kept.kind === 'ready' ? (life.status(row) ?? kept) : kept;

  async function entryOf(id: string): Promise<Entry | undefined> {
    await started;
    return entries.get(id);
  }

  /** Where there was no list at the start, it may have come since. */
  async function lookAgain(): Promise<void> {
    if (missedAt === null || phone.noStorage !== undefined) return;
    if (entries.size > 0 && Date.now() - missedAt < LOOK_AGAIN_MS) return;
    const beside = [...entries.values()].some(({ row }) => row.beside);
    const rows = await fetchList();
    if (rows && rows.length > 0 && !beside) await take(await whole(rows));
  }

  /** Bytes that running downloads still bring. */
  const pending = (): number =>
    [...entries.values()].reduce(
      (sum, { kept }) =>
        kept.kind === 'downloading' ? sum + Math.max(0, kept.total - kept.received) : sum,
      0,
    );

  /** What is offered in place of a stored model that failed. */
  async function setbackOf({ row, kept }: Entry): Promise<Setback | undefined> {
    if (kept.kind !== 'ready') return undefined;
    const { fitOf } = await import('./fit.ts');
    const now = await phoneNow(phone, pending());
    return life.setback(row, () => {
      const able = [...entries.values()].filter((other) => {
        const complete = other.kept.kind === 'ready';
        const fit = fitOf(other.row, now, { stored: other.stored, complete });
        return other.row.id === row.id ? fit.blocked !== 'phone' : fit.verdict !== 'big';
      });
      return able.map((other) => other.row);
    });
  }

  /** The row with the largest window for which there is memory and with which it has not failed. */
  async function safe({ row, stored }: Entry): Promise<CatalogueRow> {
    const { fitOf } = await import('./fit.ts');
    const { window } = fitOf(row, await phoneNow(phone, pending()), { stored, complete: true });
    return life.fitted(row, window);
  }

  const self: Models = {
    async list() {
      await started;
      await lookAgain();
      const { fitOf, inOrder } = await import('./fit.ts');
      const now = await phoneNow(phone, pending());
      const found = await Promise.all(
        [...entries.values()].map(async (entry) => ({ entry, setback: await setbackOf(entry) })),
      );
      const views = found.map(({ entry, setback }): ModelView => {
        const { row, kept, stored } = entry;
        const coming = kept.kind === 'downloading';
        const complete = kept.kind === 'ready' || coming;
        const fit = fitOf(row, now, { stored, complete });
        return {
          row,
          fit,
          status: statusOf(entry),
          stored,
          ...(fit.blocked === 'phone' ? { unfit: fit.reason } : {}),
          ...(setback ? { setback } : {}),
        };
      });
      return inOrder(views, now);
    },

    async download(id) {
      const entry = await entryOf(id);
      const running = downloads.get(id);
      if (running) return running.done;
      if (!entry || phone.noStorage !== undefined) return;
      const { row } = entry;
      const stop = new AbortController();
      // To ask for it again is to try it again.
      const done = life
        .forgive(row)
        .then(() => runDownload(row, stop.signal))
        .then(async () => {
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
      await life.unload(entry.row);
      await removeFiles(entry.row);
      await store.models.delete(id);
      set(await look(entry.row));
    },

    unload: () => life.unload(),

    async warm(id) {
      const entry = await entryOf(id);
      if (entry?.kept.kind === 'ready') await life.warm(await safe(entry));
    },

    async stepDown(id) {
      const entry = await entryOf(id);
      const next = entry && (await setbackOf(entry))?.next;
      if (!next) return null;
      if (next.kind !== 'cloud' && next.row.id !== id) {
        if (entries.get(next.row.id)?.kept.kind !== 'ready') await self.download(next.row.id);
        // What could not be fetched is no choice: the offer stands, and its card says why.
        if (entries.get(next.row.id)?.kept.kind !== 'ready') return next;
        await store.settings.set({ phoneModel: next.row.id });
      }
      await life.settle(entry.row);
      changed();
      return next;
    },

    async brain(id) {
      const entry = await entryOf(id);
      if (entry?.kept.kind !== 'ready') return null;
      // Dialects, grammar and repair come with the first brain: no screen needs them.
      const { createLocalBrain } = await import('./brain.ts');
      const row = await safe(entry);
      const key = `${id} ${row.contextTokens}`;
      const known = brains.get(key);
      if (known) return known;
      const brain = createLocalBrain({ row, engine: life.engine(row) });
      brains.set(key, brain);
      return brain;
    },

    subscribe(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
  return self;
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
