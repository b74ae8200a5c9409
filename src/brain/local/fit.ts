/**
 * Whether a model fits this phone, judged before a byte of it is fetched, and which fits best. Pure:
 * what is known of the phone is handed in (phone.ts reads it).
 *
 * Promises: every verdict has a reason for the person; only what cannot work is ruled out, the rest
 * is theirs to override.
 */
import { inWords } from './download-faults.ts';
import { gpuUnfit, type GpuReport } from './engines/gpu.ts';
import { sizeOf } from './size.ts';
import type { CatalogueRow, Fit } from './types.ts';

/** What is known of this phone, for the question what it can run. */
export interface Phone {
  readonly gpu: GpuReport;
  /** Why the browser cannot keep any model; undefined where it can. */
  readonly noStorage?: string;
  /** Bytes of memory as the browser tells them, rounded and at most 8 GiB; undefined where it does not. */
  readonly memory?: number;
  /** Bytes that the browser has left, less what is on its way already. */
  readonly free?: number;
  /** `level` from 0 to 1. */
  readonly battery?: { readonly level: number; readonly charging: boolean };
  /** The connection may cost by the megabyte. */
  readonly metered?: boolean;
}

/** What is known of one model on this phone. */
export interface Here {
  /** Bytes of it on this phone. */
  readonly stored: number;
  /** Every file of it is here. */
  readonly complete: boolean;
  /** Tokens a second that it wrote here. */
  readonly measured?: number;
}

const GIB = 2 ** 30;
/** Shares of the phone's memory: up to the first all is well, up to the second it may work. */
const EASY = 0.4;
const MOST = 0.6;
/** The browser names no more memory than this. */
const TOLD_AT_MOST = 8 * GIB;
/** Bytes of weights that a phone's processor reads for each token without losing patience. */
const CPU_EASY = 400e6;
/** Tokens a second below which reading along is waiting. */
const READING_PACE = 3;
const LOW_BATTERY = 0.2;
/** Left free beside a model, in bytes; a file is there twice for a moment when it is put away. */
const SPARE = 64e6;

/** Bytes of memory with a window of so many tokens. */
const memoryAt = (row: CatalogueRow, window: number): number =>
  row.memory - (row.kvBytesPerToken ?? 0) * (row.contextTokens - window);

/** The largest window that the phone has the memory for; null where it has for none. */
function windowFor(row: CatalogueRow, memory: number): number | null {
  const windows = [row.contextTokens, ...(row.contexts ?? [])];
  return windows.find((window) => memoryAt(row, window) <= memory * MOST) ?? null;
}

type Verdict = Pick<Fit, 'verdict' | 'reason'> & Partial<Pick<Fit, 'blocked' | 'risk' | 'window'>>;

function byGpu(row: CatalogueRow, { gpu }: Phone): Verdict | null {
  if (row.engine !== 'webllm') return null;
  const why = gpuUnfit(row, gpu);
  return why === undefined ? null : { verdict: 'big', reason: why, blocked: 'phone' };
}

function byMemory(row: CatalogueRow, { memory }: Phone): Verdict | null {
  if (memory === undefined) return null;
  const needed = `It needs about ${inWords(row.memory)} of memory`;
  const window = windowFor(row, memory);
  if (window === null) {
    const never = memory < TOLD_AT_MOST && row.memory > memory;
    return {
      verdict: 'big',
      reason: `${needed}, which is too much for this phone.`,
      ...(never
        ? { blocked: 'phone' as const }
        : {
            window: Math.min(row.contextTokens, ...(row.contexts ?? [])),
            risk: 'The browser may close the app while the model loads. Nothing is lost by that.',
          }),
    };
  }
  if (window < row.contextTokens)
    return {
      verdict: 'slow',
      reason: `${needed}. With less, it keeps short conversations in mind only (${window.toLocaleString('en')} tokens).`,
      window,
    };
  if (row.memory > memory * EASY)
    return { verdict: 'slow', reason: `${needed}, which is much of what this phone has.` };
  return null;
}

