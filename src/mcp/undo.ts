/**
 * How a call is undone: by another tool of the same server, which the tool names in its `_meta`, or
 * which the person chose. Pure. Promises: nothing is offered whose arguments cannot all be filled and
 * do not fit the tool; what a server says here never reaches a model, and is never more than a wish.
 *
 * In a definition: `"_meta": { "deft/undo": { "tool": "delete_event", "arguments": { "id":
 * "$result.id", "calendar": "$args.calendar" } } }`.
 */
import type { CallPart, Outcome, ToolListRecord, UndoRule } from '../store/records.ts';
import { isDeeper, MAX_DEPTH } from './depth.ts';
import { coerce, findProblems, isObject } from './schema.ts';
import { allTools } from './tools.ts';
import type { Stock, UndoOffer } from './types.ts';

/** Key in a tool's `_meta`. */
const META_KEY = 'deft/undo';
/** Characters of JSON that a rule may have. */
const LONGEST_RULE = 4_000;
const LONGEST_NAME = 500;
const DEEPEST_RULE = 8;
/** Characters of a text that is looked into for a JSON object. */
const LONGEST_TEXT = 1_000_000;
/** Characters of JSON that the filled arguments may have: a person has to read them. */
const LONGEST_ARGUMENTS = 20_000;

/** A rule of the right form and a modest size; null where there is none. */
export function undoRuleOf(value: unknown): UndoRule | null {
  if (!isObject(value) || isDeeper(value, DEEPEST_RULE)) return null;
  const { tool, arguments: args = {} } = value;
  if (typeof tool !== 'string' || tool === '' || tool.length > LONGEST_NAME) return null;
  if (!isObject(args) || Object.hasOwn(args, '__proto__')) return null;
  const rule: UndoRule = { tool, arguments: args };
  return JSON.stringify(rule).length > LONGEST_RULE ? null : rule;
}

/** What a tool's `_meta` says of how it is undone; null where it says nothing that can be followed. */
export function undoRuleIn(meta: unknown): UndoRule | null {
  return isObject(meta) && Object.hasOwn(meta, META_KEY) ? undoRuleOf(meta[META_KEY]) : null;
}

/** The list with the person's own way to undo a tool; null takes it away. */
export function withUndo(list: ToolListRecord, of: string, rule: UndoRule | null): ToolListRecord {
  const { undo = [], ...rest } = list;
  const others = undo.filter((it) => it.of !== of);
  const all = rule ? [...others, { of, tool: rule.tool, arguments: rule.arguments }] : others;
  return { ...rest, ...(all.length > 0 ? { undo: all } : {}) };
}

/** What would undo a call that ended well; null where that is not known, or cannot be done now. */
export function undoOf({ servers, lists }: Stock, call: CallPart): UndoOffer | null {
  if (call.state !== 'done' || call.outcome?.kind !== 'result' || call.readOnly) return null;
  const list = lists.get(call.server);
  const rule =
    list?.undo?.find(({ of }) => of === call.tool) ??
    list?.tools.find(({ name, pin }) => name === call.tool && pin === call.pin)?.undo;
  if (!rule) return null;
  const found = allTools(servers, lists).find(
    ({ tool }) => tool.server === call.server && tool.name === rule.tool,
  );
  if (!found) return null;
  const { tool } = found;
  const filled = fillArguments(rule, call.args, resultOf(call.outcome));
  if (!filled) return null;
  const args = coerce(filled, tool.inputSchema);
  return findProblems(args, tool.inputSchema) === null ? { tool, args } : null;
}

/** The rule's arguments with every place filled; null where one is empty, or all are too long. */
export function fillArguments(
  rule: UndoRule,
  args: Readonly<Record<string, unknown>>,
  result: unknown,
): Record<string, unknown> | null {
  const filled = fill(rule.arguments, { $args: args, $result: result });
  if (!isObject(filled) || isDeeper(filled, MAX_DEPTH)) return null;
  return JSON.stringify(filled).length > LONGEST_ARGUMENTS ? null : filled;
}

type Sources = Readonly<Record<'$args' | '$result', unknown>>;

const PLACE = /^(\$args|\$result)\.(.+)$/s;

/** Undefined where a place in it is empty. */
function fill(value: unknown, sources: Sources): unknown {
  if (typeof value === 'string') {
    const [, source, path] = PLACE.exec(value) ?? [];
    if (source === undefined || path === undefined) return value;
    return at(sources[source as keyof Sources], path);
  }
  if (Array.isArray(value)) {
    const items = value.map((item) => fill(item, sources));
    return items.includes(undefined) ? undefined : items;
  }
  if (!isObject(value)) return value;
  const members = Object.entries(value).map(([name, inner]) => [name, fill(inner, sources)]);
  return members.some(([, inner]) => inner === undefined) ? undefined : Object.fromEntries(members);
}

/** What lies at a path of names with dots between them; own members alone, nothing that is inherited. */
function at(source: unknown, path: string): unknown {
  let value = source;
  for (const name of path.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name))
      return undefined;
    if (Array.isArray(value) && !/^\d+$/.test(name)) return undefined;
    value = (value as Record<string, unknown>)[name];
  }
  return value ?? undefined;
}

/** The structured result; where there is none, the text's object of JSON. */
function resultOf(outcome: Extract<Outcome, { kind: 'result' }>): unknown {
  if (outcome.structured !== undefined) return outcome.structured;
  const text = outcome.content.find(({ type }) => type === 'text')?.text;
  if (typeof text !== 'string' || text.length > LONGEST_TEXT) return undefined;
  try {
    const parsed: unknown = JSON.parse(text);
    return isObject(parsed) ? parsed : undefined;
  } catch {
    return undefined;
  }
}
