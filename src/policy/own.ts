/**
 * Which values of a call are its tool's own, by the tool's schema. Pure.
 *
 * Promise: a value is the tool's own only whole, and only where the schema of that very property allows
 * it, fixes it or has it as default; a name only where it is declared at that very place. What a schema
 * says of one argument says nothing of another.
 */
type Json = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** What the schema says of one place: its subschemas, and defaults of what lies around it. */
interface Place {
  readonly schemas: readonly Json[];
  readonly values: readonly unknown[];
  /** Those that nobody has to choose: a default, or the only one. */
  readonly settled: readonly unknown[];
}

/** The schema with all that applies at the same place: what it refers to, and its branches. */
function spread(schema: unknown, root: Json, into: Set<Json>): void {
  // Each once: a schema may refer to itself.
  if (!isObject(schema) || into.has(schema)) return;
  into.add(schema);
  const { $ref, allOf, anyOf, oneOf, if: when, then, else: otherwise } = schema;
  const inner = [allOf, anyOf, oneOf].flatMap((list) => (Array.isArray(list) ? list : []));
  for (const one of [...inner, when, then, otherwise, referred($ref, root)])
    spread(one, root, into);
}

/** What a reference inside of the same schema stands for (JSON Pointer, RFC 6901). */
function referred(ref: unknown, root: Json): unknown {
  if (typeof ref !== 'string' || !/^#(\/|$)/.test(ref)) return undefined;
  return ref
    .split('/')
    .slice(1)
    .map((token) => token.replace(/~1/g, '/').replace(/~0/g, '~'))
    .reduce<unknown>((at, name) => memberOf(at, name), root);
}

const memberOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Json)[name]
    : undefined;

function placeOf(
  inner: readonly unknown[],
  root: Json,
  around: Pick<Place, 'values' | 'settled'> = { values: [], settled: [] },
): Place {
  const schemas = new Set<Json>();
  for (const one of inner) spread(one, root, schemas);
  const usual = [...schemas].map((it) => it.default);
  const allowed = [...schemas].flatMap(({ enum: some, const: one }) => [
    ...(Array.isArray(some) ? (some as unknown[]) : []),
    ...(one === undefined ? [] : [one]),
  ]);
  return {
    schemas: [...schemas],
    values: [...around.values, ...allowed, ...usual],
    settled: [...around.settled, ...usual, ...(new Set(allowed).size === 1 ? allowed : [])],
  };
}

function step({ schemas, values, settled }: Place, name: string, root: Json): Place {
  const inner = schemas.flatMap(({ properties, items, prefixItems, additionalProperties }) =>
    [
      memberOf(properties, name),
      // An index, of a list; the names of an object that are declared come first.
      ...(/^\d+$/.test(name) ? [memberOf(prefixItems, name), items] : []),
      memberOf(properties, name) === undefined ? additionalProperties : undefined,
    ].filter(isObject),
  );
  // In a list the place of a value says nothing.
  const inside = (all: readonly unknown[]): unknown[] =>
    all.flatMap((value) => (Array.isArray(value) ? (value as unknown[]) : [memberOf(value, name)]));
  return placeOf(inner, root, { values: inside(values), settled: inside(settled) });
}

const placeAt = (path: readonly string[], schema: Json): Place =>
  path.reduce((at, name) => step(at, name, schema), placeOf([schema], schema));

const holds = (values: readonly unknown[], text: string): boolean =>
  values.some(
    (value) => value !== undefined && typeof value !== 'object' && String(value) === text,
  );

/** Tells whether a value of a call is what the tool has there unless somebody chooses. */
export const settledValues =
  (schema: Json) =>
  (path: readonly string[], text: string): boolean =>
    holds(placeAt(path, schema).settled, text);

/**
 * Tells whether a value of a call is the tool's own. `path`: the names that lead to it; `isName`: it is
 * the last of them that is asked about, not the value under it.
 */
export function ownValues(
  schema: Json,
): (path: readonly string[], text: string, isName: boolean) => boolean {
  return (path, text, isName) => {
    const place = placeAt(isName ? path.slice(0, -1) : path, schema);
    if (isName)
      return (
        place.schemas.some(({ properties }) => memberOf(properties, text) !== undefined) ||
        place.values.some((value) => memberOf(value, text) !== undefined)
      );
    return holds(place.values, text);
  };
}
