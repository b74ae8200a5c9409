/**
 * Mends a tool's JSON Schema for interfaces that take only a part of the language. What is left out
 * only widens what the model may write; the toolbox checks every call against the whole schema.
 */
import type { JsonSchema } from '../brain.ts';
import { isRecord, list, record, string } from './json.ts';

type Schema = Record<string, unknown>;

function without(schema: JsonSchema, ...keys: readonly string[]): JsonSchema {
  return Object.fromEntries(Object.entries(schema).filter(([key]) => !keys.includes(key)));
}

/** How deep references and nesting are followed; a schema that refers to itself ends here. */
const DEPTH = 12;

/**
 * An object at the root with `properties` and without combinators there: what OpenAI and Anthropic
 * ask for. Alternatives at the root are merged into one object.
 */
export function objectSchema(schema: JsonSchema): JsonSchema {
  const properties: Schema = { ...record(schema.properties) };
  const required = new Set(list(schema.required));
  for (const part of list(schema.allOf).map(record)) {
    Object.assign(properties, record(part.properties));
    for (const name of list(part.required)) required.add(name);
  }
  for (const options of [list(schema.anyOf), list(schema.oneOf)]) {
    for (const option of options.map(record))
      for (const [name, property] of Object.entries(record(option.properties)))
        properties[name] ??= property;
    const [first, ...others] = options.map((option) => new Set(list(record(option).required)));
    for (const name of first ?? [])
      if (others.every((other) => other.has(name))) required.add(name);
  }
  return {
    ...without(schema, '$schema', 'allOf', 'anyOf', 'oneOf', 'enum', 'not', 'required'),
    type: 'object',
    properties,
    ...(required.size > 0 ? { required: [...required] } : {}),
  };
}

/** The same without properties whose names Anthropic refuses; it would refuse the whole request. */
export function anthropicSchema(schema: JsonSchema): JsonSchema {
  const whole = objectSchema(schema);
  const allowed = (name: unknown) => /^[a-zA-Z0-9_.-]{1,64}$/.test(string(name));
  const properties = Object.fromEntries(
    Object.entries(record(whole.properties)).filter(([name]) => allowed(name)),
  );
  const required = list(whole.required).filter(allowed);
  return {
    ...without(whole, 'required'),
    properties,
    ...(required.length > 0 ? { required } : {}),
  };
}

/** Keys of Gemini's Schema that mean the same in JSON Schema (ai.google.dev/api/caching#Schema). */
const SAME_IN_GEMINI = [
  'title',
  'description',
  'minItems',
  'maxItems',
  'minLength',
  'maxLength',
  'pattern',
  'minimum',
  'maximum',
] as const;

/**
 * Gemini's `Schema`: a part of OpenAPI 3.0. References are put in place, unions become `anyOf` and
 * `nullable`, constants become enumerations. Null where a tool takes no arguments, for Gemini
 * refuses an object without properties.
 */
export function geminiSchema(schema: JsonSchema): JsonSchema | null {
  const root = objectSchema(resolve(schema, schema, DEPTH));
  return Object.keys(record(root.properties)).length === 0 ? null : gemini(root, schema, DEPTH);
}

/** Follows a local `$ref` (`#/$defs/…`); words beside it are kept. */
function resolve(schema: JsonSchema, root: JsonSchema, depth: number): JsonSchema {
  const ref = string(schema.$ref);
  if (!ref || depth <= 0) return schema;
  const beside = without(schema, '$ref');
  let found: unknown = root;
  if (!ref.startsWith('#')) return beside;
  for (const step of ref.slice(1).split('/').filter(Boolean))
    found = record(found)[decodeURIComponent(step).replace(/~1/g, '/').replace(/~0/g, '~')];
  return resolve({ ...record(found), ...beside }, root, depth - 1);
}

function gemini(from: JsonSchema, root: JsonSchema, depth: number): JsonSchema {
  let schema = resolve(from, root, depth);
  if (list(schema.allOf).length > 0) {
    const beside = without(schema, 'allOf');
    const parts = list(schema.allOf).map((part) => resolve(record(part), root, depth));
    schema = objectlike(parts)
      ? { ...beside, ...objectSchema({ ...beside, allOf: parts }) }
      : Object.assign({}, ...parts, beside);
  }
  const out: Schema = {};
  for (const key of SAME_IN_GEMINI) if (schema[key] !== undefined) out[key] = schema[key];

  const types = (Array.isArray(schema.type) ? schema.type : [schema.type]).filter(
    (type) => typeof type === 'string',
  );
  const options = [...list(schema.anyOf), ...list(schema.oneOf)].map(record);
  const isNull = (option: JsonSchema) => option.type === 'null' || option.const === null;
  if (types.includes('null') || options.some(isNull)) out.nullable = true;

  const named = types.filter((type) => type !== 'null');
  const real = options.filter((option) => !isNull(option));
  if (depth <= 0) return { ...out, type: named[0] ?? 'string' };
  if (real.length === 1) return { ...gemini(real[0]!, root, depth - 1), ...out };
  if (real.length > 1) {
    out.anyOf = real.map((option) => gemini(option, root, depth - 1));
    return out;
  }
  if (named.length > 1) {
    out.anyOf = named.map((type) => gemini({ ...schema, type, description: undefined }, root, 0));
    return out;
  }

  const values = schema.const !== undefined ? [schema.const] : list(schema.enum);
  const type =
    named[0] ??
    (isRecord(schema.properties)
      ? 'object'
      : schema.items !== undefined
        ? 'array'
        : values.length > 0
          ? kindOf(values[0])
          : 'string');
  out.type = type;
  if (values.length > 0) {
    // Its enumerations are of strings only; of other kinds the values are told in words.
    if (type === 'string') out.enum = values.filter((value) => value !== null).map(String);
    else
      out.description = [string(schema.description), `One of: ${values.map(String).join(', ')}.`]
        .filter(Boolean)
        .join(' ');
  }
  if (type === 'object') {
    const properties = Object.entries(record(schema.properties));
    if (properties.length > 0) {
      out.properties = Object.fromEntries(
        properties.map(([name, property]) => [name, gemini(record(property), root, depth - 1)]),
      );
      const required = list(schema.required).filter((name) =>
        properties.some(([known]) => known === name),
      );
      if (required.length > 0) out.required = required;
    }
  }
  if (type === 'array')
    out.items = gemini(
      record(schema.items ?? list(schema.prefixItems)[0] ?? { type: 'string' }),
      root,
      depth - 1,
    );
  if (type === 'string' && schema.format === 'date-time') out.format = 'date-time';
  return out;
}

function objectlike(parts: readonly JsonSchema[]): boolean {
  return parts.some((part) => part.type === 'object' || isRecord(part.properties));
}

function kindOf(value: unknown): string {
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value === 'boolean' ? 'boolean' : 'string';
}
