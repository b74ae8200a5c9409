/**
 * What a reply of the tool_code convention may be: text, or calls of the offered tools with typed
 * arguments, in the notation of either engine: GBNF (llama.cpp) or EBNF (xgrammar). They differ in
 * one thing: xgrammar goes through the whole vocabulary for every state, so that a string of at most
 * 200 characters takes it 80 seconds (262,144 tokens) and one without a bound half a second. There
 * strings have no bound, and what runs away is stopped by its length or as a loop.
 *
 * Promises: white space, lists and nesting are bounded, and strings where the engine can; text may
 * end after any word; a tool that was not offered cannot be called.
 */
import type { JsonSchema, ToolChoice, ToolSpec } from '../brain.ts';
import { asSchema, parametersOf, typeOf } from './dialect/signature.ts';

/** Calls in one reply. */
const MOST_CALLS = 4;
/** Characters of a string without a `maxLength`, and the most that a `maxLength` may ask for. */
const STRING = 200;
const LONGEST_STRING = 600;
/** Entries of a list without `maxItems`, and of an object without `properties`. */
const ITEMS = 12;
const ENTRIES = 8;
/** Deeper than this, a value is a plain one. */
const DEEPEST = 4;

export type Notation = 'gbnf' | 'ebnf';

/** One character of a string, or an escaped one. */
const CHARACTER = '([^"\\\\\\x00-\\x1f] | "\\\\" ["\\\\n])';
/** Longer runs of characters than this are not counted in EBNF. */
const COUNTED = 2;

