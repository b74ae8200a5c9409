/**
 * From what a model wrote to a call that may run: days in words become dates, types are put right
 * where nothing is lost, the rest is checked against the tool's schema. Loaded with the first offer,
 * so that the screen does not wait for it.
 */
import type { JsonSchema } from '../brain/brain.ts';
import type { DayReading } from '../store/records.ts';
import { isExact, readDay, type DayKind } from './days.ts';
import { coerce, findProblems, isObject, propertySchema, typesOf } from './schema.ts';

export interface Place {
  readonly now: Date;
  readonly timeZone: string;
  readonly locale: string;
}

export type BoundArguments =
  | {
      readonly ok: true;
      readonly args: Readonly<Record<string, unknown>>;
      readonly days: readonly DayReading[];
    }
  | { readonly ok: false; readonly error: string };

/** Resolves and checks the arguments of a call of the tool `name`. */
export function bindArguments(
  name: string,
  args: Readonly<Record<string, unknown>>,
  schema: JsonSchema,
  place: Place,
): BoundArguments {
  const days: DayReading[] = [];
  const unread: string[] = [];
  const resolved = resolveDays(coerce(args, schema), schema, '', (argument, said, kind) => {
    const reading = readDay(said, kind, place.now, place.timeZone, place.locale);
    if (reading) days.push({ argument, said, ...reading });
    else unread.push(argument);
    return reading?.value ?? null;
  });
  const problem = findProblems(resolved, schema);
  if (problem === null) return { ok: true, args: resolved, days };
  const hint =
    unread.length > 0 ? ` Write ${unread.join(' and ')} as YYYY-MM-DD or as "tomorrow".` : '';
  return { ok: false, error: `${name}: ${problem}${hint}` };
}

type Resolve = (argument: string, said: string, kind: DayKind) => string | null;

function resolveDays(
  args: Readonly<Record<string, unknown>>,
  schema: JsonSchema,
  path: string,
  resolve: Resolve,
): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(args).map(([name, value]) => {
      const wanted = propertySchema(schema, name);
      const argument = path + name;
      if (!wanted) return [name, value];
      if (isObject(value)) return [name, resolveDays(value, wanted, `${argument}.`, resolve)];
      if (Array.isArray(value) && isObject(wanted.items)) {
        const kind = dayKind(name, { description: wanted.description, ...wanted.items });
        return [name, value.map((item) => resolveValue(item, argument, kind, resolve))];
      }
      return [name, resolveValue(value, argument, dayKind(name, wanted), resolve)];
    }),
  );
}

function resolveValue(
  value: unknown,
  argument: string,
  kind: DayKind | null,
  resolve: Resolve,
): unknown {
  if (typeof value !== 'string' || kind === null || isExact(value, kind)) return value;
  return resolve(argument, value, kind) ?? value;
}

/**
 * Whether an argument is a day: by its format, else by its name or what its description begins with.
 * A list of allowed values is never one.
 */
export function dayKind(name: string, schema: JsonSchema): DayKind | null {
  if (schema.format === 'date' || schema.format === 'date-time') return schema.format;
  const types = typesOf(schema);
  if (schema.format !== undefined || schema.enum !== undefined) return null;
  if (types.length > 0 && !types.includes('string')) return null;
  const words = name
    .replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}]+/u);
  const description = typeof schema.description === 'string' ? schema.description : '';
  const named = words.some((word) => ['date', 'day', 'datetime', 'dates'].includes(word));
  const iso = /\byyyy-mm-dd|\biso[- ]?8601|\brfc[- ]?3339/i.test(description);
  const said = /^(the |a )?(\w+ ){0,2}(date|day)\b/i.test(description);
  if (!named && !iso && !said) return null;
  const timed =
    words.includes('datetime') ||
    /\bdate[- ]?time\b|\bdate and time\b|T\d\d:|Thh:/i.test(description);
  return timed ? 'date-time' : 'date';
}
