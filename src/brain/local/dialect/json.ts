/** JSON as the families' published templates write it: Python's `json.dumps`, letters as they are. */

/** `indent` in spaces; without it all stands on one line, with spaces after commas and colons. */
export function dumps(value: unknown, indent = 0): string {
  return write(value, indent, indent === 0 ? '' : '\n');
}

function write(value: unknown, indent: number, line: string): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const isList = Array.isArray(value);
  const [open, close] = isList ? '[]' : '{}';
  const inner = line === '' ? '' : line + ' '.repeat(indent);
  const entries: readonly string[] = isList
    ? value.map((item) => write(item, indent, inner))
    : Object.entries(value)
        .filter(([, item]) => item !== undefined)
        .map(([key, item]) => `${JSON.stringify(key)}: ${write(item, indent, inner)}`);
  if (entries.length === 0) return `${open}${close}`;
  return open + inner + entries.join(line === '' ? ', ' : `,${inner}`) + line + close;
}

/** The object that a text is, or null. */
export function readObject(text: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Readonly<Record<string, unknown>>)
      : null;
  } catch {
    return null;
  }
}
