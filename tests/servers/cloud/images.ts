/** Reads the pictures of a request as strictly as a provider does: Base64, and of the kind that is said. */
import type { SeenImage } from './talk.ts';

/** A picture, or in words why the provider would refuse it. */
export function readImage(mime: string, base64: string): SeenImage | string {
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(base64) || base64.length % 4 !== 0)
    return 'Invalid base64 data';
  const bytes = Buffer.from(base64, 'base64');
  if (bytes.length > 5 * 1024 * 1024) return 'image exceeds 5 MB maximum';
  const size =
    mime === 'image/png' ? pngSize(bytes) : mime === 'image/jpeg' ? jpegSize(bytes) : null;
  if (size === null) return `Could not process image: it is no ${mime}`;
  return { mime, ...size, bytes: bytes.length };
}

function pngSize(bytes: Buffer): { width: number; height: number } | null {
  if (bytes.toString('latin1', 0, 8) !== '\x89PNG\r\n\x1a\n' || bytes.length < 45) return null;
  return { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) };
}

function jpegSize(bytes: Buffer): { width: number; height: number } | null {
  if (bytes.length < 4 || bytes.readUInt16BE(0) !== 0xffd8) return null;
  for (let at = 2; at + 9 < bytes.length; at += 2 + bytes.readUInt16BE(at + 2)) {
    const marker = bytes[at + 1]!;
    if (bytes[at] !== 0xff) return null;
    if (marker >= 0xc0 && marker <= 0xc3)
      return { width: bytes.readUInt16BE(at + 7), height: bytes.readUInt16BE(at + 5) };
  }
  return null;
}
