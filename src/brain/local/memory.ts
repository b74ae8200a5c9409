/**
 * The one model in memory.
 *
 * Promises: one model at a time, in this tab and over all tabs; loads and generations run one after
 * the other, in the order asked for; an engine that died is loaded anew at its next use.
 */
import { lowerFlag, raiseFlag } from './crash-flag.ts';
import type { HostedEngine } from './engines/client.ts';
import { EngineError } from './errors.ts';
import { Mutex } from './mutex.ts';
import { TabLock } from './tab-lock.ts';
import type { CatalogueRow, EngineEvent, EngineName, LocalEngine } from './types.ts';

export type InMemory =
  | { readonly id: string; readonly state: 'loading'; readonly fraction: number | null }
  | { readonly id: string; readonly state: 'warm' }
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

export interface MemoryDeps {
  readonly engine: (name: EngineName) => HostedEngine;
  /** Called when what is in memory changes. */
  readonly onChange: (state: InMemory) => void;
  /** Called where a row's files are not there any more: the browser was told to clear them. */
  readonly onAbsent: (row: CatalogueRow) => void;
}

export interface Memory {
  /** The row's engine: `load` does nothing where its model is in memory, `generate` loads if need be. */
  engine(row: CatalogueRow): LocalEngine;
  unload(): Promise<void>;
}

export function createMemory(deps: MemoryDeps): Memory {
  const turns = new Mutex();
  const tabs = new TabLock(() => void turns.run(giveUp));
  let keepUntil = 0;
  let held: { readonly id: string; readonly engine: HostedEngine } | null = null;

  async function free(): Promise<void> {
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

  /** The row's model in memory; to be called in one's turn. */
  async function ensure(
    row: CatalogueRow,
    onProgress: (fraction: number | null) => void,
    signal: AbortSignal,
  ): Promise<HostedEngine> {
    if (held?.id === row.id && held.engine.loaded) return held.engine;
    await held?.engine.unload();
    held = null;
    const report = (fraction: number | null): void => {
      deps.onChange({ id: row.id, state: 'loading', fraction });
      onProgress(fraction);
    };
    report(null);
    const engine = deps.engine(row.engine);
    try {
      await tabs.acquire(signal, () => report(null));
      raiseFlag(row.id);
      await engine.load(row, report, signal);
    } catch (error) {
      tabs.release();
      deps.onChange(null);
      if (error instanceof EngineError && error.kind === 'absent') deps.onAbsent(row);
      throw error;
    } finally {
      lowerFlag();
    }
    held = { id: row.id, engine };
    deps.onChange({ id: row.id, state: 'warm' });
    // A worker may end on its own, between two turns: a lost GPU, a stop that it did not obey.
    void engine.ended().then(() => {
      if (held?.engine === engine) deps.onChange(null);
    });
    return engine;
  }

  return {
    engine: (row) => ({
      async load(_row, onProgress, signal) {
        await turns.run(async () => {
          await ensure(row, onProgress, signal);
          keepUntil = performance.now() + LOADED_FOR_USE;
        }, signal);
      },
      async *generate(request, signal) {
        const leave = await turns.enter(signal).catch(() => null);
        if (!leave) return yield ABORTED;
        keepUntil = 0;
        try {
          const engine = await ensure(row, () => undefined, signal);
          yield* engine.generate(request, signal);
        } catch (error) {
          if (!signal.aborted) throw error;
          yield ABORTED;
        } finally {
          leave();
        }
      },
      unload: () => turns.run(free),
    }),
    unload: () => turns.run(free),
  };
}
