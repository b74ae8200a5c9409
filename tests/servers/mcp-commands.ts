/** The MCP test servers, as commands that a test in the browser can give to Node. */
import type { BrowserCommand } from 'vitest/node';
import { startBroken, type BrokenOptions } from './broken.ts';
import { startLegacy, type LegacyOptions } from './legacy.ts';
import type { Counts } from './mcp-http.ts';
import { startTravel, type TravelOptions } from './travel.ts';

/** Which server, and what is wrong with it; all of it plain data. */
export type McpServerSpec =
  | ({ readonly kind: 'travel' } & Pick<TravelOptions, 'weather' | 'headers' | 'eras'>)
  | ({ readonly kind: 'legacy' } & LegacyOptions)
  | ({ readonly kind: 'broken' } & BrokenOptions)
  /** An address where nobody answers. */
  | { readonly kind: 'dead' };

interface Running {
  counts(): Counts;
  close(): Promise<void>;
}

const servers = new Map<string, Running>();

async function start(spec: McpServerSpec): Promise<{ url: string } & Running> {
  switch (spec.kind) {
    case 'travel':
      return startTravel(spec);
    case 'legacy':
      return startLegacy(spec);
    case 'broken':
      return startBroken(spec);
    case 'dead': {
      const travel = await startTravel();
      await travel.close();
      return { ...travel, close: async () => undefined };
    }
  }
}

/** Starts a server; gives its endpoint. */
const startMcpServer: BrowserCommand<[spec: McpServerSpec]> = async (_context, spec) => {
  const server = await start(spec);
  servers.set(server.url, server);
  return server.url;
};

const stopMcpServer: BrowserCommand<[url: string]> = async (_context, url) => {
  await servers.get(url)?.close();
  servers.delete(url);
};

const mcpCounts: BrowserCommand<[url: string]> = async (_context, url) =>
  servers.get(url)?.counts() ?? {};

export const mcpCommands = { startMcpServer, stopMcpServer, mcpCounts };

declare module 'vitest/internal/browser' {
  interface BrowserCommands {
    startMcpServer: (spec: McpServerSpec) => Promise<string>;
    stopMcpServer: (url: string) => Promise<void>;
    mcpCounts: (url: string) => Promise<Counts>;
  }
}
