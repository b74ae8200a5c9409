/** What the tests of this room share: a store, a host over it, tools and signals. */
import 'fake-indexeddb/auto';
import { afterEach } from 'vitest';
import { createHost, type HostOptions } from '../../../src/mcp/host.ts';
import type { Host, InPageServer, Tool, ToolCaller } from '../../../src/mcp/types.ts';
import { openStore, type OpenOptions } from '../../../src/store/open.ts';
import type { Store } from '../../../src/store/store.ts';

const cleanups: (() => Promise<unknown> | void)[] = [];
let databases = 0;

afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean();
});

/** Runs behind the test, last first. */
export function afterTest(clean: () => Promise<unknown> | void): void {
  cleanups.push(clean);
}

export async function newStore(options: OpenOptions = {}): Promise<Store> {
  databases += 1;
  const store = await openStore({ name: `mcp-test-${databases}`, channel: false, ...options });
  afterTest(() => store.close());
  return store;
}

export interface World {
  readonly store: Store;
  readonly host: Host & ToolCaller;
}

export async function newHost(options: Partial<HostOptions> = {}): Promise<World> {
  const store = (options.store as Store | undefined) ?? (await newStore());
  const host = createHost({ inPage: [], ...options, store });
  afterTest(() => host.close());
  return { store, host };
}

/** Starts a server for one test. */
export async function started<T extends { close(): Promise<void> }>(
  starting: Promise<T>,
): Promise<T> {
  const server = await starting;
  afterTest(() => server.close());
  return server;
}

/** A server in the page with nothing behind it; its tools can be offered, not called. */
export function silentServer(id: string, tools: InPageServer['tools'], name = id): InPageServer {
  return {
    id,
    name,
    tools,
    open: () => {
      throw new Error('Nothing is behind it.');
    },
  };
}

/** A tool of a stored server, as the toolbox would give it. */
export function toolOf(
  server: string,
  name: string,
  hints: Partial<Pick<Tool, 'readOnly' | 'idempotent'>> = {},
): Tool {
  return {
    server,
    serverName: 'Test',
    name,
    modelName: name,
    title: name,
    description: '',
    inputSchema: { type: 'object' },
    annotations: {},
    pin: '',
    local: false,
    readOnly: false,
    idempotent: false,
    private: false,
    ...hints,
  };
}

/** Waits until `check` holds; fails with its last answer after five seconds. */
export async function until(check: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 15_000;
  while (!(await check())) {
    if (Date.now() > deadline) throw new Error(`Never came true: ${check.toString()}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

export const never = (): AbortSignal => new AbortController().signal;
