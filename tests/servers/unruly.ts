/**
 * One server that commits every fault of the book on request: the path names it.
 *
 *   /rate-seconds        from the first request on
 *   /call/rate-seconds   only when a tool is called, after a good connection and a good list
 *
 * Behind the faults stands a real MCP server with a tool that reads and one that writes, so that the
 * fault is the only thing wrong.
 *
 *   npx tsx tests/servers/unruly.ts [port]
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pathToFileURL } from 'node:url';
import { createMcpHandler } from '@modelcontextprotocol/server';
import { countingServer } from './counting.ts';
import {
  closeServer,
  listen,
  OPEN_HEADERS,
  parse,
  pass,
  readBody,
  toRequest,
  type Incoming,
} from './mcp-http.ts';

interface Exchange {
  readonly message: (Incoming & { readonly id?: unknown }) | null;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/** Answers in the server's place. */
type Misdeed = (exchange: Exchange) => void | Promise<void>;

interface Fault {
  /** Headers of every response; null takes one of the usual ones away. */
  readonly headers?: Readonly<Record<string, string | null>>;
  /** Absent where the headers are the fault. */
  readonly act?: Misdeed;
  /** Hits whoever asks, not only the protocol's own messages. */
  readonly everybody?: boolean;
}

const JSON_TYPE = { 'content-type': 'application/json' };
const PAGE = '<!doctype html><title>Welcome to the café</title><p>Sign in to the network.';

const status =
  (code: number, headers: Record<string, string> = {}, body = ''): Misdeed =>
  ({ response }) => {
    response.writeHead(code, { 'content-type': 'text/plain', ...headers }).end(body);
  };

const says =
  (body: (id: unknown) => unknown, code = 200): Misdeed =>
  ({ message, response }) => {
    const text = body(message?.id ?? null);
    response.writeHead(code, JSON_TYPE);
    response.end(typeof text === 'string' ? text : JSON.stringify(text));
  };

/** More than any client should read. */
const HUGE_BYTES = 12_000_000;

const huge: Misdeed = async ({ message, response }) => {
  response.writeHead(200, JSON_TYPE);
  const id = JSON.stringify(message?.id ?? null);
  response.write(`{"jsonrpc":"2.0","id":${id},"result":{"content":[{"type":"text","text":"`);
  await pour(response);
  response.end('"}]}}');
};

const hugeStream: Misdeed = async ({ response }) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write('data: "');
  await pour(response);
  response.end('"\n\n');
};

async function pour(response: ServerResponse): Promise<void> {
  const block = 'x'.repeat(500_000);
  for (let sent = 0; sent < HUGE_BYTES && !response.destroyed; sent += block.length)
    if (!response.write(block)) await drained(response);
}

function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      response.off('drain', done).off('close', done);
      resolve();
    };
    response.on('drain', done).on('close', done);
  });
}

const hungStream: Misdeed = ({ response }) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write(': begun\n\n');
};

const hungBody: Misdeed = ({ response }) => {
  response.writeHead(200, JSON_TYPE);
  response.write('{"jsonrpc":"2.0",');
};

const CLOSED = {
  'access-control-allow-origin': null,
  'access-control-allow-methods': null,
  'access-control-allow-headers': null,
  'access-control-expose-headers': null,
} as const;

const challenge = (words: string) => ({ 'www-authenticate': `Bearer ${words}` });

/** Every fault by the name that stands in the path. */
const FAULTS = {
  none: {},
  'cors-none': { headers: CLOSED },
  'cors-headers': { headers: { 'access-control-allow-headers': 'content-type, accept' } },
  'cors-exposed': { headers: { 'access-control-expose-headers': null }, act: wantsSession },
  'key-wanted': { act: status(401) },
  'sign-in-wanted': {
    act: status(
      401,
      challenge('resource_metadata="http://localhost/.well-known/oauth-protected-resource"'),
    ),
  },
  forbidden: { act: status(403) },
  'scope-wanted': {
    act: status(403, challenge('error="insufficient_scope", scope="files:write"')),
  },
  'not-found': { act: status(404) },
  'no-post': { act: status(405, { allow: 'GET' }) },
  gone: { act: status(410) },
  'rate-seconds': { act: status(429, { 'retry-after': '30' }) },
  'rate-date': { act: rateByDate },
  failing: { act: status(500, {}, 'boom, the key was sk-live-0123456789') },
  down: { act: status(503, { 'content-type': 'text/html' }, PAGE) },
  page: { act: status(200, { 'content-type': 'text/html' }, PAGE) },
  'other-json': { act: says(() => ({ hello: 'world' })) },
  'broken-json': { act: says(() => '{"jsonrpc":"2.0",') },
  'broken-rpc': { act: says((id) => ({ jsonrpc: '2.0', id, result: 'yes', error: 'no' })) },
  'era-new': {
    act: says(
      (id) => ({
        jsonrpc: '2.0',
        id,
        error: {
          code: -32_022,
          message: 'Unsupported protocol version',
          data: { supported: ['2099-01-01'], requested: '2026-07-28' },
        },
      }),
      400,
    ),
  },
  'era-old': { act: oldEra },
  huge: { act: huge },
  'huge-stream': { act: hugeStream },
  hung: { act: () => undefined },
  'hung-stream': { act: hungStream },
  'hung-body': { act: hungBody },
  'empty-stream': { act: status(200, { 'content-type': 'text/event-stream' }, ': nothing\n\n') },
  drop: { act: ({ request }) => void request.socket.destroy(), everybody: true },
  away: { act: status(307, { location: 'http://localhost/elsewhere' }) },
} satisfies Readonly<Record<string, Fault>>;

