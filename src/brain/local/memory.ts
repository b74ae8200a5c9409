/**
 * The one model in memory.
 *
 * Promises: one model at a time, in this tab and over all tabs; loads and generations run one after
 * the other, in the order asked for; an engine that died is loaded anew at its next use; a model that
 * nobody uses is let go, and comes back at its next use; what a model did to this phone is noted.
 *
 * Of the phone's memory a page is told nothing: there is no event of pressure, and no figure of what is
 * free. So what it can know is all that is acted on: before a load, whatever was in memory is let go, of
 * whichever engine; a page that is hidden or frozen is about to be asked for its memory; and an allocation
 * that fails ends the engine, is noted, and leads to the next safer choice.
 */
import type { CrashFlag } from './crash-flag.ts';
import type { HostedEngine } from './engines/client.ts';
import { EngineError } from './errors.ts';
import { Mutex } from './mutex.ts';
import { TabLock } from './tab-lock.ts';
import type { Trials } from './trials.ts';
import type { CatalogueRow, EngineEvent, EngineName, LocalEngine, OnLoad } from './types.ts';

export type InMemory =
  | {
      readonly id: string;
      readonly state: 'loading';
      readonly fraction: number | null;
      /** Another tab's model is at work. */
      readonly waiting: boolean;
    }
  | { readonly id: string; readonly state: 'warm' | 'generating' }
  | null;

/** The end of a generation that was stopped before its engine had begun. */
const ABORTED: EngineEvent = {
  type: 'done',
  reason: 'aborted',
  promptTokens: 0,
  cachedTokens: 0,
  outputTokens: 0,
};

/** Milliseconds between a load and the generation that it was for, at most. */
const LOADED_FOR_USE = 5_000;

/** Milliseconds without use after which a model is let go, where nothing else is set. */
export const IDLE_MS = 300_000;

/** The same where the page is hidden: what the phone is short of, it takes from such pages first. */
const HIDDEN_IDLE_MS = 60_000;

export interface MemoryDeps {
  readonly engine: (name: EngineName) => HostedEngine;
  /** Called when what is in memory changes. */
  readonly onChange: (state: InMemory) => void;
  /** Called where a load says that a row's files are not there any more, or not right. */
  readonly onAbsent: (row: CatalogueRow) => void;
  readonly trials: Pick<Trials, 'keyOf' | 'passed' | 'notePass' | 'noteFailure' | 'noteLoss'>;
  readonly flag: Pick<CrashFlag, 'raise' | 'lower'>;
  /** Milliseconds without use after which the model is let go. */
  readonly idleMs: () => number;
}

export interface Memory {
  /** The row's engine: `load` does nothing where its model is in memory, `generate` loads if need be. */
  engine(row: CatalogueRow): LocalEngine;
  /** Loads ahead of the use, unless another tab has a model in memory. Rejects as a load does. */
  warm(row: CatalogueRow): Promise<void>;
  unload(): Promise<void>;
}

interface Held {
  readonly row: CatalogueRow;
  readonly engine: HostedEngine;
  /** It has answered since it was loaded. */
  used: boolean;
}

const hidden = (): boolean => document.visibilityState === 'hidden';

/** What a load dies of where files are gone, or hold something else than they should. */
const isSuspect = (error: unknown): boolean =>
  error instanceof EngineError && (error.kind === 'absent' || error.kind === 'internal');

