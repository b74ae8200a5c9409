/**
 * Draws a picture anew, smaller where need be: decoded by the browser, drawn on a canvas, written as
 * PNG or JPEG. Promise: what comes out holds pixels and nothing else, so no place, camera or time
 * that stood beside them (EXIF, XMP, comments) is kept; an animation becomes its first picture.
 */
import { base64Of, readPicture, type Picture } from './pictures.ts';

/** Longest side of what a model is shown, in pixels: beyond it providers scale down themselves. */
export const LONGEST = 1_568;
/** More pixels than this would take a phone's memory only to be decoded. */
const MOST_PIXELS = 100_000_000;
/** A PNG larger than this, in bytes, is a photo, which JPEG holds in a tenth. */
const LARGEST_PNG = 600_000;
const QUALITY = 0.86;

export interface Drawn {
  readonly mime: 'image/png' | 'image/jpeg';
  /** Base64. */
  readonly data: string;
  readonly width: number;
  readonly height: number;
}

export type Redrawn =
  | { readonly ok: true; readonly picture: Drawn }
  /** kind: none of the four kinds · size: too many pixels · broken: it cannot be decoded. */
  | { readonly ok: false; readonly why: 'kind' | 'size' | 'broken' };

/** The size in which a picture is drawn: its own, or smaller in the same shape. */
export function drawnSize({ width, height }: Pick<Picture, 'width' | 'height'>): {
  width: number;
  height: number;
} {
  const scale = Math.min(1, LONGEST / Math.max(width, height));
  return {
    width: Math.max(1, Math.round(width * scale)),
    height: Math.max(1, Math.round(height * scale)),
  };
}

/** Whether the browser can make pixels of it; outside of browsers whoever is sent it finds out. */
export async function decodes(bytes: Uint8Array<ArrayBuffer>, mime: string): Promise<boolean> {
  if (typeof createImageBitmap === 'undefined') return true;
  const bitmap = await createImageBitmap(new Blob([bytes], { type: mime })).catch(() => null);
  bitmap?.close();
  return bitmap !== null;
}

export async function redraw(bytes: Uint8Array<ArrayBuffer>): Promise<Redrawn> {
  if (typeof createImageBitmap === 'undefined') return { ok: false, why: 'size' };
  const picture = readPicture(bytes);
  if (!picture) return { ok: false, why: 'kind' };
  if (picture.width * picture.height > MOST_PIXELS) return { ok: false, why: 'size' };
  const blob = new Blob([bytes], { type: picture.mime });
  const bitmap = await createImageBitmap(blob).catch(() => null);
  if (!bitmap) return { ok: false, why: 'broken' };
  try {
    // The bitmap's own size: there the turn that a camera noted is already made.
    const { width, height } = drawnSize(bitmap);
    const canvas = new OffscreenCanvas(width, height);
    const context = canvas.getContext('2d');
    if (!context) return { ok: false, why: 'broken' };
    context.imageSmoothingQuality = 'high';
    context.drawImage(bitmap, 0, 0, width, height);
    const lossless = picture.mime === 'image/png' || picture.mime === 'image/gif';
    let drawn = lossless ? await canvas.convertToBlob({ type: 'image/png' }) : null;
    if (!drawn || drawn.size > LARGEST_PNG) {
      // JPEG knows no transparency: what shows through is paper.
      context.globalCompositeOperation = 'destination-over';
      context.fillStyle = '#fff';
      context.fillRect(0, 0, width, height);
      drawn = await canvas.convertToBlob({ type: 'image/jpeg', quality: QUALITY });
    }
    const data = base64Of(new Uint8Array(await drawn.arrayBuffer()));
    const mime = drawn.type === 'image/png' ? 'image/png' : 'image/jpeg';
    return { ok: true, picture: { mime, data, width, height } };
  } catch {
    // No memory for the canvas, above all.
    return { ok: false, why: 'broken' };
  } finally {
    bitmap.close();
  }
}
