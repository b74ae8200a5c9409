/**
 * The static server: `dist/` and `models/` with the headers that the app has in production.
 *
 * Promises: unknown addresses without a file ending get the page, missing files a 404 and never
 * HTML; ranges and ETags work; nothing outside the two folders, and no hidden file, is ever read.
 */
import { createReadStream } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import path from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { HEADERS, IMMUTABLE, REVALIDATE } from './headers.ts';

export interface ServeOptions {
  /** 0 takes a free port. */
  readonly port: number;
  /** Address to listen on; default: this machine only. */
  readonly host?: string;
  /** The built app. */
  readonly dist: string;
  /** Weights, served under `/models/`. */
  readonly models: string;
  /** The demo MCP server that the first screen offers. */
  readonly demo?: { readonly url: string; readonly name: string };
}

export interface Served {
  readonly url: string;
  close(): Promise<void>;
}

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.webmanifest': 'application/manifest+json; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.webp': 'image/webp',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
  '.txt': 'text/plain; charset=utf-8',
  '.wasm': 'application/wasm',
};
const COMPRESSED = /^(text\/|image\/svg|application\/(json|manifest\+json|wasm))/;

const brotli = promisify(brotliCompress);
const zip = promisify(gzip);
const BROTLI_OPTIONS = { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } };

/** The file for an address path, or null where it points outside or at something hidden. */
export function resolveInside(root: string, pathname: string): string | null {
  let decoded: string;
  try {
    decoded = decodeURIComponent(pathname);
  } catch {
    return null;
  }
  if (decoded.includes('\0') || decoded.includes('\\')) return null;
  const parts = decoded.split('/').filter((part) => part !== '');
  if (parts.some((part) => part.startsWith('.'))) return null;
  return path.join(root, ...parts);
}

/** One range of a file, or `none` (serve all of it), or `invalid` (416). RFC 9110, section 14. */
export function parseRange(
  header: string | undefined,
  size: number,
): { readonly start: number; readonly end: number } | 'none' | 'invalid' {
  const match = /^bytes=(\d*)-(\d*)$/.exec(header ?? '');
  if (!match || (match[1] === '' && match[2] === '')) return 'none';
  if (match[1] === '') {
    const last = Number(match[2]);
    return last === 0 || size === 0
      ? 'invalid'
      : { start: Math.max(0, size - last), end: size - 1 };
  }
  const start = Number(match[1]);
  const end = match[2] === '' ? size - 1 : Math.min(Number(match[2]), size - 1);
  if (start >= size) return 'invalid';
  return start > end ? 'none' : { start, end };
}

class Compressor {
  readonly #done = new Map<string, Promise<Buffer>>();

