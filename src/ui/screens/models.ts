/** What the screens reckon about a model: its size, the room for it, and how it is fetched. */
import type {
  CatalogueRow,
  EngineName,
  Fit,
  ModelStatus,
  ModelView,
} from '../../brain/local/types.ts';

/** Left free beside a model, in bytes, so that conversations always fit. */
const RESERVE = 64_000_000;

/**
 * Bytes of a model's files: their sum where all are known, else at least the row's own estimate. The
 * brain reckons the same (`size.ts`), whose code no screen may import: a test holds the two together.
 */
export function sizeOf({ files, approxBytes = 0 }: CatalogueRow): number {
  const known = files.reduce((sum, file) => sum + (file.bytes ?? 0), 0);
  return files.every(({ bytes }) => bytes !== undefined) ? known : Math.max(known, approxBytes);
}

/** Whether a model is whole on this phone. */
export function isStored({ kind }: ModelStatus): boolean {
  return kind === 'ready' || kind === 'loading' || kind === 'warm' || kind === 'generating';
}

/** What a newcomer is offered to begin with on the phone. */
export type Offer =
  | { readonly kind: 'looking' }
  /** The list could not be read. */
  | { readonly kind: 'unread' }
  /** The list has none that this phone can run. */
  | { readonly kind: 'none' }
  | { readonly kind: 'model'; readonly model: ModelView };

/** The first that this phone can run, of a list that is best first; a list read before still counts. */
export function offerOf(models: readonly ModelView[] | undefined, error: unknown): Offer {
  if (!models) return { kind: error === undefined ? 'looking' : 'unread' };
  const model = models.find(({ unfit }) => !unfit);
  return model ? { kind: 'model', model } : { kind: 'none' };
}

export interface Room {
  readonly enough: boolean;
  /** Bytes still to be stored. */
  readonly needed: number;
  /** Bytes that the browser has left for the app. */
  readonly free: number;
}

/** Whether what is missing of a model fits into what the browser has left. */
export function room(model: ModelView, storage: { used: number; quota: number }): Room {
  const needed = Math.max(0, sizeOf(model.row) - model.stored);
  const free = Math.max(0, storage.quota - storage.used);
  return { enough: needed + RESERVE <= free, needed, free };
}

/** How a model fits, in the words of its badge. */
export const VERDICTS: Readonly<Record<Fit['verdict'], string>> = {
  well: 'Runs well',
  slow: 'May be slow',
  big: 'Too big',
};

export interface Groups {
  /** Something of it is on this phone, or on its way. */
  readonly here: readonly ModelView[];
  readonly fitting: readonly ModelView[];
  readonly tooBig: readonly ModelView[];
}

/** The list as the screen shows it; each group in the order of the list, best first. */
export function grouped(models: readonly ModelView[]): Groups {
  const isHere = ({ status, stored }: ModelView): boolean => stored > 0 || status.kind !== 'absent';
  const others = models.filter((model) => !isHere(model));
  const isBig = ({ fit }: ModelView): boolean => fit.verdict === 'big';
  return {
    here: models.filter(isHere),
    fitting: others.filter((model) => !isBig(model)),
    tooBig: others.filter(isBig),
  };
}

export const ENGINES: Readonly<Record<EngineName, string>> = {
  webllm: 'graphics chip (WebGPU)',
  wllama: 'processor (WebAssembly)',
};
