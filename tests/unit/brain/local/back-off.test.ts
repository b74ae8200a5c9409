import { describe, expect, test } from 'vitest';
import { backOff, retryAfter } from '../../../../src/brain/local/back-off.ts';

describe('a failed request', () => {
  test('waits twice as long each time, at most a minute, and never the same for all phones', () => {
    const longest = [1, 2, 3, 4, 9].map((failed) => backOff(failed, 1000, () => 1));
    expect(longest).toEqual([1000, 2000, 4000, 8000, 60_000]);
    const shortest = [1, 2, 3, 4, 9].map((failed) => backOff(failed, 1000, () => 0));
    expect(shortest).toEqual([500, 1000, 2000, 4000, 30_000]);
  });

  test.each([
    ['30', 30_000],
    [' 0 ', 0],
    ['Mon, 30 Nov 2026 10:00:10 GMT', 10_000],
    ['Mon, 30 Nov 2026 09:00:00 GMT', 0],
    ['soon', undefined],
    [null, undefined],
  ])('is told by Retry-After %j to wait %j ms', (header, ms) => {
    expect(retryAfter(header, Date.parse('2026-11-30T10:00:00Z'))).toBe(ms);
  });
});
