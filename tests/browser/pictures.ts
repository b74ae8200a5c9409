/** Pictures for tests in the browser, made with its own canvas. */

/** A picture in two colours, left and right. */
export async function draw(
  width: number,
  height: number,
  type: 'image/png' | 'image/jpeg' | 'image/webp',
): Promise<Uint8Array<ArrayBuffer>> {
  const canvas = new OffscreenCanvas(width, height);
  const context = canvas.getContext('2d')!;
  context.fillStyle = '#c33';
  context.fillRect(0, 0, width, height);
  context.fillStyle = '#36c';
  context.fillRect(0, 0, width / 2, height);
  const blob = await canvas.convertToBlob({ type });
  return new Uint8Array(await blob.arrayBuffer());
}

const ascii = (text: string): number[] => [...text].map((char) => char.charCodeAt(0));

/** What the camera wrote of the place; it stands in no picture that left a camera of this test. */
export const PLACE = '48.2082N 16.3738E';

/**
 * The same JPEG as a camera writes it: lying on its side (orientation 6: turn right to see it), with
 * the place in its EXIF data (JEITA CP-3451, 4.5).
 */
export function asPhotographed(jpeg: Uint8Array): Uint8Array<ArrayBuffer> {
  const place = ascii(`${PLACE}\0`);
  const entry = (tag: number, type: number, count: number, value: readonly number[]) => [
    tag >> 8,
    tag & 255,
    0,
    type,
    0,
    0,
    0,
    count,
    ...value,
  ];
  const after = 8 + 2 + 2 * 12 + 4;
  const tiff = [
    ...ascii('MM'),
    0,
    42,
    0,
    0,
    0,
    8,
    0,
    2,
    ...entry(0x010e, 2, place.length, [0, 0, 0, after]),
    ...entry(0x0112, 3, 1, [0, 6, 0, 0]),
    0,
    0,
    0,
    0,
    ...place,
  ];
  const body = [...ascii('Exif\0\0'), ...tiff];
  const length = body.length + 2;
  return Uint8Array.from([
    0xff,
    0xd8,
    0xff,
    0xe1,
    length >> 8,
    length & 255,
    ...body,
    ...jpeg.subarray(2),
  ]);
}
