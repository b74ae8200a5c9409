/**
 * Fingerprints of tool definitions. Promise: equal definitions have equal pins whatever the order of
 * their keys, and any change of name, title, description, schemas or annotations changes the pin.
 */
import type { ToolDefinition } from '../store/records.ts';

/**
 * JSON with sorted keys and no spaces, in the manner of RFC 8785; undefined members are left out.
 * Values that JSON does not know (functions, symbols) count as undefined.
 */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((item) => canonicalJson(item)).join(',')}]`;
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value)
      .filter(([, member]) => member !== undefined)
      .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
      .map(([key, member]) => `${JSON.stringify(key)}:${canonicalJson(member)}`);
    return `{${members.join(',')}}`;
  }
  return JSON.stringify(value) ?? 'null';
}

/** SHA-256 of the canonical definition, as 64 hexadecimal digits. */
export async function pinOf(tool: ToolDefinition): Promise<string> {
  const { name, title, description, inputSchema, outputSchema, annotations } = tool;
  const text = canonicalJson({
    name,
    title,
    description,
    inputSchema,
    outputSchema,
    annotations,
  });
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
