/**
 * A static file server for tests of downloads, with every fault that a network can have.
 *
 * `/fault/MODE/NAME/…` serves the rest of the address, but the file called NAME with that fault:
 * `html` (200 and a web page), `missing` (404), `refused` (403), `broken` (503), `short` (half of it,
 * as if that were all), `flipped` (one byte changed), `drop` (the connection breaks half-way, every
 * time), `drop-once` (only the first time), `stall` (half of it, then silence).
 */
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

/** Starts the server on a free port, or on the port that an earlier one had. */
export async function startFiles(options: FilesOptions, port = 0): Promise<FilesServer> {
  const requests: string[] = [];
  const dropped = new Set<string>();

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname } = new URL(request.url ?? '/', 'http://files');
    if (request.method === 'OPTIONS') return void response.writeHead(204, CORS).end();
    const range = /^bytes=(\d+)-$/.exec(request.headers.range ?? '');
    const from = Number(range?.[1] ?? 0);
    requests.push(range ? `${pathname} from ${from}` : pathname);

    const fault = /^\/fault\/([\w-]+)\/([^/]+)(\/.*)$/.exec(pathname);
    const real = fault?.[3] ?? pathname;
    const mode = fault?.[2] === path.basename(real) ? fault[1] : undefined;
    if (mode === 'html')
      return void response.writeHead(200, { ...CORS, 'content-type': 'text/html' }).end(PAGE);
    const status = { missing: 404, refused: 403, broken: 503 }[mode ?? ''];
    const whole = status ? null : await read(real, options);
    if (!whole) return void response.writeHead(status ?? 404, CORS).end();

    let body = whole;
    if (mode === 'short') body = whole.subarray(0, whole.length >> 1);
    if (mode === 'flipped') {
      body = Uint8Array.from(whole);
      body[whole.length >> 1]! ^= 1;
    }
    if (from >= body.length) return void response.writeHead(416, CORS).end();
    body = body.subarray(from);
    response.writeHead(range ? 206 : 200, {
      ...CORS,
      'content-type': TYPES[path.extname(real)] ?? 'application/octet-stream',
      'content-length': body.length,
      ...(range
        ? { 'content-range': `bytes ${from}-${whole.length - 1}/${whole.length}` }
        : { 'accept-ranges': 'bytes' }),
    });
    const breaks = mode === 'drop' || (mode === 'drop-once' && !dropped.has(pathname));
    if (breaks) {
      dropped.add(pathname);
      response.write(body.subarray(0, body.length >> 1), () =>
        setTimeout(() => response.destroy(), 50),
      );
    } else if (mode === 'stall') response.write(body.subarray(0, body.length >> 1));
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