export function createMemory(deps: MemoryDeps): Memory {
  const { trials, flag } = deps;
  const turns = new Mutex();
  const tabs = new TabLock(() => void turns.run(giveUp));
  /** Who wants to know how far the load is that is under way. */
  const waiting = new Set<OnLoad>();
  let keepUntil = 0;
  let held: Held | null = null;
  /** Loads and generations, those that wait for their turn included. */
  let users = 0;
  let idle: ReturnType<typeof setTimeout> | undefined;

  async function free(): Promise<void> {
    clearTimeout(idle);
    if (!held && !tabs.held) return;
    await held?.engine.unload();
    held = null;
    tabs.release();
    deps.onChange(null);
  }

  /** Another tab asks for it, and asks again. Who has just loaded a model gets to use it first. */
  async function giveUp(): Promise<void> {
    if (performance.now() > keepUntil) await free();
  }

  function freeUnused(): void {
    if (users === 0 && held) void turns.run(free);
  }

  /** Starts to count the time without use, anew. */
  function countIdle(): void {
    clearTimeout(idle);
    if (users > 0 || !held) return;
    const ms = hidden() ? Math.min(deps.idleMs(), HIDDEN_IDLE_MS) : deps.idleMs();
    idle = setTimeout(freeUnused, ms);
  }

  // A frozen page is among the first to be thrown out of memory, and the whole app with its model.
  document.addEventListener('freeze', freeUnused);
  document.addEventListener('visibilitychange', countIdle);

  async function asUser<T>(work: () => Promise<T>): Promise<T> {
    users += 1;
    clearTimeout(idle);
    try {
      return await work();
    } finally {
      users -= 1;
      countIdle();
    }
  }

  /** What went wrong in loading or answering, where it says something about this phone. */
  async function note(row: CatalogueRow, error: unknown, answering: boolean): Promise<void> {
    // A hidden page loses its device, and its time, to others.
    if (!(error instanceof EngineError) || hidden()) return;
    const kind = error.kind === 'unfit' ? 'gpu' : error.kind;
    if (kind === 'gpu' && answering) await trials.noteLoss(row);
    else if (kind === 'gpu' || kind === 'memory' || (kind === 'stalled' && !answering))
      await trials.noteFailure(trials.keyOf(row), kind, answering);
  }

  const isHeld = (row: CatalogueRow): boolean =>
    held?.row.id === row.id && held.row.contextTokens === row.contextTokens && held.engine.loaded;

  /** The row's model in memory; to be called in one's turn. */
  async function ensure(row: CatalogueRow, signal: AbortSignal): Promise<Held> {
    if (held && isHeld(row)) return held;
    await held?.engine.unload();
    held = null;
    const report = (fraction: number | null, elsewhere = false): void => {
      deps.onChange({ id: row.id, state: 'loading', fraction, waiting: elsewhere });
      for (const listener of waiting) listener(fraction, elsewhere);
    };
    report(null);
    const engine = deps.engine(row.engine);
    try {
      await tabs.acquire(signal, () => report(null, true));
      report(null);
      await flag.raise(trials.keyOf(row));
      await engine.load(row, report, signal, { selfTest: !trials.passed(row) });
    } catch (error) {
      // Before another tab may raise its own.
      flag.lower();
      tabs.release();
      if (isSuspect(error) && !signal.aborted) deps.onAbsent(row);
      if (!signal.aborted) await note(row, error, false);
      deps.onChange(null);
      throw error;
    } finally {
      flag.lower();
    }
    const loaded: Held = { row, engine, used: false };
    held = loaded;
    deps.onChange({ id: row.id, state: 'warm' });
    // A worker may end on its own, between two turns: a lost GPU, a stop that it did not obey.
    void engine.ended().then(() => {
      if (held === loaded) deps.onChange(null);
    });
    return loaded;
  }

  /** A generation of a model in memory; its first one is where a phone may still give in. */
  async function* answer(
    model: Held,
    ...input: Parameters<LocalEngine['generate']>
  ): AsyncGenerator<EngineEvent> {
    const first = !model.used;
    if (first) await flag.raise(trials.keyOf(model.row), true);
    deps.onChange({ id: model.row.id, state: 'generating' });
    try {
      for await (const event of model.engine.generate(...input)) {
        if (event.type === 'token') model.used = true;
        yield event;
      }
      if (first && model.used) await trials.notePass(model.row);
    } catch (error) {
      await note(model.row, error, true);
      throw error;
    } finally {
      if (first) flag.lower();
      deps.onChange(model.engine.loaded ? { id: model.row.id, state: 'warm' } : null);
    }
  }

  function load(row: CatalogueRow, onProgress: OnLoad, signal: AbortSignal): Promise<void> {
    return asUser(async () => {
      waiting.add(onProgress);
      try {
        await turns.run(async () => {
          await ensure(row, signal);
          keepUntil = performance.now() + LOADED_FOR_USE;
        }, signal);
      } finally {
        waiting.delete(onProgress);
      }
    });
  }

  async function* generate(
    row: CatalogueRow,
    ...[request, signal]: Parameters<LocalEngine['generate']>
  ): AsyncGenerator<EngineEvent> {
    users += 1;
    const leave = await turns.enter(signal).catch(() => null);
    try {
      if (!leave) return yield ABORTED;
      clearTimeout(idle);
      keepUntil = 0;
      yield* answer(await ensure(row, signal), request, signal);
    } catch (error) {
      if (!signal.aborted) throw error;
      yield ABORTED;
    } finally {
      leave?.();
      users -= 1;
      countIdle();
    }
  }

  return {
    engine: (row) => ({
      load: (_row, onProgress, signal) => load(row, onProgress, signal),
      generate: (request, signal) => generate(row, request, signal),
      unload: () => turns.run(free),
    }),
    warm: (row) =>
      asUser(() =>
        turns.run(async () => {
          if (await tabs.available()) await ensure(row, new AbortController().signal);
        }),
      ),
    unload: () => turns.run(free),
  };
}
