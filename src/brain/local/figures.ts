/**
 * What models were measured to do on this phone: taken from every answer, kept over time.
 *
 * Promises: a figure is kept only where enough was measured to mean something; a failed write costs
 * the person nothing; at most RING answers a model are kept.
 */
import type { Brain, BrainEvent, BrainRequest, BrainUsage } from '../brain.ts';
import type { FigureRecord, Measurement } from '../../store/records.ts';
import type { Table } from '../../store/store.ts';
import type { FigureSummary, LocalEngine } from './types.ts';

const RING = 50;
/** Fewer tokens than these say nothing of a speed. */
const LEAST_PROMPT = 16;
const LEAST_OUTPUT = 4;

/** What one answer tells; null where it tells nothing. */
export function toMeasurement(usage: BrainUsage, at: number): Measurement | null {
  const { promptTokens, cachedTokens = 0, outputTokens, firstTokenMs, tokensPerSecond } = usage;
  if (firstTokenMs === undefined || promptTokens === undefined) return null;
  const computed = Math.max(0, promptTokens - cachedTokens);
  const tellsPrefill = computed >= LEAST_PROMPT && firstTokenMs > 0;
  const tellsDecode = (outputTokens ?? 0) >= LEAST_OUTPUT && tokensPerSecond !== undefined;
  return {
    at,
    promptTokens: computed,
    firstTokenMs,
    ...(outputTokens === undefined ? {} : { outputTokens }),
    ...(tellsPrefill ? { prefillRate: (computed * 1000) / firstTokenMs } : {}),
    ...(tellsDecode ? { decodeRate: tokensPerSecond } : {}),
  };
}

/** The same brain, each of whose answers is noted. */
export function measured(brain: Brain, note: (measurement: Measurement) => void): Brain {
  return {
    describe: () => brain.describe(),
    countTokens: (text) => brain.countTokens(text),
    ...(brain.headTokens ? { headTokens: brain.headTokens.bind(brain) } : {}),
    async *stream(request: BrainRequest, signal: AbortSignal): AsyncGenerator<BrainEvent> {
      for await (const event of brain.stream(request, signal)) {
        if (event.type === 'usage') {
          const measurement = toMeasurement(event.usage, Date.now());
          if (measurement) note(measurement);
        }
        yield event;
      }
    },
  };
}

/** The same engine, which tells after each answer how many bytes of memory it holds, where it knows. */
export function weighed(
  engine: LocalEngine,
  tell: (bytes: number | undefined) => void,
): LocalEngine {
  return {
    load: (...input) => engine.load(...input),
    async *generate(...input) {
      for await (const event of engine.generate(...input)) {
        if (event.type === 'done') tell(event.memory);
        yield event;
      }
    },
    unload: () => engine.unload(),
  };
}

/** The value in the middle; undefined of none. */
function median(values: readonly (number | undefined)[]): number | undefined {
  const known = values.filter((value) => value !== undefined).toSorted((a, b) => a - b);
  const { length } = known;
  if (length === 0) return undefined;
  const middle = known[length >> 1]!;
  return length % 2 === 1 ? middle : (middle + known[(length >> 1) - 1]!) / 2;
}

/** A record as the screens show it. */
export function summarise(record: FigureRecord): FigureSummary {
  const { device, measurements, benchmark } = record;
  const of = (name: 'prefillRate' | 'decodeRate' | 'firstTokenMs'): number | undefined =>
    median(measurements.map((one) => one[name]));
  const figures = { prefillRate: of('prefillRate'), decodeRate: of('decodeRate') };
  const firstTokenMs = of('firstTokenMs');
  const memory = Math.max(...measurements.map((one) => one.memory ?? 0), 0);
  return {
    device,
    answers: measurements.length,
    ...(measurements[0] ? { since: measurements[0].at } : {}),
    ...(figures.prefillRate === undefined ? {} : { prefillRate: figures.prefillRate }),
    ...(figures.decodeRate === undefined ? {} : { decodeRate: figures.decodeRate }),
    ...(firstTokenMs === undefined ? {} : { firstTokenMs }),
    ...(memory > 0 ? { memory } : {}),
    ...(benchmark ? { benchmark } : {}),
    history: measurements.flatMap(({ at, decodeRate }) =>
      decodeRate === undefined ? [] : [{ at, decodeRate }],
    ),
  };
}

export interface Figures {
  note(model: string, measurement: Measurement): Promise<void>;
  noteBenchmark(model: string, result: NonNullable<FigureRecord['benchmark']>): Promise<void>;
  /** What is known of a model on this device; null where nothing is. */
  of(model: string): Promise<FigureSummary | null>;
  forget(model: string): Promise<void>;
}

/** The figures of this device in the store. */
export function createFigures(table: Table<FigureRecord>, device: string): Figures {
  const idOf = (model: string): string => `${model} on ${device}`;
  // One write after another: two answers at once must both be kept.
  let last: Promise<unknown> = Promise.resolve();

  function change(model: string, apply: (record: FigureRecord) => FigureRecord): Promise<void> {
    const write = async (): Promise<void> => {
      const id = idOf(model);
      const old = (await table.get(id)) ?? { id, model, device, measurements: [] };
      await table.put(apply(old));
    };
    const done = last.then(write, write);
    last = done.catch(() => undefined);
    return done;
  }

  return {
    note: (model, measurement) =>
      change(model, (old) => ({
        ...old,
        measurements: [...old.measurements, measurement].slice(-RING),
      })),
    noteBenchmark: (model, benchmark) => change(model, (old) => ({ ...old, benchmark })),
    async of(model) {
      const record = await table.get(idOf(model));
      return record ? summarise(record) : null;
    },
    forget: (model) => table.delete(idOf(model)),
  };
}
