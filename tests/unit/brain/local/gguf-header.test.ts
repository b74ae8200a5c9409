import fc from 'fast-check';
import { closeSync, existsSync, openSync, readSync, statSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { encodeHeader, type GgufValue } from '../../../../tools/weights/gguf.ts';
import { randomGemma3, TINY } from '../../../models/gguf.ts';
import { GgufHeaderError, readGgufHeader } from '../../../../src/brain/local/gguf-header.ts';

const REAL = 'models/gemma-tools/gguf/gemma3-270m-tools-q8_0.gguf';
const file = randomGemma3();
const whole = readGgufHeader(file);

/** The fault of reading these bytes; null where they could be read. */
function faultOf(bytes: Uint8Array): string | null {
  try {
    readGgufHeader(bytes);
    return null;
  } catch (error) {
    expect(error).toBeInstanceOf(GgufHeaderError);
    return (error as GgufHeaderError).fault;
  }
}

const text = (value: string): GgufValue => ({ type: 'string', value });
const u32 = (value: number): GgufValue => ({ type: 'u32', value });
const made = (values: Record<string, GgufValue>): Buffer =>
  encodeHeader(new Map(Object.entries({ 'general.architecture': text('llama'), ...values })), []);

describe('what a GGUF file says of itself', () => {
  test('is read from its first bytes', () => {
    expect(whole).toMatchObject({
      architecture: 'gemma3',
      name: 'Random weights',
      contextTokens: 32768,
      layers: TINY.layers,
      kvHeads: TINY.kvHeads,
      headDim: TINY.headDim,
      vocabulary: TINY.vocabulary,
      template: null,
      parts: 1,
    });
    expect(whole.types.map(([type]) => type)).toEqual(['Q8_0', 'F32']);
    expect(whole.bytes).toBe(file.length);
  });

  test('holds for its template, its parts, and heads that differ from layer to layer', () => {
    const header = readGgufHeader(
      made({
        'tokenizer.chat_template': text('{{ "<|im_start|>" }}'),
        'split.count': { type: 'u16', value: 3 },
        'llama.embedding_length': u32(512),
        'llama.attention.head_count': u32(8),
        'llama.attention.head_count_kv': { type: 'array', of: 'i32', value: [1, 4, 2] },
        'llama.context_length': { type: 'u64', value: 8192n },
      }),
    );
    expect(header).toMatchObject({ parts: 3, kvHeads: 4, headDim: 64, contextTokens: 8192 });
    expect(header.template).toContain('<|im_start|>');
  });

  test('holds for the real weights beside the app', ({ skip }) => {
    skip(!existsSync(REAL), `${REAL} is not here: npm run weights fetches it`);
    const start = Buffer.alloc(32 << 20);
    const handle = openSync(REAL, 'r');
    readSync(handle, start, 0, start.length, 0);
    closeSync(handle);
    const header = readGgufHeader(start);
    expect(header).toMatchObject({ architecture: 'gemma3', layers: 18, kvHeads: 1, headDim: 256 });
    expect(header.vocabulary).toBe(262_144);
    expect(header.bytes).toBe(statSync(REAL).size);
  });
});

describe('a header that is not right', () => {
  test('is told apart: another file, another version, one that goes on, one that is damaged', () => {
    expect(faultOf(Buffer.from('<!doctype html><title>Sign in</title>'))).toBe('not-gguf');
    expect(faultOf(new Uint8Array(0))).toBe('cut');
    const version = Buffer.from(file.subarray(0, 64));
    version.writeUInt32LE(1, 4);
    expect(faultOf(version)).toBe('version');
    // Big-endian files have their version the other way round.
    version.writeUInt32BE(3, 4);
    expect(faultOf(version)).toBe('version');
    expect(faultOf(encodeHeader(new Map(), []))).toBe('damaged');
    const type = encodeHeader(new Map([['general.architecture', text('llama')]]), [
      { name: 'w', dims: [32], type: 'F32' },
    ]);
    type.writeUInt32LE(99, type.indexOf('w') + 1 + 4 + 8);
    expect(faultOf(type)).toBe('type');
  });

  test('asks for more wherever it is cut, and is whole from there on', () => {
    const header = file.subarray(0, 300_000);
    for (let length = 0; length <= 1000; length += 1)
      expect(faultOf(header.subarray(0, length))).toBe('cut');
    expect(readGgufHeader(header)).toEqual(whole);
  });

  test('cannot make the reader allocate or loop by what it claims', () => {
    const huge = Buffer.alloc(64);
    huge.write('GGUF');
    huge.writeUInt32LE(3, 4);
    for (const count of [2n ** 40n, 2n ** 53n - 1n, 2n ** 62n, 2n ** 64n - 1n]) {
      huge.writeBigUInt64LE(count, 8);
      huge.writeBigUInt64LE(count, 16);
      huge.writeBigUInt64LE(count, 24);
      expect(faultOf(huge)).toMatch(/^(cut|damaged)$/);
    }
    const array = made({ 'tokenizer.ggml.tokens': { type: 'array', of: 'string', value: ['a'] } });
    array.writeBigUInt64LE(2n ** 50n, array.indexOf('tokenizer.ggml.tokens') + 21 + 8);
    expect(faultOf(array)).toBe('cut');
  });

  test('throws nothing but its own error, whatever the bytes', () => {
    const start = file.subarray(0, 4096);
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.nat(start.length - 1), fc.nat(255)), { minLength: 1, maxLength: 12 }),
        (changes) => {
          const bytes = Uint8Array.from(start);
          for (const [at, value] of changes) bytes[at] = value;
          faultOf(bytes);
        },
      ),
      { numRuns: 3000 },
    );
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 512 }), (bytes) => {
        faultOf(Buffer.concat([start.subarray(0, 24), bytes]));
      }),
      { numRuns: 2000 },
    );
  });
});
