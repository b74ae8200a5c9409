/** What a picture is, by its bytes; and what a model is told that cannot see. */
import { describe, expect, test } from 'vitest';
import { base64Of, bytesOf, readPicture, unseen } from '../../../src/brain/pictures.ts';
import { drawnSize } from '../../../src/brain/redraw.ts';
import { png } from './png.ts';

const bytes = (...parts: (string | readonly number[])[]): Uint8Array =>
  Uint8Array.from(
    parts.flatMap((part) =>
      typeof part === 'string' ? [...part].map((char) => char.charCodeAt(0)) : [...part],
    ),
  );
const zeros = (count: number): number[] => Array.from({ length: count }, () => 0);

const APP1 = [0xff, 0xe1, 0, 10, ...bytes('Exif\0\0ab')];
const FRAME = [0xff, 0xc2, 0, 17, 8, 1, 0x2c, 2, 0x58, ...zeros(10)];

describe('a picture is told by its bytes', () => {
  test.each([
    ['PNG', new Uint8Array(png(640, 480)), { mime: 'image/png', width: 640, height: 480 }],
    ['GIF', bytes('GIF89a', [3, 0, 2, 1]), { mime: 'image/gif', width: 3, height: 258 }],
    [
      'WebP, lossy',
      bytes('RIFF', zeros(4), 'WEBPVP8 ', zeros(10), [0x80, 0x02, 0xe0, 0x01]),
      { mime: 'image/webp', width: 640, height: 480 },
    ],
    [
      'WebP, lossless',
      bytes('RIFF', zeros(4), 'WEBPVP8L', zeros(5), [0x7f, 0xc2, 0x77, 0x00]),
      { mime: 'image/webp', width: 640, height: 480 },
    ],
    [
      'WebP, extended',
      bytes('RIFF', zeros(4), 'WEBPVP8X', zeros(8), [0x7f, 2, 0, 0xdf, 1, 0]),
      { mime: 'image/webp', width: 640, height: 480 },
    ],
    [
      'JPEG with EXIF and fill bytes',
      bytes([0xff, 0xd8, ...APP1, 0xff, ...FRAME]),
      { mime: 'image/jpeg', width: 600, height: 300 },
    ],
  ])('%s', (_, data, picture) => {
    expect(readPicture(data)).toEqual(picture);
  });

  test.each([
    ['an SVG', bytes('<svg xmlns="http://www.w3.org/2000/svg"/>')],
    ['a page', bytes('<!doctype html><title>Not found</title>')],
    ['an AVIF', bytes(zeros(4), 'ftypavif', zeros(40))],
    ['nothing', bytes()],
    ['a PNG cut off in its header', new Uint8Array(png(3, 2).subarray(0, 18))],
    ['a PNG without a pixel', new Uint8Array(png(0, 2))],
    ['a JPEG without a frame', bytes([0xff, 0xd8, ...APP1, 0xff, 0xd9])],
    ['a JPEG whose segment has no length', bytes([0xff, 0xd8, 0xff, 0xe1, 0, 0, 0, 0, 0])],
  ])('%s is none', (_, data) => {
    expect(readPicture(data)).toBeNull();
  });

  test('every cut of a picture is read without a crash', () => {
    const whole = bytes([0xff, 0xd8, ...APP1, 0xff, ...FRAME]);
    for (let at = 0; at < whole.length; at++)
      expect(() => readPicture(whole.subarray(0, at))).not.toThrow();
  });

  test('Base64 is read as it comes, or not at all', () => {
    expect(bytesOf(' AQID\n')).toEqual(new Uint8Array([1, 2, 3]));
    for (const wrong of ['', 'not base64', 'A', 'AQ=ID', '%%%']) expect(bytesOf(wrong)).toBeNull();
    const long = new Uint8Array(100_000).map((_, at) => at % 251);
    expect(bytesOf(base64Of(long))).toEqual(long);
  });
});

test('a picture is drawn no longer than a model is shown, in its own shape', () => {
  expect(drawnSize({ width: 4000, height: 3000 })).toEqual({ width: 1568, height: 1176 });
  expect(drawnSize({ width: 3000, height: 4000 })).toEqual({ width: 1176, height: 1568 });
  expect(drawnSize({ width: 640, height: 480 })).toEqual({ width: 640, height: 480 });
  expect(drawnSize({ width: 20_000, height: 2 })).toEqual({ width: 1568, height: 1 });
});

test('a model that cannot see is told of each picture, and gets none', () => {
  const image = { mime: 'image/png', data: png(640, 480).toString('base64') };
  const broken = { mime: 'image/png', data: 'AAAA' };
  const before = { role: 'assistant', text: 'Well?', calls: [] } as const;
  expect(
    unseen([
      { role: 'user', text: 'What is this?', images: [image, broken] },
      before,
      { role: 'tool', callId: 'a', name: 'shoot', text: '', isError: false, images: [image] },
    ]),
  ).toEqual([
    {
      role: 'user',
      text: 'What is this?\n[a picture, 640×480, which this model cannot see]\n[a picture, which this model cannot see]',
    },
    before,
    {
      role: 'tool',
      callId: 'a',
      name: 'shoot',
      text: '[a picture, 640×480, which this model cannot see]',
      isError: false,
    },
  ]);
  const plain = [{ role: 'user', text: 'Hello' }] as const;
  expect(unseen(plain)).toBe(plain);
});