export type FaultName = keyof typeof FAULTS;

/** A session of the older era whose id a page cannot read; without it, the rest is refused. */
function wantsSession({ message, request, response }: Exchange): void {
  if (message?.method === 'server/discover') {
    response.writeHead(404).end();
    return;
  }
  if (message?.method === 'initialize') {
    response.writeHead(200, { ...JSON_TYPE, 'mcp-session-id': 'session-1' });
    response.end(JSON.stringify(initialized(message.id, '2025-11-25')));
    return;
  }
  const known = request.headers['mcp-session-id'] === 'session-1';
  response.writeHead(known ? 202 : 400, JSON_TYPE);
  response.end(
    known
      ? ''
      : JSON.stringify({
          jsonrpc: '2.0',
          id: null,
          error: { code: -32_000, message: 'Bad Request: Server not initialized' },
        }),
  );
}

function oldEra({ message, response }: Exchange): void {
  if (message?.method !== 'initialize') {
    response.writeHead(404).end();
    return;
  }
  response.writeHead(200, JSON_TYPE);
  response.end(JSON.stringify(initialized(message.id, '1999-01-01')));
}

function initialized(id: unknown, protocolVersion: string) {
  const serverInfo = { name: 'unruly', version: '1.0.0' };
  return {
    jsonrpc: '2.0',
    id,
    result: { protocolVersion, capabilities: { tools: {} }, serverInfo },
  };
}

function rateByDate({ response }: Exchange): void {
  const until = new Date(Date.now() + 600_000).toUTCString();
  response.writeHead(429, { 'retry-after': until }).end();
}

export interface Unruly {
  /** The endpoint that commits a fault: from the start, or only when a tool is called. */
  url(fault: FaultName, phase?: 'always' | 'call'): string;
  /** How often each tool ran to its end. */
  ran(): { readonly read: number; readonly write: number };
  close(): Promise<void>;
}

export async function startUnruly(port = 0): Promise<Unruly> {
  const ran = { read: 0, write: 0 };

  const build = () => countingServer('unruly', ran);

  const handler = createMcpHandler(build, { legacy: 'stateless' });
  const http = createServer((request, response) => {
    handle(request, response).catch(() => response.destroy());
  });

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost');
    const [, first = '', second] = pathname.split('/');
    const onCall = first === 'call';
    const name = onCall ? (second ?? '') : first;
    const fault: Fault | undefined = name in FAULTS ? FAULTS[name as FaultName] : undefined;
    const body = await readBody(request);
    const message = parse(body);
    const isDue = !onCall || message?.method === 'tools/call';
    const headers = { ...OPEN_HEADERS, ...(onCall && !isDue ? {} : fault?.headers) };
    for (const [header, value] of Object.entries(headers))
      if (value !== null) response.setHeader(header, value);
    if (request.method === 'OPTIONS' || !fault) {
      response.writeHead(fault ? 204 : 404).end();
      return;
    }
    // Only what the protocol sends is hit: a page that asks whether somebody is there gets an answer.
    if (isDue && fault.act && (request.method === 'POST' || fault.everybody)) {
      await fault.act({ message, request, response });
      return;
    }
    await pass(await handler.fetch(toRequest(request, response, body)), response);
  }

  await listen(http, port);
  const { port: bound } = http.address() as AddressInfo;
  return {
    url: (fault, phase = 'always') =>
      `http://localhost:${bound}/${phase === 'call' ? 'call/' : ''}${fault}`,
    ran: () => ({ ...ran }),
    close: async () => {
      await handler.close();
      await closeServer(http);
    },
  };
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const unruly = await startUnruly(Number(process.argv[2] ?? 4319));
  const names = Object.keys(FAULTS) as FaultName[];
  console.log(names.map((name) => unruly.url(name)).join('\n'));
}
