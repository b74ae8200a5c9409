/**
 * Which tools of a renewed list are held back. Promise: a tool whose definition is not the one that
 * the person knows is held, however it changed: at once, after it was gone for a while, or step by step.
 */
import type { ToolListRecord } from '../store/records.ts';

type Known = NonNullable<ToolListRecord['held']>;

/** Gone tools that were off are remembered up to this number, the newest ones. */
const MOST = 500;

/**
 * The definitions that the person knows, of tools that have changed or are gone in `fresh`. One that
 * is on, or would be as soon as it came back, is never driven out by a number of others.
 */
export function holdBack(
  old: Pick<ToolListRecord, 'tools' | 'held'> &
    Partial<Pick<ToolListRecord, 'off' | 'missing' | 'rule'>>,
  fresh: ToolListRecord['tools'],
): Known {
  const held = old.held ?? [];
  const heldNames = new Set(held.map(({ name }) => name));
  const known = [...held, ...old.tools.filter(({ name }) => !heldNames.has(name))];
  const pins = new Map(fresh.map(({ name, pin }) => [name, pin]));
  const changed = known.filter(({ name, pin }) => pins.get(name) !== pin);
  const off = new Set(old.off);
  const lasting = new Set([
    ...pins.keys(),
    ...(old.missing ?? []).map(({ name }) => name),
    ...old.tools.map(({ name }) => name).filter((name) => !off.has(name)),
  ]);
  // What comes back under a rule may be on at once, also where it was not covered before.
  const others = old.rule ? [] : changed.filter(({ name }) => !lasting.has(name));
  const forgotten = new Set(others.slice(0, -MOST));
  return changed.filter((tool) => !forgotten.has(tool));
}

/** Names of listed tools that are held back. */
export function heldNames(list: Pick<ToolListRecord, 'tools' | 'held'> | undefined): Set<string> {
  const listed = new Map((list?.tools ?? []).map(({ name, pin }) => [name, pin]));
  return new Set(
    (list?.held ?? [])
      .filter(({ name, pin }) => listed.has(name) && listed.get(name) !== pin)
      .map(({ name }) => name),
  );
}

/** Takes over a changed definition; none where it has changed once more since it was shown. */
export function accepted(list: ToolListRecord, name: string, pin: string): ToolListRecord {
  if (!list.tools.some((tool) => tool.name === name && tool.pin === pin)) return list;
  return { ...list, held: (list.held ?? []).filter((tool) => tool.name !== name) };
}
