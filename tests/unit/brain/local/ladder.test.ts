import { describe, expect, test } from 'vitest';
import { type Failure, modelOf, nextRung, windowOf } from '../../../../src/brain/local/ladder.ts';
import type { CatalogueRow, Rung } from '../../../../src/brain/local/types.ts';
import type { ModelTrial } from '../../../../src/store/records.ts';

function row(id: string, memory: number, more: Partial<CatalogueRow> = {}): CatalogueRow {
  return {
    id,
    label: id,
    engine: id.endsWith('.webllm') ? 'webllm' : 'wllama',
    family: 'gemma3',
    note: 'for tests',
    files: [],
    base: 'https://example.org/',
    licence: { name: 'test', url: 'https://example.org/' },
    contextTokens: 4096,
    maxTools: 5,
    memory,
    beside: false,
    ...more,
  };
}

const F16 = row('gemma-4-E2B-it-q4f16_1.webllm', 3300, { contexts: [2048, 1024] });
const F32 = row('gemma-4-E2B-it-q4f32_1.webllm', 3800);
const LOW = row('gemma-4-E2B-it-q3f16_1.webllm', 2800);
const CPU = row('gemma-4-E2B-it-Q4_0.wllama', 3500);
const MIDDLE = row('qwen3-1.7b-q4f16_1.webllm', 2000);
const SMALL = row('gemma3-270m-tools.wllama', 780, { contexts: [1024] });
const ALL = [SMALL, CPU, F32, MIDDLE, LOW, F16];

const failed = (of: CatalogueRow, contextTokens = of.contextTokens): ModelTrial => ({
  model: of.id,
  version: '1',
  device: 'a chip',
  contextTokens,
  at: 1,
  failed: 'crashed',
});
const failure = (
  of: CatalogueRow,
  contextTokens = of.contextTokens,
  why: Failure['why'] = 'crashed',
): Failure => ({ row: of, contextTokens, why });
const said = (rung: Rung): readonly unknown[] =>
  rung.kind === 'cloud' ? ['cloud'] : [rung.kind, rung.row.id, rung.contextTokens];

/** Goes down as a phone on which nothing works would, and says each step. */
function descent(from: CatalogueRow, rows: readonly CatalogueRow[], why?: Failure['why']) {
  const steps: (readonly unknown[])[] = [];
  const history: ModelTrial[] = [];
  let now = failure(from, from.contextTokens, why);
  for (;;) {
    history.push(failed(now.row, now.contextTokens));
    const rung = nextRung(now, rows, history);
    steps.push(said(rung));
    if (rung.kind === 'cloud') return steps;
    now = failure(rung.row, rung.contextTokens, why);
  }
}

describe('the way down', () => {
  test('is smaller windows, other packings, the processor, smaller models, the cloud', () => {
    expect(descent(F16, ALL)).toEqual([
      ['context', F16.id, 2048],
      ['context', F16.id, 1024],
      ['quantisation', LOW.id, 4096],
      ['cpu', CPU.id, 4096],
      ['smaller', MIDDLE.id, 4096],
      ['smaller', SMALL.id, 4096],
      ['context', SMALL.id, 1024],
      ['cloud'],
    ]);
  });

  test('offers a larger packing only where the chip is at fault, not the memory', () => {
    const rows = [F16, F32];
    expect(descent(F16, rows).map(([kind]) => kind)).toEqual(['context', 'context', 'cloud']);
    expect(descent(F16, rows, 'gpu').map(([kind]) => kind)).toEqual([
      'context',
      'context',
      'quantisation',
      'cloud',
    ]);
  });

  test('leads to no demo: the cloud comes before it', () => {
    const demo = { ...SMALL, id: 'demo.wllama', demo: true, memory: 1 };
    expect(descent(SMALL, [SMALL, demo])).toEqual([['context', SMALL.id, 1024], ['cloud']]);
  });

  test('skips what cannot run here at all, the smaller windows of a lost GPU among it', () => {
    const rows = [CPU, SMALL];
    expect(said(nextRung(failure(F16), rows, [failed(F16)]))).toEqual(['cpu', CPU.id, 4096]);
  });

  test('ends in the cloud from every start, and never goes up', () => {
    for (const from of ALL) {
      const steps = descent(from, ALL);
      expect(steps.at(-1)).toEqual(['cloud']);
      expect(new Set(steps.map(String)).size).toBe(steps.length);
    }
  });

  test('offers nothing that failed here before', () => {
    const history = [failed(F16), failed(F16, 1024), failed(LOW), failed(CPU)];
    expect(said(nextRung(failure(F16), ALL, history))).toEqual(['smaller', MIDDLE.id, 4096]);
  });

  test('takes a failure with a small window for one with every larger, and a success for none', () => {
    expect(windowOf(F16, [])).toBe(4096);
    expect(windowOf(F16, [failed(F16)])).toBe(2048);
    expect(windowOf(F16, [failed(F16, 2048)])).toBe(1024);
    expect(windowOf(F16, [failed(F16, 1024)])).toBe(1024);
    const worked = { model: F16.id, version: '1', device: 'a chip', contextTokens: 1024, at: 1 };
    expect(windowOf(F16, [worked])).toBe(4096);
  });
});

test('packings of one model are known by their ids', () => {
  expect(modelOf(row('gemma3-1b-it-q4f16_1.webllm', 1))).toBe('gemma31bit');
  expect(modelOf(row('gemma-3-1b-it-Q4_0.wllama', 1))).toBe('gemma31bit');
  expect(modelOf(row('gemma3-270m-tools.webllm', 1))).toBe('gemma3270mtools');
  expect(modelOf(row('SmolLM2-135M-Instruct-Q8_0.wllama', 1))).not.toBe(
    modelOf(row('SmolLM2-360M-Instruct-q4f16_1.webllm', 1)),
  );
});
