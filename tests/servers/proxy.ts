/**
 * A proxy of the person's own, for servers that keep web apps out (CORS): it passes requests on to
 * the address in its path and lets the app read the answers. It holds no key and stores nothing; what
 * the app sends goes to that server and to nobody else.
 *
 *   npx tsx tests/servers/proxy.ts [port] [origin of the app]
 *
 * Then `http://localhost:<port>` is what the app calls "your own proxy". Give the origin so that no
 * other page can use the proxy; it listens on this device only.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream } from 'node:stream/web';
import { pathToFileURL } from 'node:url';
import type { AddressInfo } from 'node:net';
import { closeServer } from './mcp-http.ts';

export interface ProxyOptions {
  /** A free one where it is left out. */
  readonly port?: number;
  /** The page that may use it; `*`: any. */
  readonly origin?: string;
}

export interface Proxy {
  /** What is put before an encoded address. */
  readonly url: string;
  /** Addresses that were asked for, in order. */
  asked(): readonly string[];
  close(): Promise<void>;
}

/** Headers of the way and of the page, which are none of the server's business. */
const NOT_PASSED =
  /^(host|connection|keep-alive|transfer-encoding|content-length|expect|upgrade|te|trailer|origin|referer|cookie|accept-encoding|proxy-.*|sec-.*|access-control-.*)$/i;
/** Headers of an answer that do not hold any more once it was decoded and passed on. */
const NOT_ANSWERED =
  /^(connection|keep-alive|transfer-encoding|content-length|content-encoding|set-cookie|access-control-.*)$/i;

export async function startProxy(options: ProxyOptions = {}): Promise<Proxy> {
  const { origin = '*' } = options;
  const asked: string[] = [];
  const http = createServer((request, response) => {
    pass(request, response, origin, asked).catch(() => response.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    http.once('error', reject);
    http.listen(options.port ?? 0, 'localhost', resolve);
  });
  return {
    url: `http://localhost:${(http.address() as AddressInfo).port}`,
    asked: () => [...asked],
    close: () => closeServer(http),
  };
}

async function pass(
  request: IncomingMessage,
  response: ServerResponse,
  origin: string,
  asked: string[],
): Promise<void> {
  response.setHeader('access-control-allow-origin', origin);
  response.setHeader('access-control-allow-methods', 'GET, POST, DELETE');
  // What a page asks to send is what its server needs; `*` would leave Authorization out.
  const wanted = request.headers['access-control-request-headers'];
  if (wanted !== undefined) response.setHeader('access-control-allow-headers', wanted);
  response.setHeader('access-control-max-age', '600');
  if (request.method === 'OPTIONS') {
    // Chromium asks before it lets a public page reach this device.
    response.setHeader('access-control-allow-private-network', 'true');
    response.writeHead(204).end();
    return;
  }
  const address = addressOf(request.url ?? '');
  if (!address) {
    response.writeHead(400, { 'content-type': 'text/plain' });
    response.end('Put the encoded http(s) address of a server behind the slash.\n');
    return;
  }
  asked.push(address.href);
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  const from = await fetch(address, {
    method: request.method ?? 'GET',
    headers: headersOf(request),
    redirect: 'manual',
    signal: gone.signal,
    ...(request.method === 'GET' || request.method === 'HEAD'
      ? {}
      : { body: Readable.toWeb(request) as globalThis.ReadableStream, duplex: 'half' }),
  } as RequestInit).catch(() => null);
  if (!from) {
    response.writeHead(502, { 'content-type': 'text/plain' });
    response.end(`${address.host} did not answer.\n`);
    return;
  }
  response.statusCode = from.status;
  from.headers.forEach((value, name) => {
    if (!NOT_ANSWERED.test(name)) response.setHeader(name, value);
  });
  response.setHeader('access-control-expose-headers', [...from.headers.keys()].join(', '));
  response.flushHeaders();
  if (from.body) await pipeline(Readable.fromWeb(from.body as ReadableStream), response);
  else response.end();
}

/** The address behind the first slash; null where it is none of http or https. */
function addressOf(path: string): URL | null {
  try {
    const url = new URL(decodeURIComponent(path.slice(1)));
    return url.protocol === 'http:' || url.protocol === 'https:' ? url : null;
  } catch {
    return null;
  }
}

function headersOf(request: IncomingMessage): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers))
    if (value !== undefined && !NOT_PASSED.test(name))
      headers.set(name, Array.isArray(value) ? value.join(', ') : value);
  return headers;
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const [, , port = '4320', origin = '*'] = process.argv;
  const proxy = await startProxy({ port: Number(port), origin });
  console.log(`A proxy for MCP servers that keep web apps out: ${proxy.url}`);
}
