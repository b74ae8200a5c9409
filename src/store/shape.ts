/**
 * Checks of untrusted JSON against the shape of a record. A check returns a clean copy that holds
 * the known fields and no others, or throws a `ShapeError` that names the place and what is wrong.
 */

/** Its message is a whole sentence, e.g. `servers[2].url is not text.` */
export class ShapeError extends Error {
  override readonly name = 'ShapeError';
}

export type Check<T> = (value: unknown, path: string) => T;

interface Optional<T> {
  readonly optional: Check<T>;
}

type Fields<T> = {
  readonly [K in keyof T]-?: undefined extends T[K]
    ? Optional<Exclude<T[K], undefined>>
    : Check<T[K]>;
};

/** Throws the sentence "`path` `what`." */
export function wrong(path: string, what: string): never {
  throw new ShapeError(`${path} ${what}.`);
}

function entries(value: unknown, path: string): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    wrong(path, 'is not an object');
  return value as Readonly<Record<string, unknown>>;
}

export const text: Check<string> = (value, path) =>
  typeof value === 'string' ? value : wrong(path, 'is not text');

const MAX_ID = 500;

/** A key of a record: text, neither empty nor huge. */
export const id: Check<string> = (value, path) => {
  const read = text(value, path);
  if (read.length === 0) wrong(path, 'is empty');
  return read.length > MAX_ID ? wrong(path, `is longer than ${MAX_ID} characters`) : read;
};

export const flag: Check<boolean> = (value, path) =>
  typeof value === 'boolean' ? value : wrong(path, 'is neither true nor false');

export const amount: Check<number> = (value, path) =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0
    ? value
    : wrong(path, 'is not a number from 0 up');

export const whole: Check<number> = (value, path) =>
  Number.isSafeInteger(value) && (value as number) >= 0
    ? (value as number)
    : wrong(path, 'is not a whole number from 0 up');

/** The largest time that a Date can hold (ECMA-262, 21.4.1.1). */
const MAX_TIME = 8.64e15;

/** Milliseconds since the epoch. */
export const time: Check<number> = (value, path) => {
  const read = amount(value, path);
  return read > MAX_TIME ? wrong(path, 'is not a time') : read;
};

/** An address of a server: http or https, as it is written out in full, without spaces around it. */
export const address: Check<string> = (value, path) => {
  const read = text(value, path);
  return URL.canParse(read) && /^https?:$/.test(new URL(read).protocol)
    ? new URL(read).href
    : wrong(path, 'is not an http or https address');
};

export const oneOf =
  <const T extends string>(...allowed: readonly T[]): Check<T> =>
  (value, path) =>
    allowed.find((it) => it === value) ?? wrong(path, `is not one of: ${allowed.join(', ')}`);

export const exactly =
  <const T extends string>(expected: T): Check<T> =>
  (value, path) =>
    value === expected ? expected : wrong(path, `is not "${expected}"`);

export const nullable =
  <T>(check: Check<T>): Check<T | null> =>
  (value, path) =>
    value === null ? null : check(value, path);

export const list =
  <T>(check: Check<T>): Check<readonly T[]> =>
  (value, path) =>
    Array.isArray(value)
      ? value.map((item, index) => check(item, `${path}[${index}]`))
      : wrong(path, 'is not a list');

export const optional = <T>(check: Check<T>): Optional<T> => ({ optional: check });

const MAX_DEPTH = 64;

function checkDepth(value: unknown, path: string, depth: number): void {
  if (typeof value !== 'object' || value === null) return;
  if (depth > MAX_DEPTH) wrong(path, `is nested more than ${MAX_DEPTH} levels deep`);
  for (const inner of Object.values(value)) checkDepth(inner, path, depth + 1);
}

/** Any JSON, not too deep to be copied. */
export const json: Check<unknown> = (value, path) => {
  checkDepth(value, path, 0);
  return value;
};

export const jsonObject: Check<Readonly<Record<string, unknown>>> = (value, path) => {
  const read = entries(value, path);
  checkDepth(read, path, 0);
  return read;
};

/** A record with these fields. */
export const object =
  <T>(fields: Fields<T>): Check<T> =>
  (value, path) => {
    const source = entries(value, path);
    const copy: Record<string, unknown> = {};
    for (const [name, field] of Object.entries(fields) as [
      string,
      Check<unknown> | Optional<unknown>,
    ][]) {
      const found = Object.hasOwn(source, name) ? source[name] : undefined;
      const place = `${path}.${name}`;
      if (typeof field !== 'function') {
        if (found !== undefined) copy[name] = field.optional(found, place);
      } else if (found === undefined) wrong(place, 'is missing');
      else copy[name] = field(found, place);
    }
    return copy as T;
  };

/** One of several records, told apart by their field `kind`. */
export const byKind =
  <T extends { readonly kind: string }>(checks: {
    readonly [K in T['kind']]: Check<Extract<T, { readonly kind: K }>>;
  }): Check<T> =>
  (value, path) => {
    const { kind } = entries(value, path);
    const kinds = Object.keys(checks) as T['kind'][];
    const known = oneOf(...kinds)(kind, `${path}.kind`);
    return checks[known](value, path);
  };
