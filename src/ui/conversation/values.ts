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

/**
 * What has no shape of its own: controls, format characters (bidirectional, zero-width, tags), private
 * use, blank letters, variation selectors that no emoji uses, and joiners where no word needs one.
 */
const SHAPELESS =
  /(?<=[A-Za-z0-9])[\u200C\u200D]|(?![\t\n\u200C\u200D])[\p{Cc}\p{Cf}\p{Co}]|[\u115F\u1160\u3164\uFFA0]|[\u{FE00}-\u{FE0D}\u{E0100}-\u{E01EF}]/gu;

/** The text with a sign, e.g. `⟨U+202E⟩`, for each character that would not be seen. */
export function visible(text: string): string {
  return text.replace(SHAPELESS, (character) => {
    const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase();
    return `⟨U+${code.padStart(4, '0')}⟩`;
  });
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
  /** Bytes in Base64 that the browser can draw or play, or that can be saved as a file. */
  | { readonly kind: 'image' | 'audio' | 'file'; readonly media: Media }
  | {
      readonly kind: 'link';
      readonly address: string;
      readonly label: string;
      readonly note: string;
    }
  /** What cannot be shown here, in words. */
  | { readonly kind: 'other'; readonly text: string };

export interface Media {
  /** Base64. */
  readonly data: string;
  readonly type: string;
  readonly name: string;
}

const IMAGE_TYPES = new Set(['image/png', 'image/jpeg', 'image/webp', 'image/gif', 'image/avif']);
const AUDIO_TYPES = new Set([
  'audio/wav',
  'audio/x-wav',
  'audio/wave',
  'audio/mpeg',
  'audio/mp3',
  'audio/mp4',
  'audio/aac',
  'audio/ogg',
  'audio/webm',
  'audio/flac',
]);
/** Characters of Base64 that are drawn or played at most: about 12 MB. */
const LARGEST = 16_000_000;
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

const WHAT = { image: 'An image', audio: 'A sound', file: 'A file' } as const;

function fromBytes(kind: keyof typeof WHAT, data: string, mime: string, name: string): Piece {
  const type = mime.split(';')[0]!.trim().toLowerCase();
  const known = { image: IMAGE_TYPES.has(type), audio: AUDIO_TYPES.has(type), file: true }[kind];
  const what = WHAT[kind];
  if (!known)
    return { kind: 'other', text: `${what} of a kind that is not shown (${type || 'unknown'}).` };
  if (data.length > LARGEST) return { kind: 'other', text: `${what} that is too large to show.` };
  if (data.length === 0 || !BASE64.test(data))
    return { kind: 'other', text: `${what} that is broken: its data is not Base64.` };
  // A file is saved, never opened as what it says it is: a page of its own would run at our address.
  return {
    kind,
    media: { data, type: kind === 'file' ? 'application/octet-stream' : type, name },
  };
}

/** The bytes; null where they are not Base64 after all. */
export function blobOf({ data, type }: Media): Blob | null {
  try {
    const raw = atob(data.replace(/\s+/g, ''));
    return new Blob([Uint8Array.from(raw, (char) => char.charCodeAt(0))], { type });
  } catch {
    return null;
  }
}

/** MCP's content blocks (revision 2025-06-18, "Tool Result") as pieces. */
export function pieceOf(block: ContentBlock): Piece {
  switch (block.type) {
    case 'text':
      return fromText(text(block.text));
    case 'image':
    case 'audio':
      return fromBytes(block.type, text(block.data), text(block.mimeType), '');
    case 'resource_link':
      return {
        kind: 'link',
        address: text(block.uri),
        label: text(block.title) || text(block.name) || text(block.uri),
        note: text(block.description),
      };
    case 'resource': {
      const resource = isRecord(block.resource) ? block.resource : {};
      if (typeof resource.text === 'string') return fromText(resource.text);
      const type = text(resource.mimeType);
      const uri = text(resource.uri);
      if (typeof resource.blob === 'string') {
        const known = IMAGE_TYPES.has(type) ? 'image' : AUDIO_TYPES.has(type) ? 'audio' : 'file';
        return fromBytes(known, resource.blob, type, uri);
      }
      return { kind: 'other', text: `A file that is not shown: ${uri || type}` };
    }
    default:
      return { kind: 'json', value: block };
  }
}
