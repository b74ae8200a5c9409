import { expect, test } from 'vitest';
import { isWorthAJob } from '../../../../src/brain/local/background.ts';
import {
  entriesOfOthers,
  webllmEntry,
  type Manifest,
  type Stored,
} from '../../../../src/brain/local/files.ts';
import { rowOf } from './rows.ts';

const LIBRARY = 'https://libraries.example/gemma-webgpu.wasm';
const verified = (path: string) => ({ path, bytes: 1, sha256: '0'.repeat(64) });

test('what another model uses as well is known as that', () => {
  const one = rowOf({ id: 'one', engine: 'webllm', library: LIBRARY });
  const two = rowOf({ ...one, id: 'two', base: 'https://two.example/resolve/main/' });
  const cpu = rowOf({ id: 'cpu', engine: 'wllama', base: one.base });
  const all: Manifest[] = [one, two, cpu].map((row) => ({
    row,
    files: [verified('tokenizer.json'), verified(LIBRARY)],
  }));
  const shared = [...entriesOfOthers(all, 'one')].toSorted();
  expect(shared).toEqual([
    `webllm/model ${webllmEntry(two, 'tokenizer.json').url}`,
    `webllm/wasm ${LIBRARY}`,
  ]);
});

test('a job is worth it by what the row says of its size, where its files say nothing', () => {
  const row = rowOf({ engine: 'wllama', files: [{ path: 'a.gguf' }], approxBytes: 300e6 });
  const found: Stored = { row, files: [], bytes: 0, complete: false, wasWhole: false };
  expect(isWorthAJob(found)).toBe(true);
  expect(isWorthAJob({ ...found, row: { ...row, approxBytes: 1e6 } })).toBe(false);
  expect(isWorthAJob({ ...found, bytes: 5 })).toBe(false);
});
