/**
 * Serves an MCP server over HTTP for tests and the demo: Streamable HTTP in both eras of the
 * protocol, with what browsers of other origins need, and with every request counted by method.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  createMcpHandler,
  type McpServer,
  type ServerNotifier,
} from '@modelcontextprotocol/server';

/** Requests so far by JSON-RPC method, and calls by `tools/call <name>`. */
export type Counts = Readonly<Record<string, number>>;

export interface Served {
  /** The endpoint. */
  readonly url: string;
  counts(): Counts;
  resetCounts(): void;
  /** Tells clients that the tools changed. */
  readonly notify: ServerNotifier;
  close(): Promise<void>;
}

/** A JSON-RPC message as it came in, before the server sees it. */
export interface Incoming {
  readonly method: string;
  readonly params?: { readonly name?: string };
}

export interface ServeOptions {
  /** A free one where it is left out. */
  readonly port?: number;
  readonly path?: string;
  /** Which eras are spoken; both by default. */
  readonly eras?: 'both' | 'modern';
  /**
   * Sees every request first. True: it has answered, or cut the connection, itself. It may also wait,
   * to hold a request back.
   */
  readonly before?: (
    message: Incoming | null,
    request: IncomingMessage,
    response: ServerResponse,
  ) => boolean | Promise<boolean>;
  /** Extra headers of every response; null takes one of the usual ones away. */
  readonly headers?: Readonly<Record<string, string | null>>;
}

/** What lets web apps of other origins in. */
export const OPEN_HEADERS = {
  'access-control-allow-origin': '*',
  'access-control-allow-methods': 'GET, POST, DELETE, OPTIONS',
  'access-control-allow-headers':
    'content-type, accept, authorization, x-api-key, mcp-protocol-version, mcp-session-id, last-event-id, mcp-method, mcp-name',
  'access-control-expose-headers': 'Mcp-Session-Id, WWW-Authenticate',
  'access-control-max-age': '600',
};

/** Serves what `build` makes, once for every request, at `http://localhost:<port>/mcp`. */
export async function serveMcp(
  build: () => McpServer,
  options: ServeOptions = {},
): Promise<Served> {
  const { path = '/mcp', eras = 'both' } = options;
  const handler = createMcpHandler(build, { legacy: eras === 'both' ? 'stateless' : 'reject' });
  const counts = new Map<string, number>();

  const http = createServer((request, response) => {
    handle(request, response).catch(() => response.destroy());
  });

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    for (const [name, value] of Object.entries({ ...OPEN_HEADERS, ...options.headers }))
      if (value !== null) response.setHeader(name, value);
    const { pathname } = new URL(request.url ?? '/', 'http://localhost');
    if (request.method === 'OPTIONS') {
      response.writeHead(204).end();
      return;
    }
    if (pathname === '/__counts') {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(Object.fromEntries(counts)));
      return;
    }
    const body = await readBody(request);
    const message = parse(body);
    if (message) count(counts, message);
    if (await options.before?.(message, request, response)) return;
    if (pathname !== path) {
      response.writeHead(404).end();
      return;
    }
    await pass(await handler.fetch(toRequest(request, response, body)), response);
  }

  await listen(http, options.port ?? 0);
  const { port } = http.address() as AddressInfo;
  return {
    url: `http://localhost:${port}${path}`,
    counts: () => Object.fromEntries(counts),
    resetCounts: () => counts.clear(),
    notify: handler.notify,
    close: async () => {
      await handler.close();
      await closeServer(http);
    },
  };
}

export function listen(http: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    http.once('error', reject);
    http.listen(port, resolve);
  });
}

export function closeServer(http: Server): Promise<void> {
  http.closeAllConnections();
  return new Promise((resolve) => http.close(() => resolve()));
}

export async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

/** The message in a body; null where it is none. */
export function parse(body: string): Incoming | null {
  try {
    const message: unknown = JSON.parse(body);
    return typeof message === 'object' && message !== null && 'method' in message
      ? (message as Incoming)
      : null;
  } catch {
    return null;
  }
}

function count(counts: Map<string, number>, { method, params }: Incoming): void {
  const names = method === 'tools/call' ? [method, `${method} ${params?.name ?? ''}`] : [method];
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
}

/** The request as `fetch` has it, aborted when its connection closes. */
export function toRequest(
  request: IncomingMessage,
  response: ServerResponse,
  body: string,
): Request {
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers))
    if (value !== undefined) headers.set(name, Array.isArray(value) ? value.join(', ') : value);
  return new Request(new URL(request.url ?? '/', `http://${request.headers.host}`), {
    method: request.method ?? 'GET',
    headers,
    signal: gone.signal,
    ...(body === '' ? {} : { body }),
  });
}

/** Sends a response of `fetch` out, stream and all. */
export async function pass(from: Response, to: ServerResponse): Promise<void> {
  to.statusCode = from.status;
  from.headers.forEach((value, name) => to.setHeader(name, value));
  to.flushHeaders();
  if (from.body) for await (const chunk of from.body) to.write(chunk);
  to.end();
}
