/**
 * `Mcp-Param-*` headers of a call (MCP 2026-07-28, SEP-2243): arguments that a tool's schema marks
 * with `x-mcp-header` are repeated as headers, so that gateways can route without reading bodies.
 * The SDK leaves them out on a page.
 */
import { isObject } from './schema.ts';

/** A header's name (RFC 9110, 5.1). */
const TOKEN = /^[\w!#$%&'*+.^`|~-]+$/;
/** Types whose values can stand in a header. */
const TYPES = ['string', 'integer', 'boolean'];
/** Members of a schema that hold data, no schemas. */
const DATA = ['default', 'example', 'examples', 'enum', 'const'];

/** The headers for one call; empty for nearly every tool. */
export function paramHeaders(
  schema: Readonly<Record<string, unknown>>,
  args: Readonly<Record<string, unknown>>,
): Record<string, string> {
  const headers: Record<string, string> = {};
  if (!isObject(schema.properties)) return headers;
  for (const [name, property] of Object.entries(schema.properties)) {
    const value = args[name];
    if (!isObject(property)) continue;
    if (isObject(value)) Object.assign(headers, paramHeaders(property, value));
    const header = property['x-mcp-header'];
    if (typeof header !== 'string' || !TOKEN.test(header)) continue;
    if (typeof value === 'string' || typeof value === 'boolean' || Number.isInteger(value))
      headers[`Mcp-Param-${header}`] = encode(String(value));
  }
  return headers;
}

/**
 * True where a schema marks what cannot be a header: something other than a plain property, a name
 * that is none, or one name twice. Such a tool is to be left out (SEP-2243).
 */
export function hasFaultyHeaders(schema: unknown): boolean {
  const names = new Set<string>();

  function isFaulty(part: unknown, isProperty: boolean): boolean {
    if (Array.isArray(part)) return part.some((item) => isFaulty(item, false));
    if (!isObject(part)) return false;
    const { 'x-mcp-header': header, properties, ...rest } = part;
    if (header !== undefined) {
      if (!isProperty || typeof header !== 'string' || !TOKEN.test(header)) return true;
      const name = header.toLowerCase();
      if (names.has(name) || !TYPES.includes(String(part.type))) return true;
      names.add(name);
    }
    const reachable = isProperty || part === schema;
    if (isObject(properties))
      for (const property of Object.values(properties))
        if (isFaulty(property, reachable)) return true;
    return Object.entries(rest).some(
      ([key, value]) => !DATA.includes(key) && isFaulty(value, false),
    );
  }

  return isFaulty(schema, false);
}

/** Plain ASCII as it is; anything else in the specification's base64 form. */
function encode(value: string): string {
  const plain = /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(value) && !value.startsWith('=?');
  if (plain) return value;
  const bytes = new TextEncoder().encode(value);
  return `=?base64?${btoa(String.fromCodePoint(...bytes))}?=`;
}
