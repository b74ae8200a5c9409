/**
 * The names under which a model sees tools. Promise: unique, `[A-Za-z_][A-Za-z0-9_]*`, at most 64
 * characters, the same on every run; a tool keeps its name when a server is added behind its own.
 */

/** The longest name that every cloud's API takes. */
const LONGEST = 64;

export interface NameInput {
  /** The server's name, for people. */
  readonly serverName: string;
  readonly tool: string;
}

/**
 * One name for each tool, in order: the tool's own name where it is valid and still free, else with
 * the server's name before it, else numbered. Earlier tools win, so a server that is added later
 * cannot take a name from one that was there before.
 */
export function modelNames(tools: readonly NameInput[]): string[] {
  const taken = new Set<string>();
  /** The next number to try for a name: counted from 2 each time, many equal names would take long. */
  const next = new Map<string, number>();
  return tools.map(({ serverName, tool }) => {
    const own = identifier(tool);
    const full = identifier(`${slug(serverName)}_${tool}`);
    let name = own !== null && !taken.has(own.toLowerCase()) ? own : full;
    if (name === null || taken.has(name.toLowerCase())) {
      const stem = name ?? 'tool';
      let count = next.get(stem.toLowerCase()) ?? 2;
      while (taken.has(numbered(stem, count).toLowerCase())) count += 1;
      next.set(stem.toLowerCase(), count + 1);
      name = numbered(stem, count);
    }
    // Compared without case, because small models and some APIs confuse the two.
    taken.add(name.toLowerCase());
    return name;
  });
}

/** A valid name made from a text, or null where nothing usable is left or it starts with a digit. */
function identifier(text: string): string | null {
  const clean = text
    .normalize('NFKD')
    .replace(/[^A-Za-z0-9_]+/g, '_')
    .replace(/^_+|_+$/g, '');
  if (!/^[A-Za-z]/.test(clean)) return null;
  return clean.length <= LONGEST ? clean : `${clean.slice(0, LONGEST - 9)}_${checksum(text)}`;
}

function slug(serverName: string): string {
  const words = serverName
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^_+|_+$/g, '')
    .slice(0, 20);
  return /^[a-z]/.test(words) ? words : `server_${words}`.replace(/_$/, '');
}

function numbered(stem: string, count: number): string {
  const suffix = `_${count}`;
  return stem.slice(0, LONGEST - suffix.length) + suffix;
}

/** FNV-1a over UTF-16, 8 hexadecimal digits: tells two long names apart. */
function checksum(text: string): string {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i += 1)
    hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193) >>> 0;
  return hash.toString(16).padStart(8, '0');
}
