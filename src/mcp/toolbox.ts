/**
 * The toolbox: which tools a request is offered, how a model's call becomes a call of a tool, and the
 * call itself. Remote tools and the phone's own are treated alike.
 *
 * Promise: an offer is made from the stored lists alone, and waits for no network.
 */
import type { ServerRecord, ToolDefinition, ToolListRecord } from '../store/records.ts';
import type { Store } from '../store/store.ts';
import type { bindArguments } from './bind.ts';
import { buildIndex, type Index } from './bm25.ts';
import { inOrder } from './host.ts';
import { modelNames } from './names.ts';
import type { Binding, Offer, OfferBudget, Tool, Toolbox, ToolCaller } from './types.ts';

export interface ToolboxOptions {
  readonly store: Pick<Store, 'servers' | 'lists' | 'changes'>;
  readonly host: ToolCaller;
  /** The phone's time zone, an IANA name; asked each time, because phones travel. */
  readonly timeZone: () => string;
  /** The person's language tag: `en-US` reads 4/12 as 12 April, all others as 4 December. */
  readonly locale?: () => string;
}

/** What is known of all tools at one moment. */
interface Snapshot {
  /** Tools that are on, of servers that are on, in the order of the servers. */
  readonly tools: readonly Tool[];
  /** Over the same tools, by position. */
  readonly index: Index;
}

/**
 * A model that takes no more tools than this is a small one: each tool that does not fit makes it
 * worse and slower, so it is offered only those that share a word with the request.
 */
const FEW_TOOLS = 8;

export function createToolbox(options: ToolboxOptions): Toolbox {
  const { store, host, timeZone, locale = () => 'en-GB' } = options;
  let snapshot: Promise<Snapshot> | null = null;
  let bindWith: typeof bindArguments | null = null;

  store.changes.subscribe(({ topic }) => {
    if (topic === 'servers' || topic === 'lists') snapshot = null;
  });

  function current(): Promise<Snapshot> {
    snapshot ??= takeSnapshot().catch((error: unknown) => {
      snapshot = null;
      throw error;
    });
    return snapshot;
  }

  async function takeSnapshot(): Promise<Snapshot> {
    await host.ready();
    const [servers, lists] = await Promise.all([store.servers.all(), store.lists.all()]);
    const found = allTools(servers, lists);
    return {
      tools: found.map(({ tool }) => tool),
      index: buildIndex(found.map(({ text }) => text)),
    };
  }

  return {
    async offer(request, budget) {
      const [{ tools, index }, loaded] = await Promise.all([current(), import('./bind.ts')]);
      bindWith = loaded.bindArguments;
      host.renewStale();
      return choose(tools, index.search(request), budget);
    },

    bind(call, offered, now): Binding {
      if (!bindWith) throw new Error('bind() needs an offer() before it.');
      const tool = offered.find((candidate) => candidate.modelName === call.name);
      if (!tool) return { ok: false, error: unknownTool(call.name, offered) };
      if (!call.args)
        return { ok: false, error: `${call.name}: the arguments are not name=value pairs.` };
      const place = { now, timeZone: timeZone(), locale: locale() };
      const bound = bindWith(call.name, call.args, tool.inputSchema, place);
      if (!bound.ok) return bound;
      return { ok: true, call: { callId: call.id, tool, args: bound.args, days: bound.days } };
    },

    async find(server, name, pin) {
      const { tools } = await current();
      return (
        tools.find((tool) => tool.server === server && tool.name === name && tool.pin === pin) ??
        null
      );
    },

    call: ({ tool, args }, signal, onProgress) => host.callTool(tool, args, signal, onProgress),
  };
}

/**
 * Every tool that is on, with the text that it is found by. Names are given before the others are
 * left out, so that they stay.
 */
