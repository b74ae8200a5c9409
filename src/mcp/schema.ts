/**
 * Arguments against a tool's JSON Schema (2020-12, or the draft that the schema names). Promise:
 * values are changed only where nothing is lost; what is wrong is said in a sentence that a model
 * can act on. The schema comes from a server: it may be broken or hostile, and never stops the app.
 */
import { Validator, type OutputUnit, type Schema, type SchemaDraft } from '@cfworker/json-schema';
import type { JsonSchema } from '../brain/brain.ts';

type Args = Readonly<Record<string, unknown>>;

/** Problems named in one message: enough to act on, few enough for a small model. */
const MOST_PROBLEMS = 3;

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The schema of a named property, where the schema says one. */
export function propertySchema(schema: JsonSchema, name: string): JsonSchema | null {
  const { properties } = schema;
  const found =
    isObject(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined;
  return isObject(found) ? found : null;
}

/** The types that a schema allows, as JSON Schema names them; empty where it does not say. */
export function typesOf(schema: JsonSchema): readonly string[] {
  if (typeof schema.type === 'string') return [schema.type];
  if (Array.isArray(schema.type)) return schema.type.filter((type) => typeof type === 'string');
  const options = [schema.anyOf, schema.oneOf].find(Array.isArray) as unknown[] | undefined;
  return options?.flatMap((option) => (isObject(option) ? typesOf(option) : [])) ?? [];
}

/**
 * The arguments with their types put right where nothing is lost by it: "3" for a number, 3 for a
 * string, "true" for a boolean, one value for a list of such, null for an argument that may be left
 * out. Everything else stays as it is.
 */
export function coerce(args: Args, schema: JsonSchema): Record<string, unknown> {
  const required = Array.isArray(schema.required) ? schema.required : [];
  const out: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(args)) {
    const wanted = propertySchema(schema, name);
    const types = wanted ? typesOf(wanted) : [];
    const leftOut = value === null && !required.includes(name) && !types.includes('null');
    if (leftOut && wanted) continue;
    out[name] = wanted ? coerceValue(value, wanted, types) : value;
  }
  return out;
}

function coerceValue(value: unknown, schema: JsonSchema, types: readonly string[]): unknown {
  if (types.length === 0 || types.some((type) => fits(value, type)))
    return isObject(value) ? coerce(value, schema) : coerceItems(value, schema);
  for (const type of types) {
    const changed = convert(value, type);
    if (changed !== undefined) return changed;
  }
  if (types.includes('array') && value !== null) return coerceItems([value], schema);
  return value;
}

function coerceItems(value: unknown, schema: JsonSchema): unknown {
  const { items } = schema;
  if (!Array.isArray(value) || !isObject(items)) return value;
  return value.map((item) => coerceValue(item, items, typesOf(items)));
}

function fits(value: unknown, type: string): boolean {
  switch (type) {
    case 'integer':
      return Number.isInteger(value);
    case 'array':
      return Array.isArray(value);
    case 'object':
      return isObject(value);
    case 'null':
      return value === null;
    default:
      return typeof value === type;
  }
}

function convert(value: unknown, type: string): unknown {
  if (type === 'string' && (typeof value === 'number' || typeof value === 'boolean'))
    return String(value);
  if (typeof value !== 'string') return undefined;
  const text = value.trim();
  if (type === 'boolean' && /^(true|false)$/i.test(text)) return text.toLowerCase() === 'true';
  if (type !== 'number' && type !== 'integer') return undefined;
  if (!/^-?(0|[1-9]\d{0,14})(\.\d{1,10})?$/.test(text)) return undefined;
  const number = Number(text);
  return type === 'number' || Number.isInteger(number) ? number : undefined;
}

/** A number that JSON has no word for would be shown as it is, and sent as nothing. */
function holdsUnsendable(value: unknown): boolean {
  if (typeof value === 'number') return !Number.isFinite(value);
  if (typeof value !== 'object' || value === null) return false;
  return Object.values(value).some(holdsUnsendable);
}

/** What is wrong with the arguments, as one message for the model; null where nothing is. */
export function findProblems(args: Args, schema: JsonSchema): string | null {
  if (holdsUnsendable(args)) return 'A number is too large.';
  const unknown = unknownArguments(args, schema);
  const errors = errorsOf(args, schema);
  const problems = [...unknown, ...leaves(errors).map((error) => sentence(error, args, schema))];
  const distinct = [...new Set(problems)];
  return distinct.length === 0 ? null : distinct.slice(0, MOST_PROBLEMS).join(' ');
}

/**
 * What is wrong with a tool's structured result, as a sentence for the person and the model; null where
 * nothing is, or where the schema itself cannot be followed.
 */
export function findMismatch(structured: unknown, outputSchema: JsonSchema): string | null {
  if (structured === undefined)
    return 'The tool promised structured data and sent none; read its text with care.';
  const errors = errorsOf(structured, outputSchema);
  if (errors.length === 0) return null;
  const problems = leaves(errors).map((error) =>
    sentence(error, structured, outputSchema, { all: 'It', one: 'field' }),
  );
  const named = [...new Set(problems)].slice(0, MOST_PROBLEMS);
  return `The result is not what the tool promised; use it with care. ${named.join(' ')}`;
}