function byRoom(row: CatalogueRow, { free }: Phone, here: Here): Verdict | null {
  if (here.complete || free === undefined) return null;
  const missing = Math.max(0, sizeOf(row) - here.stored);
  if (missing + SPARE <= free) return null;
  return {
    verdict: 'big',
    reason: `It needs ${inWords(missing)} more of storage, and the browser has ${inWords(Math.max(0, free))} left for Deft. Delete another model, or make room on the phone.`,
    blocked: 'room',
  };
}

function bySpeed(row: CatalogueRow, { gpu }: Phone, { measured }: Here): Verdict | null {
  if (measured !== undefined) {
    const rate = `it wrote ${measured.toFixed(1)} tokens a second`;
    return measured < READING_PACE
      ? { verdict: 'slow', reason: `Measured on this phone: ${rate}.` }
      : null;
  }
  if (row.engine === 'webllm' && gpu.usable && gpu.software)
    return {
      verdict: 'slow',
      reason: 'This browser has no graphics chip to use and imitates one, which takes long.',
    };
  if (row.engine === 'wllama' && sizeOf(row) > CPU_EASY)
    return {
      verdict: 'slow',
      reason: 'It runs on the processor, which is slow for a model of this size.',
    };
  return null;
}

function well(row: CatalogueRow, phone: Phone, { measured }: Here): Verdict {
  if (measured !== undefined)
    return {
      verdict: 'well',
      reason: `Measured on this phone: it wrote ${measured.toFixed(1)} tokens a second.`,
    };
  const where = row.engine === 'webllm' ? 'graphics chip' : 'processor';
  return {
    verdict: 'well',
    reason:
      phone.memory === undefined
        ? `The ${where} of this phone can run it. How much memory there is, this browser does not say.`
        : `The ${where} of this phone can run it, and there is memory for it.`,
  };
}

/** What is to be asked before a download starts, as sentences. */
function asks(row: CatalogueRow, { battery, metered }: Phone, here: Here): string[] {
  const missing = here.complete ? 0 : Math.max(0, sizeOf(row) - here.stored);
  if (missing === 0) return [];
  const found: string[] = [];
  if (metered)
    found.push(
      `This connection may cost by the megabyte: about ${inWords(missing)} would come over it.`,
    );
  if (battery && !battery.charging && battery.level < LOW_BATTERY)
    found.push(
      `The battery is at ${Math.round(battery.level * 100)}%. A download and the first start take much of it: plug the phone in if you can.`,
    );
  return found;
}

/** How a row fits this phone. */
export function fitOf(row: CatalogueRow, phone: Phone, here: Here): Fit {
  const verdict: Verdict =
    phone.noStorage === undefined
      ? (byGpu(row, phone) ??
        blocking(byMemory(row, phone)) ??
        byRoom(row, phone, here) ??
        byMemory(row, phone) ??
        bySpeed(row, phone, here) ??
        well(row, phone, here))
      : { verdict: 'big', reason: phone.noStorage, blocked: 'phone' };
  return { ...verdict, asks: asks(row, phone, here) };
}

/** What no room in the storage would mend comes before the room. */
const blocking = (verdict: Verdict | null): Verdict | null =>
  verdict?.blocked === undefined ? null : verdict;

const RANK: Readonly<Record<Fit['verdict'], number>> = { well: 0, slow: 1, big: 2 };

/**
 * Best first: what runs well before what may be slow; then what is served from here, which is made
 * for this app; then a real GPU before the CPU; then as the lists have them. A demo comes behind
 * everything that this phone can run.
 */
export function inOrder<T extends { readonly row: CatalogueRow; readonly fit: Fit }>(
  models: readonly T[],
  phone: Phone,
): T[] {
  const realGpu = phone.gpu.usable && !phone.gpu.software;
  const rank = ({ row, fit }: T): number =>
    RANK[row.demo && fit.verdict === 'well' ? 'slow' : fit.verdict] * 8 +
    (row.demo ? 7 : 0) +
    (fit.blocked === 'phone' ? 4 : 0) +
    (row.beside ? 0 : 2) +
    ((row.engine === 'webllm') === realGpu ? 0 : 1);
  return models.toSorted((a, b) => rank(a) - rank(b));
}
