/**
 * What a reply may be: thinking where the family has it, then text, or calls of the offered tools with
 * typed arguments, in the form of the family (`CallForm`) and in the notation of either engine: GBNF
 * (llama.cpp) or EBNF (xgrammar). The two differ in one thing: xgrammar goes through the whole
 * vocabulary for every state, so that a string of at most 200 characters takes it 80 seconds (262,144
 * tokens) and one without a bound half a second. There strings have no bound, and what runs away is
 * stopped by its length or as a loop.
 *
 * Promises: white space, lists and nesting are bounded, and strings where the engine can; text may
 * end after any word; a tool that was not offered cannot be called.
 */
import type { JsonSchema, ToolChoice, ToolSpec } from '../brain.ts';
import { namedValues, type Copies } from './copies.ts';
import { asSchema, parametersOf, resolve, typeOf, type Parameter } from './dialect/signature.ts';

/** Characters of a string without a `maxLength`, and the most that a `maxLength` may ask for. */
const STRING = 200;
const LONGEST_STRING = 600;
/** Entries of a list without `maxItems`, and of an object without `properties`. */
const ITEMS = 12;
const ENTRIES = 8;
/** Deeper than this, a value is a plain one. */
const DEEPEST = 4;

export type Notation = 'gbnf' | 'ebnf';

/** How a family writes a call, as literal text and pieces of grammar. */
export interface CallForm {
  /** What stands before the first call, between two and after the last. */
  readonly open: string;
  readonly between: string;
  readonly close: string;
  /** Calls in one reply. */
  readonly most: number;
  /** What stands before and after the arguments of a call. */
  readonly before: (name: string) => string;
  readonly after: string;
  /** Between two arguments; a piece of grammar. */
  readonly comma: string;
  /** An argument's name, with what stands between it and its value; a piece of grammar. */
  readonly key: (parameter: Parameter) => string;
  /** The order of the arguments; default: the required ones first. */
  readonly order?: (a: Parameter, b: Parameter, tool: ToolSpec) => number;
  readonly values: ValueForm;
  readonly text: TextForm;
  /** What stands around thinking. */
  readonly think?: { readonly open: string; readonly close: string };
}

export interface ValueForm {
  /** What stands before and after a string, and one character in it; the last a piece of grammar. */
  readonly quote: string;
  readonly character: string;
  readonly words: { readonly true: string; readonly false: string; readonly null: string };
  /** Text of an allowed string. */
  readonly literal: (text: string) => string;
  /** Between two entries; a piece of grammar. */
  readonly comma: string;
  /** A known property's name, and any other's, with what stands after it; pieces of grammar. */
  readonly key: (name: string) => string;
  readonly anyKey: (string: string) => string;
}

/** What a text may not hold, because a block of calls begins so. */
export interface TextForm {
  /** The character that such a block begins with, and how many of it may follow each other. */
  readonly mark: string;
  readonly run: number;
  /** What may follow the mark; a piece of grammar. */
  readonly next: string;
  /** Characters that a text may not begin with, for a character class. */
  readonly notFirst?: string;
}

