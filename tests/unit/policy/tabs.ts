/**
 * Tabs of one phone that can be killed at any await, over one database, with the real session, loop,
 * gate, toolbox and host, and a server that counts what it is really made to do.
 */
import 'fake-indexeddb/auto';
// Loaded when they are first needed; here before, so that a round of work is a round of work.
import '../../../src/agent/loop.ts';
import '../../../src/mcp/bind.ts';
import '../../../src/mcp/match.ts';
import '../../../src/policy/consequential.ts';
import '../../../src/policy/definitions.ts';
import '../../../src/policy/taint.ts';
import { createMcpHandler, fromJsonSchema, McpServer } from '@modelcontextprotocol/server';
import { onTestFinished } from 'vitest';
import { openSession, type Locks, type Session } from '../../../src/agent/session.ts';
import type { Brain, BrainEvent } from '../../../src/brain/brain.ts';
import { createHost } from '../../../src/mcp/host.ts';
import { resultText } from '../../../src/mcp/render.ts';
import { createToolbox } from '../../../src/mcp/toolbox.ts';
import { createGate } from '../../../src/policy/gate.ts';
import { openStore } from '../../../src/store/open.ts';
import type { Store } from '../../../src/store/store.ts';
import { conversation, freshName } from '../store/helpers.ts';
import { createRouter } from '../../../src/router/router.ts';
import type { ToolMode } from '../../../src/policy/types.ts';

/** A life that ends at its nth step, or when it is ended. */
export interface Life {
  dead: boolean;
  steps: number;
  dieAt: number;
}

const forever = (): Promise<never> => new Promise(() => undefined);

/** Everything asynchronous in it is a step of a life: what was begun takes effect, but nobody hears. */
function mortal<T extends object>(target: T, life: Life): T {
  return new Proxy(target, {
    get(it, name) {
      const value: unknown = Reflect.get(it, name);
      if (typeof value === 'function')
        return (...input: unknown[]): unknown => {
          if (life.dead) return forever();
          const made: unknown = (value as (...input: unknown[]) => unknown).apply(it, input);
          if (!(made instanceof Promise)) return made;
          life.steps += 1;
          if (life.steps >= life.dieAt) life.dead = true;
          return made.then(
            (result: unknown) => (life.dead ? forever() : result),
            (error: unknown) => (life.dead ? forever() : Promise.reject(error as Error)),
          );
        };
      return typeof value === 'object' && value !== null ? mortal(value, life) : value;
    },
  });
}

/** Calls that were wished for so far: each has a number of its own. */
let wishes = 0;

/** Asks for one call, numbered; once it is answered, says that it is done. */
const brain = (life: Life, place: 'phone' | 'cloud'): Brain => ({
  countTokens: (text) => text.length >> 2,
  describe: () => ({
    id: `${place}:test`,
    place,
    model: 'test',
    label: 'Test',
    contextTokens: 100_000,
    maxTools: 100,
    can: { tools: true, images: false, schema: false },
  }),
  async *stream({ messages }): AsyncIterable<BrainEvent> {
    const answered = messages.at(-1)?.role === 'tool';
    const events: BrainEvent[] = answered
      ? [
          { type: 'text', text: 'Done.' },
          { type: 'end', reason: 'stop' },
        ]
      : [
          { type: 'text', text: 'I will.' },
          { type: 'call', call: { id: 'x', name: 'note', args: { n: (wishes += 1) }, raw: '' } },
          { type: 'end', reason: 'calls' },
        ];
    for (const event of events) {
      life.steps += 1;
      if (life.steps >= life.dieAt) life.dead = true;
      if (life.dead) await forever();
      yield event;
    }
  },
});

export interface Tab {
  readonly session: Session;
  readonly life: Life;
  kill(): void;
}

export interface Phone {
  readonly store: Awaited<ReturnType<typeof openStore>>;
  readonly server: string;
  /** What the server was made to do: `conversation/n`, in order. */
  readonly ran: string[];
  /** Pins under which calls were sent, where another was known by then: always empty, or we failed. */
  readonly underOldPin: string[];
  newConversation(): Promise<string>;
  open(conversation: string, dieAt?: number): Promise<Tab>;
  /** The server changes what the tool is, and the phone hears of it. */
  changeDefinition(): Promise<void>;
  acceptChange(): Promise<void>;
  /** The tool's, as it is listed now. */
  pin(): Promise<string>;
  setMode(mode: ToolMode): Promise<void>;
  /** Number of the newest call that was wished for. */
  wished(): number;
}

