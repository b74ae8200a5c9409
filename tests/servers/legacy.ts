/**
 * An MCP server of the older era (2025-11-25), on the SDK's first version, with sessions that a test
 * can end: what most servers are today.
 */
import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { InMemoryTaskStore } from '@modelcontextprotocol/sdk/experimental/tasks/stores/in-memory.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { isInitializeRequest, type CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import { closeServer, listen, readBody, type Counts } from './mcp-http.ts';

export interface LegacyOptions {
  /** Headers that web apps may read; null: none at all. */
  readonly expose?: string | null;
  /** Headers that web apps may send. */
  readonly allow?: string;
  /** How a request with an unknown session is answered; 404 is what the specification says. */
  readonly unknownSession?: 400 | 404;
  /** It has a tool more, whose calls are tasks. */
  readonly tasks?: boolean;
  /** Without sessions: each request stands alone. */
  readonly stateless?: boolean;
}

export interface Legacy {
  readonly url: string;
  counts(): Counts;
  /** Texts that `add_note` was called with. */
  notes(): readonly string[];
  /** How many calls were cancelled by the client. */
  cancelled(): number;
  sessions(): number;
  /** Forgets every session, as a restart does. */
  forgetSessions(): void;
  /** How often a client asked for a stream for what the server says by itself. */
  streams(): number;
  /** Ends the tasks of `job`, and tells the clients how they stand. */
  finish(): Promise<void>;
  /** Adds a tool and tells the clients. */
  addTool(name: string): void;
  close(): Promise<void>;
}

export async function startLegacy(options: LegacyOptions = {}): Promise<Legacy> {
  const { expose = 'Mcp-Session-Id, WWW-Authenticate', unknownSession = 404 } = options;
  const allow =
    options.allow ??
    'content-type, accept, authorization, mcp-protocol-version, mcp-session-id, last-event-id, mcp-method, mcp-name';
  const sessions = new Map<string, { transport: StreamableHTTPServerTransport; mcp: McpServer }>();
  const counts = new Map<string, number>();
  const notes: string[] = [];
  const extra: string[] = [];
  const unfinished: (() => Promise<void>)[] = [];
  const taskStore = new InMemoryTaskStore();
  let cancelled = 0;
  let streams = 0;

  function build(): McpServer {
    const tasks = { requests: { tools: { call: {} } } };
    const mcp = new McpServer(
      { name: 'notes', version: '1.0.0' },
      options.tasks ? { capabilities: { tasks }, taskStore } : {},
    );
    if (options.tasks) addJob(mcp);
    mcp.registerTool(
      'echo',
      {
        description: 'Say the same again.',
        inputSchema: { text: z.string() },
        annotations: { readOnlyHint: true },
      },
      async ({ text }) => ({ content: [{ type: 'text', text }] }),
    );
    mcp.registerTool(
      'add_note',
      { description: 'Keep a note.', inputSchema: { text: z.string() } },
      async ({ text }) => {
        notes.push(text);
        return { content: [{ type: 'text', text: 'kept' }] };
      },
    );
    mcp.registerTool(
      'slow',
      {
        description: 'Work for a while, and tell how far it is.',
        inputSchema: { steps: z.number(), ms: z.number() },
        annotations: { readOnlyHint: true },
      },
      async ({ steps, ms }, { sendNotification, signal, _meta }) => {
        signal.addEventListener('abort', () => (cancelled += 1));
        for (let step = 1; step <= steps && !signal.aborted; step += 1) {
          await new Promise((resolve) => setTimeout(resolve, ms));
          const progressToken = _meta?.progressToken;
          if (progressToken !== undefined && !signal.aborted)
            await sendNotification({
              method: 'notifications/progress',
              params: { progressToken, progress: step, total: steps, message: `step ${step}` },
            });
        }
        return { content: [{ type: 'text', text: 'done' }] };
      },
    );
    for (const name of extra) addTo(mcp, name);
    return mcp;
  }

  function addJob(mcp: McpServer): void {
    mcp.experimental.tasks.registerToolTask(
      'job',
      { description: 'Work for hours.', execution: { taskSupport: 'required' } },
      {
        async createTask({ taskStore: store }) {
          // It would be asked again a minute later.
          const task = await store.createTask({ ttl: 600_000, pollInterval: 60_000 });
          const result = { content: [{ type: 'text' as const, text: 'worked' }] };
          unfinished.push(() => store.storeTaskResult(task.taskId, 'completed', result));
          return { task };
        },
        getTask: async ({ taskStore: store, taskId }) => store.getTask(taskId),
        getTaskResult: async ({ taskStore: store, taskId }) =>
          (await store.getTaskResult(taskId)) as CallToolResult,
      },
    );
  }

  function addTo(mcp: McpServer, name: string): void {
    mcp.registerTool(name, { description: `The tool ${name}.` }, async () => ({
      content: [{ type: 'text', text: name }],
    }));
  }

  const http = createServer((request, response) => {
    handle(request, response).catch(() => response.destroy());
  });

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.setHeader('access-control-allow-origin', '*');
    response.setHeader('access-control-allow-methods', 'GET, POST, DELETE, OPTIONS');
    response.setHeader('access-control-allow-headers', allow);
    if (expose !== null) response.setHeader('access-control-expose-headers', expose);
    if (request.method === 'OPTIONS') {
      response.writeHead(204).end();
      return;
    }
    const text = await readBody(request);
    const body: unknown = text === '' ? undefined : JSON.parse(text);
    const method = (body as { method?: unknown } | undefined)?.method;
    if (typeof method === 'string') counts.set(method, (counts.get(method) ?? 0) + 1);
    if (options.stateless) {
      const transport = new StreamableHTTPServerTransport();
      await build().connect(transport as Transport);
      await transport.handleRequest(request, response, body);
      return;
    }
    const id = request.headers['mcp-session-id'];
    const known = typeof id === 'string' ? sessions.get(id) : undefined;
    if (known) {
      if (request.method === 'GET') streams += 1;
      await known.transport.handleRequest(request, response, body);
      return;
    }
    if (id !== undefined || !isInitializeRequest(body)) {
      const status = id === undefined ? 400 : unknownSession;
      response.writeHead(status, { 'content-type': 'application/json' });
      const message = id === undefined ? 'Bad Request: No valid session ID' : 'Session not found';
      response.end(JSON.stringify({ jsonrpc: '2.0', id: null, error: { code: -32_000, message } }));
      return;
    }
    const mcp = build();
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (session) => {
        sessions.set(session, { transport, mcp });
      },
      onsessionclosed: (session) => {
        sessions.delete(session);
      },
    });
    await mcp.connect(transport);
    await transport.handleRequest(request, response, body);
  }

  await listen(http, 0);
  return {
    url: `http://localhost:${(http.address() as AddressInfo).port}/mcp`,
    counts: () => Object.fromEntries(counts),
    notes: () => [...notes],
    cancelled: () => cancelled,
    streams: () => streams,
    sessions: () => sessions.size,
    forgetSessions: () => sessions.clear(),
    async finish() {
      for (const end of unfinished.splice(0)) await end();
    },
    addTool(name) {
      extra.push(name);
      for (const { mcp } of sessions.values()) addTo(mcp, name);
    },
    close: () => {
      taskStore.cleanup();
      return closeServer(http);
    },
  };
}
