/**
 * The list of models beside the app, `models/index.json`: fetched, checked, kept.
 *
 * Promise: the list that came last is kept, and is there at once and without a network.
 */
import type { CatalogueRow, EngineName, Family, Sampling } from './types.ts';

const KEPT = 'deft-catalogue';
/** Milliseconds after which a host that does not answer is not waited for. */
const PATIENCE = 5_000;

const ENGINES: ReadonlySet<unknown> = new Set<EngineName>(['webllm', 'wllama']);
const FAMILIES: ReadonlySet<unknown> = new Set<Family>([
  'gemma3',
  'functiongemma',
  'gemma4',
  'qwen3',
  'llama3',
  'chatml',
]);

/** An object of JSON, neither null nor a list. */
export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isCount = (value: unknown): value is number =>
  Number.isSafeInteger(value) && Number(value) > 0;

/** A name under which the phone's file system keeps something. */
const isName = (value: unknown): value is string =>
  typeof value === 'string' && !/^\.*$|\p{Surrogate}/u.test(value);

/** Bytes of an id, as the name of a folder: file systems end at 255. */
const LONGEST_ID = 200;
const isId = (value: unknown): value is string =>
  isName(value) && encodeURIComponent(value).length <= LONGEST_ID;

const isFile = (value: unknown): value is CatalogueRow['files'][number] =>
  isRecord(value) &&
  isName(value.path) &&
  (value.bytes === undefined || isCount(value.bytes)) &&
  (value.sha256 === undefined || /^[0-9a-f]{64}$/.test(String(value.sha256)));

const isPositive = (value: unknown): value is number => Number.isFinite(value) && Number(value) > 0;

const isRate = (value: unknown): boolean => Number.isFinite(value) && Number(value) >= 0;

/** The sampling that a list or a person names; null where it is none. */
export function toSampling(value: unknown): Sampling | null {
  if (!isRecord(value)) return null;
  const { temperature, topP, topK } = value;
  const sound =
    isRate(temperature) &&
    (topP === undefined || (isPositive(topP) && topP <= 1)) &&
    (topK === undefined || (Number.isSafeInteger(topK) && Number(topK) >= 0));
  if (!sound) return null;
  return {
    temperature: Number(temperature),
    ...(topP === undefined ? {} : { topP: Number(topP) }),
    ...(topK === undefined ? {} : { topK: Number(topK) }),
  };
}

/** What a row may say beyond what it must; what is not what it should be is left out. */
function extras(entry: Record<string, unknown>, base: string): Partial<CatalogueRow> {
  const { quantisation, contexts, kvBytesPerToken, features, largestBuffer } = entry;
  const { thinking, untaught, copies, callsFrom, demo, images, library, overrides, approxBytes } =
    entry;
  const sampling = toSampling(entry['sampling']);
  const toolSampling = toSampling(entry['toolSampling']);
  const most = Number(entry['contextTokens']);
  const texts = (value: unknown): value is string[] =>
    Array.isArray(value) && value.every((item) => typeof item === 'string');
  return {
    ...(typeof quantisation === 'string' ? { quantisation } : {}),
    ...(Array.isArray(contexts) && contexts.every(isCount)
      ? { contexts: contexts.filter((one) => one < most).toSorted((a, b) => b - a) }
      : {}),
    ...(isPositive(kvBytesPerToken) ? { kvBytesPerToken } : {}),
    ...(texts(features) ? { features } : {}),
    ...(isPositive(largestBuffer) ? { largestBuffer } : {}),
    ...(isPositive(approxBytes) ? { approxBytes } : {}),
    ...(sampling ? { sampling } : {}),
    ...(toolSampling ? { toolSampling } : {}),
    ...(thinking === true ? { thinking } : {}),
    ...(untaught === true ? { untaught } : {}),
    ...(copies === true ? { copies } : {}),
    ...(typeof callsFrom === 'number' && Number.isFinite(callsFrom) ? { callsFrom } : {}),
    ...(demo === true ? { demo } : {}),
    ...(images === true ? { images } : {}),
    ...(typeof library === 'string' && URL.canParse(library, base)
      ? { library: new URL(library, base).href }
      : {}),
    ...(isRecord(overrides) ? { overrides } : {}),
  };
}

/** One entry of a list as a row, or null where it is not one that this app can use. */
export function toRow(
  entry: unknown,
  index: string,
  from: Pick<CatalogueRow, 'beside' | 'own'> = { beside: true },
): CatalogueRow | null {
  if (!isRecord(entry)) return null;
  const { id, label, engine, family, note, folder, files, licence } = entry;
  const { contextTokens, maxTools, memory } = entry;
  const sound =
    isId(id) &&
    typeof label === 'string' &&
    typeof note === 'string' &&
    typeof folder === 'string' &&
    URL.canParse(folder, index) &&
    ENGINES.has(engine) &&
    FAMILIES.has(family) &&
    Array.isArray(files) &&
    files.length > 0 &&
    files.every(isFile) &&
    files.every(({ path }) => URL.canParse(path, new URL(folder, index))) &&
    isRecord(licence) &&
    typeof licence.name === 'string' &&
    typeof licence.url === 'string' &&
    isCount(contextTokens) &&
    isCount(maxTools) &&
    isPositive(memory);
  if (!sound) return null;
  const base = new URL(folder, index).href;
  return {
    ...extras(entry, base),
    ...from,
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
    base,
    licence: { name: String(licence.name), url: String(licence.url) },
    contextTokens,
    maxTools,
    memory,
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
