/**
 * The life of the phone's models once their files are there: loading, answering, failing, and what is
 * offered in place of one that failed.
 *
 * Promises: one that failed in a way that would come again is not loaded unasked, not even after a
 * reload; the person is told, and offered a safer choice.
 */
import type { ModelTrial } from '../../store/records.ts';
import type { Store } from '../../store/store.ts';
import { createCrashFlag } from './crash-flag.ts';
import type { HostedEngine } from './engines/client.ts';
import { EngineError } from './errors.ts';
import { nextRung } from './ladder.ts';
import { createMemory, IDLE_MS, type InMemory } from './memory.ts';
import { MODEL_LOCK } from './tab-lock.ts';
import { createTrials } from './trials.ts';
import type { CatalogueRow, EngineName, LocalEngine, ModelStatus, Setback } from './types.ts';

export interface LifeDeps {
  readonly store: Pick<Store, 'settings' | 'changes'>;
  readonly engine: (name: EngineName) => HostedEngine;
  /** Called when a status or a setback may have changed. */
  readonly onChange: () => void;
  /** Called where a row's files are not there any more. */
  readonly onAbsent: (row: CatalogueRow) => void;
}

export interface Life {
  /** Reads what earlier pages left: what failed, and what the last one died of. */
  start(gpu: string): Promise<void>;
  /** Of a stored row: loading, warm, generating or failed; undefined where it just lies there. */
  status(row: CatalogueRow): ModelStatus | undefined;
  /** `able` gives the rows that this phone can run. */
  setback(row: CatalogueRow, able: () => readonly CatalogueRow[]): Setback | undefined;
  /** The row with the largest window, of `atMost` tokens, with which it has not failed here. */
  fitted(row: CatalogueRow, atMost?: number): CatalogueRow;
  /** Its engine; it refuses to load while a setback is open. */
  engine(row: CatalogueRow): LocalEngine;
  /** Loads ahead of the use where that is likely to go well; never rejects. */
  warm(row: CatalogueRow): Promise<void>;
  /** The person has chosen otherwise: the failure is remembered. */
  settle(row: CatalogueRow): Promise<void>;
  /** The person wants to try it again as it was: the failure is forgotten. */
  forgive(row: CatalogueRow): Promise<void>;
  /** Lets the model in memory go; with a row only where it is that one. */
  unload(row?: CatalogueRow): Promise<void>;
}

const HAPPENED: Readonly<Record<NonNullable<ModelTrial['failed']>, (label: string) => string>> = {
  crashed: (label) =>
    `The browser closed while ${label} was being loaded, probably for want of memory.`,
  memory: (label) => `There was not enough memory for ${label}.`,
  gpu: (label) => `The graphics chip of this phone did not calculate right with ${label}.`,
  stalled: (label) => `${label} did not get ready in time.`,
};
const DIED_ANSWERING = (label: string): string =>
  `The browser closed while ${label} began to answer, probably for want of memory.`;

const ADVICE = 'Take the safer choice, or close other apps and tabs and try it again as it was.';

function happened(row: CatalogueRow, { failed, answering }: ModelTrial): string {
  if (failed === 'crashed' && answering) return DIED_ANSWERING(row.label);
  return HAPPENED[failed ?? 'crashed'](row.label);
}

export function createLife(deps: LifeDeps): Life {
  const { settings, changes } = deps.store;
  let gpu = '';
  let idleMs = IDLE_MS;
  let inMemory: InMemory = null;

  const trials = createTrials(settings, () => gpu);
  const flag = createCrashFlag(settings);
  const memory = createMemory({
    engine: deps.engine,
    trials,
    flag,
    idleMs: () => idleMs,
    onAbsent: deps.onAbsent,
    onChange(state) {
      inMemory = state;
      deps.onChange();
    },
  });

  async function read(): Promise<void> {
    idleMs = (await settings.get()).idleMs ?? IDLE_MS;
    await trials.read();
    deps.onChange();
  }
  changes.subscribe(({ topic, remote }) => {
    if (topic === 'settings' && remote) void read().catch(() => undefined);
  });

  /** Another tab that loads has the flag up for itself. */
  async function lookForCrash(): Promise<void> {
    const { held = [] } = await navigator.locks.query();
    if (held.some(({ name }) => name === MODEL_LOCK)) return;
    const died = await flag.take();
    if (died) await trials.noteFailure(died, 'crashed', died.answering);
  }

  return {
    async start(device) {
      gpu = device;
      await read();
      await lookForCrash();
    },

    status(row) {
      if (inMemory?.id === row.id) {
        if (inMemory.state !== 'loading') return { kind: inMemory.state };
        const { fraction, waiting } = inMemory;
        return { kind: 'loading', fraction, ...(waiting ? { waiting } : {}) };
      }
      const open = trials.open(row);
      return open && { kind: 'failed', message: happened(row, open), advice: ADVICE };
    },

    setback(row, able) {
      const open = trials.open(row);
      if (open?.failed === undefined) return undefined;
      const rows = able();
      const failure = { row, contextTokens: open.contextTokens, why: open.failed };
      const next = nextRung(failure, rows, trials.history(rows));
      return { message: happened(row, open), next };
    },

    fitted: (row, atMost) => trials.fitted(row, atMost),

    engine(row) {
      const engine = memory.engine(row);
      return {
        ...engine,
        async load(...input) {
          if (trials.open(row)) throw new EngineError('unsafe', 'it failed here before');
          await engine.load(...input);
        },
      };
    },

    async warm(row) {
      if (trials.history([row]).some(({ failed }) => failed !== undefined)) return;
      await memory.warm(row).catch(() => undefined);
    },

    settle: (row) => trials.settle(row),
    forgive: (row) => trials.forgive(row),

    async unload(row) {
      if (!row || inMemory?.id === row.id) await memory.unload();
    },
  };
}
