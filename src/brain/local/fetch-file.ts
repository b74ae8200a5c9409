/**
 * Fetches one file into a part on the phone's disk and verifies it. Runs in the downloads' worker.
 *
 * Promises: what is on disk already is not fetched again, if the host can send a range; a dropped
 * connection is taken up again a few times; the file is whole and is what it should be, or an error
 * says why it is not and the part is emptied, except where it can go on later.
 */
import { DownloadError, fileFault, roomFault, type DownloadFaultKind } from './download-faults.ts';
import { Sha256 } from './sha256.ts';

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
}

export interface FetchHooks {
  /** Bytes on disk, and in all where known; after every piece. */
  onBytes(received: number, total: number | undefined): void;
  readonly signal: AbortSignal;
  /** Milliseconds without a byte after which a connection counts as lost. */
  readonly silenceMs: number;
}

/** Attempts in a row that bring less than this many bytes end the download. */
const ATTEMPTS = 3;
const HEADWAY = 1 << 20;
/** Milliseconds before the second attempt; doubled for each one after. */
const PAUSE = 500;
const PIECE = 1 << 20;

/** Faults after which the same request may well succeed. */
const PASSING: ReadonlySet<DownloadFaultKind> = new Set(['unreachable', 'server']);

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
      return arrival.verified();
    } catch (error) {
      arrival.restart();
      // The old part may come from another version of the file: once more, all of it.
      if (!resumed) throw error;
      await arrival.complete();
      return arrival.verified();
    }
  } catch (error) {
    if (isQuota(error)) throw roomFault((wanted.bytes ?? arrival.bytes) - arrival.bytes);
    if (error instanceof DownloadError && ['page', 'size', 'damaged'].includes(error.fault.kind))
      arrival.restart();
    throw error;
  } finally {
    part.flush();
  }
}

class Arrival {
  readonly #wanted: Wanted;
  readonly #part: PartFile;
  readonly #hooks: FetchHooks;
  #hash = new Sha256();
  bytes = 0;

  constructor(wanted: Wanted, part: PartFile, hooks: FetchHooks) {
    this.#wanted = wanted;
    this.#part = part;
    this.#hooks = hooks;
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

  restart(): void {
    this.#part.truncate(0);
    this.#hash = new Sha256();
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
        if (attempts >= ATTEMPTS) throw error;
        await pause(PAUSE * 2 ** (attempts - 1), this.#hooks.signal);
      }
    }
  }

  #fault(kind: Exclude<DownloadFaultKind, 'room'>, detail?: string): DownloadError {
    return fileFault(kind, this.#wanted.url, detail);
  }

  async #attempt(): Promise<void> {
    const silence = new Silence(this.#hooks.signal, this.#hooks.silenceMs);
    try {
      const response = await this.#ask(silence.signal);
      const total = this.#announced(response);
      this.#hooks.onBytes(this.bytes, total);
      const reader = response.body!.getReader();
      for (;;) {
        const read = await reader.read().catch(() => Promise.reject(this.#fault('unreachable')));
        if (read.done) break;
        silence.broken();
        this.#store(read.value);
        this.#hooks.onBytes(this.bytes, total);
      }
      const { bytes } = this.#wanted;
      if (bytes !== undefined && this.bytes < bytes) throw this.#fault('unreachable');
    } finally {
      silence.end();
    }
  }

  /** Asks for what is missing; the answer's body is to be appended. */
  async #ask(signal: AbortSignal): Promise<Response> {
    const { url } = this.#wanted;
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
    if (!response.ok) throw this.#fault('server', String(status));
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
    return response;
  }

  /** The file's whole size as this answer tells it; throws where that is not the right one. */
  #announced(response: Response): number | undefined {
    const length = response.headers.get('content-length');
    // The length of a compressed answer says nothing about the file.
    const known = length !== null && !response.headers.get('content-encoding');
    const total = known ? this.bytes + Number(length) : undefined;
    const { bytes } = this.#wanted;
    if (total !== undefined && bytes !== undefined && total !== bytes)
      throw this.#fault('size', `${total} bytes, not ${bytes}`);
    return bytes ?? total;
  }

  #store(piece: Uint8Array): void {
    const { bytes } = this.#wanted;
    if (bytes !== undefined && this.bytes + piece.length > bytes)
      throw this.#fault('size', `more than ${bytes} bytes`);
    if (this.bytes === 0 && looksLikePage(piece)) throw this.#fault('page');
    let written = 0;
    while (written < piece.length)
      written += this.#part.write(piece.subarray(written), { at: this.bytes + written });
    this.#hash.update(piece);
    this.bytes += piece.length;
  }

  /** The file's size and digest; throws where the content is wrong. */
  verified(): { bytes: number; sha256: string } {
    const sha256 = this.#hash.hex();
    if (this.#wanted.sha256 !== undefined && sha256 !== this.#wanted.sha256)
      throw this.#fault('damaged', 'wrong checksum');
    if (this.#wanted.sha256 === undefined && !this.#plausible())
      throw this.#fault('damaged', 'not a file of its kind');
    return { bytes: this.bytes, sha256 };
  }

  /** Where no checksum is known: the file at least begins, or reads, as its kind does. */
  #plausible(): boolean {
    const { pathname } = new URL(this.#wanted.url);
    if (this.bytes === 0) return false;
    const take = (size: number): Uint8Array => {
      const buffer = new Uint8Array(Math.min(size, this.bytes));
      this.#part.read(buffer, { at: 0 });
      return buffer;
    };
    if (pathname.endsWith('.wasm')) return latin(take(4)) === '\0asm';
    if (pathname.endsWith('.gguf')) return latin(take(4)) === 'GGUF';
    if (!pathname.endsWith('.json')) return true;
    try {
      JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(take(this.bytes)));
      return true;
    } catch {
      return false;
    }
  }
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
