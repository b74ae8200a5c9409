/**
 * Fetches one file into a part on the phone's disk and verifies it. Runs in the downloads' worker.
 *
 * Promises: what is on disk already is not fetched again, if the host can send a range of the same
 * version; a dropped connection is taken up again a few times, at growing intervals; the file is whole
 * and is what it should be, or an error says why it is not and the part is emptied, except where it
 * can go on later.
 */
import { backOff, retryAfter } from './back-off.ts';
import { DownloadError, fileFault, roomFault, type DownloadFaultKind } from './download-faults.ts';
import { Sha256 } from './sha256.ts';
import { structureFault } from './structure.ts';

/** The synchronous handle of the File System standard: only workers have it. */
export interface PartFile {
  getSize(): number;
  read(buffer: Uint8Array, options: { at: number }): number;
  write(buffer: Uint8Array, options: { at: number }): number;
  truncate(size: number): void;
  flush(): void;
}

export interface Wanted {
  readonly url: string;
  readonly bytes?: number;
  readonly sha256?: string;
  /** SHA-256 of code that came from here before: other code is refused, whatever it looks like. */
  readonly before?: string;
  /** What the host called the version of the part that is here. */
  readonly version?: string;
}

export interface FetchHooks {
  /** The whole file from elsewhere than the network, e.g. out of a file that the person chose. */
  readonly local?: () => Response;
  /** A first byte is about to be kept; this is what the host calls the file's version, if anything. */
  onVersion(version: string | undefined): Promise<void>;
  /** Bytes on disk, and in all where known; after every piece. */
  onBytes(received: number, total: number | undefined): void;
  readonly signal: AbortSignal;
  /** Milliseconds without a byte after which a connection counts as lost. */
  readonly silenceMs: number;
  /** Milliseconds before the second attempt, about; doubled for each one after. */
  readonly retryMs: number;
}

/** Attempts in a row that bring less than a megabyte end the download. */
const ATTEMPTS = 5;
const HEADWAY = 1 << 20;
/** Milliseconds that a host may ask us to wait; after a longer time the person tries again. */
const PATIENCE = 120_000;
const PIECE = 1 << 20;

/** Faults after which the same request may well succeed. */
const PASSING: ReadonlySet<DownloadFaultKind> = new Set(['unreachable', 'server', 'busy']);

const isPassing = (error: unknown): boolean =>
  error instanceof DownloadError && PASSING.has(error.fault.kind);

const isQuota = (error: unknown): boolean =>
  error instanceof Error && error.name === 'QuotaExceededError';

/** Resolves when the file is whole and verified on disk. */
export async function fetchFile(
  wanted: Wanted,
  part: PartFile,
  hooks: FetchHooks,
): Promise<{ bytes: number; sha256: string }> {
  const arrival = new Arrival(wanted, part, hooks);
  try {
    const resumed = arrival.bytes > 0;
    await arrival.complete();
    try {
      return await arrival.verified();
    } catch (error) {
      arrival.restart();
      // The old part may come from another version of the file: once more, all of it.
      if (!resumed) throw error;
      await arrival.complete();
      return await arrival.verified();
    }
  } catch (error) {
    if (isQuota(error)) {
      arrival.cut();
      throw roomFault(arrival.missing);
    }
    if (error instanceof DownloadError && ['size', 'damaged', 'changed'].includes(error.fault.kind))
      arrival.restart();
    throw error;
  }
}

class Arrival {
  readonly #wanted: Wanted;
  readonly #part: PartFile;
  readonly #hooks: FetchHooks;
  #hash = new Sha256();
  #version: string | undefined;
  /** Milliseconds that the host asked us to wait. */
  #asked: number | undefined;
  #total: number | undefined;
  bytes = 0;

  constructor(wanted: Wanted, part: PartFile, hooks: FetchHooks) {
    this.#wanted = wanted;
    this.#part = part;
    this.#hooks = hooks;
    this.#version = wanted.version;
    this.#readBack();
  }

