/**
 * The notation that FunctionGemma and Gemma 4 share: `call:name{key:value}` between tokens of their
 * own, keys bare, strings between a marker that stands for nothing else. Results go on in the model's
 * own turn, which ends with its answer.
 */
import type { BrainMessage, JsonSchema, ModelCall, ToolSpec } from '../../brain.ts';
import { quoted, replyGrammar, type CallForm } from '../grammar.ts';
import { declared } from './declared.ts';
import type { Dialect, DialectRequest } from './dialect.ts';
import { readObject } from './json.ts';
import { createReplyReader, type ReplyForm } from './reply.ts';
import { asSchema, parametersOf } from './signature.ts';

/** Deeper than this, a value is shown as JSON. */
const DEEPEST = 8;

export interface BracesOptions {
  /** Begins a turn, before its role. */
  readonly start: string;
  readonly end: string;
  /** Before and after a declaration, a call and a result. */
  readonly declaration: readonly [string, string];
  readonly call: readonly [string, string];
  readonly response: readonly [string, string];
  /** Around strings. */
  readonly quote: string;
  /** One character of a string, and what may follow `<` in a text; pieces of grammar. */
  readonly character: string;
  readonly afterMark: string;
  readonly think?: { readonly open: string; readonly close: string };
  readonly stop: readonly string[];
  readonly neutralise: (text: string) => string;
  /** The first turn, with the declarations; empty where there is none. */
  readonly opening: (request: DialectRequest, declarations: string) => string;
}

