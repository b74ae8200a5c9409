/**
 * `Mcp-Param-*` headers of a call (MCP 2026-07-28, SEP-2243): arguments that a tool's schema marks
 * with `x-mcp-header` are repeated as headers, so that gateways can route without reading bodies.
 * The SDK leaves them out on a page.
 */
import { isObject } from './schema.ts';

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
    if (typeof header !== 'string' || !/^[\w!#$%&'*+.^`|~-]+$/.test(header)) continue;
    if (typeof value === 'string' || typeof value === 'boolean' || Number.isInteger(value))
      headers[`Mcp-Param-${header}`] = encode(String(value));
  }
  return headers;
}

/** Plain ASCII as it is; anything else in the specification's base64 form. */
function encode(value: string): string {
  const plain = /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(value) && !value.startsWith('=?');
  if (plain) return value;
  const bytes = new TextEncoder().encode(value);
  return `=?base64?${btoa(String.fromCodePoint(...bytes))}?=`;
}
