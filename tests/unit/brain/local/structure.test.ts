import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { structureFault } from '../../../../src/brain/local/structure.ts';
import { randomGemma3 } from '../../../models/gguf.ts';

const fault = (path: string, data: Uint8Array): Promise<string | null> =>
  structureFault(path, {
    bytes: data.length,
    read: (at, length) => data.slice(at, at + length),
  });
const text = (words: string): Uint8Array => new TextEncoder().encode(words);

describe('without a checksum', () => {
  const gguf = new Uint8Array(randomGemma3());
  const changed = (change: (view: DataView) => void): Uint8Array => {
    const copy = gguf.slice();
    change(new DataView(copy.buffer));
    return copy;
  };

  test('a whole GGUF is taken', async () => {
    expect(await fault('a.gguf', gguf)).toBeNull();
  });

  test('a GGUF is known as one by its name in capitals too', async () => {
    expect(await fault('A.GGUF', text('not a model'))).toBe('not a GGUF');
  });

  test.each([
    ['of one byte less', gguf.subarray(0, gguf.length - 1)],
    ['cut in its tensors', gguf.subarray(0, gguf.length >> 1)],
    ['cut in its header', gguf.subarray(0, 1000)],
    ['of its magic number alone', gguf.subarray(0, 4)],
  ])('a GGUF %s ends too early', async (_name, data) => {
    expect(await fault('a.gguf', data)).toBe('it ends too early');
  });

  test.each([
    ['another file', text('not a model at all'), 'not a GGUF'],
    ['version 1', changed((view) => view.setUint32(4, 1, true)), 'GGUF of version 1'],
    ['no tensors', changed((view) => view.setBigUint64(8, 0n, true)), 'its header makes no sense'],
    [
      'a count that no model has',
      changed((view) => view.setBigUint64(16, 1n << 60n, true)),
      'its header makes no sense',
    ],
    [
      // The length of the first key lies behind the counts.
      'a key that no model has',
      (() => {
        const long = new Uint8Array(200_000);
        long.set(gguf.subarray(0, 24));
        new DataView(long.buffer).setBigUint64(24, 150_000n, true);
        return long;
      })(),
      'its header makes no sense',
    ],
    ['nothing', new Uint8Array(0), 'it is empty'],
  ])('a GGUF that is %s is told', async (_name, data, says) => {
    expect(await fault('a.gguf', data)).toBe(says);
  });

  test('no damage in a header makes it throw or hang', async () => {
    let seed = 7;
    const random = (): number => (seed = (seed * 48271) % 0x7fffffff) / 0x7fffffff;
    for (let round = 0; round < 300; round += 1) {
      const data = changed((view) => {
        for (let at = 0; at < 3; at += 1)
          view.setUint8(Math.floor(random() * 4000), Math.floor(random() * 256));
      });
      expect(['string', 'object']).toContain(typeof (await fault('a.gguf', data)));
    }
  });

  test('the whole library of a real model is taken, and not when it is cut', async () => {
    const library = readFileSync('models/tiny-gemma/webllm/tiny-gemma3-q0f32-webgpu.wasm');
    expect(await fault('a.wasm', library)).toBeNull();
    expect(await fault('a.wasm', library.subarray(0, library.length >> 1))).toBe(
      'it ends too early',
    );
  });

  test.each([
    ['a.wasm', text('\0asm\x01\0\0\0'), null],
    ['a.wasm', text('<!doctype html>'), 'not a WebAssembly library'],
    ['a.wasm', text('\0asm'), 'not a WebAssembly library'],
    ['a.wasm', text('\0asm\x01\0\0\0\x05\x03\x01\0\x01'), null],
    ['a.wasm', text('\0asm\x01\0\0\0\x05\x03\x01\0'), 'it ends too early'],
    ['a.wasm', text('\0asm\x01\0\0\0\x05'), 'it ends too early'],
    ['a.wasm', text(`\0asm\x01\0\0\0${'\0'.repeat(40_000)}`), 'not a WebAssembly library'],
    ['mlc-chat-config.json', text('{"tokenizer_files": []}'), null],
    ['x/mlc-chat-config.json', text('{}'), 'it has no tokenizer_files'],
    ['tensor-cache.json', text('{"records": []}'), null],
    ['tensor-cache.json', text('{"records": ['), 'not a file of its kind'],
    ['tokenizer.json', text('{"error": "no"}'), 'it has no model'],
    ['other.json', text('[]'), null],
    ['params_shard_0.bin', text('anything'), null],
  ])('%s %#', async (path, data, says) => {
    expect(await fault(path, data)).toBe(says);
  });
});
