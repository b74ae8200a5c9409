/**
 * How the tools of a server stand: the mode that is in force for each, read off the grants by the
 * gate's own rules. Pure.
 */
import type { Grant, ToolDefinition } from '../store/records.ts';
import { isConsequential } from './consequential.ts';
import { ANY_PIN } from './gate.ts';
import type { ToolMode } from './types.ts';

/** Whether a tool pays, deletes, sends or the like, by what its definition says, whoever is trusted. */
export function isRisky({ name, title, description = '', annotations = {} }: ToolDefinition) {
  const shown = title ?? annotations.title ?? '';
  return isConsequential({ name, title: shown, description, annotations, readOnly: false });
}

/** By name; a tool that is asked about, as is the rule, is left out. */
export function modesOf(
  grants: readonly Grant[],
  tools: readonly (ToolDefinition & { readonly pin: string })[],
): ReadonlyMap<string, ToolMode> {
  const lasting = grants.filter(({ conversation, args }) => conversation === undefined && !args);
  const modes = new Map<string, ToolMode>();
  for (const tool of tools) {
    const own = lasting.filter((grant) => grant.tool === tool.name);
    const isNever = ({ verdict, pin }: Grant): boolean =>
      verdict === 'deny' && (pin === ANY_PIN || pin === tool.pin);
    const lets = ({ verdict, pin, warned }: Grant): boolean =>
      verdict === 'allow' && pin === tool.pin && (warned === true || !isRisky(tool));
    if (own.some(isNever)) modes.set(tool.name, 'never');
    else if (own.some(lets)) modes.set(tool.name, 'allow');
  }
  return modes;
}
