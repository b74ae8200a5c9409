/** What a call may change, in words for the person; hints of a server are told as its own claims. */
import type { CallPart, ToolAnnotations } from '../../store/records.ts';

/** Host of a server's address; the address itself where it has none. */
export function hostOf(address: string): string {
  return URL.canParse(address) ? new URL(address).host || address : address;
}

/** Lines about what may happen, from MCP's tool annotations (defaults of the specification). */
export function changes(call: CallPart, hints: ToolAnnotations = {}): string[] {
  if (call.readOnly) return ['It only reads. Nothing is changed.'];
  const lines: string[] = [];
  if (hints.readOnlyHint) lines.push('Its server says that it only reads.');
  else if (hints.destructiveHint === false)
    lines.push('It may add something; it says that it deletes nothing.');
  else if (hints.destructiveHint) lines.push('It may delete or overwrite something.');
  else lines.push('It may change something; its server does not say what.');
  if (hints.openWorldHint) lines.push('It may reach other people or services.');
  return lines;
}
