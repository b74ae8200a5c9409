/**
 * Looks at a model that a person wants to add: fetches, or reads from a file, no more than says what
 * it is. Only ever called by the person's own tap.
 */
import { DownloadError, fileFault } from './download-faults.ts';
import { fitOf, type Phone } from './fit.ts';
import { GgufHeaderError, readGgufHeader, type GgufHeader } from './gguf-header.ts';
import {
  checkAddress,
  ggufAddress,
  judgeGguf,
  judgeMlc,
  OwnModelError,
  webllmFolders,
  type Judged,
} from './own-models.ts';
import { CONFIG, PACKAGE, SHARD_LISTS, shardFiles } from './resolve.ts';
import type { Inspection, OwnSource } from './types.ts';

/** A header with a vocabulary of 262,144 tokens has about 8 MB; more than this has none. */
const MOST_HEADER = 64 << 20;
const FIRST_TRY = 256 << 10;
const MOST_JSON = 8 << 20;
const PATIENCE_MS = 90_000;

async function ask(url: URL, signal: AbortSignal, range?: string): Promise<Response> {
  const response = await fetch(url, {
    signal,
    cache: 'no-store',
    credentials: 'omit',
    referrerPolicy: 'no-referrer',
    ...(range === undefined ? {} : { headers: { Range: range } }),
  }).catch((error: unknown) => {
    signal.throwIfAborted();
    void error;
    throw fileFault(navigator.onLine ? 'unreachable' : 'offline', url.href);
  });
  const { status } = response;
  if (status === 404 || status === 410) throw fileFault('missing', url.href);
  if (status >= 400 && status < 500) throw fileFault('refused', url.href, String(status));
  if (!response.ok) throw fileFault('server', url.href, String(status));
  if (response.headers.get('content-type')?.includes('text/html'))
    throw fileFault('page', url.href);
  return response;
}

/** Bytes as they come, kept in one piece that grows with what came, never with what was announced. */
class Gathered {
  #bytes = new Uint8Array(FIRST_TRY);
  length = 0;

