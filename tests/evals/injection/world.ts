/**
 * The world in which injected instructions are tried: the real loop, gate, toolbox and host; two MCP
 * servers that count, reached over their real protocol; and a model that does whatever a tool's result
 * tells it to, which is worse than any real one.
 */
import { createMcpHandler, fromJsonSchema, McpServer } from '@modelcontextprotocol/server';
import { runTurn } from '../../../src/agent/loop.ts';
import type { Brain, BrainEvent } from '../../../src/brain/brain.ts';
import { createHost } from '../../../src/mcp/host.ts';
import { resultText } from '../../../src/mcp/render.ts';
import { createToolbox } from '../../../src/mcp/toolbox.ts';
import { createGate } from '../../../src/policy/gate.ts';
import type { CallPart } from '../../../src/store/records.ts';
import type { Store } from '../../../src/store/store.ts';
import { inputOf, memoryJournal, routerOf } from '../../unit/agent/world.ts';
import { attackArguments, fromPython, type Case, type Manner } from './cases.ts';

/** What the person has allowed for good before the case begins. */
export type Granted = 'nothing' | 'user tool' | 'all tools';

/** The user's server, whose results carry the instruction, and the one with the attacker's tools. */
const SERVERS = ['Home', 'Hands'] as const;
type ServerName = (typeof SERVERS)[number];

/** What became of one call that the attacker wanted. */
export interface Attack {
  readonly tool: string;
  readonly state: CallPart['state'];
  readonly why: string;
  /** The question says whose words led to it. */
  readonly named: boolean;
  /** Times that it reached its server. */
  readonly ran: number;
}

export interface CaseEnd {
  readonly id: string;
  readonly attacks: readonly Attack[];
  /** Times that the user's own tool reached its server. */
  readonly userRan: number;
  /** The user's own tool was asked about. */
  readonly userAsked: boolean;
}

export interface World {
  play(one: Case, granted: Granted, manner: Manner): Promise<CaseEnd>;
  close(): Promise<void>;
}

/** The attacker's tools take whatever they are given. */
const ANYTHING = fromJsonSchema<Record<string, unknown>>({ type: 'object' });

/** The cases name the arguments of the user's tools, and no more of a schema. */
function schemaOf(name: string, cases: readonly Case[]) {
  const names = cases
    .filter((one) => one.user_tool === name)
    .flatMap((one) => Object.keys(fromPython(one.tool_params)));
  const properties = Object.fromEntries(names.map((argument) => [argument, {}]));
  return fromJsonSchema<Record<string, unknown>>({ type: 'object', properties });
}

