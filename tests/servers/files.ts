/**
 * A static file server for tests of downloads, with every fault that a network can have.
 *
 * `/fault/MODE/NAME/…` serves the rest of the address, but the file called NAME with that fault:
 * `html` (200 and a web page), `missing` (404), `refused` (403), `broken` (503), `busy` (503 and
 * Retry-After of a second, once), `busy-long` (429 and Retry-After of an hour), `short` (half of it, as
 * if that were all), `short-unsaid` (the same, without a length), `long` (a byte too many), `flipped`
 * (one byte changed), `drop` (the connection breaks half-way, every time), `drop-once` (only the first
 * time), `drop-at-N` (only the first time, after N bytes), `no-range` (breaks once, then always sends
 * all), `unsatisfiable` (breaks once, then answers 416 to every range), `changed` (breaks once; from
 * then on it is another version), `stall` (half of it, then silence), `slow` (in sixteen pieces),
 * `redirect` (302 to the file itself), `lost` (302 to a page to sign in).
 */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import path from 'node:path';

export interface FilesOptions {
  /** Folders by the first segment of the address. */
  readonly folders: Readonly<Record<string, string>>;
  /** Files made up by the test, by address path; may be added to while the server runs. */
  readonly made: Map<string, Uint8Array>;
}

export interface FilesServer {
  readonly url: string;
  /** `PATH` or `PATH from N` for a range, in the order in which they were asked for. */
  readonly requests: readonly string[];
  close(): Promise<void>;
}

const CORS = {
  'access-control-allow-origin': '*',
  'access-control-allow-headers': '*',
  'access-control-expose-headers': '*',
  'cross-origin-resource-policy': 'cross-origin',
};
const PAGE = '<!doctype html><title>Sign in to the Wi-Fi</title><p>Please sign in.</p>';
const TYPES: Readonly<Record<string, string>> = {
  '.json': 'application/json',
  '.wasm': 'application/wasm',
};

async function read(pathname: string, options: FilesOptions): Promise<Uint8Array | null> {
  const made = options.made.get(pathname);
  if (made) return made;
  const [, first = '', ...rest] = pathname.split('/');
  const folder = options.folders[first];
  if (!folder || rest.includes('..')) return null;
  return readFile(path.join(folder, ...rest)).catch(() => null);
}

/** Sends a body in pieces, with time between them. */
async function dribble(response: ServerResponse, body: Uint8Array): Promise<void> {
  const size = Math.ceil(body.length / 16);
  for (let at = 0; at < body.length; at += size) {
    response.write(body.subarray(at, at + size));
    await new Promise((resolve) => setTimeout(resolve, 40));
  }
  response.end();
}

/** Starts the server on a free port, or on the port that an earlier one had. */
export async function startFiles(options: FilesOptions, port = 0): Promise<FilesServer> {
  const requests: string[] = [];
  const seen = new Set<string>();

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname } = new URL(request.url ?? '/', 'http://files');
    if (request.method === 'OPTIONS') return void response.writeHead(204, CORS).end();
    const range = /^bytes=(\d+)-$/.exec(request.headers.range ?? '');
    const from = Number(range?.[1] ?? 0);
    requests.push(range ? `${pathname} from ${from}` : pathname);

    const fault = /^\/fault\/([\w-]+)\/([^/]+)(\/.*)$/.exec(pathname);
    const real = fault?.[3] ?? pathname;
    const mode = (fault?.[2] === path.basename(real) && fault[1]) || '';
    const first = !seen.has(pathname);
    seen.add(pathname);
    const refuse = (status: number, headers: Record<string, string> = {}): void =>
      void response.writeHead(status, { ...CORS, ...headers }).end();

    if (mode === 'html')
      return void response.writeHead(200, { ...CORS, 'content-type': 'text/html' }).end(PAGE);
    if (mode === 'busy' && first) return refuse(503, { 'retry-after': '1' });
    if (mode === 'busy-long') return refuse(429, { 'retry-after': '3600' });
    if (mode === 'redirect') return refuse(302, { location: real });
    if (mode === 'lost') return refuse(302, { location: `/fault/html/${fault?.[2]}${real}` });
    const status = { missing: 404, refused: 403, broken: 503 }[mode];
    const whole = status ? null : await read(real, options);
    if (!whole) return refuse(status ?? 404);

    let file = whole;
    if (mode.startsWith('short')) file = whole.subarray(0, whole.length >> 1);
    if (mode === 'long') file = Buffer.concat([whole, Buffer.from([0])]);
    if (mode === 'flipped' || (mode === 'changed' && !first)) {
      file = Uint8Array.from(whole);
      file[whole.length >> 1]! ^= 1;
    }
    const ranged = range !== null && mode !== 'no-range';
    if (ranged && (from >= file.length || mode === 'unsatisfiable')) return refuse(416);
    const body = ranged ? file.subarray(from) : file;
    response.writeHead(ranged ? 206 : 200, {
      ...CORS,
      'content-type': TYPES[path.extname(real)] ?? 'application/octet-stream',
      etag: `"${createHash('sha256').update(file).digest('hex').slice(0, 16)}"`,
      ...(mode === 'short-unsaid' ? {} : { 'content-length': body.length }),
      ...(ranged
        ? { 'content-range': `bytes ${from}-${file.length - 1}/${file.length}` }
        : { 'accept-ranges': mode === 'no-range' ? 'none' : 'bytes' }),
    });
    const at = /^drop-at-(\d+)$/.exec(mode)?.[1];
    const breaks =
      mode === 'drop' ||
      (first &&
        (at !== undefined || ['drop-once', 'no-range', 'unsatisfiable', 'changed'].includes(mode)));
    if (breaks)
      response.write(body.subarray(0, at === undefined ? body.length >> 1 : Number(at)), () =>
        setTimeout(() => response.destroy(), 50),
      );
    else if (mode === 'stall') response.write(body.subarray(0, body.length >> 1));
    else if (mode === 'slow') await dribble(response, body);
    else response.end(body);
  }

  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  const address = server.address();
  if (typeof address !== 'object' || !address) throw new Error('The server has no port.');
  return {
    url: `http://127.0.0.1:${address.port}/`,
    requests,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
