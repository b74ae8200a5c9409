import { expect, describe, test } from 'vitest';
import type { Brain, BrainEvent, BrainUsage } from '../../../../src/brain/brain.ts';
import {
  createFigures,
  measured,
  summarise,
  toMeasurement,
  weighed,
} from '../../../../src/brain/local/figures.ts';
import type { Measurement } from '../../../../src/store/records.ts';
import { freshStore } from '../../store/helpers.ts';

const USAGE: BrainUsage = {
  promptTokens: 300,
  cachedTokens: 100,
  outputTokens: 40,
  firstTokenMs: 10_000,
  tokensPerSecond: 5,
};

describe('what an answer tells', () => {
  test('is how fast it was read and written, prefix reuse taken out', () => {
    expect(toMeasurement(USAGE, 7)).toEqual({
      at: 7,
      promptTokens: 200,
      firstTokenMs: 10_000,
      outputTokens: 40,
      prefillRate: 20,
      decodeRate: 5,
    });
  });

  test('is no speed where too little was read or written', () => {
    const short = toMeasurement({ ...USAGE, cachedTokens: 295, outputTokens: 2 }, 7);
    expect(short).not.toHaveProperty('prefillRate');
    expect(short).not.toHaveProperty('decodeRate');
    expect(toMeasurement({ outputTokens: 3 }, 7)).toBeNull();
  });

  test('is also the memory that its engine told of, the most of all answers', async () => {
    const done = { type: 'done', reason: 'stop', promptTokens: 1, cachedTokens: 0 } as const;
    const told: (number | undefined)[] = [];
    const engine = weighed(
      {
        load: async () => undefined,
        async *generate() {
          yield { type: 'token', text: 'Hi' };
          yield { ...done, outputTokens: 1, memory: 5e8 };
        },
        unload: async () => undefined,
      },
      (bytes) => void told.push(bytes),
    );
    const request = {
      prompt: [''],
      grammar: null,
      stop: [],
      maxTokens: 1,
      sampling: { temperature: 0 },
    };
    const seen = [];
    for await (const event of engine.generate(request, new AbortController().signal))
      seen.push(event.type);
    expect(seen).toEqual(['token', 'done']);
    expect(told).toEqual([5e8]);
    const record = { id: 'a', model: 'a', device: 'a chip' };
    const measurements = [{ at: 1, memory: 5e8 }, { at: 2, memory: 6e8 }, { at: 3 }];
    expect(summarise({ ...record, measurements }).memory).toBe(6e8);
    expect(summarise({ ...record, measurements: [{ at: 3 }] })).not.toHaveProperty('memory');
  });

  test('is noted for every answer that ended with figures, and the answer passes unchanged', async () => {
    const events: BrainEvent[] = [
      { type: 'text', text: 'Hi' },
      { type: 'usage', usage: USAGE },
      { type: 'end', reason: 'stop' },
    ];
    const brain = {
      describe: () => ({ id: 'b' }),
      countTokens: (text: string) => text.length,
      async *stream() {
        yield* events;
      },
    } as unknown as Brain;
    const notes: Measurement[] = [];
    const seen: BrainEvent[] = [];
    const same = measured(brain, (one) => void notes.push(one));
    for await (const event of same.stream({} as never, new AbortController().signal))
      seen.push(event);
    expect(seen).toEqual(events);
    expect(notes).toMatchObject([{ prefillRate: 20, decodeRate: 5 }]);
    expect(same.describe().id).toBe('b');
    expect(same.countTokens('abc')).toBe(3);
  });
});

describe('the figures of a model', () => {
  const one = (decodeRate: number, at = decodeRate): Measurement => ({ at, decodeRate });

  test('are kept for this device, over time, the newest fifty, none lost by writing at once', async () => {
    const { figures: table } = await freshStore();
    const here = createFigures(table, 'this phone');
    await Promise.all(Array.from({ length: 60 }, (_, index) => here.note('m', one(index + 1))));
    const found = await here.of('m');
    expect(found).toMatchObject({ device: 'this phone', answers: 50, since: 11, decodeRate: 35.5 });
    expect(found?.history).toHaveLength(50);
    expect(await createFigures(table, 'another phone').of('m')).toBeNull();
    expect(await here.of('other')).toBeNull();
  });

  test('hold the last benchmark beside the answers', async () => {
    const { figures: table } = await freshStore();
    const here = createFigures(table, 'this phone');
    await here.note('m', one(4));
    await here.noteBenchmark('m', { at: 1, right: 7, of: 10 });
    await here.note('m', one(6));
    expect(await here.of('m')).toMatchObject({
      decodeRate: 5,
      benchmark: { right: 7, of: 10 },
    });
  });

  test('are those in the middle: one answer in a busy moment does not move them', () => {
    const record = { id: '', model: 'm', device: 'd' };
    const summary = summarise({
      ...record,
      measurements: [5, 6, 0.1, 5.5, 7].map((rate, at) => one(rate, at)),
    });
    expect(summary.decodeRate).toBe(5.5);
    expect(summary).not.toHaveProperty('prefillRate');
    expect(summarise({ ...record, measurements: [] })).toEqual({
      device: 'd',
      answers: 0,
      history: [],
    });
  });
});
