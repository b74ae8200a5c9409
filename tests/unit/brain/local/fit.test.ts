import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parseIndex } from '../../../../src/brain/local/catalogue.ts';
import { PUBLIC_ROWS } from '../../../../src/brain/local/catalogue-rows.ts';
import { fitOf, type Here, inOrder, type Phone } from '../../../../src/brain/local/fit.ts';
import type { CatalogueRow, Fit } from '../../../../src/brain/local/types.ts';

const GIB = 2 ** 30;
const [webllm, wllama] = parseIndex(
  readFileSync('models/gemma-tools/rows.json', 'utf8'),
  'https://app.example/models/index.json',
) as [CatalogueRow, CatalogueRow];
const named = (label: string, engine: CatalogueRow['engine'] = 'webllm'): CatalogueRow =>
  PUBLIC_ROWS.find((row) => row.label === label && row.engine === engine)!;

const CHIP: Extract<Phone['gpu'], { usable: true }> = {
  usable: true,
  software: false,
  f16: true,
  device: 'test',
  features: new Set(['shader-f16']),
  largestBuffer: 1 * GIB,
};
const GOOD: Phone = { gpu: CHIP, memory: 8 * GIB, free: 50e9 };
const SOFTWARE: Phone = {
  ...GOOD,
  gpu: { ...CHIP, software: true, f16: false, features: new Set() },
};
const NO_GPU: Phone = { ...GOOD, gpu: { usable: false, why: 'This browser has no WebGPU.' } };
const ABSENT: Here = { stored: 0, complete: false };
const STORED: Here = { stored: 300e6, complete: true };

const e2b = named('Gemma 4 E2B');
const gemma2 = named('Gemma 2 2B');
const gemma1bCpu = named('Gemma 3 1B', 'wllama');

/** What is known of the phone → what is said of the model. */
const TABLE: readonly (readonly [string, CatalogueRow, Phone, Here, Partial<Fit>, RegExp])[] = [
  ['a good GPU', webllm, GOOD, ABSENT, { verdict: 'well' }, /graphics chip .* can run it/],
  ['a good CPU', wllama, NO_GPU, ABSENT, { verdict: 'well' }, /processor .* can run it/],
  [
    'memory that the browser does not tell',
    wllama,
    { gpu: NO_GPU.gpu },
    ABSENT,
    { verdict: 'well' },
    /does not say/,
  ],
  [
    'no WebGPU',
    webllm,
    NO_GPU,
    ABSENT,
    { verdict: 'big', blocked: 'phone' },
    /^This browser has no WebGPU\.$/,
  ],
  [
    'a GPU without 16 bits',
    named('Gemma 3 1B'),
    SOFTWARE,
    ABSENT,
    { verdict: 'big', blocked: 'phone' },
    /16 bits/,
  ],
  [
    'a GPU that takes small buffers only',
    e2b,
    { ...GOOD, gpu: { ...CHIP, largestBuffer: 128 << 20 } },
    ABSENT,
    { verdict: 'big', blocked: 'phone' },
    /192 MB.*128 MB/,
  ],
  ['an imitated GPU', webllm, SOFTWARE, ABSENT, { verdict: 'slow' }, /imitates/],
  ['a large model on the CPU', gemma1bCpu, GOOD, ABSENT, { verdict: 'slow' }, /processor/],
  [
    'half of the memory',
    webllm,
    { ...GOOD, memory: 2.6 * GIB },
    ABSENT,
    { verdict: 'slow' },
    /about 1\.3 GB of memory, which is much/,
  ],
  [
    'memory for a smaller window only',
    gemma2,
    { ...GOOD, memory: 3.45 * GIB },
    ABSENT,
    { verdict: 'slow', window: 2048 },
    /short conversations .*2,048 tokens/,
  ],
  [
    'too little memory, perhaps: then with its smallest window',
    { ...wllama, contexts: [1024, 512] },
    { ...GOOD, memory: 1 * GIB },
    ABSENT,
    { verdict: 'big', window: 512, risk: expect.stringContaining('may close the app') as string },
    /too much for this phone/,
  ],
  [
    'too little memory, for certain',
    e2b,
    { ...GOOD, memory: 2 * GIB },
    ABSENT,
    { verdict: 'big', blocked: 'phone' },
    /too much for this phone/,
  ],
  [
    'no room',
    wllama,
    { ...GOOD, free: 100e6 },
    ABSENT,
    { verdict: 'big', blocked: 'room' },
    /needs 292 MB more of storage.* 100 MB left/,
  ],
  [
    'room for what is missing',
    wllama,
    { ...GOOD, free: 100e6 },
    { stored: 280e6, complete: false },
    { verdict: 'well' },
    /can run it/,
  ],
  ['no room needed', wllama, { ...GOOD, free: 0 }, STORED, { verdict: 'well' }, /can run it/],
  [
    'a browser that keeps nothing',
    wllama,
    { ...GOOD, noStorage: 'It keeps nothing.' },
    ABSENT,
    { verdict: 'big', blocked: 'phone' },
    /^It keeps nothing\.$/,
  ],
  [
    'a slow run measured here',
    webllm,
    GOOD,
    { ...STORED, measured: 1.27 },
    { verdict: 'slow' },
    /Measured on this phone: it wrote 1\.3 tokens a second/,
  ],
  [
    'a quick run measured here',
    gemma1bCpu,
    GOOD,
    { ...STORED, measured: 12 },
    { verdict: 'well' },
    /12\.0 tokens a second/,
  ],
];

