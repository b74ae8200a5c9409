/**
 * Servers with faults: each path has one. Behind the faults stands a real MCP server with a tool that
 * only reads and one that writes, so that the fault is the only thing wrong.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { countingServer } from './counting.ts';
import { serveMcp, type Incoming, type Served } from './mcp-http.ts';

/** When a fault sets in. */
export type Phase = 'always' | 'call' | 'list';

export type Fault =
  | {
      readonly kind: 'status';
      readonly status: number;
      readonly body?: string;
      readonly type?: string;
      readonly headers?: Readonly<Record<string, string>>;
    }
  /** Takes the request and never answers. */
  | { readonly kind: 'hang' }
  /** Takes the request, counts a call as done, and cuts the connection instead of answering. */
  | { readonly kind: 'drop' }
  /** Opens a stream for the answer and ends it without one. */
  | { readonly kind: 'empty-stream' }
  /** Answers JSON without end. */
  | { readonly kind: 'huge'; readonly bytes: number };

export interface BrokenOptions {
  readonly fault: Fault;
  /** `always` by default. */
  readonly phase?: Phase;
  /** How many requests the fault hits; all by default. */
  readonly times?: number;
  readonly headers?: Readonly<Record<string, string | null>>;
  /** Only the new era is spoken, so that each exchange is one request. */
  readonly eras?: 'both' | 'modern';
}

export interface Broken extends Served {
  /** How often each tool ran to its end. */
  ran(): { readonly read: number; readonly write: number };
}

export async function startBroken(options: BrokenOptions): Promise<Broken> {
  const { fault, phase = 'always', times = Infinity, headers, eras = 'both' } = options;
  const ran = { read: 0, write: 0 };
  let hits = 0;

  const build = () => countingServer('broken', ran);

  function applies(message: Incoming | null): boolean {
    if (phase === 'call') return message?.method === 'tools/call';
    if (phase === 'list') return message?.method === 'tools/list';
    return true;
  }

  async function before(
    message: Incoming | null,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<boolean> {
    if (!applies(message) || hits >= times) return false;
    hits += 1;
    switch (fault.kind) {
      case 'status':
        response.writeHead(fault.status, {
          'content-type': fault.type ?? 'text/plain',
          ...fault.headers,
        });
        response.end(fault.body ?? '');
        return true;
      case 'hang':
        return true;
      case 'drop':
        if (message?.params?.name === 'read') ran.read += 1;
        if (message?.params?.name === 'write') ran.write += 1;
        request.socket.destroy();
        return true;
      case 'empty-stream':
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.end(': nothing\n\n');
        return true;
      case 'huge': {
        response.writeHead(200, { 'content-type': 'application/json' });
        response.write('{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"');
        const block = 'x'.repeat(1_000_000);
        for (let sent = 0; sent < fault.bytes && !response.destroyed; sent += block.length)
          if (!response.write(block)) await drained(response);
        response.end('"}]}}');
        return true;
      }
    }
  }

  const served = await serveMcp(build, { before, eras, ...(headers ? { headers } : {}) });
  return { ...served, ran: () => ({ ...ran }) };
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
