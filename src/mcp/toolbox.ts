/**
 * The toolbox: which tools a request is offered, how a model's call becomes a call of a tool, and the
 * call itself. Remote tools and the phone's own are treated alike.
 *
 * Promise: an offer is made from the stored lists alone, and waits for no network.
 */
import type { Store } from '../store/store.ts';
import type { bindArguments } from './bind.ts';
import { buildIndex, type Index } from './bm25.ts';
import { searchText } from './search-text.ts';
import { allTools } from './tools.ts';
import type { Binding, OfferBudget, Tool, Toolbox, ToolCaller } from './types.ts';

export interface ToolboxOptions {
  readonly store: Pick<Store, 'changes'>;
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
  /** What each of them is found by, by position. */
  readonly texts: readonly string[];
  /** Over the same tools, by position. */
  readonly index: Index;
}

/**
 * A model that takes no more tools than this is a small one: each tool that does not fit makes it
 * worse and slower, so it is offered only those that share a word with the request.
 */
const FEW_TOOLS = 8;

/** After this many tools in a row that do not fit, no smaller one is looked for: counting costs time. */
const MISSES = 16;

export function createToolbox(options: ToolboxOptions): Toolbox {
  const { store, host, timeZone, locale = () => 'en-GB' } = options;
  let snapshot: Promise<Snapshot> | null = null;
  /** What was known before the last change. */
  let earlier: Snapshot | null = null;
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
    const { servers, lists } = await host.stock();
    const found = allTools(servers, lists);
    const tools = found.map(({ tool }) => tool);
    // Most changes leave the definitions as they are: a list was renewed, a server had an error.
    const same = earlier && samePins(earlier.tools, tools) ? earlier : null;
    const texts = same?.texts ?? found.map(({ definition }) => searchText(definition));
    earlier = { tools, texts, index: same?.index ?? buildIndex(texts) };
    return earlier;
  }

  async function find(server: string, name: string, pin: string): Promise<Tool | null> {
    const { tools } = await current();
    return (
      tools.find((tool) => tool.server === server && tool.name === name && tool.pin === pin) ?? null
    );
  }

  return {
    async offer(request, budget) {
      const [{ tools, texts, index }, { bindArguments }, { matchOf }] = await Promise.all([
        current(),
        import('./bind.ts'),
        import('./match.ts'),
      ]);
      bindWith = bindArguments;
      host.renewStale();
      const { chosen, best } = choose(tools, index.search(request), budget);
      const match = matchOf(
        request,
        chosen.map((position) => texts[position] ?? ''),
      );
      return {
        tools: chosen.flatMap((position) => tools[position] ?? []),
        best,
        omitted: tools.length - chosen.length,
        ...(match === undefined ? {} : { match }),
      };
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

    find,

    async call({ tool, args }, signal, watch) {
      // The last look before it is sent: a yes is for the definition that was shown.
      const listed = await find(tool.server, tool.name, tool.pin).catch(() => null);
      if (listed) return host.callTool(tool, args, signal, watch);
      return {
        kind: 'unavailable',
        code: 'changed',
        message: `${tool.title} has changed or is gone, so it was not called.`,
        advice: 'Look at the tool under Servers, then ask again.',
      };
    },
    resume: ({ tool }, task, signal, watch) => host.resumeTask(tool, task, signal, watch),
  };
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
): { chosen: readonly number[]; best: number } {
  const score = (position: number) => scores.get(position) ?? 0;
  const ranked = [...tools.keys()].sort((a, b) => score(b) - score(a) || a - b);
  const matching = ranked.slice(0, scores.size);
  const best = ranked[0] === undefined ? 0 : score(ranked[0]);
  const costs = new Map<number, number>();
  const costOf = (position: number): number => {
    const tool = tools[position];
    const cost = costs.get(position) ?? (tool ? budget.cost(tool) : Infinity);
    costs.set(position, cost);
    return cost;
  };
  let chosen = fill(budget.maxTools <= FEW_TOOLS ? matching : ranked, budget, costOf);
  if (budget.maxTools > FEW_TOOLS && chosen.length < ranked.length && best > 0)
    chosen = fill(matching, budget, costOf);
  return { chosen, best };
}

function fill(
  ranked: readonly number[],
  budget: OfferBudget,
  costOf: (position: number) => number,
): number[] {
  const chosen: number[] = [];
  let left = budget.maxTokens;
  let misses = 0;
  for (const position of ranked) {
    if (chosen.length >= budget.maxTools || misses >= MISSES) break;
    const cost = costOf(position);
    misses = cost > left ? misses + 1 : 0;
    if (cost > left) continue;
    left -= cost;
    chosen.push(position);
  }
  return chosen;
}

function samePins(before: readonly Tool[], now: readonly Tool[]): boolean {
  return before.length === now.length && now.every(({ pin }, at) => before[at]?.pin === pin);
}

function unknownTool(name: string, offered: readonly Tool[]): string {
  const names = offered.map((tool) => tool.modelName);
  const others =
    names.length > 0
      ? `The tools are: ${names.join(', ')}.`
      : 'No tool is at hand; answer in words.';
  return `There is no tool ${name.slice(0, 80)}. ${others}`;
}
