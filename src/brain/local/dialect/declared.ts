/**
 * A tool as it is declared to a family that reads JSON Schema: what the model needs and no more,
 * because on a phone the prompt is the cost. References are resolved, descriptions are one line.
 */
import type { JsonSchema, ToolSpec } from '../../brain.ts';
import { asSchema, oneLine, resolve, typeOf } from './signature.ts';

/** Characters of a description that are shown. */
const TOOL_WORDS = 300;
const ARGUMENT_WORDS = 150;
/** More allowed values than these are not listed; the grammar knows them all the same. */
const LISTED_VALUES = 30;
/** Deeper than this, a schema says its type and nothing else. */
const DEEPEST = 4;
/** Nor is a reference followed here: a tree of them grows with every step. */
const DEEPEST_REFERENCE = 2;
const PLAIN = ['format', 'minimum', 'maximum', 'minItems', 'maxItems', 'default'] as const;

/** A tool as the templates take it, which is the form of the clouds' wire. */
export interface Declared {
  readonly type: 'function';
  readonly function: {
    readonly name: string;
    readonly description: string;
    readonly parameters: JsonSchema;
  };
}

export function declared({ name, description, inputSchema }: ToolSpec): Declared {
  const { properties, required } = lean(inputSchema, inputSchema, 0);
  const parameters = {
    type: 'object',
    properties: properties ?? {},
    ...(required === undefined ? {} : { required }),
  };
  return {
    type: 'function',
    function: { name, description: oneLine(description, TOOL_WORDS), parameters },
  };
}

/** A schema without what says nothing to a model. */
export function lean(schema: JsonSchema, root: JsonSchema, depth: number): JsonSchema {
  if (depth > DEEPEST) return typed(schema);
  if (typeof schema.$ref === 'string') {
    const meant = { ...asSchema(resolve(schema.$ref, root)), ...described(schema) };
    return depth < DEEPEST_REFERENCE ? lean(meant, root, depth + 1) : typed(meant);
  }
  const inner = (next: unknown): JsonSchema => lean(asSchema(next), root, depth + 1);
  const variants = [schema.anyOf, schema.oneOf].find((list) => Array.isArray(list)) as
    readonly unknown[] | undefined;
  const real = (variants ?? []).filter((variant) => asSchema(variant).type !== 'null');
  if (real.length === 1) return { ...inner(real[0]), ...described(schema) };
  const { properties, required, items } = schema;
  const fields = Object.entries(asSchema(properties));
  const needed = Array.isArray(required)
    ? required.filter(
        (name): name is string => typeof name === 'string' && name in asSchema(properties),
      )
    : [];
  const values = 'const' in schema ? [schema.const] : schema.enum;
  return {
    ...typed(schema),
    ...described(schema),
    ...(Array.isArray(values) && values.length > 0 && values.length <= LISTED_VALUES
      ? { enum: values }
      : {}),
    ...Object.fromEntries(PLAIN.filter((key) => key in schema).map((key) => [key, schema[key]])),
    ...(real.length > 1 ? { anyOf: real.map(inner) } : {}),
    ...(fields.length > 0
      ? { properties: Object.fromEntries(fields.map(([name, next]) => [name, inner(next)])) }
      : {}),
    ...(needed.length > 0 ? { required: needed } : {}),
    ...(items !== undefined ? { items: inner(items) } : {}),
  };
}

function typed(schema: JsonSchema): JsonSchema {
  const type = typeOf(schema);
  return type === undefined ? {} : { type };
}

function described(schema: JsonSchema): JsonSchema {
  const words = oneLine(schema.description, ARGUMENT_WORDS);
  return words === '' ? {} : { description: words };
}
