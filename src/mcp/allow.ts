/**
 * Which tools of a server are on. Promises: a tool that appears later is off until the person turns
 * it on, unless a rule of theirs covers it; a tool that was on and is gone is kept as missing.
 *
 * `off` alone says what is off. The rule speaks when it is set, when a tool appears, and when a tool
 * comes under it or leaves it; in between the person's switches stand. What a rule covers is on even
 * where it is new: that is what the person wished by giving a rule instead of a choice.
 */
import type { ToolDefinition, ToolListRecord, ToolRule } from '../store/records.ts';

/** As many vanished tools are remembered of one server; older ones are forgotten first. */
const MOST_MISSING = 200;

/** Whether a rule covers a tool; every part of the rule must. */
export function covers(rule: ToolRule, tool: ToolDefinition): boolean {
  if (rule.readOnly && tool.annotations?.readOnlyHint !== true) return false;
  const patterns = (rule.pattern ?? '').split(',').map((pattern) => pattern.trim());
  const given = patterns.filter((pattern) => pattern !== '');
  return given.length === 0 || given.some((pattern) => fits(tool.name, pattern));
}

/** Whether a name fits a pattern in which `*` stands for anything and `?` for one character. */
export function fits(name: string, pattern: string): boolean {
  const [text, mask] = [[...name.toLowerCase()], [...pattern.toLowerCase()]];
  let at = 0;
  let place = 0;
  /** Where the last star is, and how much of the name it has taken so far. */
  let star = -1;
  let taken = 0;
  while (at < text.length) {
    if (place < mask.length && (mask[place] === '?' || mask[place] === text[at])) {
      at += 1;
      place += 1;
    } else if (mask[place] === '*') {
      star = place;
      taken = at;
      place += 1;
    } else if (star >= 0) {
      taken += 1;
      at = taken;
      place = star + 1;
    } else return false;
  }
  return mask.slice(place).every((sign) => sign === '*');
}

/** What a renewal takes over of the list before it. `old` undefined: it is the first list. */
export function renewed(old: ToolListRecord | undefined, fresh: ToolListRecord): ToolListRecord {
  const names = new Set(fresh.tools.map(({ name }) => name));
  // The first list was shown before the server was added.
  if (!old) return { ...fresh, known: [...names] };
  const { rule } = old;
  const known = new Set(old.known ?? old.tools.map(({ name }) => name));
  const off = new Set(old.off);
  const before = new Map(old.tools.map((tool) => [tool.name, tool]));
  const missing = new Map((old.missing ?? []).map((tool) => [tool.name, tool]));
  for (const tool of old.tools)
    if (!names.has(tool.name) && !off.has(tool.name))
      missing.set(tool.name, {
        name: tool.name,
        ...(tool.title === undefined ? {} : { title: tool.title }),
        at: fresh.fetchedAt,
      });
  for (const tool of fresh.tools) {
    const { name } = tool;
    const was = before.get(name);
    const returns = missing.delete(name);
    if (was && rule && covers(rule, was) !== covers(rule, tool)) {
      if (covers(rule, tool)) off.delete(name);
      else off.add(name);
    } else if (!was && !returns) {
      if (rule && covers(rule, tool)) known.add(name);
      else off.add(name);
    }
  }
  const kept = [...missing.values()].slice(-MOST_MISSING);
  const lasting = new Set([...names, ...kept.map(({ name }) => name)]);
  return {
    ...fresh,
    off: [...off].filter((name) => names.has(name)),
    known: [...known].filter((name) => lasting.has(name)),
    ...(rule ? { rule } : {}),
    ...(old.undo ? { undo: old.undo } : {}),
    ...(kept.length > 0 ? { missing: kept } : {}),
  };
}

/** Names of the tools that are off because they are new and nobody has seen them. */
export function appeared({ tools, off, known }: ToolListRecord): readonly string[] {
  if (!known) return [];
  const [seen, without] = [new Set(known), new Set(off)];
  return tools.map(({ name }) => name).filter((name) => !seen.has(name) && without.has(name));
}

/** Turns one tool on or off; a missing one that is turned off is forgotten. */
export function withTool(list: ToolListRecord, tool: string, on: boolean): ToolListRecord {
  const others = list.off.filter((name) => name !== tool);
  const here = list.tools.some(({ name }) => name === tool);
  const missing = list.missing?.filter(({ name }) => on || name !== tool);
  return {
    ...seen(list, tool),
    off: on || !here ? others : [...others, tool],
    ...(missing ? { missing } : {}),
  };
}

/** Turns every listed tool on or off and takes the rule away; missing ones are forgotten where off. */
export function withAll(list: ToolListRecord, on: boolean): ToolListRecord {
  const { rule: before, missing, ...rest } = list;
  return {
    ...seen(rest),
    off: on ? [] : list.tools.map(({ name }) => name),
    ...(on && missing ? { missing } : {}),
  };
}

/** Sets the rule and lets it decide over every tool; null takes it away and changes no tool. */
export function withRule(list: ToolListRecord, rule: ToolRule | null): ToolListRecord {
  const { rule: before, ...rest } = list;
  if (!rule) return rest;
  const off = list.tools.filter((tool) => !covers(rule, tool)).map(({ name }) => name);
  return { ...seen(rest), rule, off };
}

/** Notes that the person has seen a tool, or all of them. */
export function seen(list: ToolListRecord, tool?: string): ToolListRecord {
  const known = list.known ?? list.tools.map(({ name }) => name);
  const names = tool === undefined ? list.tools.map(({ name }) => name) : [tool];
  return { ...list, known: [...new Set([...known, ...names])] };
}
