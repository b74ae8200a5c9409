/**
 * The way down where a model fails on a phone: a smaller window, the same model packed otherwise, the
 * same on the processor, a smaller model, the cloud.
 *
 * Promises: the same answer for the same input; nothing is offered that failed on this phone before;
 * each step leads further down, and the cloud is the last.
 */
import type { ModelTrial } from '../../store/records.ts';
import type { CatalogueRow, Rung } from './types.ts';

/** A model, loaded with this window. */
interface Attempt {
  readonly row: CatalogueRow;
  readonly contextTokens: number;
}

export interface Failure extends Attempt {
  readonly why: NonNullable<ModelTrial['failed']>;
}

/** The windows that a row can be loaded with, in tokens, largest first. */
const windows = (row: CatalogueRow): readonly number[] =>
  [...new Set([row.contextTokens, ...(row.contexts ?? [])])].toSorted((a, b) => b - a);

/**
 * What model a row is a packing of, e.g. `gemma31bit` for both `gemma3-1b-it-q4f16_1.webllm` and
 * `gemma-3-1b-it-Q4_0.wllama`.
 */
export function modelOf({ id }: CatalogueRow): string {
  return id
    .toLowerCase()
    .replace(/\.(webllm|wllama)$/, '')
    .replace(/[-_.]i?q\d\w*$/, '')
    .replace(/[^a-z0-9]/g, '');
}

/** A model that failed with a window fails with every larger one, too. */
function hasFailed(row: CatalogueRow, contextTokens: number, history: readonly ModelTrial[]) {
  return history.some(
    (trial) => trial.model === row.id && trial.failed && trial.contextTokens <= contextTokens,
  );
}

/** The largest window of a row that has not failed; undefined where each of them has. */
function untried(row: CatalogueRow, history: readonly ModelTrial[]): number | undefined {
  return windows(row).find((tokens) => !hasFailed(row, tokens, history));
}

/** The window to load a row with: the largest that has not failed, else its smallest. */
export function windowOf(row: CatalogueRow, history: readonly ModelTrial[]): number {
  return untried(row, history) ?? windows(row).at(-1)!;
}

/**
 * The next safer choice. `rows` are those that this phone can run; `history` is what became of models
 * on this very device, the failure itself included.
 */
export function nextRung(
  failed: Failure,
  rows: readonly CatalogueRow[],
  history: readonly ModelTrial[],
): Rung {
  const { row, why } = failed;
  const smaller = windows(row).find(
    (tokens) => tokens < failed.contextTokens && !hasFailed(row, tokens, history),
  );
  // A row that cannot run any more (its GPU is gone) cannot with a smaller window either.
  if (smaller !== undefined && rows.some(({ id }) => id === row.id))
    return { kind: 'context', row, contextTokens: smaller };

  const candidates = rows
    .filter(({ id }) => id !== row.id)
    .flatMap((other) => {
      const contextTokens = untried(other, history);
      return contextTokens === undefined ? [] : [{ row: other, contextTokens }];
    });
  const same = candidates.filter((other) => modelOf(other.row) === modelOf(row));
  const least = (found: readonly Attempt[]): Attempt | undefined =>
    found.toSorted((a, b) => a.row.memory - b.row.memory)[0];

  // Numbers of 32 bits mend what a chip cannot do in 16, and need more memory.
  const fits = (other: Attempt): boolean => why === 'gpu' || other.row.memory <= row.memory;
  const packedOtherwise = least(
    same.filter((other) => other.row.engine === row.engine && fits(other)),
  );
  if (packedOtherwise) return { kind: 'quantisation', ...packedOtherwise };
  const onCpu =
    row.engine === 'webllm' ? least(same.filter((other) => other.row.engine === 'wllama')) : null;
  if (onCpu) return { kind: 'cpu', ...onCpu };
  const smallerModel = candidates
    .filter((other) => !other.row.demo && modelOf(other.row) !== modelOf(row))
    .filter((other) => other.row.memory < row.memory)
    .toSorted((a, b) => b.row.memory - a.row.memory)[0];
  return smallerModel ? { kind: 'smaller', ...smallerModel } : { kind: 'cloud' };
}
