/**
 * A server's tools as its page lists them, and what a tool's schema says about its arguments, in
 * words. All of it is the server's own: untrusted. Pure.
 */
import type { JsonSchema } from '../../brain/brain.ts';
import type { ServerTool, ServerView } from '../../mcp/types.ts';
import type { ToolDefinition, ToolRule } from '../../store/records.ts';
import { isRecord } from '../conversation/values.ts';

export interface Parameter {
  readonly name: string;
  readonly type: string;
  readonly description: string;
  readonly required: boolean;
}

const MOST_CHOICES = 6;

function typeInWords(schema: Record<string, unknown>): string {
  if (Array.isArray(schema.enum)) {
    const values = schema.enum.map((value) => String(value));
    const shown = values.slice(0, MOST_CHOICES).join(', ');
    return `one of ${shown}${values.length > MOST_CHOICES ? ', …' : ''}`;
  }
  const type = Array.isArray(schema.type) ? schema.type.join(' or ') : schema.type;
  if (type === 'array') {
    const inside = isRecord(schema.items) ? typeInWords(schema.items) : 'anything';
    return `list of ${inside}`;
  }
  const format = typeof schema.format === 'string' ? ` (${schema.format})` : '';
  return `${typeof type === 'string' ? type : 'anything'}${format}`;
}

export function parametersOf(schema: JsonSchema): Parameter[] {
  if (!isRecord(schema.properties)) return [];
  const required = Array.isArray(schema.required) ? schema.required : [];
  return Object.entries(schema.properties).map(([name, value]) => {
    const property = isRecord(value) ? value : {};
    return {
      name,
      type: typeInWords(property),
      description: typeof property.description === 'string' ? property.description : '',
      required: required.includes(name),
    };
  });
}

/** Whether all words of a query stand in the texts together, in any case and order. */
export function matches(query: string, ...texts: readonly (string | undefined)[]): boolean {
  const whole = texts.join(' ').toLocaleLowerCase();
  return query
    .toLocaleLowerCase()
    .split(/\s+/)
    .every((word) => whole.includes(word));
}

/** A tool as its server's page lists it; one that the server has no more is missing. */
export type ListedTool =
  | {
      readonly kind: 'tool';
      readonly name: string;
      readonly tool: ServerTool;
      readonly isNew: boolean;
    }
  | {
      readonly kind: 'missing';
      readonly name: string;
      readonly title: string;
      readonly at: number;
    };

/** What the list of a server's tools shows for a query: new ones first, then missing ones, then the rest. */
export function listedTools(
  { tools, appeared, missing }: Pick<ServerView, 'tools' | 'appeared' | 'missing'>,
  query: string,
): ListedTool[] {
  const fresh = new Set(appeared);
  const rows = tools
    .filter((tool) => matches(query, tool.name, titleOf(tool), tool.description))
    .map((tool) => ({ kind: 'tool', name: tool.name, tool, isNew: fresh.has(tool.name) }) as const);
  const gone = missing
    .filter(({ name, title }) => matches(query, name, title))
    .map(({ name, title, at }) => ({ kind: 'missing', name, title: title ?? name, at }) as const);
  return [...rows.filter(({ isNew }) => isNew), ...gone, ...rows.filter(({ isNew }) => !isNew)];
}

export function titleOf(tool: ToolDefinition): string {
  return tool.title ?? tool.annotations?.title ?? tool.name;
}

/** A rule in words, e.g. `those that say they only read and whose name fits get_*`. */
export function ruleWords({ readOnly = false, pattern }: ToolRule): string {
  return [
    ...(readOnly ? ['that say they only read'] : []),
    ...(pattern ? [`whose name fits ${pattern}`] : []),
  ].join(' and ');
}
