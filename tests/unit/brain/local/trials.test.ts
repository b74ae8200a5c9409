import { describe, expect, test } from 'vitest';
import { createTrials, type TrialStore } from '../../../../src/brain/local/trials.ts';
import type { CatalogueRow } from '../../../../src/brain/local/types.ts';
import type { ModelTrial } from '../../../../src/store/records.ts';

const ROW: CatalogueRow = {
  id: 'a.webllm',
  label: 'A',
  engine: 'webllm',
  family: 'gemma3',
  note: 'for tests',
  files: [{ path: 'weights', bytes: 5, sha256: 'aa' }],
  base: 'https://example.org/',
  licence: { name: 'test', url: 'https://example.org/' },
  contextTokens: 4096,
  contexts: [2048],
  maxTools: 5,
  memory: 1,
  beside: false,
};

function memoryStore(): TrialStore {
  let trials: readonly ModelTrial[] = [];
  return {
    get: async () => ({ trials }),
    set: async (change) => void ({ trials } = change),
  };
}

describe('of a repository that lists its own files', () => {
  const OPEN = {
    ...ROW,
    files: [{ path: 'mlc-chat-config.json' }],
    library: 'https://l.example/x',
  };
  const WHOLE = { ...OPEN, files: [{ path: 'mlc-chat-config.json', bytes: 9 }, ...ROW.files] };

  test('what became of it is known before and after it was fetched', async () => {
    const trials = createTrials(memoryStore(), () => 'a chip');
    await trials.noteFailure(trials.keyOf(WHOLE), 'crashed');
    expect(trials.history([OPEN])).toHaveLength(1);
    expect(trials.history([{ ...OPEN, library: 'https://l.example/y' }])).toEqual([]);
  });
});

test('what cannot be stored for want of room is known all the same', async () => {
  const full: TrialStore = {
    get: async () => ({}),
    set: () => Promise.reject(new Error('no room')),
  };
  const trials = createTrials(full, () => 'a chip');
  await trials.notePass(ROW);
  expect(trials.passed(ROW)).toBe(true);
});

describe('what became of a model', () => {
  test('is remembered over reloads, on this device and for this version only', async () => {
    const store = memoryStore();
    const first = createTrials(store, () => 'a chip');
    await first.notePass(ROW);
    await first.noteFailure(first.keyOf({ ...ROW, id: 'b.webllm' }), 'gpu');

    const next = createTrials(store, () => 'a chip');
    expect(next.passed(ROW)).toBe(false);
    await next.read();
    expect(next.passed(ROW)).toBe(true);
    expect(next.passed({ ...ROW, contextTokens: 2048 })).toBe(false);
    expect(next.passed({ ...ROW, files: [{ path: 'weights', bytes: 5, sha256: 'bb' }] })).toBe(
      false,
    );
    expect(next.open({ ...ROW, id: 'b.webllm' })).toMatchObject({ failed: 'gpu' });

    const elsewhere = createTrials(store, () => 'another chip');
    await elsewhere.read();
    expect(elsewhere.passed(ROW)).toBe(false);
    expect(elsewhere.open({ ...ROW, id: 'b.webllm' })).toBeUndefined();
  });

  test('a failure makes the window smaller; once settled it is not open any more', async () => {
    const trials = createTrials(memoryStore(), () => 'a chip');
    await trials.noteFailure(trials.keyOf(ROW), 'crashed', true);
    expect(trials.open(ROW)).toMatchObject({ failed: 'crashed', answering: true, open: true });
    await trials.settle(ROW);
    expect(trials.open(ROW)).toBeUndefined();
    expect(trials.fitted(ROW).contextTokens).toBe(2048);
    expect(trials.fitted(ROW, 1024).contextTokens).toBe(1024);
    expect(trials.history([ROW])).toHaveLength(1);
  });

  test('forgiven, it is tried again as it was', async () => {
    const trials = createTrials(memoryStore(), () => 'a chip');
    await trials.noteFailure(trials.keyOf(ROW), 'memory');
    await trials.forgive(ROW);
    expect(trials.fitted(ROW)).toBe(ROW);
    expect(trials.history([ROW])).toEqual([]);
  });

  test('a lost device is tested again, and a second loss on the same day is a failure', async () => {
    let now = 1e12;
    const day = 24 * 3_600_000;
    const trials = createTrials(
      memoryStore(),
      () => 'a chip',
      () => now,
    );
    await trials.notePass(ROW);
    await trials.noteLoss(ROW);
    expect(trials.passed(ROW)).toBe(false);
    expect(trials.open(ROW)).toBeUndefined();
    now += 2 * day;
    await trials.noteLoss(ROW);
    expect(trials.open(ROW)).toBeUndefined();
    now += day / 2;
    await trials.noteLoss(ROW);
    expect(trials.open(ROW)).toMatchObject({ failed: 'gpu' });
    // It has worked since, for longer than a day.
    await trials.forgive(ROW);
    await trials.noteLoss(ROW);
    now += 2 * day;
    await trials.notePass(ROW);
    expect(trials.passed(ROW)).toBe(true);
  });
});
