import { createHash } from 'node:crypto';
import { mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readHeader, readTensor } from '../../../tools/weights/gguf.ts';
import { decode } from '../../../tools/weights/quants.ts';
import { packForWebllm, writeTokenizer } from '../../../tools/weights/webllm.ts';
import { randomGemma3, TINY } from '../../models/gguf.ts';

interface Cache {
  readonly metadata: { readonly ParamSize: number; readonly ParamBytes: number };
  readonly records: readonly {
    readonly dataPath: string;
    readonly nbytes: number;
    readonly md5sum: string;
    readonly records: readonly {
      readonly name: string;
      readonly shape: readonly number[];
      readonly dtype: string;
      readonly nbytes: number;
      readonly byteOffset: number;
    }[];
  }[];
}

let folder: string;
let cache: Cache;
let source: string;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'webllm-'));
  source = path.join(folder, 'model.gguf');
  await writeFile(source, randomGemma3());
  await packForWebllm(source, folder, () => undefined);
  cache = JSON.parse(await readFile(path.join(folder, 'tensor-cache.json'), 'utf8')) as Cache;
});

afterAll(() => rm(folder, { recursive: true }));

async function parameter(name: string) {
  for (const shard of cache.records)
    for (const record of shard.records)
      if (record.name === name) {
        const bytes = await readFile(path.join(folder, shard.dataPath));
        const end = record.byteOffset + record.nbytes;
        return { ...record, bytes: Buffer.from(bytes.subarray(record.byteOffset, end)) };
      }
  return expect.fail(`no parameter ${name}`);
}

async function weights(name: string) {
  const handle = await open(source);
  const { tensors } = await readHeader(handle);
  const tensor = tensors.find((candidate) => candidate.name === name);
  const values = decode(await readTensor(handle, tensor!), tensor!.type);
  await handle.close();
  return values;
}

describe('packing for WebLLM', () => {
  it('lists every byte of every shard once, with its hash', async () => {
    let parameters = 0;
    let bytes = 0;
    for (const shard of cache.records) {
      const data = await readFile(path.join(folder, shard.dataPath));
      expect(data.length).toBe(shard.nbytes);
      expect(createHash('md5').update(data).digest('hex')).toBe(shard.md5sum);
      let end = 0;
      for (const record of shard.records) {
        expect(record.byteOffset).toBe(end);
        expect(record.shape.reduce((a, b) => a * b, 4)).toBe(record.nbytes);
        end += record.nbytes;
        parameters++;
      }
      expect(end).toBe(shard.nbytes);
      bytes += end;
    }
    expect(cache.metadata).toMatchObject({ ParamSize: parameters, ParamBytes: bytes });
  });

  it('keeps every weight exactly, stacked and in tiles', async () => {
    const q = await parameter('layers.3.qkv_proj.q');
    const s = await parameter('layers.3.qkv_proj.s');
    const outputs = (TINY.heads + 2 * TINY.kvHeads) * TINY.headDim;
    expect(q.shape).toEqual([outputs / 64, TINY.hidden / 4, 64]);
    expect(s.shape).toEqual([outputs / 64, TINY.hidden / 32, 64]);
    const parts = ['attn_q', 'attn_k', 'attn_v'].map((name) => weights(`blk.3.${name}.weight`));
    const expected = (await Promise.all(parts)).flatMap((part) => [...part]);
    for (let output = 0; output < outputs; output++)
      for (let input = 0; input < TINY.hidden; input++) {
        const [tile, column] = [output >> 6, output & 63];
        const word = (tile * (TINY.hidden / 4) + (input >> 2)) * 64 + column;
        const byte = input & 3;
        // As the kernels read it: three bytes without a sign and 128 too large, one with a sign.
        const value =
          byte < 3 ? q.bytes.readUInt8(word * 4 + byte) - 128 : q.bytes.readInt8(word * 4 + 3);
        const scale = (tile * (TINY.hidden / 32) + (input >> 5)) * 64 + column;
        const got = Math.fround(value * s.bytes.readFloatLE(scale * 4));
        if (got !== expected[output * TINY.hidden + input]) expect.fail(`${output},${input}`);
      }
  });

  it('cuts the embedding into blocks that fit the GPU bindings of a phone', async () => {
    for (const block of [0, 1]) {
      const { shape } = await parameter(`embed_tokens.${block}.q`);
      expect(shape).toEqual([TINY.vocabulary / 2 / 64, TINY.hidden / 4, 64]);
    }
  });

  it('refuses a model that is not of 8-bit matrices', async () => {
    const other = path.join(folder, 'other.gguf');
    const bytes = randomGemma3();
    const name = bytes.indexOf('blk.0.attn_q.weight');
    // The name is followed by the number of dimensions, two dimensions and the type.
    bytes.writeUInt32LE(12, name + 'blk.0.attn_q.weight'.length + 4 + 16);
    await writeFile(other, bytes);
    const packed = packForWebllm(other, folder, () => undefined);
    await expect(packed).rejects.toThrow('blk.0.attn_q is not there as Q8_0');
  });

  it('gives WebLLM a tokenizer that adds nothing of its own', async () => {
    const out = path.join(folder, 'tokenizer.json');
    await writeTokenizer('{"model":{"vocab":{"a":1}},"post_processor":{"type":"x"}}', out);
    expect(JSON.parse(await readFile(out, 'utf8'))).toEqual({
      model: { vocab: { a: 1 } },
      post_processor: null,
    });
  });
});
