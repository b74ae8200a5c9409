/** Untrusted values of tools (arguments, results), sorted into what can be drawn. */
import type { ContentBlock } from '../../store/records.ts';

/** `find_flights` and `arriveBy` as a person would write them. */
export function readable(name: string): string {
  const words = name
    .replace(/([a-z\d])([A-Z])/g, '$1 $2')
    .replace(/[_-]+/g, ' ')
    .trim()
    .toLowerCase();
  return words ? words[0]!.toUpperCase() + words.slice(1) : name;
}

/** A value on one line. */
export function inline(value: unknown): string {
  if (typeof value === 'string') return value;
  if (value === undefined) return '';
  return JSON.stringify(value) ?? '';
}

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export interface Grid {
  readonly columns: readonly string[];
  readonly rows: readonly Record<string, unknown>[];
}

const MOST_COLUMNS = 8;

/** A list of like objects as a table; null where it is something else. */
export function gridOf(value: unknown): Grid | null {
  if (!Array.isArray(value) || value.length < 2 || !value.every(isRecord)) return null;
  const columns = [...new Set(value.flatMap((row) => Object.keys(row)))];
  if (columns.length === 0 || columns.length > MOST_COLUMNS) return null;
  const flat = value.every((row) =>
    Object.values(row).every((cell) => typeof cell !== 'object' || cell === null),
  );
  return flat ? { columns, rows: value } : null;
}

/** A piece of a result that can be drawn. */
export type Piece =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'json'; readonly value: unknown }
  | { readonly kind: 'image'; readonly source: string; readonly alt: string }
  | { readonly kind: 'link'; readonly address: string; readonly label: string }
  /** What cannot be shown here, in words. */
  | { readonly kind: 'other'; readonly text: string };

const IMAGE_TYPES = new Set(['image/png', 'image/jpeg', 'image/webp', 'image/gif', 'image/avif']);
const BASE64 = /^[A-Za-z\d+/\s]*={0,2}\s*$/;

const text = (value: unknown): string => (typeof value === 'string' ? value : '');

function fromText(words: string): Piece {
  const start = words.trimStart()[0];
  if (start === '{' || start === '[') {
    try {
      return { kind: 'json', value: JSON.parse(words) as unknown };
    } catch {
      // Not JSON after all.
    }
  }
  return { kind: 'text', text: words };
}

function fromImage(data: string, type: string): Piece {
  if (!IMAGE_TYPES.has(type) || !BASE64.test(data))
    return { kind: 'other', text: `An image of a kind that is not shown (${type || 'unknown'}).` };
  return { kind: 'image', source: `data:${type};base64,${data}`, alt: 'Image from the tool' };
}

/** MCP's content blocks (revision 2025-06-18, "Tool Result") as pieces. */
export function pieceOf(block: ContentBlock): Piece {
  switch (block.type) {
    case 'text':
      return fromText(text(block.text));
    case 'image':
      return fromImage(text(block.data), text(block.mimeType));
    case 'audio':
      return { kind: 'other', text: 'A sound, which is not played here.' };
    case 'resource_link':
      return {
        kind: 'link',
        address: text(block.uri),
        label: text(block.title) || text(block.name) || text(block.uri),
      };
    case 'resource': {
      const resource = isRecord(block.resource) ? block.resource : {};
      if (typeof resource.text === 'string') return fromText(resource.text);
      const type = text(resource.mimeType);
      if (typeof resource.blob === 'string' && IMAGE_TYPES.has(type))
        return fromImage(resource.blob, type);
      return { kind: 'other', text: `A file that is not shown: ${text(resource.uri) || type}` };
    }
    default:
      return { kind: 'json', value: block };
  }
}
