/** What a fault leaves of a file, where a browser cannot make the fault happen. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { DownloadError } from '../../../../src/brain/local/download-faults.ts';
import { fetchFile, type PartFile, type Wanted } from '../../../../src/brain/local/fetch-file.ts';

/** A part in memory. */
class Part implements PartFile {
  bytes: Uint8Array;
  constructor(start = '') {
    this.bytes = new TextEncoder().encode(start);
  }
  get text(): string {
    return new TextDecoder().decode(this.bytes);
  }
  getSize = (): number => this.bytes.length;
  read(buffer: Uint8Array, { at }: { at: number }): number {
    const found = this.bytes.subarray(at, at + buffer.length);
    buffer.set(found);
    return found.length;
  }
  write(buffer: Uint8Array, { at }: { at: number }): number {
    const grown = new Uint8Array(Math.max(this.bytes.length, at + buffer.length));
    grown.set(this.bytes);
    grown.set(buffer, at);
    this.bytes = grown;
    return buffer.length;
  }
  truncate(size: number): void {
    this.bytes = this.bytes.slice(0, size);
  }
  flush = (): void => undefined;
}

const WANTED: Wanted = { url: 'https://host.example/params.bin', bytes: 10 };

const get = (
  part: Part,
  {
    signal = new AbortController().signal,
    local,
  }: { signal?: AbortSignal; local?: () => Response },
  onBytes: () => void = () => undefined,
) =>
  fetchFile(WANTED, part, {
    ...(local ? { local } : {}),
    signal,
    onVersion: () => Promise.resolve(),
    onBytes,
    silenceMs: 60_000,
    retryMs: 1,
  });

const kindOf = async (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => null,
    (error: unknown) => (error instanceof DownloadError ? error.fault.kind : error),
  );

/** The host's only answer, as if it came from another origin. */
function answer(body: string, init: ResponseInit): void {
  const response = new Response(body, init);
  Object.defineProperty(response, 'type', { value: 'cors' });
  vi.stubGlobal('fetch', () => Promise.resolve(response));
}

beforeEach(() => vi.stubGlobal('navigator', { onLine: true }));
afterEach(() => vi.unstubAllGlobals());

test('a page in place of the rest takes nothing of what is here', async () => {
  const part = new Part('01234');
  answer('<html>Sign in</html>', { headers: { 'content-type': 'text/html' } });
  expect(await kindOf(get(part, {}))).toBe('page');
  expect(part.text).toBe('01234');
});

test('copying a file of this phone stops at once where it is cancelled', async () => {
  const stop = new AbortController();
  const part = new Part();
  const pieces = ['01', '23', '45', '67', '89'].map((one) => new TextEncoder().encode(one));
  const local = (): Response =>
    new Response(
      new ReadableStream({
        pull(to) {
          const piece = pieces.shift();
          if (piece) to.enqueue(piece);
          else to.close();
        },
      }),
    );
  const done = get(part, { signal: stop.signal, local }, () => {
    if (part.bytes.length === 4) stop.abort('cancel');
  });
  expect(await kindOf(done)).toBe('cancel');
  expect(part.text).toBe('0123');
});

test('a length that is the compressed one does not stop a file of another origin', async () => {
  const part = new Part();
  answer('0123456789', { headers: { 'content-length': '7' } });
  expect(await get(part, {})).toMatchObject({ bytes: 10 });

  answer('0123456', { headers: { 'content-length': '7' } });
  expect(await kindOf(get(new Part(), {}))).toBe('size');
  answer('0123456789+', { headers: { 'content-length': '11' } });
  expect(await kindOf(get(new Part(), {}))).toBe('size');
});
