/**
 * Puts right what a model of 270 million parameters is known to get wrong in the arguments of a call,
 * where the person's own words leave no doubt. Careful by design: it copies from the conversation or
 * leaves out; it never makes a value up, and what it changed it says.
 *
 * The faults (counted on the real weights): 6pm becomes 16:00; a day or a time is left out; an
 * optional argument comes that nobody asked for; a list repeats itself without end; 5% is 5 where a
 * fraction is wanted.
 */
import type { BrainRequest, JsonSchema, ToolSpec } from '../../brain.ts';
import { parametersOf, typeOf, type Parameter } from '../dialect/signature.ts';
import { readSaid, type Said } from './said.ts';

export interface Repair {
  readonly args: Readonly<Record<string, unknown>>;
  /** One line for each change, e.g. `time: "16:00" → "18:00"`; empty where nothing was changed. */
  readonly changes: readonly string[];
}

type When = 'day' | 'clock' | 'moment';

/** What the conversation says. */
interface Ground {
  readonly said: Said;
  /** Everything that was said and found so far, in lower case. */
  readonly all: string;
  /** What the person said last. */
  readonly words: string;
  /** `YYYY-MM-DD`, from the clock line. */
  readonly today: string | null;
}

/** Leaves the argument out. */
const OUT = Symbol('out');

/** The arguments of a call of `tool`, put right against the conversation. */
export function repairCall(
  args: Readonly<Record<string, unknown>>,
  tool: ToolSpec,
  request: Pick<BrainRequest, 'messages' | 'now'>,
): Repair {
  const ground = groundOf(request);
  const parameters = parametersOf(tool);
  const repaired: Record<string, unknown> = {};
  const changes: string[] = [];
  const set = (key: string, old: unknown, value: unknown): void => {
    if (value !== OUT) Object.defineProperty(repaired, key, { value, ...OWN });
    if (value !== old) changes.push(`${key}: ${show(old)} → ${show(value)}`);
  };
  for (const [key, value] of Object.entries(args)) {
    const parameter = parameters.find((candidate) => candidate.key === key);
    set(key, value, parameter ? repairValue(value, parameter, ground) : value);
  }
  for (const [key, value] of leftOut(args, parameters, ground)) set(key, undefined, value);
  return { args: repaired, changes };
}

const OWN = { enumerable: true, writable: true, configurable: true } as const;

const show = (value: unknown): string =>
  value === OUT || value === undefined ? 'nothing' : (JSON.stringify(value) ?? 'nothing');

function groundOf({ messages, now }: Pick<BrainRequest, 'messages' | 'now'>): Ground {
  const words = messages.findLast((message) => message.role === 'user')?.text ?? '';
  return {
    said: readSaid(words),
    all: messages.map((message) => message.text.toLowerCase()).join('\n'),
    words,
    today: /\b\d{4}-\d\d-\d\d\b/.exec(now)?.[0] ?? null,
  };
}

function repairValue(value: unknown, parameter: Parameter, ground: Ground): unknown {
  const { schema, required } = parameter;
  const when = whenOf(parameter);
  if (typeof value === 'string') {
    if (when) return repairWhen(value, when, ground) ?? (required ? value : OUT);
    if (required || hasChoice(schema)) return value;
    return isGrounded(value, ground) ? value : OUT;
  }
  if (Array.isArray(value)) {
    const list = untilRepeat(value);
    const strings = list.filter((item) => typeof item === 'string');
    const asked = strings.length === 0 || strings.some((item) => isGrounded(item, ground));
    return required || asked ? list : OUT;
  }
  if (typeof value === 'number') {
    if (!required && !hasChoice(schema) && !isSaidNumber(value, ground)) return OUT;
    return fraction(value, schema, ground);
  }
  return value;
}

const hasChoice = (schema: JsonSchema): boolean =>
  Array.isArray(schema.enum) || schema.const !== undefined;

/** Whether a text argument is a day, a time of day, or both. */
function whenOf({ name, schema }: Parameter): When | null {
  const type = typeOf(schema);
  if ((type !== undefined && type !== 'string') || hasChoice(schema)) return null;
  if (schema.format === 'date-time') return 'moment';
  if (schema.format === 'date') return 'day';
  if (schema.format === 'time') return 'clock';
  if (schema.format !== undefined) return null;
  const words = typeof schema.description === 'string' ? schema.description : '';
  if (/\b(?:day|date)[- ]?(?:and[- ])?time\b/i.test(words)) return 'moment';
  if (/\byyyy-mm-dd\b/i.test(words)) return 'day';
  if (/\bhh:mm\b/i.test(words)) return 'clock';
  if (/^(?:the )?(?:day|date)\b/i.test(words) && /(?:^|_)(?:day|date)$/i.test(name)) return 'day';
  return null;
}