function allTools(
  servers: readonly ServerRecord[],
  lists: readonly ToolListRecord[],
): { tool: Tool; text: string }[] {
  const remote = /^https?:/;
  const inPage = servers.filter(({ url }) => !remote.test(url));
  const published = inOrder(servers, inPage).flatMap((server) => {
    const list = lists.find((candidate) => candidate.server === server.id);
    return (list?.tools ?? []).map((definition) => ({
      server,
      definition,
      on: server.enabled && !list?.off.includes(definition.name),
    }));
  });
  const names = modelNames(
    published.map(({ server, definition }) => ({
      serverName: server.name,
      tool: definition.name,
    })),
  );
  return published.flatMap(({ server, definition, on }, position) => {
    if (!on) return [];
    const { annotations = {} } = definition;
    const local = !remote.test(server.url);
    const trusted = local || server.trustHints;
    const readOnly = trusted && annotations.readOnlyHint === true;
    const tool: Tool = {
      server: server.id,
      serverName: server.name,
      name: definition.name,
      modelName: names[position] ?? definition.name,
      title: definition.title ?? annotations.title ?? definition.name,
      description: definition.description ?? '',
      inputSchema: definition.inputSchema,
      annotations,
      pin: definition.pin,
      local,
      readOnly,
      idempotent: readOnly || (trusted && annotations.idempotentHint === true),
      private: server.private,
    };
    return [{ tool, text: searchText(definition) }];
  });
}

/** What a tool is found by: its name twice, its words, what it takes and what it gives. */
function searchText({ name, title = '', description = '', ...schemas }: ToolDefinition): string {
  const taken = wordsOf(schemas.inputSchema, 2);
  const given = wordsOf(schemas.outputSchema, 4);
  return [name, name, title, description, taken, given].join(' ');
}

/** Names, descriptions and allowed values of a schema's properties, some levels deep. */
function wordsOf(schema: unknown, levels: number): string {
  if (levels === 0 || typeof schema !== 'object' || schema === null) return '';
  const { properties, items, description, enum: values } = schema as Record<string, unknown>;
  const inner = Object.entries(properties ?? {}).map(
    ([name, property]) => `${name} ${wordsOf(property, levels - 1)}`,
  );
  return [
    typeof description === 'string' ? description : '',
    Array.isArray(values) ? values.join(' ') : '',
    wordsOf(items, levels - 1),
    ...inner,
  ].join(' ');
}

/**
 * The best tools that fit. A small model is offered only what shares a word with the request. Any
 * other is offered everything where everything fits; where not, what shares no word is left out
 * first, unless nothing does: then it may be a follow-up, and any may be meant.
 */
function choose(
  tools: readonly Tool[],
  scores: ReadonlyMap<number, number>,
  budget: OfferBudget,
): Offer {
  const score = (position: number) => scores.get(position) ?? 0;
  const ranked = tools
    .map((tool, position) => ({ tool, position }))
    .sort((a, b) => score(b.position) - score(a.position) || a.position - b.position);
  const best = ranked[0] ? score(ranked[0].position) : 0;
  const all = ranked.map(({ tool }) => tool);
  const matching = all.slice(0, scores.size);
  let chosen = fill(budget.maxTools <= FEW_TOOLS ? matching : all, budget);
  if (budget.maxTools > FEW_TOOLS && chosen.length < all.length && best > 0)
    chosen = fill(matching, budget);
  return { tools: chosen, best, omitted: tools.length - chosen.length };
}

function fill(ranked: readonly Tool[], budget: OfferBudget): Tool[] {
  const chosen: Tool[] = [];
  let left = budget.maxTokens;
  for (const tool of ranked) {
    if (chosen.length >= budget.maxTools) break;
    const cost = budget.cost(tool);
    if (cost > left) continue;
    left -= cost;
    chosen.push(tool);
  }
  return chosen;
}

function unknownTool(name: string, offered: readonly Tool[]): string {
  const names = offered.map((tool) => tool.modelName);
  const others =
    names.length > 0
      ? `The tools are: ${names.join(', ')}.`
      : 'No tool is at hand; answer in words.';
  return `There is no tool ${name.slice(0, 80)}. ${others}`;
}