  /** Compressed once for each version of a file. */
  get(file: string, etag: string, coding: 'br' | 'gzip'): Promise<Buffer> {
    const key = `${coding} ${etag} ${file}`;
    let found = this.#done.get(key);
    if (!found) {
      found = readFile(file).then((data) =>
        coding === 'br' ? brotli(data, BROTLI_OPTIONS) : zip(data),
      );
      // A file that could not be read now may be there later.
      found.catch(() => this.#done.delete(key));
      this.#done.set(key, found);
    }
    return found;
  }
}

function codingFor(request: IncomingMessage): 'br' | 'gzip' | null {
  const accepted = String(request.headers['accept-encoding'] ?? '');
  if (/\bbr\b/.test(accepted)) return 'br';
  return /\bgzip\b/.test(accepted) ? 'gzip' : null;
}

async function isFile(file: string): Promise<boolean> {
  return stat(file).then(
    (found) => found.isFile(),
    () => false,
  );
}

function refuse(response: ServerResponse, status: number, sentence: string): void {
  response.writeHead(status, {
    'Content-Type': 'text/plain; charset=utf-8',
    'Cache-Control': 'no-store',
  });
  response.end(`${sentence}\n`);
}

async function sendFile(
  request: IncomingMessage,
  response: ServerResponse,
  file: string,
  options: { readonly cache: string; readonly compressor: Compressor | null },
): Promise<void> {
  const found = await stat(file);
  const type = TYPES[path.extname(file)] ?? 'application/octet-stream';
  const tag = `${found.size.toString(36)}-${Math.round(found.mtimeMs).toString(36)}`;
  response.setHeader('Content-Type', type);
  response.setHeader('Cache-Control', options.cache);
  response.setHeader('Last-Modified', found.mtime.toUTCString());

  const coding = options.compressor && COMPRESSED.test(type) ? codingFor(request) : null;
  const etag = coding ? `"${tag}-${coding}"` : `"${tag}"`;
  response.setHeader('ETag', etag);
  if (options.compressor && COMPRESSED.test(type)) response.setHeader('Vary', 'Accept-Encoding');
  if (request.headers['if-none-match'] === etag) {
    response.writeHead(304).end();
    return;
  }
  if (coding && options.compressor) {
    const body = await options.compressor.get(file, etag, coding);
    response.writeHead(200, { 'Content-Encoding': coding, 'Content-Length': body.length });
    response.end(request.method === 'HEAD' ? undefined : body);
    return;
  }

  response.setHeader('Accept-Ranges', 'bytes');
  const asked = request.headers['if-range'];
  const range =
    asked === undefined || asked === etag ? parseRange(request.headers.range, found.size) : 'none';
  if (range === 'invalid') {
    response.setHeader('Content-Range', `bytes */${found.size}`);
    refuse(response, 416, 'The file is shorter than that.');
    return;
  }
  const { start, end } = range === 'none' ? { start: 0, end: found.size - 1 } : range;
  if (range !== 'none') response.setHeader('Content-Range', `bytes ${start}-${end}/${found.size}`);
  response.writeHead(range === 'none' ? 200 : 206, { 'Content-Length': end - start + 1 });
  if (request.method === 'HEAD' || found.size === 0) {
    response.end();
    return;
  }
  const stream = createReadStream(file, { start, end });
  stream.on('error', () => response.destroy());
  response.on('close', () => stream.destroy());
  stream.pipe(response);
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  options: ServeOptions,
  compressor: Compressor,
): Promise<void> {
  for (const [name, value] of Object.entries(HEADERS)) response.setHeader(name, value);
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    response.setHeader('Allow', 'GET, HEAD');
    refuse(response, 405, 'Only GET and HEAD are answered here.');
    return;
  }
  const pathname = (request.url ?? '/').split(/[?#]/, 1)[0] ?? '/';

  if (pathname === '/demo.json') {
    if (!options.demo) return refuse(response, 404, 'There is no demo server.');
    response.writeHead(200, {
      'Content-Type': TYPES['.json'],
      'Cache-Control': 'no-store',
    });
    response.end(request.method === 'HEAD' ? undefined : JSON.stringify(options.demo));
    return;
  }

  const weights = pathname.startsWith('/models/');
  const file = weights
    ? resolveInside(options.models, pathname.slice('/models'.length))
    : resolveInside(options.dist, pathname);
  if (file && (await isFile(file))) {
    const hashed = pathname.startsWith('/assets/');
    return sendFile(request, response, file, {
      cache: hashed ? IMMUTABLE : REVALIDATE,
      compressor: weights ? null : compressor,
    });
  }
  if (file && !weights && path.extname(pathname) === '')
    return sendFile(request, response, path.join(options.dist, 'index.html'), {
      cache: REVALIDATE,
      compressor,
    });
  refuse(response, 404, 'There is no such file.');
}

/** Starts the server. Rejects, with the system's code (`EADDRINUSE`), where it cannot listen. */
export async function startServer(options: ServeOptions): Promise<Served> {
  const compressor = new Compressor();
  const server: Server = createServer((request, response) => {
    answer(request, response, options, compressor).catch(() => {
      if (response.headersSent) response.destroy();
      else refuse(response, 500, 'The file could not be read.');
    });
  });
  const host = options.host ?? '127.0.0.1';
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, host, resolve);
  });
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : options.port;
  return {
    url: `http://localhost:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
