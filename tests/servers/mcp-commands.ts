/** The MCP test servers, as commands that a test in the browser can give to Node. */
import type { BrowserCommand } from 'vitest/node';
import { startBroken, type BrokenOptions } from './broken.ts';
import { startAsking } from './asking.ts';
import { startEverything } from './everything.ts';
import { startLegacy, type LegacyOptions } from './legacy.ts';
import type { Counts } from './mcp-http.ts';
import { startProxy } from './proxy.ts';
import { startTravel, type TravelOptions } from './travel.ts';
import { startUnruly, type FaultName } from './unruly.ts';

/** Which server, and what is wrong with it; all of it plain data. */
export type McpServerSpec =
  | ({ readonly kind: 'travel' } & Pick<TravelOptions, 'weather' | 'headers' | 'eras'>)
  | ({ readonly kind: 'legacy' } & LegacyOptions)
  | ({ readonly kind: 'broken' } & BrokenOptions)
  /** The public server with every primitive of the older era. */
  | { readonly kind: 'everything'; readonly over: 'streamableHttp' | 'sse' }
  /** Asks before it answers, in the ways of the newer era. */
  | { readonly kind: 'asking' }
  /** Commits a fault of the book; with `onCall`, only when a tool is called. */
  | { readonly kind: 'unruly'; readonly fault: FaultName; readonly onCall?: boolean }
  /** The person's own proxy, which is no server itself. */
  | { readonly kind: 'proxy'; readonly origin: string }
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
    case 'asking':
      return startAsking();
    case 'everything':
      return { ...(await startEverything(spec.over)), counts: () => ({}) };
    case 'unruly': {
      const { url, close } = await startUnruly();
      const phase = spec.onCall ? 'call' : 'always';
      return { url: url(spec.fault, phase), counts: () => ({}), close };
    }
    case 'proxy': {
      const { url, close } = await startProxy({ origin: spec.origin });
      return { url, counts: () => ({}), close };
    }
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

/** Where the app is served in the tests of an https page; nothing of it leaves the browser. */
const secureOrigin = (denied: boolean) => `https://${denied ? 'far' : 'near'}.deft.test`;

/**
 * Opens the modules of this server on a page of an https origin, with a stored server at `url`, and
 * gives the error of renewing its list. `denied`: the browser keeps the page from devices near by.
 */
const refreshFromSecurePage: BrowserCommand<[url: string, denied: boolean]> = async (
  { context, page: tester },
  url,
  denied,
) => {
  const { origin } = new URL(tester.url());
  const secure = secureOrigin(denied);
  // What is granted here is all that the origin gets: without it, devices near by are denied.
  await context.grantPermissions([denied ? 'notifications' : 'local-network-access'], {
    origin: secure,
  });
  const page = await context.newPage();
  try {
    await page.route(`${secure}/**`, async (route) => {
      const { pathname, search } = new URL(route.request().url());
      if (pathname === '/')
        await route.fulfill({ contentType: 'text/html', body: '<!doctype html>' });
      else
        await route.fulfill({ response: await route.fetch({ url: origin + pathname + search }) });
    });
    await page.goto(`${secure}/`);
    return await page.evaluate(async (address) => {
      // Vitest's server has each import of a module go through this, which its own pages have.
      Object.assign(globalThis, {
        __vitest_browser_runner__: { wrapDynamicImport: (load: () => unknown) => load() },
      });
      const path = '/tests/browser/mcp/secure-page.ts';
      const { refreshStored } = (await import(path)) as {
        refreshStored: (url: string) => Promise<unknown>;
      };
      return refreshStored(address);
    }, url);
  } finally {
    await page.close();
  }
};

export const mcpCommands = { startMcpServer, stopMcpServer, mcpCounts, refreshFromSecurePage };

declare module 'vitest/internal/browser' {
  interface BrowserCommands {
    startMcpServer: (spec: McpServerSpec) => Promise<string>;
    stopMcpServer: (url: string) => Promise<void>;
    mcpCounts: (url: string) => Promise<Counts>;
    refreshFromSecurePage: (url: string, denied: boolean) => Promise<unknown>;
  }
}