export function braces(options: BracesOptions): Dialect {
  const { start, end, quote, neutralise, think } = options;
  const [open, close] = options.call;
  const string = (text: string): string => quote + neutralise(text) + quote;

  /** A name without quotes: nothing that could end it. */
  const bare = (key: string): string => neutralise(key).replace(/[{}[\]:,<>"\s]+/g, '_');

  function value(given: unknown, quoteKeys: boolean, depth = 0): string {
    if (typeof given === 'string') return string(given);
    if (typeof given !== 'object') return String(given);
    if (given === null) return 'None';
    if (depth > DEEPEST) return string(JSON.stringify(given));
    if (Array.isArray(given))
      return `[${given.map((item) => value(item, quoteKeys, depth + 1)).join(',')}]`;
    const entries = sorted(given as Readonly<Record<string, unknown>>).map(
      ([key, item]) =>
        `${quoteKeys ? string(key) : bare(key)}:${value(item, quoteKeys, depth + 1)}`,
    );
    return `{${entries.join(',')}}`;
  }

  const names = (list: unknown): string =>
    Array.isArray(list) && list.length > 0
      ? `required:[${list.map((one) => string(String(one))).join(',')}]`
      : '';

  function properties(schema: JsonSchema): string {
    const list = sorted(asSchema(schema.properties));
    return list.map(([key, next]) => `${bare(key)}:${property(asSchema(next))}`).join(',');
  }

  function property(schema: JsonSchema): string {
    const type = typeof schema.type === 'string' ? schema.type : 'string';
    const parts = [
      typeof schema.description === 'string' ? `description:${string(schema.description)}` : '',
      type === 'string' && schema.enum ? `enum:${value(schema.enum, true)}` : '',
      type === 'array' && schema.items ? `items:${items(asSchema(schema.items))}` : '',
      type === 'object' ? `properties:{${properties(schema)}}` : '',
      type === 'object' ? names(schema.required) : '',
      `type:${string(type.toUpperCase())}`,
    ];
    return `{${parts.filter(Boolean).join(',')}}`;
  }

  function items(schema: JsonSchema): string {
    const entries = sorted(schema).map(([key, item]) => {
      if (key === 'properties') return `properties:{${properties(schema)}}`;
      if (key === 'required') return names(item);
      if (key === 'type') return `type:${string(String(item).toUpperCase())}`;
      return `${key}:${value(item, true)}`;
    });
    return `{${entries.join(',')}}`;
  }

  function declaration(tool: ToolSpec): string {
    const { name, description, parameters } = declared(plainNames(tool)).function;
    const fields = properties(parameters);
    const inside = [
      fields === '' ? '' : `properties:{${fields}}`,
      names(parameters.required),
      `type:${string('OBJECT')}`,
    ];
    const [before, after] = options.declaration;
    const words = `{description:${string(description)},parameters:{${inside.filter(Boolean).join(',')}}}`;
    return `${before}declaration:${name}${words}${after}`;
  }

  function writeCall({ name, args, raw }: ModelCall, tools: readonly ToolSpec[]): string {
    if (args === null) return open + neutralise(raw.trim()) + close;
    const tool = tools.find((candidate) => candidate.name === name);
    const known = tool ? parametersOf(tool) : [];
    const shown = Object.entries(args).map(([key, given]): [string, unknown] => [
      known.find((parameter) => parameter.key === key)?.name ?? key,
      given,
    ]);
    return `${open}call:${bare(name)}${value(Object.fromEntries(shown), false)}${close}`;
  }

  function writeResult({ name, text }: Extract<BrainMessage, { role: 'tool' }>): string {
    const [before, after] = options.response;
    const given = readObject(text) ?? { value: text.trim() };
    return `${before}response:${bare(name)}${value(given, false)}${after}`;
  }

  const calls: CallForm = {
    open,
    between: close + open,
    close,
    most: 4,
    before: (name) => `call:${name}{`,
    after: '}',
    comma: '","',
    key: ({ name }) => quoted(`${name}:`),
    order: (a, b) => compare(a.name, b.name),
    values: {
      quote,
      character: options.character,
      words: { true: 'true', false: 'false', null: 'None' },
      literal: (text) => quote + text + quote,
      comma: '","',
      key: (name) => quoted(`${bare(name)}:`),
      anyKey: () => '[A-Za-z_] [A-Za-z0-9_]{0,39} ":"',
    },
    text: { mark: '<', run: 1, next: options.afterMark },
    ...(think ? { think } : {}),
  };
  const form: ReplyForm = {
    notation: 'braces',
    open,
    ...(think ? { think: { open: think.open.trimEnd(), close: think.close } } : {}),
  };

  return {
    stop: options.stop,
    markers: [open, close, quote, options.response[0], ...(think ? markersOf(think) : [])],

    render(request) {
      const offered = request.toolChoice === 'none' ? [] : request.tools;
      const model = `${start}model\n`;
      const pieces: string[] = [];
      let prompt = options.opening(request, offered.map(declaration).join(''));
      // After a call the model's turn stays open for the result and what it says of it.
      let isOpen = false;
      for (const message of request.messages) {
        if (message.role === 'tool') {
          prompt += writeResult(message);
          isOpen = true;
        } else if (message.role === 'user') {
          prompt += `${isOpen ? end : ''}${start}user\n${neutralise(message.text.trim())}${end}`;
          isOpen = false;
        } else {
          const written = message.calls.map((call) => writeCall(call, request.tools)).join('');
          pieces.push(prompt + (isOpen ? '' : model), neutralise(message.text.trim()) + written);
          isOpen = message.calls.length > 0;
          prompt = isOpen ? '' : end;
        }
      }
      return [...pieces, prompt + (isOpen ? '' : model)];
    },

    grammar: ({ tools, toolChoice, think: wanted = false }, notation) =>
      replyGrammar({ tools, choice: toolChoice, form: calls, notation, think: wanted }),

    reader: ({ tools, toolChoice }) => createReplyReader(tools, form, toolChoice !== 'none'),

    neutralise,
  };
}

/** The tokens that stand around thinking, without the words in there. */
function markersOf({ open, close }: { readonly open: string; readonly close: string }): string[] {
  return [/^<[^>]*>/.exec(open)?.[0] ?? open, close];
}

/** As the templates sort: by letters, capitals among the others. */
function compare(a: string, b: string): number {
  const [left, right] = [a.toLowerCase(), b.toLowerCase()];
  return left < right ? -1 : left > right ? 1 : 0;
}

function sorted(object: Readonly<Record<string, unknown>>): [string, unknown][] {
  return Object.entries(object).sort(([a], [b]) => compare(a, b));
}

/** A tool whose arguments have the names that a model can write. */
function plainNames(tool: ToolSpec): ToolSpec {
  const parameters = parametersOf(tool);
  return {
    ...tool,
    inputSchema: {
      ...tool.inputSchema,
      properties: Object.fromEntries(parameters.map(({ name, schema }) => [name, schema])),
      required: parameters.filter(({ required }) => required).map(({ name }) => name),
    },
  };
}