/** Locks over tabs; those of a killed tab are free. */
function tabLocks(): (life: Life) => Locks {
  const held = new Map<string, { life: Life; done: Promise<void> }>();
  const holder = (name: string) => {
    const entry = held.get(name);
    return entry && !entry.life.dead ? entry : undefined;
  };
  return (life) => ({
    async tryRun(name, work) {
      if (holder(name)) return false;
      const run = work();
      const entry = { life, done: run.catch(() => undefined) };
      held.set(name, entry);
      await run.finally(() => {
        if (held.get(name) === entry) held.delete(name);
      });
      return true;
    },
    held: async (name) => holder(name) !== undefined,
    free: async (name) => {
      while (holder(name)) await tick();
    },
  });
}

/** One round of whatever is due; nothing here waits for a time. */
export const tick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

export async function until(met: () => boolean): Promise<void> {
  while (!met()) await tick();
}

/** A host whose every request goes to one handler in this process; both end with the test. */
export function hostOf(store: Store, handler: ReturnType<typeof createMcpHandler>) {
  const host = createHost({
    store,
    inPage: [],
    online: () => true,
    fetch: async (input, init) => handler.fetch(new Request(input, init)),
  });
  onTestFinished(async () => {
    await host.close();
    await handler.close();
  });
  return host;
}

export async function newPhone(): Promise<Phone> {
  const name = freshName();
  const store = await openStore({ name, channel: true });
  onTestFinished(() => store.close());
  const ran: string[] = [];
  const underOldPin: string[] = [];
  let version = 1;
  let count = 0;
  let current = '';
  const handler = createMcpHandler(
    () => {
      const made = new McpServer({ name: 'notes', title: 'Notes', version: '1.0.0' });
      made.registerTool(
        'note',
        {
          description: `Keeps a number, version ${version}.`,
          inputSchema: fromJsonSchema<{ n: number }>({
            type: 'object',
            properties: { n: { type: 'number' } },
          }),
        },
        async ({ n }) => {
          ran.push(`${current}/${n}`);
          return { content: [{ type: 'text', text: 'ok' }] };
        },
      );
      return made;
    },
    { legacy: 'reject' },
  );
  const host = hostOf(store, handler);
  const added = await host.add({ url: 'https://notes.example/mcp' });
  if (!added.ok) throw new Error(added.error.message);
  const server = added.server.id;
  const pinNow = async () => (await store.lists.get(server))?.tools[0]?.pin ?? '';
  let pin = await pinNow();
  const toolbox = createToolbox({
    store,
    timeZone: () => 'UTC',
    host: {
      ...host,
      callTool(tool, ...rest) {
        if (tool.pin !== pin) underOldPin.push(tool.pin);
        return host.callTool(tool, ...rest);
      },
    },
  });
  const locks = tabLocks();

  return {
    store,
    server,
    ran,
    underOldPin,
    async newConversation() {
      count += 1;
      current = `c${count}`;
      await store.conversations.put(conversation(current, { title: '' }));
      return current;
    },
    async open(id, dieAt = Infinity) {
      const life: Life = { dead: false, steps: 0, dieAt: Infinity };
      const session = await openSession(id, {
        store: mortal(store, life),
        toolbox: mortal(toolbox, life),
        gate: mortal(createGate({ store }), life),
        router: createRouter({
          online: () => true,
          phone: async () => brain(life, 'phone'),
          cloud: async () => brain(life, 'cloud'),
        }),
        resultText,
        locks: locks(life),
        clock: () => Date.now(),
        breathe: tick,
        timeZone: () => 'UTC',
      });
      if (!session) throw new Error('no conversation');
      life.dieAt = dieAt;
      return { session, life, kill: () => void (life.dead = true) };
    },
    async changeDefinition() {
      version += 1;
      const done = await host.refresh(server);
      if (!done.ok) throw new Error(done.error.message);
      pin = await pinNow();
    },
    async acceptChange() {
      await host.acceptTool(server, 'note', await pinNow());
    },
    pin: pinNow,
    async setMode(mode) {
      const tool = { server, tool: 'note', pin: await pinNow() };
      await createGate({ store }).setMode(tool, mode);
    },
    wished: () => wishes,
  };
}
