import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import {
  inOrder,
  parseIndex,
  type Phone,
  unfitness,
} from '../../../../src/brain/local/catalogue.ts';

const INDEX = 'https://app.example/models/index.json';
const list = readFileSync('models/gemma-tools/rows.json', 'utf8');
const rows = parseIndex(list, INDEX)!;

const GPU: Phone = { gpu: { usable: true, software: false, f16: true } };
const SOFTWARE: Phone = { gpu: { usable: true, software: true, f16: false } };
const NONE: Phone = { gpu: { usable: false, why: 'This browser has no WebGPU.' } };

describe('the list beside the app', () => {
  test('becomes rows whose files lie in their folder', () => {
    expect(rows.map(({ id, engine, base, beside }) => ({ id, engine, base, beside }))).toEqual([
      {
        id: 'gemma3-270m-tools.webllm',
        engine: 'webllm',
        base: 'https://app.example/models/gemma-tools/webllm/',
        beside: true,
      },
      {
        id: 'gemma3-270m-tools.wllama',
        engine: 'wllama',
        base: 'https://app.example/models/gemma-tools/gguf/',
        beside: true,
      },
    ]);
  });

  test('is taken without the entries that this app cannot use', () => {
    const [good] = JSON.parse(list) as [Record<string, unknown>];
    const bad = [
      { ...good, engine: 'other' },
      { ...good, family: 'other' },
      { ...good, files: [] },
      { ...good, files: [{ path: 1 }] },
      { ...good, files: [{ path: 'x', sha256: 'short' }] },
      { ...good, contextTokens: -1 },
      { ...good, licence: undefined },
      null,
      'text',
    ];
    expect(parseIndex(JSON.stringify([...bad, good]), INDEX)).toEqual([rows[0]]);
  });

  test('is no list where a page or something else came', () => {
    expect(parseIndex('<!doctype html><title>Sign in</title>', INDEX)).toBeNull();
    expect(parseIndex('{"rows":[]}', INDEX)).toBeNull();
  });
});

describe('what this phone can run', () => {
  const [webllm, wllama] = rows as [(typeof rows)[0], (typeof rows)[0]];

  test('a real GPU comes before the CPU, an emulated one after it, none at the end', () => {
    const order = (phone: Phone): string[] => inOrder(rows, phone).map((row) => row.engine);
    expect(order(GPU)).toEqual(['webllm', 'wllama']);
    expect(order(SOFTWARE)).toEqual(['wllama', 'webllm']);
    expect(order(NONE)).toEqual(['wllama', 'webllm']);
  });

  test('is said in a sentence where it cannot', () => {
    expect(unfitness(webllm, NONE)).toBe('This browser has no WebGPU.');
    expect(unfitness(wllama, NONE)).toBeUndefined();
    expect(unfitness(wllama, { ...GPU, memory: 1 * 2 ** 30 })).toMatch(
      /^It needs about .+ of memory, which is too much for this phone\.$/,
    );
    expect(unfitness(wllama, { ...GPU, memory: 8 * 2 ** 30 })).toBeUndefined();
  });

  test('16-bit models need a GPU that calculates in 16 bits', () => {
    const f16 = { ...webllm, files: [{ path: 'gemma3-1b-it-q4f16_1-webgpu.wasm' }] };
    expect(unfitness(f16, SOFTWARE)).toMatch(/16 bits/);
    expect(unfitness(f16, GPU)).toBeUndefined();
    expect(unfitness(webllm, SOFTWARE)).toBeUndefined();
  });
});
