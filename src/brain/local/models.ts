/**
 * The phone's models: which there are, what of them is on this phone, and the one in memory.
 *
 * Promises: `list` needs no network once a list was seen, and no disk once it is there; what it says
 * survives a reload and is the same in all tabs; a download that was cut off can go on.
 */
import type { Brain } from '../brain.ts';
import type { SamplingSetting } from '../../store/records.ts';
import type { Store } from '../../store/store.ts';
import { fetchRows, keptRows } from './catalogue.ts';
import { DOWNLOAD_LOCK } from './downloads.ts';
import { createEngine } from './engines/engines.ts';
import type { Figures } from './figures.ts';
import { manifests, removeStrays, stored } from './files.ts';
import type { Phone } from './fit.ts';
import { createLife } from './life.ts';
import { Mutex } from './mutex.ts';
import { createOwnList, OWN } from './own-list.ts';
import { deviceName, phoneNow, readPhone } from './phone.ts';
import { createTransfers, isHeld, type Entry } from './transfers.ts';
import type { CatalogueRow, Models, ModelStatus, ModelView, Setback } from './types.ts';

export interface ModelsDeps {
  readonly store: Pick<Store, 'models' | 'settings' | 'changes' | 'figures'>;
  /** Address of the list beside the app; default: `/models/index.json`. */
  readonly index?: string;
  /** The public models that are known to run; default: `catalogue-rows.ts`. */
  readonly publicRows?: () => Promise<readonly CatalogueRow[]>;
  /** Asks the browser to keep the data, before the first large download; see `askPersist`. */
  readonly askPersist?: () => Promise<unknown>;
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
  let entries = new Map<string, Entry>();
  let phone: Phone = { gpu: { usable: false, why: '' } };
  /** When the list beside the app was last looked for in vain; null where it was found. */
  let missedAt: number | null = null;
  const own = createOwnList(store.settings);
  const lists = new Mutex();
  /** Models that are being deleted. */
  const leaving = new Set<string>();
  /** Files that the person gave, by model id: as long as the page lives, storing can be tried again. */
  const given = new Map<string, File>();
  /** Sampling that the person chose, by model id; models that are not to think. */
  let chosen: Readonly<Record<string, SamplingSetting>> = {};
  let unthinking: ReadonlySet<string> = new Set();
  /** Tokens a second that models wrote here, by model id; read anew after each answer. */
  const rates = new Map<string, number | undefined>();
  let figures: Promise<Figures> | null = null;

  const changed = (): void => listeners.forEach((listener) => listener());
  const life = createLife({
    store,
    engine: (name) => createEngine[name](),
    onChange: changed,
    onAbsent: suspect,
  });

  function set(entry: Entry): void {
    entries.set(entry.row.id, entry);
    changed();
  }

  const transfers = createTransfers({
    store,
    show: set,
    metered: async () => (await phoneNow(phone, 0)).metered === true,
    ...(deps.askPersist ? { askPersist: deps.askPersist } : {}),
  });
  const { look } = transfers;

  /** Looks again, behind what is shown: where that fails, what is shown stays. */
  function refresh(row: CatalogueRow): void {
    void look(row).then(set, () => undefined);
  }

  /** A load says that files are not there or not right: the bad ones are found and told. */
  function suspect(row: CatalogueRow): void {
    refresh(row);
    void transfers.check(row).catch(() => undefined);
  }

  /** A list of which nothing can be kept here. */
  function show(rows: readonly CatalogueRow[]): void {
    for (const row of rows) {
      const entry: Entry = { row, kept: { kind: 'absent' }, stored: 0, offline: false };
      entries.set(row.id, entry);
    }
  }

  /**
   * Takes a new list beside the app; a whole model that the list no longer has, or has anew, stays as
   * it is. What is asked for first is taken first, so a later list is never replaced by an earlier one.
   */
  const take = (beside: () => readonly CatalogueRow[]): Promise<void> =>
    lists.run(async () => takeNow(await whole(beside())));

  async function takeNow(rows: readonly CatalogueRow[]): Promise<void> {
    const before = new Map(entries);
    const found = new Map<string, Entry>();
    for (const row of rows) found.set(row.id, await look(row));
    for (const { row } of await manifests()) {
      if (found.get(row.id)?.kept.kind === 'ready') continue;
      const old = await look(row);
      if (old.kept.kind === 'ready' || !found.has(row.id)) found.set(row.id, old);
    }
    // What became known meanwhile is newer than what was read here.
    for (const [id, entry] of entries)
      if (transfers.running.has(id) || entry !== before.get(id)) found.set(id, entry);
    entries = found;
    brains.clear();
    changed();
  }

  async function takeAgain(): Promise<void> {
    await started;
    await take(() => rowsNow().filter(({ beside }) => beside));
  }