describe('a model fits or not, and the person is told why', () => {
  test.each(TABLE)('with %s', (_name, row, phone, here, expected, reason) => {
    const { asks, ...fit } = fitOf(row, phone, here);
    expect(fit).toEqual({ ...expected, reason: expect.stringMatching(reason) as string });
    expect(fit.reason).toMatch(/^[A-Z].*\.$/);
    expect(asks).toEqual([]);
  });

  test('is judged for every known model without one word missing', () => {
    for (const row of PUBLIC_ROWS)
      for (const phone of [GOOD, SOFTWARE, NO_GPU, { ...GOOD, memory: GIB }, { ...GOOD, free: 0 }])
        expect(fitOf(row, phone, ABSENT).reason).not.toMatch(/undefined|NaN/);
  });
});

describe('before a download starts the person is asked', () => {
  const low = { level: 0.14, charging: false };

  test('where the connection may cost, and where the battery is low', () => {
    const { asks } = fitOf(wllama, { ...GOOD, metered: true, battery: low }, ABSENT);
    expect(asks).toEqual([
      expect.stringMatching(/may cost by the megabyte: about 292 MB/) as string,
      expect.stringMatching(/battery is at 14%/) as string,
    ]);
  });

  test('about nothing while it charges, or where all is here already', () => {
    const charging = { ...GOOD, battery: { ...low, charging: true } };
    expect(fitOf(wllama, charging, ABSENT).asks).toEqual([]);
    expect(fitOf(wllama, { ...GOOD, metered: true, battery: low }, STORED).asks).toEqual([]);
  });
});

describe('the best for this phone is first', () => {
  const order = (phone: Phone, rows: readonly CatalogueRow[]): string[] =>
    inOrder(
      rows.map((row) => ({ row, fit: fitOf(row, phone, ABSENT) })),
      phone,
    ).map(({ row }) => row.id);

  test('a real GPU before the CPU, an emulated one after it, none at the end', () => {
    const both = [webllm, wllama];
    expect(order(GOOD, both)).toEqual([webllm.id, wllama.id]);
    expect(order(SOFTWARE, both)).toEqual([wllama.id, webllm.id]);
    expect(order(NO_GPU, both)).toEqual([wllama.id, webllm.id]);
  });

  test('a demo behind everything that this phone can run', () => {
    const demo = { ...wllama, id: 'demo.wllama', demo: true, memory: 1e6 };
    const known = order(GOOD, [demo, ...PUBLIC_ROWS]);
    const fits = PUBLIC_ROWS.filter((row) => fitOf(row, GOOD, ABSENT).verdict !== 'big');
    expect(known.indexOf(demo.id)).toBe(fits.length);
  });

  test('what runs well before what may be slow, what is served from here before what is not', () => {
    const all = order(GOOD, [...PUBLIC_ROWS, wllama, webllm]);
    expect(all.slice(0, 2)).toEqual([webllm.id, wllama.id]);
    expect(all.indexOf(named('Qwen3 1.7B').id)).toBeLessThan(all.indexOf(gemma1bCpu.id));
    const small = { ...NO_GPU, memory: 2 * GIB };
    expect(order(small, [...PUBLIC_ROWS, wllama, webllm])[0]).toBe(wllama.id);
    expect(order(NO_GPU, [...PUBLIC_ROWS]).slice(0, 3)).toEqual([
      'functiongemma-270m-it-Q8_0.wllama',
      'gemma-3-270m-it-Q4_0.wllama',
      'SmolLM2-135M-Instruct-Q8_0.wllama',
    ]);
  });
});