  add(piece: Uint8Array): void {
    const needed = this.length + piece.length;
    if (needed > this.#bytes.length) {
      const grown = new Uint8Array(Math.max(needed, this.#bytes.length * 2));
      grown.set(this.#bytes.subarray(0, this.length));
      this.#bytes = grown;
    }
    this.#bytes.set(piece, this.length);
    this.length = needed;
  }

  get bytes(): Uint8Array {
    return this.#bytes.subarray(0, this.length);
  }
}

const CUT = new OwnModelError(
  'This file ends within its own header: it is cut off, or no model.',
  'Get the file again from where it comes from, or choose another one.',
);

function headerError(error: unknown): unknown {
  if (!(error instanceof GgufHeaderError)) return error;
  const sentences = {
    'not-gguf': ['This is not a GGUF file.', 'Choose a file that ends in .gguf.'],
    version: [
      'This GGUF file has a version that the engine does not read.',
      'Choose a file of version 2 or 3, as all newer ones are.',
    ],
    type: [
      'The weights in this file are packed in a way that the engine does not know.',
      'Choose a usual one: Q4_0, Q4_K_M or Q8_0.',
    ],
    damaged: ['This GGUF file is damaged.', 'Get the file again, or choose another one.'],
  } as const;
  if (error.fault === 'cut') return CUT;
  const [message, advice] = sentences[error.fault];
  return new OwnModelError(message, advice);
}

/** The header in these bytes; null where it goes on behind them. */
function headerIn(bytes: Uint8Array): GgufHeader | null {
  try {
    return readGgufHeader(bytes);
  } catch (error) {
    if (error instanceof GgufHeaderError && error.fault === 'cut') return null;
    throw headerError(error);
  }
}

/** Reads a header from a stream, and no more of the stream than that. */
async function headerOf(stream: ReadableStream<Uint8Array>): Promise<GgufHeader> {
  const gathered = new Gathered();
  const reader = stream.getReader();
  let next = 24;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (value) gathered.add(value);
      if (done || gathered.length >= next) {
        const header = headerIn(gathered.bytes);
        if (header) return header;
        if (done || gathered.length > MOST_HEADER) throw CUT;
        next = Math.max(FIRST_TRY, gathered.length * 2);
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

/** Bytes of the whole file, as the answer tells it; undefined where it does not. */
function wholeSize(response: Response): number | undefined {
  const ranged = /\/(\d+)$/.exec(response.headers.get('content-range') ?? '')?.[1];
  if (ranged !== undefined) return Number(ranged);
  const length = response.headers.get('content-length');
  const plain = response.status === 200 && !response.headers.get('content-encoding');
  return plain && length !== null ? Number(length) : undefined;
}

async function inspectUrl(text: string, signal: AbortSignal): Promise<Judged> {
  const url = ggufAddress(text);
  // A host that knows no ranges sends all of it: the stream is then left where the header ends.
  const response = await ask(url, signal, `bytes=0-${MOST_HEADER - 1}`);
  const bytes = wholeSize(response);
  const header = await headerOf(response.body!);
  return judgeGguf(header, { kind: 'url', url, ...(bytes === undefined ? {} : { bytes }) });
}

async function readJson(response: Response): Promise<string> {
  const reader = response.body!.getReader();
  const gathered = new Gathered();
  for (;;) {
    const { done, value } = await reader.read();
    if (value) gathered.add(value);
    if (done) return new TextDecoder().decode(gathered.bytes);
    if (gathered.length > MOST_JSON) {
      await reader.cancel();
      throw new OwnModelError('What is there is far too long for a configuration.', OTHER_FOLDER);
    }
  }
}

const OTHER_FOLDER = 'Look for a repository whose name ends in -MLC.';

const MISSING = ['missing'];
/** What some hosts answer for a file that they do not have, beside one that they have. */
const LIKE_MISSING = ['missing', 'refused', 'page'];

/** The first of these that is there, with its text; after these faults the next one is tried. */
async function firstOf(
  urls: readonly URL[],
  signal: AbortSignal,
  faults: readonly string[],
): Promise<{ readonly url: URL; readonly text: string } | null> {
  for (const url of urls)
    try {
      return { url, text: await readJson(await ask(url, signal)) };
    } catch (error) {
      if (!(error instanceof DownloadError && faults.includes(error.fault.kind))) throw error;
    }
  return null;
}

async function checkLibrary(url: URL, signal: AbortSignal): Promise<void> {
  const response = await ask(url, signal, 'bytes=0-7');
  const reader = response.body!.getReader();
  const { value } = await reader.read();
  await reader.cancel();
  if (!value || String.fromCharCode(...value.subarray(0, 4)) !== '\0asm')
    throw new OwnModelError(
      'The address of the library is not one of a WebAssembly file.',
      'It ends in -webgpu.wasm, and has to be compiled for this model.',
    );
}

async function inspectMlc(
  source: Extract<OwnSource, { kind: 'webllm' }>,
  signal: AbortSignal,
): Promise<Judged> {
  const library = checkAddress(source.library);
  const folders = webllmFolders(source.url);
  const config = await firstOf(
    folders.map((folder) => new URL(CONFIG, folder)),
    signal,
    MISSING,
  );
  if (!config)
    throw new OwnModelError('There is no model packed by MLC at this address.', OTHER_FOLDER);
  const folder = new URL('./', config.url);
  const list = await firstOf(
    SHARD_LISTS.map((name) => new URL(name, folder)),
    signal,
    LIKE_MISSING,
  );
  if (!list)
    throw new OwnModelError('The list of the weights is missing at this address.', OTHER_FOLDER);
  let parsed: Record<string, unknown>;
  let weights: number;
  try {
    parsed = JSON.parse(config.text) as Record<string, unknown>;
    weights = shardFiles(list.text, '').reduce((sum, file) => sum + (file.bytes ?? 0), 0);
  } catch {
    throw new OwnModelError('The configuration at this address cannot be read.', OTHER_FOLDER);
  }
  await checkLibrary(library, signal);
  const packaged = (await firstOf([new URL(PACKAGE, folder)], signal, LIKE_MISSING)) !== null;
  return judgeMlc({ folder, library, config: parsed ?? {}, weights, packaged });
}

async function inspectFile(file: File): Promise<Judged> {
  const header = await headerOf(file.stream());
  return judgeGguf(header, { kind: 'file', name: file.name, bytes: file.size });
}

function judged(source: OwnSource, signal: AbortSignal): Promise<Judged> {
  if (source.kind === 'file') return inspectFile(source.file);
  return source.kind === 'gguf' ? inspectUrl(source.url, signal) : inspectMlc(source, signal);
}

/** What a model is and how it fits, or why it cannot be added. Never rejects. */
export async function inspect(
  source: OwnSource,
  phone: Phone,
  signal: AbortSignal,
): Promise<Inspection> {
  const patience = AbortSignal.timeout(PATIENCE_MS);
  try {
    const { row, facts, notes } = await judged(source, AbortSignal.any([signal, patience]));
    const fit = fitOf(row, phone, { stored: 0, complete: false });
    if (fit.blocked !== undefined)
      return {
        ok: false,
        message: `${row.label} does not fit this phone. ${fit.reason}`,
        advice: fit.blocked === 'room' ? 'Then look again.' : 'Choose a smaller model.',
      };
    return { ok: true, row, fit, facts, notes };
  } catch (error) {
    if (error instanceof OwnModelError)
      return { ok: false, message: error.message, advice: error.advice };
    if (error instanceof DownloadError) return { ok: false, ...sentences(error) };
    if (patience.aborted)
      return {
        ok: false,
        message: 'The host took too long to answer.',
        advice: 'Try again later, or on another network.',
      };
    return {
      ok: false,
      message: 'This model could not be looked at.',
      advice: 'Check the address or the file, and try again.',
    };
  }
}

const sentences = ({ fault }: DownloadError): { message: string; advice: string } => ({
  message: fault.message,
  advice:
    fault.kind === 'missing'
      ? 'Check the address: copy it from the page of the model.'
      : fault.kind === 'unreachable'
        ? 'Check the address and the network, and try again. Some hosts do not hand out files to web apps.'
        : fault.advice.replace('press Download', 'look again'),
});