  /** The list beside the app, and after it what else can be had. */
  async function whole(beside: readonly CatalogueRow[]): Promise<readonly CatalogueRow[]> {
    const known = new Set(beside.map(({ id }) => id));
    const others = await (deps.publicRows ?? publicRows)().catch(() => []);
    const more = [...(await own.rows()), ...others];
    return [...beside, ...more.filter(({ id }) => !known.has(id))];
  }

  async function fetchList(): Promise<readonly CatalogueRow[] | null> {
    const rows = await fetchRows(index);
    missedAt = rows && rows.length > 0 ? null : Date.now();
    return rows;
  }

  /** Their code comes with the first list or brain: the start of the app does not wait for it. */
  function figuresHere(): Promise<Figures> {
    figures ??= import('./figures.ts').then(({ createFigures }) =>
      createFigures(store.figures, deviceName(phone)),
    );
    return figures;
  }

  async function readRate(id: string): Promise<number | undefined> {
    if (!rates.has(id)) rates.set(id, (await (await figuresHere()).of(id))?.decodeRate);
    return rates.get(id);
  }

  async function readChoices(): Promise<void> {
    const settings = await store.settings.get();
    chosen = settings.sampling ?? {};
    unthinking = new Set(settings.unthinking);
    brains.clear();
  }

  async function start(): Promise<void> {
    await readChoices();
    phone = await readPhone();
    if (phone.noStorage !== undefined) return show(await whole((await fetchList()) ?? []));
    await life.start(phone.gpu.usable ? phone.gpu.device : '');
    const kept = await keptRows(index);
    const taken = take(() => kept);
    // Where the new list cannot be had or taken, the one that was kept stays.
    const fetched = fetchList()
      .then((rows) => rows && take(() => rows))
      .catch(() => undefined);
    await taken;
    // The first time there is nothing to show before the list has come.
    if (kept.length === 0) await fetched;
    await transfers.takeUp(rowsNow());
    await tidy().catch(() => undefined);
  }

  /** What was being copied from a file when an earlier page was killed cannot go on. */
  async function tidy(): Promise<void> {
    if (await isHeld(DOWNLOAD_LOCK)) return;
    const known = new Set(rowsNow().map(({ id }) => id));
    await removeStrays((id) => id.startsWith(OWN) && !known.has(id));
  }

  const started = start();