  /** Takes up what an earlier download left. */
  #readBack(): void {
    const size = this.#part.getSize();
    if (size > (this.#wanted.bytes ?? Infinity)) return this.restart();
    const piece = new Uint8Array(Math.min(PIECE, size));
    while (this.bytes < size) {
      const read = this.#part.read(piece, { at: this.bytes });
      this.#hash.update(piece.subarray(0, read));
      this.bytes += read;
    }
  }

  /** Bytes still to come, as far as the size is known. */
  get missing(): number | undefined {
    return this.#total === undefined ? undefined : this.#total - this.bytes;
  }

  /** Takes back what was written of a piece that did not fit. */
  cut(): void {
    this.#part.truncate(this.bytes);
  }

  restart(): void {
    this.#part.truncate(0);
    this.#hash = new Sha256();
    this.#version = undefined;
    this.bytes = 0;
  }

  /** Fetches until all bytes are here. */
  async complete(): Promise<void> {
    let attempts = 0;
    while (this.bytes !== this.#wanted.bytes) {
      const before = this.bytes;
      try {
        return await this.#attempt();
      } catch (error) {
        this.#hooks.signal.throwIfAborted();
        if (!isPassing(error)) throw error;
        attempts = this.bytes - before >= HEADWAY ? 1 : attempts + 1;
        // Without any network the page waits until there is one.
        if (attempts >= ATTEMPTS || !navigator.onLine) throw error;
        const wait = this.#asked ?? 0;
        if (wait > PATIENCE) throw error;
        await pause(Math.max(wait, backOff(attempts, this.#hooks.retryMs)), this.#hooks.signal);
      }
    }
  }

  #fault(kind: Exclude<DownloadFaultKind, 'room' | 'evicted'>, detail?: string): DownloadError {
    return fileFault(kind, this.#wanted.url, detail);
  }

  async #attempt(): Promise<void> {
    const silence = new Silence(this.#hooks.signal, this.#hooks.silenceMs);
    try {
      const response = await this.#ask(silence.signal);
      const total = this.#announced(response);
      this.#total = total;
      if (this.bytes === 0) await this.#begin(response);
      this.#hooks.onBytes(this.bytes, total);
      const reader = response.body!.getReader();
      for (;;) {
        const read = await reader.read().catch(() => Promise.reject(this.#fault('unreachable')));
        // A file of this phone does not stop with the request.
        this.#hooks.signal.throwIfAborted();
        if (read.done) break;
        silence.broken();
        this.#store(read.value);
        this.#hooks.onBytes(this.bytes, total);
      }
      const { bytes } = this.#wanted;
      // A connection that breaks is an error above: here the host said that this is all.
      if (bytes !== undefined && this.bytes < bytes)
        throw this.#fault('size', `${this.bytes} bytes, not ${bytes}`);
    } finally {
      silence.end();
    }
  }

  /** Asks for what is missing; the answer's body is to be appended. */
  async #ask(signal: AbortSignal): Promise<Response> {
    const { url } = this.#wanted;
    this.#asked = undefined;
    if (this.#hooks.local) {
      this.restart();
      return this.#hooks.local();
    }
    const response = await fetch(url, {
      signal,
      cache: 'no-store',
      credentials: 'omit',
      referrerPolicy: 'no-referrer',
      ...(this.bytes > 0 ? { headers: { Range: `bytes=${this.bytes}-` } } : {}),
    }).catch(() => Promise.reject(this.#fault('unreachable')));
    const { status } = response;
    if (status === 416 && this.bytes > 0) {
      this.restart();
      return this.#ask(signal);
    }
    if (status === 404 || status === 410) throw this.#fault('missing');
    if (status >= 400 && status < 500 && status !== 408 && status !== 429)
      throw this.#fault('refused', String(status));
    if (!response.ok) {
      this.#asked = retryAfter(response.headers.get('retry-after'), Date.now());
      if (this.#asked === undefined) throw this.#fault('server', String(status));
      throw this.#fault('busy', inWords(this.#asked));
    }
    if (response.headers.get('content-type')?.includes('text/html')) throw this.#fault('page');
    if (status !== 206) {
      // A host that knows no ranges sends all of it.
      this.restart();
      return response;
    }
    const from = /^bytes (\d+)-/.exec(response.headers.get('content-range') ?? '')?.[1];
    // A host of another origin may hide the header: then it is believed.
    if (from !== undefined && Number(from) !== this.bytes) {
      this.restart();
      throw this.#fault('server', 'wrong range');
    }
    // Not asked for by If-Range: a header that is not plain costs a preflight, which many hosts fail.
    const version = versionOf(response);
    if (version !== undefined && this.#version !== undefined && version !== this.#version) {
      await response.body?.cancel();
      this.restart();
      return this.#ask(signal);
    }
    return response;
  }

  /** Notes which version of the file it is that begins to arrive. */
  async #begin(response: Response): Promise<void> {
    this.#version = versionOf(response);
    await this.#hooks.onVersion(this.#version);
  }

  /** The file's whole size as this answer tells it; throws where that is not the right one. */
  #announced(response: Response): number | undefined {
    const length = response.headers.get('content-length');
    // The length of a compressed answer says nothing about the file.
    const known = length !== null && !response.headers.get('content-encoding');
    const total = known ? this.bytes + Number(length) : undefined;
    const { bytes } = this.#wanted;
    // Another origin may hide that it compresses: then less may be announced than will come.
    const mayBeMore = response.type === 'cors' && response.status !== 206;
    if (total !== undefined && bytes !== undefined && (mayBeMore ? total > bytes : total !== bytes))
      throw this.#fault('size', `${total} bytes, not ${bytes}`);
    return bytes ?? total;
  }

  #store(piece: Uint8Array): void {
    const { bytes } = this.#wanted;
    if (bytes !== undefined && this.bytes + piece.length > bytes)
      throw this.#fault('size', `more than ${bytes} bytes`);
    if (this.bytes === 0 && looksLikePage(piece)) throw this.#fault('page');
    let written = 0;
    while (written < piece.length) {
      const now = this.#part.write(piece.subarray(written), { at: this.bytes + written });
      // Chromium throws nothing here: it gives its error number as an unsigned one (-8: no space).
      if (now === 0 || now > piece.length - written)
        throw new DOMException('not written', 'QuotaExceededError');
      written += now;
    }
    this.#hash.update(piece);
    this.bytes += piece.length;
  }

  /** The file's size and digest; throws where the content is wrong. */
  async verified(): Promise<{ bytes: number; sha256: string }> {
    const sha256 = this.#hash.hex();
    if (this.#wanted.sha256 !== undefined && sha256 !== this.#wanted.sha256)
      throw this.#fault('damaged', 'wrong checksum');
    if (this.#wanted.sha256 === undefined) {
      const wrong = await structureFault(new URL(this.#wanted.url).pathname, {
        bytes: this.bytes,
        read: (at, length) => {
          const buffer = new Uint8Array(Math.min(length, this.bytes - at));
          this.#part.read(buffer, { at });
          return buffer;
        },
      });
      if (wrong !== null) throw this.#fault('damaged', wrong);
    }
    if (this.#wanted.before !== undefined && sha256 !== this.#wanted.before)
      throw this.#fault('changed');
    return { bytes: this.bytes, sha256 };
  }
}

/** What the host calls this version of the file; its date where it gives no better name. */
const versionOf = ({ headers }: Response): string | undefined =>
  headers.get('etag') ?? headers.get('last-modified') ?? undefined;

/** A time to wait in words: `30 seconds`, `10 minutes`. */
function inWords(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  if (seconds < 120) return seconds === 1 ? '1 second' : `${seconds} seconds`;
  return `${Math.ceil(seconds / 60)} minutes`;
}

const latin = (bytes: Uint8Array): string => String.fromCharCode(...bytes);

const looksLikePage = (start: Uint8Array): boolean =>
  /^\s*<(!doctype html|html|head|body)\b/i.test(latin(start.subarray(0, 64)));

/** Aborts a request when no byte came for too long, or when the download is cancelled. */
class Silence {
  readonly #stop = new AbortController();
  readonly #ms: number;
  readonly signal: AbortSignal;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(cancelled: AbortSignal, ms: number) {
    this.#ms = ms;
    this.signal = AbortSignal.any([cancelled, this.#stop.signal]);
    this.broken();
  }

  /** A byte came. */
  broken(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#stop.abort(), this.#ms);
  }

  /** The request is over; what is still open of it is closed. */
  end(): void {
    clearTimeout(this.#timer);
    this.#stop.abort();
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener(
      'abort',
      () => {
        clearTimeout(timer);
        reject(signal.reason as Error);
      },
      { once: true },
    );
  });
}
