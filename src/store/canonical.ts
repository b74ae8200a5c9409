/** One text, and one fingerprint, for values that are equal whatever the order of their keys. */
import type { ToolDefinition } from './records.ts';

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

/** Bytes as hexadecimal digits, two each. */
export const toHex = (bytes: Uint8Array): string =>
  Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');

/** SHA-256 of a value's canonical JSON, as 64 hexadecimal digits. */
export async function fingerprint(value: unknown): Promise<string> {
  const bytes = new TextEncoder().encode(canonicalJson(value));
  const digest = await crypto.subtle.digest('SHA-256', bytes);
  return toHex(new Uint8Array(digest));
}

/** The fingerprint of what a tool is: all that a person and a model are told of it. */
export function definitionPin(tool: ToolDefinition): Promise<string> {
  const { name, title, description, inputSchema, outputSchema, annotations, undo } = tool;
  return fingerprint({ name, title, description, inputSchema, outputSchema, annotations, undo });
}
