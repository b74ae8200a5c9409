/**
 * From what stands in a block of calls to calls: the name among the tools, arguments by name. Reads
 * every notation that a family is known to use, whichever is its own; another one than its own is
 * mended, and the call says so.
 */
import type { ToolSpec } from '../../brain.ts';
import { readArguments, readValues, type Arguments, type Slip } from './literal.ts';
import { parametersOf } from './signature.ts';
import type { ReplyEvent } from './dialect.ts';

type Call = Extract<ReplyEvent, { type: 'call' }>;
type Args = Readonly<Record<string, unknown>>;

/** `f(a="b")` · `{"name": "f", "arguments": {"a": "b"}}` · `call:f{a:<|"|>b<|"|>}` */
export type CallNotation = 'python' | 'json' | 'braces';

/** What is no slip where a call is written so. */
const NATIVE: Readonly<Record<CallNotation, ReadonlySet<Slip>>> = {
  python: new Set<Slip>(['double quotes', 'Python words']),
  json: new Set<Slip>(['double quotes']),
  braces: new Set<Slip>(['string markers', 'a name without quotes']),
};
const NAMES: Readonly<Record<CallNotation, string>> = {
  python: 'a Python-style call',
  json: 'a call in JSON',
  braces: 'a call in braces',
};

const isObject = (value: unknown): value is Args =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Adds what was mended to a call that can be run. */
export function mend(call: Call, slips: readonly string[]): Call {
  if (call.args === null || slips.length === 0) return call;
  return { ...call, mended: [...(call.mended ? [call.mended] : []), ...slips].join(', ') };
}

/**
 * Reads a statement of a family whose calls are in `own`. Empty where it says nothing (white space, a
 * comment). `cut` where the text may go on: a call that is not closed then has no arguments, because
 * some may be missing.
 */
