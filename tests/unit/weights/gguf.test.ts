import { mkdtemp, open, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  encodeHeader,
  padding,
  readHeader,
  readTensor,
  type GgufValue,
  type TensorInfo,
} from '../../../tools/weights/gguf.ts';
import { randomGemma3, TINY } from '../../models/gguf.ts';

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'gguf-'));
});

afterAll(() => rm(folder, { recursive: true }));

async function header(bytes: Buffer) {
  const file = path.join(folder, 'file.gguf');
  await writeFile(file, bytes);
  const handle = await open(file);
  try {
    return await readHeader(handle);
  } finally {
    await handle.close();
  }
}

describe('a GGUF file', () => {
  it('gives back every kind of value and every tensor that was written', async () => {
    const values = new Map<string, GgufValue>([
      ['u8', { type: 'u8', value: 255 }],
      ['i8', { type: 'i8', value: -128 }],
      ['u16', { type: 'u16', value: 65_535 }],
      ['i16', { type: 'i16', value: -32_768 }],
      ['u32', { type: 'u32', value: 4_294_967_295 }],
      ['i32', { type: 'i32', value: -1 }],
      ['f32', { type: 'f32', value: 0.5 }],
      ['f64', { type: 'f64', value: 0.1 }],
      ['bool', { type: 'bool', value: true }],
      ['string', { type: 'string', value: 'Grüße, 世界' }],
      ['u64', { type: 'u64', value: 2n ** 63n }],
      ['i64', { type: 'i64', value: -(2n ** 62n) }],
      ['strings', { type: 'array', of: 'string', value: ['', 'a'] }],
      ['floats', { type: 'array', of: 'f32', value: [1.5, -2] }],
    ]);
    const tensors: TensorInfo[] = [
      { name: 'vector', dims: [3], type: 'F32' },
      { name: 'matrix', dims: [32, 2], type: 'Q8_0' },
    ];
    const data = [Buffer.alloc(12, 1), Buffer.alloc(68, 2)];
    const bytes = Buffer.concat([
      encodeHeader(values, tensors),
      ...data.flatMap((part) => [part, padding(part.length)]),
    ]);
    const read = await header(bytes);
    expect([...read.values]).toEqual([...values]);
    expect(read.tensors).toMatchObject(tensors);
    const handle = await open(path.join(folder, 'file.gguf'));
    for (const [i, tensor] of read.tensors.entries()) {
      expect(tensor.offset % 32).toBe(0);
      expect(await readTensor(handle, tensor)).toEqual(data[i]);
    }
    await handle.close();
  });

  it.each([
    ['a web page', Buffer.from('<!doctype html><title>Sign in</title>'), /not a GGUF file/],
    ['an older version', Buffer.from('GGUF\u0002\0\0\0'.padEnd(64, '\0')), /version 2/],
    ['a file cut within its header', randomGemma3().subarray(0, 5000), /ends within its header/],
    ['an empty file', Buffer.alloc(0), /ends within its header/],
  ])('is told from %s', async (_name, bytes, message) => {
    await expect(header(bytes)).rejects.toThrow(message);
  });

  it('is told from one cut within a tensor', async () => {
    const whole = randomGemma3();
    const file = path.join(folder, 'cut.gguf');
    await writeFile(file, whole.subarray(0, whole.length - 1000));
    const handle = await open(file);
    const { tensors } = await readHeader(handle);
    const last = tensors.at(-2);
    await expect(readTensor(handle, last!)).rejects.toThrow(/ends within blk\.5\.ffn_down/);
    await handle.close();
  });
});

describe('a random model', () => {
  it('is the same for the same seed and another for another', () => {
    expect(randomGemma3().equals(randomGemma3())).toBe(true);
    expect(randomGemma3().equals(randomGemma3({ ...TINY, seed: 2 }))).toBe(false);
  });

  it('has as many different tokens as its shape says', async () => {
    const { values } = await header(randomGemma3());
    const tokens = values.get('tokenizer.ggml.tokens')?.value as string[];
    expect(new Set(tokens).size).toBe(TINY.vocabulary);
    expect(tokens.slice(0, 6)).toContain('<start_of_turn>');
  });
});
