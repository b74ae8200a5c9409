/** From one statement of a tool_code block to a call: the name among the tools, arguments by name. */
import type { ToolSpec } from '../../brain.ts';
import { readArguments, readValue } from './literal.ts';
import { parametersOf } from './signature.ts';
import type { ReplyEvent } from './dialect.ts';

type Call = Extract<ReplyEvent, { type: 'call' }>;
type Args = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Args =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * Reads a statement. Null where it says nothing (white space, a comment). `cut` where the text may
 * go on: a call that is not closed then has no arguments, because some may be missing.
 */
export function readCall(raw: string, tools: readonly ToolSpec[], cut: boolean): Call | null {
  const text = unwrap(raw.trim());
  if (text === '' || text.startsWith('#')) return null;
  if (text.startsWith('{')) return readJsonCall(raw.trim(), text, tools);
  const head = /^([\p{L}_][\p{L}\p{N}_.-]*)\s*\(/u.exec(text);
  if (!head?.[1]) {
    const word = /^[^\s(=]{1,64}/.exec(text)?.[0] ?? '';
    return { type: 'call', name: toolName(word, tools), args: null, raw: raw.trim() };
  }
  const name = toolName(head[1], tools);
  const read = readArguments(text, head[0].length - 1);
  const whole = read !== null && (read.closed || !cut);
  const tool = tools.find((candidate) => candidate.name === name);
  const args = whole ? byName(read.list, tool) : null;
  return { type: 'call', name, args, raw: raw.trim() };
}

/** `print(f(x))` and `result = f(x)` mean `f(x)`. */
function unwrap(text: string): string {
  const plain = text.replace(/^[A-Za-z_]\w*\s*=\s*(?=[A-Za-z_][\w.]*\()/, '').replace(/;$/, '');
  const inner = /^print\((.*)\)$/s.exec(plain)?.[1];
  return inner !== undefined && /^[A-Za-z_][\w.-]*\(/.test(inner) ? inner : plain;
}

/** `{"name": "f", "arguments": {...}}`, as other families write it. */
function readJsonCall(raw: string, text: string, tools: readonly ToolSpec[]): Call {
  const value = readValue(text);
  const { name, arguments: given, args, parameters } = isObject(value) ? value : ({} as Args);
  const found = given ?? args ?? parameters ?? {};
  const object = typeof found === 'string' ? readValue(found) : found;
  return {
    type: 'call',
    name: typeof name === 'string' ? toolName(name, tools) : '',
    args: typeof name === 'string' && isObject(object) ? object : null,
    raw,
  };
}

/** The offered tool that is meant, where it is only spelt another way; else the name as written. */
function toolName(written: string, tools: readonly ToolSpec[]): string {
  const names = tools.map((tool) => tool.name);
  if (names.includes(written)) return written;
  const last = written.split('.').at(-1) ?? written;
  if (names.includes(last)) return last;
  const plain = (name: string): string => name.replace(/[_.-]/g, '').toLowerCase();
  const same = names.filter((name) => plain(name) === plain(written));
  return same.length === 1 ? (same[0] as string) : written;
}

/** Arguments by property name; those without a name go by their place in the signature. */
function byName(
  list: readonly { readonly name: string | null; readonly value: unknown }[],
  tool: ToolSpec | undefined,
): Args | null {
  const [only] = list;
  if (list.length === 1 && only?.name === null && isObject(only.value)) return only.value;
  const parameters = tool ? parametersOf(tool) : [];
  const entries: [string, unknown][] = [];
  const places = list.findIndex(({ name }) => name !== null);
  if (places >= 0 && list.slice(places).some(({ name }) => name === null)) return null;
  for (const [place, { name, value }] of list.entries()) {
    const parameter =
      name === null ? parameters[place] : parameters.find((candidate) => candidate.name === name);
    const key = parameter?.key ?? name;
    if (key === null) return null;
    // None is how Python says that an optional argument is left out.
    if (value === null && parameter && !parameter.required) continue;
    entries.push([key, value]);
  }
  return Object.fromEntries(entries);
}
