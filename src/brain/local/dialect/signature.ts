/**
 * A tool as a Python signature: a third of the tokens that its JSON would take, and what the weights
 * of our own models were trained on.
 */
import type { JsonSchema, ToolSpec } from '../../brain.ts';

export interface Parameter {
  /** The property's own name. */
  readonly key: string;
  /** The name as the model sees it: letters, digits and `_ . $ -` alone. */
  readonly name: string;
  readonly schema: JsonSchema;
  readonly required: boolean;
}

/** Characters of a description that are shown; the lengths that training knew. */
const TOOL_WORDS = 160;
const ARGUMENT_WORDS = 100;
/** More allowed values than these are not listed; the grammar knows them all the same. */
const LISTED_VALUES = 12;

const TYPES: Readonly<Record<string, string>> = {
  string: 'str',
  integer: 'int',
  number: 'float',
  boolean: 'bool',
  array: 'list',
  object: 'dict',
};

/** A JSON object as such, or an empty one: schemas come from strangers. */
export function asSchema(value: unknown): JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as JsonSchema)
    : {};
}

/** The first of the types that is not null. */
export function typeOf(schema: JsonSchema): string | undefined {
  const types = Array.isArray(schema.type) ? schema.type : [schema.type];
  return types.find((type): type is string => typeof type === 'string' && type !== 'null');
}

/** What a local reference (`#/$defs/name`) points to; an empty schema where it points nowhere. */
export function resolve(reference: string, root: JsonSchema): unknown {
  if (!reference.startsWith('#/')) return {};
  return reference
    .slice(2)
    .split('/')
    .map((step) => decoded(step).replace(/~1/g, '/').replace(/~0/g, '~'))
    .reduce<unknown>((place, step) => asSchema(place)[step], root);
}

/** A step of a reference; schemas come from strangers, and not every `%` is an escape. */
function decoded(step: string): string {
  try {
    return decodeURIComponent(step);
  } catch {
    return step;
  }
}

/** A tool's parameters, the required ones first, as the signature and the grammar have them. */
export function parametersOf(tool: ToolSpec): Parameter[] {
  const { properties, required } = tool.inputSchema;
  const needed = new Set<unknown>(Array.isArray(required) ? required : []);
  const taken = new Set<string>();
  const all = Object.entries(asSchema(properties)).flatMap(([key, schema]): Parameter[] => {
    const name = key.replace(/[^\w.$-]+/g, '_');
    if (!/^[A-Za-z_]/.test(name) || name.length > 64 || taken.has(name)) return [];
    taken.add(name);
    return [{ key, name, schema: asSchema(schema), required: needed.has(key) }];
  });
  return [...all.filter((one) => one.required), ...all.filter((one) => !one.required)];
}

/** The signature, the description and a line for each described argument. */
export function signature(tool: ToolSpec): string {
  const parameters = parametersOf(tool);
  const list = parameters
    .map(({ name, schema, required }) => `${name}: ${typeName(schema)}${required ? '' : ' = None'}`)
    .join(', ');
  const described = parameters
    .map(({ name, schema }) => [name, oneLine(schema.description, ARGUMENT_WORDS)] as const)
    .filter(([, words]) => words !== '');
  return [
    `${tool.name}(${list})`,
    `  ${oneLine(tool.description, TOOL_WORDS)}`,
    ...described.map(([name, words]) => `  ${name}: ${words}`),
    '',
  ].join('\n');
}

function typeName(schema: JsonSchema): string {
  if (Array.isArray(schema.enum) && schema.enum.length > 0 && schema.enum.length <= LISTED_VALUES)
    return schema.enum.map((value) => JSON.stringify(value)).join('|');
  const type = typeOf(schema);
  if (type === 'array') {
    const items = TYPES[typeOf(asSchema(schema.items)) ?? ''];
    return items ? `list[${items}]` : 'list';
  }
  return TYPES[type ?? ''] ?? 'any';
}

export function oneLine(text: unknown, longest: number): string {
  const line = typeof text === 'string' ? text.replace(/\s+/g, ' ').trim() : '';
  return line.length > longest ? `${line.slice(0, longest - 1)}…` : line;
}
