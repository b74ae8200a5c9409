/** Reads values out of JSON that a host sent: nothing is believed before its type is known. */

export type Json = Readonly<Record<string, unknown>>;

export function isRecord(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value as an object; an empty one where it is none. */
export function record(value: unknown): Json {
  return isRecord(value) ? value : {};
}

/** The value as a list; an empty one where it is none. */
export function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The value as a string; an empty one where it is none. */
export function string(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** The value as a finite number, or undefined. */
export function number(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

/** The parsed text, or undefined where it is not JSON. */
export function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
