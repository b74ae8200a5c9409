/**
 * The models that can be had: those that `models/index.json` beside the app lists.
 *
 * Promise: the list that came last is kept, and is there at once and without a network.
 */
import type { GpuReport } from './engines/gpu.ts';
import { gpuUnfit } from './engines/gpu.ts';
import { inWords } from './download-faults.ts';
import type { CatalogueRow, EngineName } from './types.ts';

const KEPT = 'deft-catalogue';
/** Milliseconds after which a host that does not answer is not waited for. */
const PATIENCE = 5_000;

const ENGINES: ReadonlySet<unknown> = new Set<EngineName>(['webllm', 'wllama']);
const FAMILIES: ReadonlySet<unknown> = new Set<CatalogueRow['family']>(['gemma3']);

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isFile = (value: unknown): value is CatalogueRow['files'][number] =>
  isRecord(value) &&
  typeof value.path === 'string' &&
  (value.bytes === undefined || Number.isSafeInteger(value.bytes)) &&
  (value.sha256 === undefined || /^[0-9a-f]{64}$/.test(String(value.sha256)));

const isPositive = (value: unknown): value is number => Number.isFinite(value) && Number(value) > 0;

/** One entry of the list as a row, or null where it is not one that this app can use. */
function toRow(entry: unknown, index: string): CatalogueRow | null {
  if (!isRecord(entry)) return null;
  const { id, label, engine, family, note, folder, files, licence } = entry;
  const { contextTokens, maxTools, memory } = entry;
  const sound =
    typeof id === 'string' &&
    typeof label === 'string' &&
    typeof note === 'string' &&
    typeof folder === 'string' &&
    ENGINES.has(engine) &&
    FAMILIES.has(family) &&
    Array.isArray(files) &&
    files.length > 0 &&
    files.every(isFile) &&
    isRecord(licence) &&
    typeof licence.name === 'string' &&
    typeof licence.url === 'string' &&
    isPositive(contextTokens) &&
    isPositive(maxTools) &&
    isPositive(memory);
  if (!sound) return null;
  return {
    id,
    label,
    note,
    engine: engine as EngineName,
    family: family as CatalogueRow['family'],
    files: files.map(({ path, bytes, sha256 }) => ({
      path,
      ...(bytes === undefined ? {} : { bytes }),
      ...(sha256 === undefined ? {} : { sha256 }),
    })),
    base: new URL(folder, index).href,
    licence: { name: String(licence.name), url: String(licence.url) },
    contextTokens,
    maxTools,
    memory,
    beside: true,
  };
}

/** The rows of a list, without those that this app cannot use; null where it is no list at all. */
export function parseIndex(text: string, index: string): CatalogueRow[] | null {
  let list: unknown;
  try {
    list = JSON.parse(text);
  } catch {
    return null;
  }
  if (!Array.isArray(list)) return null;
  return list.flatMap((entry) => toRow(entry, index) ?? []);
}

/** The rows that the list held when it was last fetched; empty where it never was. */
export async function keptRows(index: string): Promise<CatalogueRow[]> {
  const kept = await (await caches.open(KEPT)).match(index);
  return (kept && parseIndex(await kept.text(), index)) ?? [];
}

/** Keeping it is for the next time: where that fails, this time is not worse for it. */
async function keep(index: string, text: string): Promise<void> {
  try {
    await (await caches.open(KEPT)).put(index, new Response(text));
  } catch {
    return;
  }
}

/** Fetches the list and keeps it. Null where there is none, or no network. */
export async function fetchRows(index: string): Promise<CatalogueRow[] | null> {
  try {
    const response = await fetch(index, {
      cache: 'no-cache',
      signal: AbortSignal.timeout(PATIENCE),
    });
    if (!response.ok) return null;
    const text = await response.text();
    const rows = parseIndex(text, index);
    if (rows) await keep(index, text);
    return rows;
  } catch {
    return null;
  }
}

/** What is known of this phone, for the question what it can run. */
export interface Phone {
  readonly gpu: GpuReport;
  /** Why the browser cannot keep any model; undefined where it can. */
  readonly noStorage?: string;
  /** Bytes of memory as the browser tells them, rounded and at most 8 GiB; undefined where it does not. */
  readonly memory?: number;
}

/** A model may take this share of the phone's memory; the rest is the system's and the browser's. */
const SHARE = 0.5;

/** Why this phone cannot run the row, as a sentence for the person; undefined where it can. */
export function unfitness(row: CatalogueRow, phone: Phone): string | undefined {
  if (phone.noStorage !== undefined) return phone.noStorage;
  if (phone.memory !== undefined && row.memory > phone.memory * SHARE)
    return `It needs about ${inWords(row.memory)} of memory, which is too much for this phone.`;
  return row.engine === 'webllm' ? gpuUnfit(row, phone.gpu) : undefined;
}

/** Best first: what runs here before what does not, and a real GPU before the CPU. */
export function inOrder(rows: readonly CatalogueRow[], phone: Phone): CatalogueRow[] {
  const realGpu = phone.gpu.usable && !phone.gpu.software;
  const rank = (row: CatalogueRow): number =>
    (unfitness(row, phone) ? 2 : 0) + ((row.engine === 'webllm') === realGpu ? 0 : 1);
  return rows.toSorted((a, b) => rank(a) - rank(b));
}
