/** A store and a host in a real page, and servers in Node that the page reaches over HTTP. */
import { commands } from 'vitest/browser';
import { createHost, type HostOptions } from '../../../src/mcp/host.ts';
import type { Host, Tool, ToolCaller } from '../../../src/mcp/types.ts';
import { createPhone } from '../../../src/phone/phone.ts';
import { openStore } from '../../../src/store/open.ts';
import type { Store } from '../../../src/store/store.ts';
import type { McpServerSpec } from '../../servers/mcp-commands.ts';

const cleanups: (() => Promise<unknown> | void)[] = [];

/** To be called after each test. */
export async function tidy(): Promise<void> {
  for (const clean of cleanups.splice(0).reverse()) await clean();
}

export async function serve(spec: McpServerSpec): Promise<string> {
  const url = await commands.startMcpServer(spec);
  cleanups.push(() => commands.stopMcpServer(url));
  return url;
}

export interface World {
  readonly store: Store;
  readonly host: Host & ToolCaller;
}

export async function openWorld(options: Partial<HostOptions> = {}): Promise<World> {
  const name = `mcp-${crypto.randomUUID()}`;
  const store = await openStore({ name, channel: false });
  const host = createHost({ inPage: [createPhone({ store })], ...options, store });
  cleanups.push(async () => {
    await host.close();
    store.close();
    indexedDB.deleteDatabase(name);
  });
  return { store, host };
}

/** A tool as the toolbox gives it, with what a call needs of it. */
export function toolOf(server: string, name: string, readOnly = false): Tool {
  return {
    server,
    serverName: server,
    name,
    modelName: name,
    title: name,
    description: '',
    inputSchema: { type: 'object' },
    annotations: {},
    pin: '',
    local: false,
    readOnly,
    idempotent: readOnly,
    private: false,
  };
}

export const never = (): AbortSignal => new AbortController().signal;
