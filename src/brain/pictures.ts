/**
 * What a picture is, read from its own bytes and never from what a server says of it; and what a
 * model is told of one that it is not shown. Pure.
 */
import type { BrainMessage } from './brain.ts';

export interface Picture {
  readonly mime: 'image/png' | 'image/jpeg' | 'image/webp' | 'image/gif';
  /** In pixels, as they are stored: a turn in the EXIF data is not counted in. */
  readonly width: number;
  readonly height: number;
}

const BASE64 = /^[A-Za-z\d+/]*={0,2}$/;

/** The bytes of Base64, spaces allowed; null where it is something else. */
export function bytesOf(base64: string): Uint8Array<ArrayBuffer> | null {
  const clean = base64.replace(/\s+/g, '');
  if (clean === '' || !BASE64.test(clean)) return null;
  try {
    return Uint8Array.from(atob(clean), (char) => char.charCodeAt(0));
  } catch {
    return null;
  }
}

/** Base64 of bytes, in pieces that a call's arguments can hold. */
export function base64Of(bytes: Uint8Array): string {
  let text = '';
  for (let at = 0; at < bytes.length; at += 0x8000)
    text += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  return btoa(text);
}

/** Kind and size by magic number and header; null where it is none of the four kinds, or is cut off. */
export function readPicture(bytes: Uint8Array): Picture | null {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  try {
    const found = png(view) ?? gif(view) ?? webp(view) ?? jpeg(view);
    return found && found.width > 0 && found.height > 0 ? found : null;
  } catch (cause) {
    // Read beyond its end.
    if (cause instanceof RangeError) return null;
    throw cause;
  }
}

const ascii = (view: DataView, at: number, length: number): string =>
  String.fromCharCode(...Array.from({ length }, (_, n) => view.getUint8(at + n)));

/** PNG (W3C, 5.2 and 11.2.1): its signature, then the header chunk. */
function png(view: DataView): Picture | null {
  if (view.getUint32(0) !== 0x89504e47 || view.getUint32(4) !== 0x0d0a1a0a) return null;
  if (ascii(view, 12, 4) !== 'IHDR') return null;
  return { mime: 'image/png', width: view.getUint32(16), height: view.getUint32(20) };
}

/** GIF87a and GIF89a: the logical screen. */
function gif(view: DataView): Picture | null {
  if (!/^GIF8[79]a$/.test(ascii(view, 0, 6))) return null;
  return { mime: 'image/gif', width: view.getUint16(6, true), height: view.getUint16(8, true) };
}

/** WebP (RFC 9649): one of three first chunks tells the size. */
function webp(view: DataView): Picture | null {
  if (ascii(view, 0, 4) !== 'RIFF' || ascii(view, 8, 4) !== 'WEBP') return null;
  const mime = 'image/webp';
  const size24 = (at: number) => view.getUint16(at, true) + (view.getUint8(at + 2) << 16) + 1;
  switch (ascii(view, 12, 4)) {
    case 'VP8X':
      return { mime, width: size24(24), height: size24(27) };
    case 'VP8L': {
      const bits = view.getUint32(21, true);
      return { mime, width: (bits & 0x3fff) + 1, height: ((bits >> 14) & 0x3fff) + 1 };
    }
    case 'VP8 ':
      return {
        mime,
        width: view.getUint16(26, true) & 0x3fff,
        height: view.getUint16(28, true) & 0x3fff,
      };
    default:
      return null;
  }
}

/** JPEG (ITU-T T.81, annex B): the segments up to the frame header. */
function jpeg(view: DataView): Picture | null {
  if (view.getUint16(0) !== 0xffd8) return null;
  let at = 2;
  for (;;) {
    if (view.getUint8(at) !== 0xff) return null;
    const marker = view.getUint8(at + 1);
    // Fill bytes may stand before a marker.
    if (marker === 0xff) {
      at += 1;
      continue;
    }
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    if (isFrame)
      return { mime: 'image/jpeg', width: view.getUint16(at + 7), height: view.getUint16(at + 5) };
    // Pixels, or the end, before any frame.
    if (marker === 0xda || marker === 0xd9) return null;
    at += 2 + view.getUint16(at + 2);
  }
}

/** Where a picture stands for a model that is shown none. */
export function unseenWords(data: string): string {
  const bytes = bytesOf(data);
  const picture = bytes && readPicture(bytes);
  return picture
    ? `[a picture, ${picture.width}×${picture.height}, which this model cannot see]`
    : '[a picture, which this model cannot see]';
}

/** Text with sentences behind it. */
export const withNotes = (text: string, notes: readonly string[]): string =>
  [text, ...notes].filter(Boolean).join('\n');

/** The messages as a model reads them that cannot see: it is told of each picture, so that it does not pretend. */
export function unseen(messages: readonly BrainMessage[]): readonly BrainMessage[] {
  if (!messages.some((message) => message.role !== 'assistant' && message.images?.length))
    return messages;
  return messages.map((message) => {
    if (message.role === 'assistant' || !message.images?.length) return message;
    const { images, ...rest } = message;
    return {
      ...rest,
      text: withNotes(
        message.text,
        images.map(({ data }) => unseenWords(data)),
      ),
    };
  });
}
