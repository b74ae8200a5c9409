import { mkdtemp, open, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readHeader, readTensor } from '../../../tools/weights/gguf.ts';
import { mergeAdapter } from '../../../tools/weights/merge.ts';
import { decode } from '../../../tools/weights/quants.ts';
import { randomGemma3 } from '../../models/gguf.ts';
import { adapterFor, ALPHA, entryA, entryB, RANK, SHAPE } from './small-model.ts';

const TARGET = 'blk.1.ffn_gate.weight';

let folder: string;
let base: string;
let adapter: string;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'merge-'));
  base = path.join(folder, 'base.gguf');
  adapter = path.join(folder, 'adapter.gguf');
  await writeFile(base, randomGemma3(SHAPE));
  await writeFile(adapter, adapterFor(TARGET, SHAPE.hidden, SHAPE.ffn));
});

afterAll(() => rm(folder, { recursive: true }));

async function tensors(file: string) {
  const handle = await open(file);
  const { values, tensors: infos } = await readHeader(handle);
  const bytes = new Map<string, Buffer>();
  for (const info of infos) bytes.set(info.name, await readTensor(handle, info));
  await handle.close();
  return { values, bytes };
}

describe('merging an adapter', () => {
  it('adds (alpha / rank) · B · A to its matrix and leaves every other byte alone', async () => {
    const out = path.join(folder, 'out.gguf');
    const fractions: number[] = [];
    await mergeAdapter(base, adapter, out, (fraction) => fractions.push(fraction));
    expect(fractions.at(-1)).toBe(1);
    const before = await tensors(base);
    const after = await tensors(out);
    expect([...after.bytes.keys()]).toEqual([...before.bytes.keys()]);
    expect(after.values).toEqual(before.values);
    for (const [name, bytes] of before.bytes)
      if (name !== TARGET && !after.bytes.get(name)?.equals(bytes)) expect.fail(name);

    const was = decode(before.bytes.get(TARGET)!, 'Q8_0');
    const is = decode(after.bytes.get(TARGET)!, 'Q8_0');
    const largest = Math.max(...is.map(Math.abs));
    for (let output = 0; output < SHAPE.ffn; output++)
      for (let input = 0; input < SHAPE.hidden; input++) {
        let product = 0;
        for (let r = 0; r < RANK; r++) product += entryB(output, r) * entryA(r, input);
        const at = output * SHAPE.hidden + input;
        const expected = was[at]! + (ALPHA / RANK) * product;
        // Half a step of the block's scale, and the scale's own rounding.
        if (Math.abs(is[at]! - expected) > (largest / 127) * 0.6) expect.fail(`${output},${input}`);
      }
  });

  it('refuses an adapter for a matrix that the base does not have', async () => {
    const other = path.join(folder, 'other.gguf');
    await writeFile(other, adapterFor('blk.99.attn_q.weight', SHAPE.hidden, 256));
    const merged = mergeAdapter(base, other, path.join(folder, 'never.gguf'), () => undefined);
    await expect(merged).rejects.toThrow(/blk\.99\.attn_q\.weight, which the base does not have/);
  });

  it('refuses a model in the place of an adapter', async () => {
    const merged = mergeAdapter(base, base, path.join(folder, 'never.gguf'), () => undefined);
    await expect(merged).rejects.toThrow('not a LoRA adapter');
  });
});
