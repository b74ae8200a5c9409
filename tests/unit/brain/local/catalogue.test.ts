import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parseIndex } from '../../../../src/brain/local/catalogue.ts';
import { webllmEntry } from '../../../../src/brain/local/files.ts';
import { kvBytesPerToken, PUBLIC_ROWS } from '../../../../src/brain/local/catalogue-rows.ts';

const INDEX = 'https://app.example/models/index.json';
const list = readFileSync('models/gemma-tools/rows.json', 'utf8');
const rows = parseIndex(list, INDEX)!;

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
      { ...good, files: [{ path: '' }] },
      { ...good, files: [{ path: '..' }] },
      { ...good, files: [{ path: 'http://[' }] },
      { ...good, files: [{ path: 'x', bytes: -5 }] },
      { ...good, files: [{ path: 'x', bytes: 0 }] },
      { ...good, id: '' },
      { ...good, id: '..' },
      { ...good, id: '\ud800' },
      { ...good, id: 'x'.repeat(300) },
      { ...good, contextTokens: 0.5 },
      { ...good, maxTools: 1.5 },
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

  test('may say more of a model, and what is not right of that is left out', () => {
    const [good] = JSON.parse(list) as [Record<string, unknown>];
    const more = {
      quantisation: 'q4f16_1',
      contexts: [1024],
      kvBytesPerToken: 18432,
      features: ['shader-f16'],
      largestBuffer: 1e8,
      sampling: { temperature: 1, topP: 0.95, topK: 64 },
      toolSampling: { temperature: 0.2 },
      copies: true,
      callsFrom: 10.75,
      thinking: true,
      library: 'lib.wasm',
      overrides: { sliding_window_size: -1 },
    };
    expect(parseIndex(JSON.stringify([{ ...good, ...more }]), INDEX)).toEqual([
      { ...rows[0], ...more, library: 'https://app.example/models/gemma-tools/webllm/lib.wasm' },
    ]);
    const windows = { contextTokens: 2048, contexts: [512, 1e9, 2048, 1024] };
    expect(parseIndex(JSON.stringify([{ ...good, ...windows }]), INDEX)![0]!.contexts).toEqual([
      1024, 512,
    ]);
    const wrong = {
      quantisation: 4,
      contexts: [1024, 0.5],
      kvBytesPerToken: -1,
      features: [1],
      largestBuffer: 'big',
      sampling: { temperature: -1 },
      toolSampling: 'cold',
      copies: 1,
      callsFrom: null,
      thinking: 'yes',
      library: 7,
      overrides: [],
    };
    const { copies: _copies, callsFrom: _callsFrom, ...plain } = rows[0]!;
    expect(parseIndex(JSON.stringify([{ ...good, ...wrong }]), INDEX)).toEqual([plain]);
  });
});

describe('the public models', () => {
  test('are those that are known to run, each once', () => {
    const names = PUBLIC_ROWS.map(({ label, engine }) => `${label} (${engine})`);
    expect(new Set(PUBLIC_ROWS.map(({ id }) => id)).size).toBe(PUBLIC_ROWS.length);
    for (const name of [
      'Gemma 3 1B (webllm)',
      'Gemma 4 E2B (webllm)',
      'Gemma 2 2B (webllm)',
      'FunctionGemma 270M (wllama)',
      'Gemma 3 270M (wllama)',
      'Gemma 3 1B (wllama)',
      'Qwen3 0.6B (webllm)',
      'Qwen3 1.7B (webllm)',
      'Llama 3.2 1B (webllm)',
      'SmolLM2 360M (webllm)',
      'SmolLM2 135M (wllama)',
    ])
      expect(names).toContain(name);
  });

  test('say over https where they come from, under which licence, and how large they are', () => {
    for (const row of PUBLIC_ROWS) {
      for (const url of [row.base, row.licence.url, ...(row.library ? [row.library] : [])])
        expect(new URL(url).protocol).toBe('https:');
      expect(row.approxBytes).toBeGreaterThan(1e8);
      expect(row.memory).toBeGreaterThan(row.engine === 'wllama' ? row.approxBytes! : 0);
      expect(row.library !== undefined).toBe(row.engine === 'webllm');
      const smaller = row.contexts ?? [];
      expect([row.contextTokens, ...smaller].toSorted((a, b) => b - a)).toEqual([
        row.contextTokens,
        ...smaller,
      ]);
    }
  });

  test('of Gemma on WebLLM name no second window: the library refuses two of them', () => {
    const gemmas = PUBLIC_ROWS.filter(
      ({ engine, family }) => engine === 'webllm' && family.startsWith('gemma'),
    );
    expect(gemmas.map(({ label }) => label).sort()).toEqual([
      'Gemma 2 2B',
      'Gemma 3 1B',
      'Gemma 4 E2B',
      'Gemma 4 E2B, 32 bits',
    ]);
    for (const { label, overrides } of gemmas)
      expect(overrides, label).toMatchObject({ sliding_window_size: -1 });
  });

  test('need the GPU that their number format needs', () => {
    for (const row of PUBLIC_ROWS.filter(({ engine }) => engine === 'webllm'))
      expect(row.features).toEqual(row.quantisation?.includes('f16') ? ['shader-f16'] : []);
  });

  test('take the memory for a window that their architecture makes them take', () => {
    // @mlc-ai/web-llm 0.2.86: Gemma 2 2B takes 312 MiB more with 4096 tokens than with 1024.
    const gemma2 = PUBLIC_ROWS.find(({ label }) => label === 'Gemma 2 2B')!;
    expect((gemma2.kvBytesPerToken! * 3072) / 2 ** 20).toBe(312);
    expect(kvBytesPerToken({ layers: 18, kvHeads: 1, headDim: 256 }, 2)).toBe(18_432);
    // And its largest buffer for Gemma 4 E2B (`buffer_size_required_bytes`).
    const e2b = PUBLIC_ROWS.find(({ label }) => label === 'Gemma 4 E2B')!;
    expect(e2b.largestBuffer).toBe(201_326_592);
    // Its record there has a `model_manifest`, which the library looks for among the configurations.
    const [, manifest] = e2b.files;
    expect(webllmEntry(e2b, manifest!.path)).toEqual({
      scope: 'webllm/config',
      url: `${e2b.base}mlc-model-manifest.json`,
    });
  });
});