/** Text of a literal, quoted for a rule. */
function quoted(text: string): string {
  const escaped = text.replace(/[\\"]/g, '\\$&').replace(/\n/g, '\\n').replace(/\t/g, '\\t');
  return `"${escaped}"`;
}

class Rules {
  readonly #notation: Notation;
  readonly #bodies = new Map<string, string>();
  #count = 0;

  constructor(notation: Notation) {
    this.#notation = notation;
  }

  /** Characters, at least `least` and at most `most` of them. */
  run(character: string, least: number, most: number): string {
    if (this.#notation === 'gbnf' || most <= COUNTED) return `${character}{${least},${most}}`;
    return `${least > 0 ? `${character} ` : ''}${character}*`;
  }

  define(name: string, body: string): string {
    this.#bodies.set(name, body);
    return name;
  }

  /** A rule for this body; the same body has one rule. */
  rule(body: string): string {
    for (const [name, known] of this.#bodies) if (known === body) return name;
    this.#count += 1;
    return this.define(`r${this.#count}`, body);
  }

  toString(): string {
    return [...this.#bodies].map(([name, body]) => `${name} ::= ${body}`).join('\n');
  }
}

/**
 * The grammar of a reply. Without tools, or where none may be called, it is text alone; `opening` is
 * what a text must begin with.
 */
export function replyGrammar(
  tools: readonly ToolSpec[],
  choice: ToolChoice,
  notation: Notation,
  opening = '',
): string {
  const rules = new Rules(notation);
  const calls = tools.length > 0 && choice !== 'none';
  const text = choice !== 'required' || tools.length === 0;
  const starts = [...(calls ? ['block'] : []), ...(text ? ['text'] : [])];
  rules.define('root', starts.join(' | '));
  if (calls) defineBlock(rules, tools);
  if (text) defineText(rules, opening);
  return rules.toString();
}

/**
 * Words with bounded white space between them. Code in fences is allowed, but nothing that begins
 * like a block of calls.
 */
function defineText(rules: Rules, opening: string): void {
  const begin = opening === '' ? '' : `${quoted(opening)} `;
  rules.define('text', `${begin}glyph piece* (gap? "\`"{1,3})?`);
  rules.define('piece', 'gap? (glyph | fence)');
  rules.define('gap', '[ ]{1,8} | "\\n"{1,2} [ ]{0,8}');
  rules.define('glyph', '[^` \\t\\n\\r]');
  rules.define('fence', '"`"{1,3} ([^t`] | "t" [^o`])');
}

function defineBlock(rules: Rules, tools: readonly ToolSpec[]): void {
  rules.define('block', `"\`\`\`tool_code\\n" call ("\\n" call){0,${MOST_CALLS - 1}} "\\n\`\`\`"`);
  const calls = tools.map((tool) => rules.rule(callBody(rules, tool)));
  rules.define('call', calls.join(' | '));
}

/** The required arguments in their order, then those of the optional ones that are wanted. */
function callBody(rules: Rules, tool: ToolSpec): string {
  const parameters = parametersOf(tool);
  const one = (parameter: (typeof parameters)[number]): string =>
    `${quoted(`${parameter.name}=`)} ${value(rules, parameter.schema, tool.inputSchema, 0)}`;
  const required = parameters.filter((parameter) => parameter.required).map(one);
  const optional = parameters.filter((parameter) => !parameter.required).map(one);
  const tail = (from: number): string =>
    optional
      .slice(from)
      .map((argument) => ` (", " ${argument})?`)
      .join('');
  let list = '';
  if (required.length > 0) list = required.join(' ", " ') + tail(0);
  else if (optional.length > 0)
    list = `(${optional.map((argument, at) => argument + tail(at + 1)).join(' | ')})?`;
  return [quoted(`${tool.name}(`), list, '")"'].filter(Boolean).join(' ');
}

/** The name of a rule for the values of a schema. */
function value(rules: Rules, schema: JsonSchema, root: JsonSchema, depth: number): string {
  const literals = allowed(schema);
  if (literals) return rules.rule(literals.map((text) => quoted(text)).join(' | '));
  if (depth >= DEEPEST) return any(rules);
  const inner = (next: unknown): string => value(rules, asSchema(next), root, depth + 1);
  if (typeof schema.$ref === 'string') return inner(resolve(schema.$ref, root));
  const variants = schema.anyOf ?? schema.oneOf;
  if (Array.isArray(variants) && variants.length > 0) {
    const real = variants.filter((variant) => asSchema(variant).type !== 'null');
    return rules.rule([...new Set(real.map(inner))].join(' | ') || any(rules));
  }
  switch (typeOf(schema)) {
    case 'string':
      return string(rules, schema);
    case 'integer':
      return rules.define('int', '"-"? ("0" | [1-9] [0-9]{0,14})');
    case 'number':
      return number(rules);
    case 'boolean':
      return rules.define('bool', '"True" | "False"');
    case 'array': {
      const item = schema.items === undefined ? any(rules) : inner(schema.items);
      return rules.rule(list('"["', item, '"]"', schema.minItems, schema.maxItems));
    }
    case 'object':
      return object(rules, schema, inner);
    default:
      return any(rules);
  }
}

/** What is written for each allowed value, or null where any value goes. */
function allowed(schema: JsonSchema): string[] | null {
  const values = 'const' in schema ? [schema.const] : schema.enum;
  if (!Array.isArray(values) || values.length === 0) return null;
  return values.map((one) =>
    one === null ? 'None' : one === true ? 'True' : one === false ? 'False' : JSON.stringify(one),
  );
}

function string(rules: Rules, schema: JsonSchema): string {
  const bound = (wanted: unknown, otherwise: number): number =>
    Number.isSafeInteger(wanted) && Number(wanted) >= 0 ? Number(wanted) : otherwise;
  const most = Math.min(bound(schema.maxLength, STRING), LONGEST_STRING);
  const least = Math.min(bound(schema.minLength, 0), most);
  return rules.rule(`"\\"" ${rules.run(CHARACTER, least, most)} "\\""`);
}

function number(rules: Rules): string {
  return rules.define('num', '"-"? ("0" | [1-9] [0-9]{0,14}) ("." [0-9]{1,9})?');
}

function any(rules: Rules): string {
  const text = string(rules, {});
  rules.define('bool', '"True" | "False"');
  return rules.define('any', `${text} | ${number(rules)} | bool`);
}

function list(open: string, item: string, close: string, least: unknown, most: unknown): string {
  const max = Number.isSafeInteger(most) ? Math.min(Number(most), 64) : ITEMS;
  if (max <= 0) return `${open} ${close}`;
  const some = `${item} (", " ${item}){0,${max - 1}}`;
  return Number(least) >= 1 ? `${open} ${some} ${close}` : `${open} (${some})? ${close}`;
}

function object(rules: Rules, schema: JsonSchema, inner: (next: unknown) => string): string {
  const properties = Object.entries(asSchema(schema.properties));
  if (properties.length === 0) {
    const entry = rules.rule(`${string(rules, {})} ": " ${any(rules)}`);
    return rules.rule(list('"{"', entry, '"}"', 0, ENTRIES));
  }
  const required = new Set<unknown>(Array.isArray(schema.required) ? schema.required : []);
  const entry = ([key, next]: [string, unknown]): string =>
    `${quoted(`${JSON.stringify(key)}: `)} ${inner(next)}`;
  const needed = properties.filter(([key]) => required.has(key)).map(entry);
  const optional = properties.filter(([key]) => !required.has(key)).map(entry);
  const tail = (from: number): string =>
    optional
      .slice(from)
      .map((one) => ` (", " ${one})?`)
      .join('');
  const body =
    needed.length > 0
      ? needed.join(' ", " ') + tail(0)
      : `(${optional.map((one, at) => one + tail(at + 1)).join(' | ')})?`;
  return rules.rule(`"{" ${body} "}"`);
}

/** What a local reference (`#/$defs/name`) points to; an empty schema where it points nowhere. */
function resolve(reference: string, root: JsonSchema): unknown {
  if (!reference.startsWith('#/')) return {};
  return reference
    .slice(2)
    .split('/')
    .map((step) => decodeURIComponent(step).replace(/~1/g, '/').replace(/~0/g, '~'))
    .reduce<unknown>((place, step) => asSchema(place)[step], root);
}
