/**
 * A server of the older era (2025-11-25) that keeps its events, so that a stream that broke can be taken
 * up again, on the SDK's first version; and the same tools over HTTP+SSE of 2024-11-05.
 */
import { randomUUID } from 'node:crypto';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { SSEServerTransport } from '@modelcontextprotocol/sdk/server/sse.js';
import {
  StreamableHTTPServerTransport,
  type EventStore,
} from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { ListRootsResultSchema } from '@modelcontextprotocol/sdk/types.js';
import { closeServer, listen, readBody } from './mcp-http.ts';

export interface Resuming {
  readonly url: string;
  /** `Last-Event-ID` of each stream that was opened, in order; null: a new one. */
  streams(): readonly (string | null)[];
  /** How often a tool ran. */
  runs(): number;
  /** Lets the calls that wait come to their end. */
  finish(): void;
  /** Cuts every stream that is open. */
  cut(): void;
  /** Forgets every session, as a restart does. */
  forget(): void;
  close(): Promise<void>;
}

export interface ResumingOptions {
  readonly kind: 'http' | 'sse';
  /** No events are kept: what was lost stays lost. */
  readonly forgetful?: boolean;
  /** Streams for what the server says by itself are ended at once. */
  readonly endsStreams?: boolean;
}

export async function startResuming(options: ResumingOptions): Promise<Resuming> {
  const streams: (string | null)[] = [];
  const open = new Set<ServerResponse>();
  const sessions = new Map<string, StreamableHTTPServerTransport>();
  const sse = new Map<string, SSEServerTransport>();
  const waiting = new Set<() => void>();
  let finished = false;
  let runs = 0;

  function build(): McpServer {
    const mcp = new McpServer({ name: 'resuming', version: '1.0.0' });
    mcp.registerTool('wait', { description: 'Wait until it is let go.' }, async (extra) => {
      runs += 1;
      const progressToken = extra._meta?.progressToken ?? 0;
      const params = { progressToken, progress: 1 };
      await extra.sendNotification({ method: 'notifications/progress', params });
      if (!finished) await new Promise<void>((resolve) => waiting.add(resolve));
      return { content: [{ type: 'text', text: 'let go' }] };
    });
    mcp.registerTool('roots', { description: 'Ask for roots all the same.' }, async (extra) => {
      const answer = await extra
        .sendRequest({ method: 'roots/list' }, ListRootsResultSchema)
        .catch((error: unknown) => error);
      return { content: [{ type: 'text', text: String(answer) }] };
    });
    return mcp;
  }

  const http = createServer((request, response) => {
    handle().catch(() => response.destroy());

    async function handle(): Promise<void> {
      const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost');
      const text = await readBody(request);
      const body: unknown = text === '' ? undefined : JSON.parse(text);
      if (request.method === 'GET') {
        streams.push(request.headers['last-event-id']?.toString() ?? null);
        if (options.endsStreams) {
          response.writeHead(200, { 'content-type': 'text/event-stream' }).end();
          return;
        }
      }
      open.add(response);
      response.once('close', () => open.delete(response));
      if (options.kind === 'sse') {
        if (request.method === 'GET' && pathname === '/mcp') {
          const transport = new SSEServerTransport('/message', response);
          sse.set(transport.sessionId, transport);
          await build().connect(transport);
          return;
        }
        const known = sse.get(searchParams.get('sessionId') ?? '');
        if (known && pathname === '/message')
          await known.handlePostMessage(request, response, body);
        else response.writeHead(404).end('There is no such session.');
        return;
      }
      const known = sessions.get(String(request.headers['mcp-session-id']));
      if (known) return known.handleRequest(request, response, body);
      const transport = new StreamableHTTPServerTransport({
        sessionIdGenerator: randomUUID,
        ...(options.forgetful ? {} : { eventStore: createEventStore(), retryInterval: 10 }),
        onsessioninitialized: (session) => {
          sessions.set(session, transport);
        },
      });
      await build().connect(transport);
      await transport.handleRequest(request, response, body);
    }
  });

  await listen(http, 0);
  return {
    url: `http://localhost:${(http.address() as AddressInfo).port}/mcp`,
    streams: () => streams,
    runs: () => runs,
    finish() {
      finished = true;
      waiting.forEach((release) => release());
    },
    cut: () => open.forEach((response) => response.destroy()),
    forget() {
      sessions.clear();
      sse.clear();
    },
    close: () => closeServer(http),
  };
}

function createEventStore(): EventStore {
  const events: { id: string; stream: string; message: Parameters<EventStore['storeEvent']>[1] }[] =
    [];
  return {
    async storeEvent(stream, message) {
      const id = `${events.length}`;
      events.push({ id, stream, message });
      return id;
    },
    async getStreamIdForEventId(id) {
      return events[Number(id)]?.stream;
    },
    async replayEventsAfter(last, { send }) {
      const stream = events[Number(last)]?.stream ?? '';
      for (const event of events.slice(Number(last) + 1))
        if (event.stream === stream && 'jsonrpc' in event.message)
          await send(event.id, event.message);
      return stream;
    },
  };
}