/** The value that the conversation supports, or null where it supports none. */
function repairWhen(value: string, when: When, ground: Ground): string | null {
  if (when === 'moment') return repairMoment(value, ground);
  return when === 'day' ? repairDay(value, ground) : repairClock(value, ground);
}

function repairClock(value: string, { said, all }: Ground): string | null {
  if (said.clocks.some((clock) => clock.value === value)) return value;
  const [only, ...others] = said.clocks;
  if (only && others.length === 0) return only.value;
  return all.includes(value.toLowerCase()) && /\d/.test(value) ? value : null;
}

function repairDay(value: string, ground: Ground): string | null {
  const { said, all } = ground;
  const isIso = /^\d{4}-\d\d-\d\d$/.test(value);
  const [only, ...others] = said.days;
  if (!isIso && all.includes(value.toLowerCase())) return value;
  if (only === undefined) return all.includes(value.toLowerCase()) ? value : null;
  if (isIso && said.days.some((words) => plainDay(words, ground) === value)) return value;
  // Of several days it is not known which was meant.
  return others.length === 0 ? only : value;
}

/** Today and tomorrow as dates: those alone the model works out by itself. */
function plainDay(words: string, { today }: Ground): string | null {
  const plain = words.toLowerCase();
  if (/^\d{4}-/.test(plain)) return plain;
  if (today === null) return null;
  if (plain === 'today' || plain === 'tonight') return today;
  if (plain !== 'tomorrow') return null;
  return new Date(Date.parse(`${today}T00:00:00Z`) + 86_400_000).toISOString().slice(0, 10);
}

function repairMoment(value: string, { said, words }: Ground): string {
  const [day, ...moreDays] = said.days;
  const [clock, ...moreClocks] = said.clocks;
  const plain = value.toLowerCase();
  const whole = [day, clock?.words].every((part) => !part || plain.includes(part.toLowerCase()));
  if (whole && words.toLowerCase().includes(plain)) return value;
  if (moreDays.length > 0 || moreClocks.length > 0) return value;
  const parts = [...(day ? [day] : []), ...(clock ? [`at ${clock.value}`] : [])];
  return parts.length > 0 ? parts.join(' ') : value;
}

/** A day or a time that the person named once and the call leaves out, where one argument wants it. */
function leftOut(
  args: Readonly<Record<string, unknown>>,
  parameters: readonly Parameter[],
  { said }: Ground,
): [string, string][] {
  const wanting = (when: When): Parameter[] =>
    parameters.filter((parameter) => whenOf(parameter) === when);
  const fill = (when: When, values: readonly string[]): [string, string][] => {
    const [parameter, ...others] = wanting(when);
    const [value] = values;
    const sure = parameter && others.length === 0 && values.length === 1 && value !== undefined;
    return sure && !(parameter.key in args) ? [[parameter.key, value]] : [];
  };
  return [
    ...fill('day', said.days),
    ...fill(
      'clock',
      said.clocks.map((clock) => clock.value),
    ),
  ];
}

/** At least half of a text's words occur in the conversation. */
function isGrounded(value: string, { all }: Ground): boolean {
  const words = value.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  const found = words.filter((word) => all.includes(word)).length;
  return words.length > 0 && found * 2 >= words.length;
}

const NUMBERS =
  'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty'.split(
    ' ',
  );
const SHORT = /\b(?:half|dozen|hundred|thousand|million|billion|k)\b|\dk\b/;

function isSaidNumber(value: number, { all }: Ground): boolean {
  const plain = all.replace(/(\d),(?=\d{3})/g, '$1');
  // Words such as "two million" can be any number: the model has the say.
  if (SHORT.test(plain)) return true;
  const word = NUMBERS[value];
  if (word !== undefined && new RegExp(`\\b${word}\\b`).test(plain)) return true;
  const numbers = (plain.match(/\d+(?:\.\d+)?/g) ?? []).map(Number);
  return numbers.some((number) => number === Math.abs(value) || number === Math.abs(value) * 100);
}

/** 5% as 0.05, where the schema says that it wants a fraction. */
function fraction(value: number, schema: JsonSchema, { words }: Ground): number {
  const wants =
    (typeof schema.maximum === 'number' && schema.maximum <= 1) ||
    /\b(?:fraction|decimal|0 to 1|between 0 and 1|e\.g\.,? 0\.\d)/i.test(
      String(schema.description ?? ''),
    );
  if (!wants || value <= 1) return value;
  const said = new RegExp(`(?<![\\d.])${String(value).replace('.', '\\.')}\\s*(?:%|per ?cent)`);
  return said.test(words) ? Number((value / 100).toPrecision(10)) : value;
}

/** A list up to the first text that comes again. */
function untilRepeat(list: readonly unknown[]): readonly unknown[] {
  const at = list.findIndex(
    (item, place) => typeof item === 'string' && list.indexOf(item) < place,
  );
  return at < 0 ? list : list.slice(0, at);
}
