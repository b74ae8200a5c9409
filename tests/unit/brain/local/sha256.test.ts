import { createHash, randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { Sha256 } from '../../../../src/brain/local/sha256.ts';

const reference = (data: Uint8Array): string => createHash('sha256').update(data).digest('hex');

test('agrees with the standard for every length around a block, in one piece', () => {
  for (let length = 0; length <= 200; length += 1) {
    const data = new Uint8Array(randomBytes(length));
    expect(new Sha256().update(data).hex(), `${length} bytes`).toBe(reference(data));
  }
});

test('does not depend on how the data is cut', () => {
  const data = new Uint8Array(randomBytes(50_000));
  for (const step of [1, 3, 63, 64, 65, 1000, 49_999]) {
    const hash = new Sha256();
    for (let at = 0; at < data.length; at += step) hash.update(data.subarray(at, at + step));
    expect(hash.hex(), `pieces of ${step}`).toBe(reference(data));
  }
});

test('knows the vectors of FIPS 180-4', () => {
  const text = (words: string): string =>
    new Sha256().update(new TextEncoder().encode(words)).hex();
  expect(text('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
  expect(text('')).toBe('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');
});
