/**
 * A small MCP server that lives in the page (revision 2025-11-25): `initialize`, `ping`, `tools/list`
 * and `tools/call` over a transport that passes messages from hand to hand. It is our own because
 * the SDK's server would add 33 KB for three tools; the client that speaks to it is the SDK's.
 */
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import type { ToolDefinition } from '../store/records.ts';

const PROTOCOL_VERSION = '2025-11-25';

/** JSON-RPC 2.0, section 5.1. */
const METHOD_NOT_FOUND = -32_601;
const INVALID_PARAMS = -32_602;
const INTERNAL_ERROR = -32_603;

/** What a call comes to: in words for the person, and as data for the model. */
export interface Told {
  readonly words: string;
  readonly result: Readonly<Record<string, unknown>>;
}

/** Carries out a call; what it throws as a `ToolFailure` is told to the model. */
type Handler = (args: Readonly<Record<string, unknown>>) => Promise<Told>;

/** The tool ran and could not do what was asked; the message is for the model and the person. */
export class ToolFailure extends Error {
  override readonly name = 'ToolFailure';
}

export interface ServedTool {
  readonly definition: ToolDefinition;
  readonly handle: Handler;
}

export interface ServerInfo {
  readonly name: string;
  readonly title: string;
  readonly version: string;
}

/** The client's end of a new connection to a server with these tools. */
export function openInPage(info: ServerInfo, tools: readonly ServedTool[]): Transport {
  let closed = false;
  const deliver = (message: JSONRPCMessage) => {
    // A turn of the event loop later, as over any wire: the caller never re-enters itself.
    queueMicrotask(() => {
      if (!closed) transport.onmessage?.(message);
    });
  };
  const transport: Transport = {
    start: () => Promise.resolve(),
    async send(message) {
      if (closed) throw new Error('The connection is closed.');
      if (!('method' in message) || !('id' in message)) return;
      const { id, method, params = {} } = message;
      answer(info, tools, method, params).then(
        (result) => deliver({ jsonrpc: '2.0', id, result }),
        (error: unknown) => deliver({ jsonrpc: '2.0', id, error: rpcError(error) }),
      );
    },
    async close() {
      if (closed) return;
      closed = true;
      transport.onclose?.();
    },
  };
  return transport;
}

class RpcError extends Error {
  readonly code: number;
  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

function rpcError(error: unknown): { code: number; message: string } {
  if (error instanceof RpcError) return { code: error.code, message: error.message };
  return { code: INTERNAL_ERROR, message: error instanceof Error ? error.message : String(error) };
}

async function answer(
  info: ServerInfo,
  tools: readonly ServedTool[],
  method: string,
  params: Readonly<Record<string, unknown>>,
): Promise<Record<string, unknown>> {
  switch (method) {
    case 'initialize':
      return { protocolVersion: PROTOCOL_VERSION, capabilities: { tools: {} }, serverInfo: info };
    case 'ping':
      return {};
    case 'tools/list':
      return { tools: tools.map(({ definition }) => definition) };
    case 'tools/call': {
      const tool = tools.find(({ definition }) => definition.name === params.name);
      if (!tool) throw new RpcError(INVALID_PARAMS, `Unknown tool: ${String(params.name)}`);
      return call(tool, params.arguments);
    }
    default:
      throw new RpcError(METHOD_NOT_FOUND, `Method not found: ${method}`);
  }
}

async function call(tool: ServedTool, args: unknown): Promise<Record<string, unknown>> {
  try {
    const { words, result } = await tool.handle((args ?? {}) as Record<string, unknown>);
    return { content: [{ type: 'text', text: words }], structuredContent: result };
  } catch (error) {
    if (!(error instanceof ToolFailure)) throw error;
    return { content: [{ type: 'text', text: error.message }], isError: true };
  }
}