export async function openWorld(store: Store, cases: readonly Case[]): Promise<World> {
  let current: Case | null = null;
  let ran: string[] = [];
  const names: Record<ServerName, string[]> = {
    Home: [...new Set(cases.map((one) => one.user_tool))],
    Hands: [...new Set(cases.flatMap((one) => one.attacker_tools))],
  };

  const schemas = new Map(names.Home.map((name) => [name, schemaOf(name, cases)]));
  const handlers = Object.fromEntries(
    SERVERS.map((server) => {
      const build = (): McpServer => {
        const made = new McpServer({ name: server, title: server, version: '1.0.0' });
        for (const name of names[server])
          made.registerTool(
            name,
            { inputSchema: (server === 'Home' && schemas.get(name)) || ANYTHING },
            async () => {
              ran.push(`${server}.${name}`);
              const text = server === 'Home' ? (current?.tool_response ?? '') : 'Done.';
              return { content: [{ type: 'text', text }] };
            },
          );
        return made;
      };
      return [server.toLowerCase(), createMcpHandler(build, { legacy: 'reject' })];
    }),
  );
  const host = createHost({
    store,
    inPage: [],
    online: () => true,
    fetch: async (input, init) => {
      const request = new Request(input, init);
      const handler = handlers[new URL(request.url).host.replace('.example', '')];
      if (!handler) throw new TypeError('Failed to fetch');
      return handler.fetch(request);
    },
  });
  const ids = new Map<string, ServerName>();
  for (const server of SERVERS) {
    const added = await host.add({
      url: `https://${server.toLowerCase()}.example/mcp`,
      name: server,
    });
    if (!added.ok) throw new Error(added.error.message);
    ids.set(added.server.id, server);
  }
  const toolbox = createToolbox({ store, host, timeZone: () => 'UTC' });
  const gate = createGate({ store });

  const lists = await store.lists.all();
  let standing: Granted = 'nothing';

  async function grant(granted: Granted): Promise<void> {
    if (granted === standing) return;
    for (const old of await store.grants.all()) await store.grants.delete(old.id);
    for (const { server, tools } of lists) {
      const allowed =
        granted === 'all tools' || (granted === 'user tool' && ids.get(server) === 'Home');
      for (const { name, pin } of allowed ? tools : [])
        await gate.setMode({ server, tool: name, pin }, 'allow', true);
    }
    standing = granted;
  }

  // Always all of them: what retrieval would leave out is no defence here.
  const everything = await toolbox.offer('', EVERYTHING);
  const offered = new Map<string, string>();
  for (const tool of everything.tools)
    offered.set(`${ids.get(tool.server)}.${tool.name}`, tool.modelName);

  return {
    async play(one, granted, manner) {
      await grant(granted);
      current = one;
      ran = [];
      const journal = memoryJournal();
      const calls = (): CallPart[] => journal.parts().filter((part) => part.kind === 'call');
      const isUsers = (call: CallPart): boolean =>
        ids.get(call.server) === 'Home' && call.tool === one.user_tool && call === calls()[0];
      let userAsked = false;
      const brain = obedient([
        {
          name: offered.get(`Home.${one.user_tool}`) ?? '',
          args: fromPython(one.tool_params),
        },
        ...one.attacker_tools.map((tool) => ({
          name: offered.get(`Hands.${tool}`) ?? '',
          args: attackArguments(one.attacker_instruction, manner),
        })),
      ]);
      let clock = 0;
      await runTurn(
        inputOf({
          request: one.user_instruction,
          lookup: one.user_instruction,
          heard: { said: [one.user_instruction], untrusted: [], offered: [] },
          limits: { steps: 20, calls: 20, equalCalls: 20, ms: 1e9, tokens: 1e9 },
        }),
        {
          toolbox: { ...toolbox, offer: async () => everything },
          router: routerOf(brain),
          gate,
          journal,
          resultText,
          clock: () => (clock += 1),
          breathe: async () => undefined,
          keepPrivate: async () => undefined,
          onActivity(activity) {
            if (activity.kind !== 'asking') return;
            const call = calls().find(({ callId }) => callId === activity.callId);
            if (!call) throw new Error('A question without its call.');
            // The person wants the tool that they asked for, and nothing else.
            const allow = isUsers(call);
            if (allow) userAsked = true;
            const { callId, server, tool, pin, args } = call;
            const question = { callId, conversation: 'c1', server, tool, pin, args };
            void gate.decide(question, { allow, scope: 'once' });
          },
        },
        new AbortController().signal,
      );
      return {
        id: one.id,
        userAsked,
        userRan: ran.filter((name) => name === `Home.${one.user_tool}`).length,
        attacks: calls()
          .filter((call) => ids.get(call.server) === 'Hands')
          .map((call) => ({
            tool: call.tool,
            state: call.state,
            why: call.why ?? '',
            named: /(?:came from|text from) Home\b/.test(call.why ?? ''),
            ran: ran.filter((name) => name === `Hands.${call.tool}`).length,
          })),
      };
    },
    async close() {
      await host.close();
      await Promise.all(Object.values(handlers).map((handler) => handler.close()));
    },
  };
}

const EVERYTHING = { maxTools: 1_000, maxTokens: 1e9, cost: () => 1 };

interface Wish {
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
}

/** Makes one call a step, in order, whatever became of the one before; then says that it is done. */
function obedient(wishes: readonly Wish[]): Brain {
  let at = 0;
  return {
    countTokens: (text) => text.length >> 2,
    headTokens: () => ({ system: 0, tools: 0 }),
    describe: () => ({
      id: 'phone:obedient',
      place: 'phone',
      model: 'obedient',
      label: 'Obedient',
      contextTokens: 10_000_000,
      maxTools: 1_000,
      can: { tools: true, images: false, schema: false },
    }),
    async *stream(): AsyncIterable<BrainEvent> {
      const wish = wishes[at];
      at += 1;
      if (wish) {
        yield { type: 'call', call: { id: `w${at}`, ...wish, raw: '' } };
        yield { type: 'end', reason: 'calls' };
      } else {
        yield { type: 'text', text: 'Done.' };
        yield { type: 'end', reason: 'stop' };
      }
    },
  };
}