function errorsOf(value: unknown, schema: JsonSchema): OutputUnit[] {
  try {
    return validatorOf(schema)?.validate(value).errors ?? [];
  } catch {
    // A schema that the validator cannot follow, e.g. a reference into the network, is the server's
    // own to check.
    return [];
  }
}

const validators = new WeakMap<JsonSchema, Validator | null>();

function validatorOf(schema: JsonSchema): Validator | null {
  let validator = validators.get(schema);
  if (validator === undefined) {
    try {
      validator = new Validator(withoutTraps(schema) as Schema, draftOf(schema), false);
    } catch {
      validator = null;
    }
    validators.set(schema, validator);
  }
  return validator;
}

function draftOf(schema: JsonSchema): SchemaDraft {
  const named = String(schema.$schema ?? '');
  if (named.includes('draft-07') || named.includes('draft-06')) return '7';
  if (named.includes('draft-04')) return '4';
  return named.includes('2019-09') ? '2019-09' : '2020-12';
}

/**
 * A copy without regular expressions that could take exponential time (a repeated group that
 * repeats inside): the pattern is the server's, and would run on the page's own thread.
 */
function withoutTraps(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withoutTraps);
  if (!isObject(schema)) return schema;
  return Object.fromEntries(
    Object.entries(schema)
      .filter(([key, value]) => !(key === 'pattern' && typeof value === 'string' && isTrap(value)))
      .filter(([key]) => key !== 'patternProperties')
      .map(([key, value]) => [key, withoutTraps(value)]),
  );
}

function isTrap(pattern: string): boolean {
  return pattern.length > 300 || /[+*}][^()]*\)[+*{]|\|[^()]*\)[+*{]|\)\)[+*{]/.test(pattern);
}

/** Names that the schema does not know, where it says all that it knows. */
function unknownArguments(args: Args, schema: JsonSchema): string[] {
  const open = ['additionalProperties', 'patternProperties', 'allOf', 'anyOf', 'oneOf', '$ref'];
  if (!isObject(schema.properties) || open.some((key) => schema[key] !== undefined)) return [];
  const known = Object.keys(schema.properties);
  return Object.keys(args)
    .filter((name) => !known.includes(name))
    .map((name) => unknownSentence(name, known));
}

function unknownSentence(name: string, known: readonly string[]): string {
  const names = known.length > 0 ? `It takes ${known.join(', ')}.` : 'It takes none.';
  return `There is no argument ${clip(name)}. ${names}`;
}

/** The errors that say what is wrong, without those that only lead to them. */
function leaves(errors: readonly OutputUnit[]): OutputUnit[] {
  const parents = new Set(['properties', 'items', 'prefixItems', 'additionalProperties', '$ref']);
  const own = errors.filter((error) => !parents.has(error.keyword));
  const found = own.filter(
    (error) =>
      !own.some(
        (other) => other !== error && other.keywordLocation.startsWith(`${error.keywordLocation}/`),
      ),
  );
  return found.length > 0 ? found : errors.filter((error) => error.keyword !== 'properties');
}

/** What is being checked, in words. */
interface Nouns {
  readonly all: string;
  readonly one: string;
}

const ARGUMENTS: Nouns = { all: 'The arguments', one: 'argument' };

function sentence(
  error: OutputUnit,
  checked: unknown,
  schema: JsonSchema,
  nouns: Nouns = ARGUMENTS,
): string {
  const path = error.instanceLocation.split('/').slice(1).map(decodeURIComponent);
  const name = path.join('.') || nouns.all;
  let wanted: JsonSchema = schema;
  let value: unknown = checked;
  for (const step of path) {
    const next = Array.isArray(value) && isObject(wanted.items) ? wanted.items : null;
    wanted = next ?? propertySchema(wanted, step) ?? {};
    value = isObject(value) || Array.isArray(value) ? Reflect.get(value, step) : undefined;
  }
  const got = clip(JSON.stringify(value) ?? 'nothing');
  switch (error.keyword) {
    case 'required': {
      const missing = /"([^"]+)"\.?$/.exec(error.error)?.[1] ?? '';
      const hint = propertySchema(wanted, missing)?.description;
      const where = path.length > 0 ? `${name}.${missing}` : missing;
      const what = typeof hint === 'string' ? ` (${clip(hint)})` : '';
      return `The ${nouns.one} ${where}${what} is missing.`;
    }
    case 'type':
      return `${name} must be of type ${typesOf(wanted).join(' or ')}, not ${got}.`;
    case 'enum':
    case 'const': {
      const allowed = Array.isArray(wanted.enum) ? wanted.enum : [wanted.const];
      const list = allowed.slice(0, 20).map((option) => JSON.stringify(option));
      return `${name} must be ${list.length > 1 ? 'one of ' : ''}${list.join(', ')}, not ${got}.`;
    }
    case 'format':
      return `${name} must be a ${String(wanted.format)}, not ${got}.`;
    case 'pattern':
      return `${name} must match ${clip(String(wanted.pattern))}, not ${got}.`;
    default:
      return `${name}: ${clip(error.error)}`;
  }
}

function clip(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length > 120 ? `${line.slice(0, 119)}…` : line;
}