/** Text of a literal, quoted for a rule; a bare control character would end it, or the whole grammar. */
export function quoted(text: string): string {
  const escaped = text
    .replace(/[\\"]/g, '\\$&')
    .replace(/\n/g, '\\n')
    .replace(/\t/g, '\\t')
    .replace(/\p{Cc}/gu, (control) => `\\u${control.charCodeAt(0).toString(16).padStart(4, '0')}`);
  return `"${escaped}"`;
}

const TOOL_CODE_VALUES: ValueForm = {
  quote: '"',
  character: '([^"\\\\\\x00-\\x1f] | "\\\\" ["\\\\n])',
  words: { true: 'True', false: 'False', null: 'None' },
  literal: JSON.stringify,
  comma: '", "',
  key: (name) => quoted(`${JSON.stringify(name)}: `),
  anyKey: (string) => `${string} ": "`,
};

/** The tool_code convention: fenced, Python-like. */
export const TOOL_CODE: CallForm = {
  open: '```tool_code\n',
  between: '\n',
  close: '\n```',
  most: 4,
  before: (name) => `${name}(`,
  after: ')',
  comma: '", "',
  key: ({ name }) => quoted(`${name}=`),
  values: TOOL_CODE_VALUES,
  // Code in fences is allowed, but nothing that begins like a block of calls.
  text: { mark: '`', run: 3, next: '([^t`] | "t" [^o`])' },
};

/** Longer runs of characters than this are not counted in EBNF. */
const COUNTED = 2;

class Rules {
  readonly form: CallForm;
  /** Numbers that may be copied, where there are any and copying is wanted. */
  numbers: readonly number[] = [];
  readonly #notation: Notation;
  readonly #bodies = new Map<string, string>();
  #count = 0;

  constructor(form: CallForm, notation: Notation) {
    this.form = form;
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

  has(name: string): boolean {
    return this.#bodies.has(name);
  }

  toString(): string {
    return [...this.#bodies].map(([name, body]) => `${name} ::= ${body}`).join('\n');
  }
}

export interface ReplyGrammar {
  readonly tools: readonly ToolSpec[];
  readonly choice: ToolChoice;
  readonly form: CallForm;
  readonly notation: Notation;
  /** What a text must begin with. */
  readonly opening?: string;
  /** Whether the model may think first. */
  readonly think?: boolean;
  /** Strings and numbers of a call may only be copied from here; default: they are free. */
  readonly copies?: Copies | null;
}

/** The grammar of a reply. Without tools, or where none may be called, it is text alone. */
export function replyGrammar(wanted: ReplyGrammar): string {
  const { tools, choice, form, notation, opening = '', think = false, copies } = wanted;
  const rules = new Rules(form, notation);
  const calls = tools.length > 0 && choice !== 'none';
  const text = choice !== 'required' || tools.length === 0;
  const starts = [...(calls ? ['block'] : []), ...(text ? ['text'] : [])].join(' | ');
  rules.define('root', think && form.think ? `think? (${starts})` : starts);
  if (think && form.think) defineThinking(rules, form.think);
  if (calls && copies) defineCopies(rules, copies);
  if (calls) defineBlock(rules, tools);
  if (text) defineText(rules, opening);
  return rules.toString();
}

/** Anything but what its end begins with. */
function defineThinking(rules: Rules, { open, close }: { open: string; close: string }): void {
  const [first = '', second = ''] = close;
  rules.define('think', `${quoted(open)} thought* ${quoted(close)} [ \\n]{0,2}`);
  rules.define('thought', `[^${first}] | ${quoted(first)} [^${second}${first}]`);
}

/** Words with bounded white space between them. */
function defineText(rules: Rules, opening: string): void {
  const { mark, run, next, notFirst = '' } = rules.form.text;
  const marks = `${quoted(mark)}{1,${run}}`;
  const first = notFirst === '' ? 'glyph' : `[^${mark}${notFirst} \\t\\n\\r]`;
  const begin = opening === '' ? first : `${quoted(opening)} glyph`;
  rules.define('text', `${begin} piece* (gap? ${marks})?`);
  rules.define('piece', 'gap? (glyph | fence)');
  rules.define('gap', '[ ]{1,8} | "\\n"{1,2} [ ]{0,8}');
  rules.define('glyph', `[^${mark} \\t\\n\\r]`);
  rules.define('fence', `${marks} ${next}`);
}

/** Rule of the runs of words that may be copied. */
const SPAN = 'span';

/**
 * A rule for each word: itself, and the run from the next word on where it goes on. As many rules as
 * there are words, whatever the length of a run.
 */
function defineCopies(rules: Rules, { texts, numbers }: Copies): void {
  rules.numbers = numbers;
  const names = texts.flatMap((words, text) => words.map((_, at) => `w${text}x${at}`));
  rules.define(SPAN, names.join(' | '));
  for (const [text, words] of texts.entries())
    for (const [at, { core, joint }] of words.entries()) {
      const next = at + 1 < words.length ? ` (${inString(rules, joint)} w${text}x${at + 1})?` : '';
      rules.define(`w${text}x${at}`, inString(rules, core) + next);
    }
}

/** A text as it stands within the quotes of a string, as a literal. */
function inString(rules: Rules, text: string): string {
  const { quote, literal } = rules.form.values;
  return quoted(literal(text).slice(quote.length, -quote.length));
}

function defineBlock(rules: Rules, tools: readonly ToolSpec[]): void {
  const { open, between, close, most } = rules.form;
  const more = most > 1 ? ` (${quoted(between)} call){0,${most - 1}}` : '';
  const start = open === '' ? '' : `${quoted(open)} `;
  rules.define('block', `${start}call${more}${close === '' ? '' : ` ${quoted(close)}`}`);
  const calls = tools.map((tool) => rules.rule(callBody(rules, tool)));
  rules.define('call', calls.join(' | '));
}

/** All arguments that are required, and those of the others that are wanted. */
function callBody(rules: Rules, tool: ToolSpec): string {
  const { before, after, comma, key, order } = rules.form;
  const parameters = parametersOf(tool);
  const sorted = order ? parameters.sort((a, b) => order(a, b, tool)) : parameters;
  const entries = sorted.map((parameter) => ({
    body: `${key(parameter)} ${value(rules, parameter.schema, tool.inputSchema, 0)}`,
    required: parameter.required,
  }));
  return [quoted(before(tool.name)), inOrder(entries, comma), quoted(after)]
    .filter(Boolean)
    .join(' ');
}

/** Entries in their order, the optional ones only where they are wanted. */
function inOrder(
  entries: readonly { readonly body: string; readonly required: boolean }[],
  comma: string,
): string {
  const tail = (from: number): string =>
    entries
      .slice(from)
      .map(({ body, required }) => ` (${comma} ${body})${required ? '' : '?'}`)
      .join('');
  if (entries.length === 0) return '';
  const firstRequired = entries.findIndex((entry) => entry.required);
  const heads = firstRequired < 0 ? entries : entries.slice(0, firstRequired + 1);
  const starts = heads.map(({ body }, at) => body + tail(at + 1)).join(' | ');
  return firstRequired < 0 ? `(${starts})?` : `(${starts})`;
}

/** The name of a rule for the values of a schema. */
function value(rules: Rules, schema: JsonSchema, root: JsonSchema, depth: number): string {
  const literals = allowed(schema, rules.form.values);
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
      return integer(rules);
    case 'number':
      return number(rules);
    case 'boolean':
      return boolean(rules);
    case 'array': {
      const item = schema.items === undefined ? any(rules) : inner(schema.items);
      return rules.rule(
        list('"["', item, '"]"', rules.form.values.comma, schema.minItems, schema.maxItems),
      );
    }
    case 'object':
      return object(rules, schema, inner);
    default:
      return any(rules);
  }
}

/** What is written for each allowed value, or null where any value goes. */
function allowed(schema: JsonSchema, { words, literal }: ValueForm): string[] | null {
  const values = 'const' in schema ? [schema.const] : schema.enum;
  if (!Array.isArray(values) || values.length === 0) return null;
  return values.map((one) => {
    if (one === null) return words.null;
    if (typeof one === 'boolean') return words[`${one}`];
    return typeof one === 'string' ? literal(one) : JSON.stringify(one);
  });
}

function string(rules: Rules, schema: JsonSchema): string {
  const bound = (wanted: unknown, otherwise: number): number =>
    Number.isSafeInteger(wanted) && Number(wanted) >= 0 ? Number(wanted) : otherwise;
  const most = Math.min(bound(schema.maxLength, STRING), LONGEST_STRING);
  const least = Math.min(bound(schema.minLength, 0), most);
  const { quote, character } = rules.form.values;
  if (rules.has(SPAN) && !isWritten(schema)) {
    const named = namedValues(schema).map((text) => ` | ${inString(rules, text)}`);
    return rules.rule(`${quoted(quote)} (${SPAN}${named.join('')}) ${quoted(quote)}`);
  }
  return rules.rule(`${quoted(quote)} ${rules.run(character, least, most)} ${quoted(quote)}`);
}

/** Days and times are put into a form of their own; the model has learned that. */
const isWritten = ({ format, description }: JsonSchema): boolean =>
  ['date', 'time', 'date-time'].includes(String(format)) ||
  /\b(?:yyyy-mm-dd|hh:mm)\b/i.test(String(description ?? ''));

/** The numbers of the conversation that are fit, or null where there are none. */
function copied(rules: Rules, isFit: (value: number) => boolean): string | null {
  const fit = rules.numbers.filter(isFit);
  return fit.length > 0 ? rules.rule(fit.map((value) => quoted(String(value))).join(' | ')) : null;
}

function integer(rules: Rules): string {
  return copied(rules, Number.isInteger) ?? rules.define('int', '"-"? ("0" | [1-9] [0-9]{0,14})');
}

function number(rules: Rules): string {
  const fit = copied(rules, () => true);
  if (fit !== null) return fit;
  return rules.define('num', '"-"? ("0" | [1-9] [0-9]{0,14}) ("." [0-9]{1,9})?');
}

function boolean(rules: Rules): string {
  const { words } = rules.form.values;
  return rules.define('bool', `${quoted(words.true)} | ${quoted(words.false)}`);
}

function any(rules: Rules): string {
  return rules.define('any', `${string(rules, {})} | ${number(rules)} | ${boolean(rules)}`);
}

function list(
  open: string,
  item: string,
  close: string,
  comma: string,
  least: unknown,
  most: unknown,
): string {
  const max = Number.isSafeInteger(most) ? Math.min(Number(most), 64) : ITEMS;
  if (max <= 0) return `${open} ${close}`;
  const some = `${item} (${comma} ${item}){0,${max - 1}}`;
  return Number(least) >= 1 ? `${open} ${some} ${close}` : `${open} (${some})? ${close}`;
}

function object(rules: Rules, schema: JsonSchema, inner: (next: unknown) => string): string {
  const { comma, key, anyKey } = rules.form.values;
  const properties = Object.entries(asSchema(schema.properties));
  if (properties.length === 0) {
    const entry = rules.rule(`${anyKey(string(rules, {}))} ${any(rules)}`);
    return rules.rule(list('"{"', entry, '"}"', comma, 0, ENTRIES));
  }
  const required = new Set<unknown>(Array.isArray(schema.required) ? schema.required : []);
  const entries = properties
    .map(([name, next]) => ({
      body: `${key(name)} ${inner(next)}`,
      required: required.has(name),
    }))
    .sort((a, b) => Number(b.required) - Number(a.required));
  return rules.rule(`"{" ${inOrder(entries, comma)} "}"`);
}