  store.changes.subscribe(({ topic, key, remote }) => {
    const entry = entries.get(key);
    if (topic === 'models' && remote && !transfers.running.has(key)) {
      if (entry) refresh(entry.row);
      // One that another tab added, or brought in from a file.
      else void takeAgain().catch(() => undefined);
    }
    if (topic === 'figures') {
      rates.clear();
      changed();
    }
    if (topic === 'settings' && remote) void readChoices().catch(() => undefined);
  });

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
    if (rows && rows.length > 0 && !beside) await take(() => rows);
  }

  /** The row's file where the person gave it: then it is not fetched. */
  function localOf({ id, files: [wanted] }: CatalogueRow): Readonly<Record<string, Blob>> {
    const file = given.get(id);
    return file && wanted ? { [wanted.path]: file } : {};
  }

  function rowsNow(): CatalogueRow[] {
    return [...entries.values()].map(({ row }) => row);
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
        if (other.row.id === row.id) return fit.blocked !== 'phone';
        // Without a network, what is not here is no choice.
        return fit.verdict !== 'big' && (complete || navigator.onLine);
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
        [...entries.values()].map(async (entry) => ({
          entry,
          setback: await setbackOf(entry),
          rate: await readRate(entry.row.id).catch(() => undefined),
        })),
      );
      const views = found.map(({ entry, setback, rate }): ModelView => {
        const { row, kept, stored } = entry;
        const coming = kept.kind === 'downloading';
        const complete = kept.kind === 'ready' || coming;
        const here = { stored, complete, ...(rate === undefined ? {} : { measured: rate }) };
        const fit = fitOf(row, now, here);
        const sampling = chosen[row.id];
        return {
          row,
          fit,
          status: statusOf(entry),
          stored,
          ...(entry.offline ? { offline: true } : {}),
          ...(fit.blocked === 'phone' ? { unfit: fit.reason } : {}),
          ...(setback ? { setback } : {}),
          ...(sampling ? { sampling } : {}),
          ...(row.thinking && unthinking.has(row.id) ? { unthinking: true } : {}),
        };
      });
      return inOrder(views, now);
    },

    async download(id) {
      const entry = await entryOf(id);
      if (!entry || phone.noStorage !== undefined) return;
      // To ask for it again is to try it again.
      await life.forgive(entry.row);
      await transfers.download(entry.row, localOf(entry.row));
    },

    resume: (id) => self.download(id),

    async pause(id) {
      const entry = await entryOf(id);
      if (entry) await transfers.pause(entry.row);
    },

    async cancel(id) {
      const entry = await entryOf(id);
      if (entry) await transfers.cancel(entry.row);
    },

    async check(id) {
      const entry = await entryOf(id);
      if (!entry) return [];
      const bad = await transfers.check(entry.row);
      const canCome = entry.row.own !== 'file' || given.has(id);
      if (bad.length > 0 && canCome) void transfers.download(entry.row, localOf(entry.row));
      return bad;
    },

    async export(id) {
      const entry = await entryOf(id);
      if (entry?.kept.kind !== 'ready') return null;
      const { pack } = await import('./container.ts');
      return pack(entry.row);
    },

    async import(file) {
      const { unpack } = await import('./container.ts');
      const found = await unpack(file);
      if (!found.ok) return found;
      await started;
      const { row, local } = found;
      const here = entries.get(row.id);
      // What is whole here is not given up for a file of which no byte was verified.
      if (here?.kept.kind === 'ready' && !(await stored(row)).complete)
        return {
          ok: false,
          message: `Another version of ${here.row.label} is here.`,
          advice: 'Delete that one first, then bring the file in again.',
        };
      await transfers.download(row, local);
      const { kept } = await look(row);
      if (kept.kind === 'failed') return { ok: false, message: kept.message, advice: kept.advice };
      if (kept.kind !== 'ready')
        return {
          ok: false,
          message: 'It was not brought in whole.',
          advice: 'Bring the file in again.',
        };
      return { ok: true, id: row.id };
    },

    async remove(id) {
      const entry = await entryOf(id);
      if (!entry) return;
      // A turn's next step must not load it again meanwhile.
      leaving.add(id);
      try {
        await life.unload(entry.row);
        await transfers.remove(entry.row);
      } finally {
        leaving.delete(id);
      }
      await figuresHere()
        .then((kept) => kept.forget(id))
        .catch(() => undefined);
      if (entry.row.own === undefined) return;
      await own.remove(id);
      given.delete(id);
      entries.delete(id);
      changed();
    },

    async inspect(source, signal) {
      await started;
      const { inspect } = await import('./inspect.ts');
      return inspect(source, await phoneNow(phone, pending()), signal);
    },

    async add(row, file) {
      await started;
      if (!file) await own.add(row);
      if (!entries.has(row.id)) set(await look(row));
      if (!file) return;
      given.set(row.id, file);
      await transfers.download(row, localOf(row));
    },

    async figures(id) {
      await started;
      return (await figuresHere()).of(id);
    },

    async benchmark(onProgress, signal) {
      await started;
      const { runBenchmark } = await import('./benchmark.ts');
      const candidates = [];
      for (const { row, status, stored } of await self.list()) {
        const brain = status.kind === 'failed' ? null : await self.brain(row.id);
        if (!brain) continue;
        const { id, label, engine, quantisation, memory } = row;
        const packed = quantisation === undefined ? {} : { quantisation };
        candidates.push({ id, label, engine, ...packed, memory, storage: stored, brain });
      }
      const report = await runBenchmark(candidates, deviceName(phone), onProgress, signal);
      const kept = await figuresHere();
      for (const { id, right, of, error } of report.models)
        if (error === undefined) await kept.noteBenchmark(id, { at: Date.now(), right, of });
      return report;
    },

    async setSampling(id, sampling) {
      const all = Object.entries((await store.settings.get()).sampling ?? {});
      const others = Object.fromEntries(all.filter(([model]) => model !== id));
      await store.settings.set({ sampling: sampling ? { ...others, [id]: sampling } : others });
      await readChoices();
      changed();
    },

    async setThinking(id, on) {
      const others = ((await store.settings.get()).unthinking ?? []).filter((one) => one !== id);
      await store.settings.set({ unthinking: on ? others : [...others, id] });
      await readChoices();
      changed();
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
      // Nothing safer is left: else the next conversation would load it again.
      if (next.kind === 'cloud') await store.settings.set({ phoneModel: null });
      await life.settle(entry.row);
      changed();
      return next;
    },

    async brain(id) {
      const entry = await entryOf(id);
      if (entry?.kept.kind !== 'ready' || leaving.has(id)) return null;
      // Dialects, grammar and repair come with the first brain: no screen needs them.
      const [{ createLocalBrain }, { measured, weighed }, kept] = await Promise.all([
        import('./brain.ts'),
        import('./figures.ts'),
        figuresHere(),
      ]);
      const fitted = await safe(entry);
      const sampling = chosen[id];
      const row: CatalogueRow = {
        ...fitted,
        // The person's own choice holds for calls, too.
        ...(sampling ? { sampling, toolSampling: sampling } : {}),
        ...(unthinking.has(id) ? { thinking: false } : {}),
      };
      const key = `${id} ${row.contextTokens}`;
      const known = brains.get(key);
      if (known) return known;
      // The one place where answers are measured: every one of a phone's model goes through here.
      let memory: number | undefined;
      const engine = weighed(life.engine(row), (bytes) => (memory = bytes));
      const brain = measured(createLocalBrain({ row, engine }), (one) => {
        const whole = memory === undefined ? one : { ...one, memory };
        void kept.note(id, whole).catch(() => undefined);
      });
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
