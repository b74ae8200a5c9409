/** A real MCP server with a tool that only reads and one that writes; it counts how often each ran. */
import { fromJsonSchema, McpServer } from '@modelcontextprotocol/server';

export interface Ran {
  read: number;
  write: number;
}

/** A new server, which adds to `ran`. */
export function countingServer(name: string, ran: Ran): McpServer {
  const server = new McpServer({ name, version: '1.0.0' });
  const inputSchema = fromJsonSchema({ type: 'object', properties: {} });
  const text = (words: string) => ({ content: [{ type: 'text' as const, text: words }] });
  server.registerTool('read', { inputSchema, annotations: { readOnlyHint: true } }, async () => {
    ran.read += 1;
    return text('read');
  });
  server.registerTool('write', { inputSchema }, async () => {
    ran.write += 1;
    return text('written');
  });
  return server;
}
