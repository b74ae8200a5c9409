import { describe, expect, it } from 'vitest';
import type { TensorType } from '../../../tools/weights/gguf.ts';
import { decode, encodeQ8, fromHalf, toHalf } from '../../../tools/weights/quants.ts';
// Random blocks, and what the reference implementation (gguf 0.19.0 for Python) makes of them.
import blocks from './blocks.json' with { type: 'json' };

const bytesOf = (base64: string) => Buffer.from(base64, 'base64');
const floatsOf = (base64: string) => new Float32Array(Uint8Array.from(bytesOf(base64)).buffer);

describe('blocks of weights', () => {
  it.each(Object.keys(blocks.decode) as (keyof typeof blocks.decode)[])(
    'of type %s decode to what the reference says, to the bit',
    (type) => {
      const { bytes, floats } = blocks.decode[type];
      expect(decode(bytesOf(bytes), type satisfies TensorType)).toEqual(floatsOf(floats));
    },
  );

  it('encode as Q8_0 to the bytes of the reference', () => {
    const { floats, bytes } = blocks.encodeQ8;
    expect(encodeQ8(floatsOf(floats))).toEqual(bytesOf(bytes));
  });
});

describe('half precision', () => {
  it('keeps each of its values', () => {
    for (let half = 0; half < 1 << 16; half++) {
      const value = fromHalf(half);
      if (Number.isNaN(value)) expect(fromHalf(toHalf(value))).toBeNaN();
      else if (toHalf(value) !== half) expect.fail(`${half} came back as ${toHalf(value)}`);
    }
  });

  it('rounds to the nearest value, and between two to the even one', () => {
    for (let half = 0; half < 0x7bff; half++) {
      const [low, high] = [fromHalf(half), fromHalf(half + 1)];
      const middle = (low + high) / 2;
      const even = half % 2 === 0 ? half : half + 1;
      if (toHalf(middle) !== even) expect.fail(`the middle above ${half}`);
      if (toHalf(Math.fround(middle + (high - low) / 64)) !== half + 1)
        expect.fail(`above ${half}`);
      if (toHalf(Math.fround(middle - (high - low) / 64)) !== half) expect.fail(`below ${half}`);
    }
    expect(toHalf(65_519)).toBe(0x7bff);
    expect(toHalf(65_520)).toBe(0x7c00);
    expect(toHalf(-1e9)).toBe(0xfc00);
    expect(toHalf(1e-9)).toBe(0);
  });
});
