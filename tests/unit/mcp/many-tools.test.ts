/** A thousand tools on twenty servers: what is done grows with their number, and no faster. */
import { describe, expect, it, vi } from 'vitest';
import { modelNames } from '../../../src/mcp/names.ts';
import { createToolbox } from '../../../src/mcp/toolbox.ts';
import type { Stock, Toolbox, ToolCaller } from '../../../src/mcp/types.ts';
import type { ServerRecord, ToolListRecord } from '../../../src/store/records.ts';
import type { Change } from '../../../src/store/store.ts';
import { newHost, newStore } from './setup.ts';

const WORDS = 'order invoice note photo route ticket room meal seat bill letter parcel'.split(' ');

const server = (at: number): ServerRecord => ({
  id: `s${at}`,
  name: `Server ${at}`,
  url: `https://s${at}.example/mcp`,
  addedAt: at,
  enabled: true,
  trustHints: false,
  private: false,
});

function listOf(at: number, count: number): ToolListRecord {
  return {
    server: `s${at}`,
    fetchedAt: Date.now(),
    ttlMs: 3_600_000,
    off: [],
    tools: Array.from({ length: count }, (_, tool) => ({
      name: `get_${WORDS[tool % WORDS.length]}_${tool}`,
      description: `Get the ${WORDS[(tool + at) % WORDS.length]} of a customer.`,
      inputSchema: { type: 'object', properties: { id: { type: 'string' } } },
      pin: `${at}/${tool}`,
    })),
  };
}

/** What is stored of `servers` servers with fifty tools each, with every look at a tool counted. */
function counted(servers: number) {
  let looks = 0;
  const watched = <T extends object>(value: T): T =>
    new Proxy(value, {
      get(target, key, receiver) {
        looks += 1;
        return Reflect.get(target, key, receiver) as unknown;
      },
    });
  const all = Array.from({ length: servers }, (_, at) => listOf(at, 50));
  const stock: Stock = {
    servers: all.map((_, at) => server(at)),
    lists: new Map(
      all.map((list) => [list.server, { ...list, tools: list.tools.map((tool) => watched(tool)) }]),
    ),
  };
  return { stock, looks: () => looks };
}

function toolboxOver(stock: Stock): { toolbox: Toolbox; change: () => void } {
  const listeners: ((change: Change) => void)[] = [];
  const host: ToolCaller = {
    stock: async () => stock,
    renewStale: () => undefined,
    callTool: () => Promise.reject(new Error('Nothing is called here.')),
    resumeTask: () => Promise.reject(new Error('Nothing is called here.')),
  };
  const changes = {
    announce: () => undefined,
    subscribe(listener: (change: Change) => void) {
      listeners.push(listener);
      return () => undefined;
    },
  };
  const toolbox = createToolbox({ store: { changes }, host, timeZone: () => 'UTC' });
  const change = () => {
    for (const listener of listeners) listener({ topic: 'lists', key: 's0', remote: false });
  };
  return { toolbox, change };
}

describe('an offer', () => {
  const looksAt = async (servers: number): Promise<{ first: number; later: number }> => {
    const { stock, looks } = counted(servers);
    const { toolbox, change } = toolboxOver(stock);
    const budget = { maxTools: 8, maxTokens: 1e9, cost: () => 1 };
    await toolbox.offer('the invoice of a customer', budget);
    const first = looks();
    change();
    await toolbox.offer('the photo of a customer', budget);
    return { first, later: looks() - first };
  };

  it('of twenty times as many tools looks at each of them no more often', async () => {
    const [few, many] = [await looksAt(1), await looksAt(20)];
    expect(few.first).toBeGreaterThan(50);
    expect(many.first).toBeLessThanOrEqual(few.first * 20);
  });

  it('after a change that left all definitions as they are reads none of their words again', async () => {
    const { first, later } = await looksAt(20);
    expect(later).toBeLessThan(first);
  });

  it('counts the tokens of those that it may take, not of all', async () => {
    const { stock } = counted(20);
    const { toolbox } = toolboxOver(stock);
    let counts = 0;
    const cost = () => {
      counts += 1;
      return 100;
    };
    const offer = await toolbox.offer('x', { maxTools: 128, maxTokens: 4_000, cost });
    expect(offer).toMatchObject({ omitted: 960 });
    expect(counts).toBeLessThan(100);
  });
});

describe('names', () => {
  it('of a thousand tools that are all called the same are found in a few tries each', () => {
    const has = vi.spyOn(Set.prototype, 'has');
    const names = modelNames(
      Array.from({ length: 1_000 }, () => ({ serverName: 'Notes', tool: 'search' })),
    );
    const tries = has.mock.calls.length;
    has.mockRestore();
    expect(new Set(names).size).toBe(1_000);
    expect(tries).toBeLessThan(6_000);
  });
});

describe('the list of servers', () => {
  it('is read whole once, and after a change only what has changed', async () => {
    const store = await newStore();
    for (let at = 0; at < 20; at += 1) {
      await store.servers.put(server(at));
      await store.lists.put(listOf(at, 50));
    }
    const all = vi.spyOn(store.lists, 'all');
    const get = vi.spyOn(store.lists, 'get');
    const { host } = await newHost({ store });
    const before = await host.list();
    for (let times = 0; times < 10; times += 1) await host.list();
    expect(before.flatMap(({ tools }) => tools)).toHaveLength(1_000);
    await host.setTool('s3', 'get_order_0', false);
    const after = await host.list();
    expect(after[3]?.tools[0]).toMatchObject({ on: false });
    expect(all).toHaveBeenCalledTimes(1);
    expect(get).toHaveBeenCalledTimes(1);
    // What did not change is the same object, so a screen has nothing to draw.
    expect(after[2]?.tools).toBe(before[2]?.tools);
    expect(after[3]?.tools).not.toBe(before[3]?.tools);
  });
});
