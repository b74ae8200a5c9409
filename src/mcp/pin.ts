/**
 * Fingerprints of tool definitions. Promise: equal definitions have equal pins whatever the order of
 * their keys, and any change of name, title, description, schemas, annotations or
 * way to undo it changes the pin.
 */
import { definitionPin } from '../store/canonical.ts';
import type { ToolDefinition } from '../store/records.ts';

/** SHA-256 of the canonical definition, as 64 hexadecimal digits. */
export function pinOf(tool: ToolDefinition): Promise<string> {
  return definitionPin(tool);
}
