import { describe, expect, it, vi } from 'vitest';
import { sameSampling, savingLatest } from '../../../../src/ui/screens/sampling.ts';

/** Saves that end when they are told to. */
function slow() {
  const ends: { resolve: () => void; reject: (cause: Error) => void }[] = [];
  const save = vi.fn(
    (_value: number) =>
      new Promise<void>((resolve, reject) => {
        ends.push({ resolve, reject });
      }),
  );
  return { ends, save, put: savingLatest(save) };
}
const saved = ({ save }: ReturnType<typeof slow>): number[] => save.mock.calls.map(([one]) => one);

describe('changes of a setting', () => {
  it('are saved one at a time, and of those that wait only the newest', async () => {
    const one = slow();
    const all = [1, 2, 3, 4].map((value) => one.put(value));
    expect(saved(one)).toEqual([1]);
    one.ends[0]?.resolve();
    await vi.waitFor(() => expect(saved(one)).toEqual([1, 4]));
    one.ends[1]?.resolve();
    await Promise.all(all);
    expect(saved(one)).toEqual([1, 4]);
  });

  it('are saved also after a pause', async () => {
    const save = vi.fn(async (_value: number) => undefined);
    const put = savingLatest(save);
    await put(1);
    await put(2);
    expect(save.mock.calls).toEqual([[1], [2]]);
  });

  it('reject where the newest could not be saved, and go on with the next', async () => {
    const one = slow();
    const first = one.put(1);
    one.ends[0]?.reject(new Error('no room'));
    await expect(first).rejects.toThrow('no room');
    const second = one.put(2);
    one.ends[1]?.resolve();
    await expect(second).resolves.toBeUndefined();
    expect(saved(one)).toEqual([1, 2]);
  });

  it('do not reject for one that was overtaken', async () => {
    const one = slow();
    const first = one.put(1);
    const second = one.put(2);
    one.ends[0]?.reject(new Error('no room'));
    await vi.waitFor(() => expect(saved(one)).toEqual([1, 2]));
    one.ends[1]?.resolve();
    await expect(first).resolves.toBeUndefined();
    await expect(second).resolves.toBeUndefined();
  });
});

it('two samplings are the same where each of their figures is', () => {
  expect(sameSampling(null, null)).toBe(true);
  expect(sameSampling({ temperature: 0 }, null)).toBe(false);
  expect(sameSampling({ temperature: 1, topP: 0.9 }, { topP: 0.9, temperature: 1 })).toBe(true);
  expect(sameSampling({ temperature: 1, topK: 40 }, { temperature: 1, topK: 41 })).toBe(false);
});
