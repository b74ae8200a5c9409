/** A skill of a server as text to read and to attach. Its own words: untrusted. Pure. */
import type { SkillFile } from '../../mcp/types.ts';

/** The file's text; null where it is none. */
export function skillText({ text, bytes }: SkillFile): string | null {
  if (text !== undefined) return text;
  try {
    const read = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return read.includes('\0') ? null : read;
  } catch {
    return null;
  }
}