export function readCalls(
  raw: string,
  tools: readonly ToolSpec[],
  own: CallNotation,
  cut: boolean,
): Call[] {
  const whole = raw.trim();
  const text = unwrap(whole);
  if (text === '' || text.startsWith('#')) return [];
  const unwrapped = text === whole.replace(/;$/, '') ? [] : ['words around the call'];
  const read = (notation: CallNotation, calls: readonly Call[]): Call[] =>
    calls
      // Nothing that could run comes of a tool that was not offered.
      .map((call) =>
        tools.some((tool) => tool.name === call.name) ? call : { ...call, args: null },
      )
      .map((call) => mend(call, [...(notation === own ? [] : [NAMES[notation]]), ...unwrapped]));
  if (/^[{[]/.test(text)) return read('json', readJson(whole, text, tools, cut));
  const braces = /^(?:call:\s*)?([\p{L}_][\p{L}\p{N}_.-]*)\s*(?=\{)/u.exec(text);
  if (braces?.[1]) {
    const inside = text.slice(braces[0].length);
    return read('braces', [readBraces(braces[1], inside, whole, tools, cut)]);
  }
  const python = readPythons(text, whole, tools, cut);
  if (python.length > 0) return read('python', python);
  const word = /^(?:call:)?([^\s(={]{1,64})/.exec(text)?.[1] ?? '';
  return [{ type: 'call', name: toolName(word, tools).name, args: null, raw: whole }];
}

/** `print(f(x))` and `result = f(x)` mean `f(x)`. */
function unwrap(text: string): string {
  const plain = text.replace(/^[A-Za-z_]\w*\s*=\s*(?=[A-Za-z_][\w.]*\()/, '').replace(/;$/, '');
  const inner = /^print\((.*)\)$/s.exec(plain)?.[1];
  return inner !== undefined && /^[A-Za-z_][\w.-]*\(/.test(inner) ? inner : plain;
}

const slipsOf = (slips: ReadonlySet<Slip>, notation: CallNotation): Slip[] =>
  [...slips].filter((slip) => !NATIVE[notation].has(slip));

/** `f(x)`, or several on one line: none of them may get lost. Empty where the text begins with no call. */
function readPythons(text: string, raw: string, tools: readonly ToolSpec[], cut: boolean): Call[] {
  const calls: Call[] = [];
  for (let rest = text; ;) {
    const begin = /^([\p{L}_][\p{L}\p{N}_.-]*)\s*\(/u.exec(rest);
    if (!begin?.[1]) break;
    const read = readArguments(rest, begin[0].length - 1);
    const behind = read ? rest.slice(read.end) : '';
    const between = /^\s*[;,]\s*(?=\S)/.exec(behind)?.[0];
    const only = calls.length === 0 && between === undefined;
    const own = only ? raw : rest.slice(0, read?.end).trim();
    calls.push(readPython(begin[1], read, own, tools, cut));
    if (between === undefined) break;
    rest = behind.slice(between.length);
  }
  return calls.length > 1 ? calls.map((call) => mend(call, ['calls on one line'])) : calls;
}

function readPython(
  written: string,
  read: Arguments | null,
  raw: string,
  tools: readonly ToolSpec[],
  cut: boolean,
): Call {
  const { name, slips } = toolName(written, tools);
  const whole = read !== null && (read.closed || !cut);
  const tool = tools.find((candidate) => candidate.name === name);
  const found = whole ? byName(read.list, tool) : null;
  const placed = whole && read.list.some((argument) => argument.name === null);
  return mend({ type: 'call', name, args: found, raw }, [
    ...slips,
    ...(read ? slipsOf(read.slips, 'python') : []),
    ...(placed ? ['arguments without names'] : []),
  ]);
}

function readBraces(
  written: string,
  text: string,
  raw: string,
  tools: readonly ToolSpec[],
  cut: boolean,
): Call {
  const { name, slips } = toolName(written, tools);
  const read = readValues(text);
  const [only] = read?.list ?? [];
  const whole = read?.list.length === 1 && isObject(only) && (read.closed || !cut);
  const tool = tools.find((candidate) => candidate.name === name);
  const args = whole ? byKey(only, tool) : null;
  return mend({ type: 'call', name, args, raw }, [
    ...slips,
    ...(read ? slipsOf(read.slips, 'braces') : []),
  ]);
}

/** Objects `{"name": "f", "arguments": {...}}`, one after the other or in a list. */
function readJson(
  raw: string,
  text: string,
  tools: readonly ToolSpec[],
  cut: boolean,
): readonly Call[] {
  const read = readValues(text);
  if (!read || (cut && !read.closed)) {
    const word = /["']?(?:name|function)["']?\s*[:=]\s*["']([^"']{1,64})["']/.exec(text)?.[1] ?? '';
    return [{ type: 'call', name: toolName(word, tools).name, args: null, raw }];
  }
  const values = read.list.flatMap((value): readonly unknown[] =>
    Array.isArray(value) ? value : [value],
  );
  return values.map((value) => mend(oneOf(value, raw, tools), slipsOf(read.slips, 'json')));
}

function oneOf(value: unknown, raw: string, tools: readonly ToolSpec[]): Call {
  const outer = isObject(value) ? value : {};
  // The form of the cloud's wire: the call inside of `function`.
  const call = isObject(outer.function) ? outer.function : outer;
  const written = call.name ?? call.function ?? call.tool;
  if (typeof written !== 'string') return { type: 'call', name: '', args: null, raw };
  const found = call.arguments ?? call.parameters ?? call.args ?? call.params ?? {};
  const inside = typeof found === 'string' ? readValues(found)?.list : [found];
  const [args] = inside?.length === 1 ? inside : [];
  const { name, slips } = toolName(written, tools);
  return mend({ type: 'call', name, args: isObject(args) ? args : null, raw }, [
    ...slips,
    ...(typeof found === 'string' ? ['arguments in a string'] : []),
  ]);
}

/** The offered tool that is meant, where it is only spelt another way; else the name as written. */
function toolName(
  written: string,
  tools: readonly ToolSpec[],
): { readonly name: string; readonly slips: readonly string[] } {
  const names = tools.map((tool) => tool.name);
  if (names.includes(written)) return { name: written, slips: [] };
  const slips = ['the name of the tool'];
  const last = written.split('.').at(-1) ?? written;
  if (names.includes(last)) return { name: last, slips };
  const plain = (name: string): string => name.replace(/[_.-]/g, '').toLowerCase();
  const same = names.filter((name) => plain(name) === plain(written));
  return same.length === 1 ? { name: same[0] as string, slips } : { name: written, slips: [] };
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

/** Arguments by property name, where the model was shown a plainer one. */
function byKey(args: Args, tool: ToolSpec | undefined): Args {
  const parameters = tool ? parametersOf(tool) : [];
  return Object.fromEntries(
    Object.entries(args).flatMap(([name, value]): [string, unknown][] => {
      const parameter = parameters.find((candidate) => candidate.name === name);
      if (value === null && parameter && !parameter.required) return [];
      return [[parameter?.key ?? name, value]];
    }),
  );
}
