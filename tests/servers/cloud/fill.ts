/** Finds a tool for a purpose and fills its arguments, both from the schema that was offered. */
import { array, object, text, type Json, type SeenTool } from './talk.ts';

/** What is known, by the kind of argument that it fits. */
export interface Known {
  readonly from?: string;
  readonly to?: string;
  readonly city?: string;
  readonly day?: string;
  readonly time?: string;
  readonly moment?: string;
  readonly part?: string;
  readonly item?: string;
  readonly id?: string;
}

/** Which words of an argument's name, or else of its description, mean what. Order matters. */
const KINDS: readonly (readonly [keyof Known, RegExp])[] = [
  ['part', /^part|part.?of.?(the.)?day|time.?of.?day/],
  ['from', /^from$|origin|depart(ure|s|ing)?.?(city|airport|from)|source|leaving/],
  ['to', /^to$|destination|arriv/],
  ['moment', /^(when|at|due|datetime|date.?time|remind.?at|time)$|date and time|moment/],
  ['day', /date|^day|^on$/],
  ['time', /time|hour/],
  ['city', /city|location|place|where/],
  ['id', /(^|_)id$|number|code/],
  ['item', /item|title|what|text|message|task|name|note|description|flight|event/],
];

export function findTool(
  tools: readonly SeenTool[],
  purpose: RegExp,
  never?: RegExp,
): SeenTool | null {
  const words = (tool: SeenTool) =>
    `${tool.name.replace(/[_.-]+/g, ' ')} ${tool.description}`.toLowerCase();
  const named = tools.find(
    (tool) => purpose.test(tool.name.replace(/[_.-]+/g, ' ')) && !never?.test(tool.name),
  );
  return (
    named ?? tools.find((tool) => purpose.test(words(tool)) && !never?.test(words(tool))) ?? null
  );
}

/** The arguments of a call; those that are required and unknown are left out, not made up. */
export function fill(tool: SeenTool, known: Known): Json {
  const properties = object(tool.schema.properties);
  const required = array(tool.schema.required);
  const args: Json = {};
  for (const [name, property] of Object.entries(properties)) {
    const value = valueFor(name, object(property), known);
    if (value === undefined) continue;
    const type = object(property).type;
    if (type === 'integer' || type === 'number') {
      if (Number.isFinite(Number(value))) args[name] = Number(value);
    } else if (type === undefined || type === 'string' || array(type).includes('string'))
      args[name] = value;
  }
  for (const name of required) {
    const property = object(properties[text(name)]);
    if (args[text(name)] === undefined && property.default !== undefined)
      args[text(name)] = property.default;
  }
  return args;
}

function valueFor(name: string, property: Json, known: Known): string | undefined {
  const choices = array(property.enum).map(String);
  for (const source of [name.toLowerCase(), text(property.description).toLowerCase()])
    for (const [kind, pattern] of KINDS) {
      const value = known[kind];
      if (value === undefined || !pattern.test(source)) continue;
      if (choices.length === 0) return value;
      const choice = choices.find((option) => option.toLowerCase() === value.toLowerCase());
      if (choice) return choice;
    }
  return undefined;
}

/** Arguments that the user spelled out: JSON, `key=value` pairs, or quoted strings in order. */
export function spelledOut(tool: SeenTool, words: string): Json {
  const json = /\{[\s\S]*\}/.exec(words)?.[0];
  if (json) {
    try {
      return object(JSON.parse(json));
    } catch {
      return {};
    }
  }
  const properties = Object.keys(object(tool.schema.properties));
  const args: Json = {};
  for (const name of properties) {
    const found = new RegExp(`\\b${name}\\s*(?:=|:| is )\\s*("[^"]*"|[^\\s,;]+)`, 'i').exec(words);
    if (!found) continue;
    const raw = found[1]!.replace(/^"|"$/g, '').replace(/[.]$/, '');
    const type = object(object(tool.schema.properties)[name]).type;
    args[name] =
      type === 'integer' || type === 'number'
        ? Number(raw)
        : type === 'boolean'
          ? raw === 'true'
          : raw;
  }
  const quoted = [...words.matchAll(/"([^"]*)"/g)].map((match) => match[1]!);
  for (const name of array(tool.schema.required).map(text))
    if (args[name] === undefined && quoted.length > 0) args[name] = quoted.shift();
  return args;
}
