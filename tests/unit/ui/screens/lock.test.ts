import { expect, test } from 'vitest';
import { spell, TIMES } from '../../../../src/ui/screens/lock.ts';
import { LOCK_AFTER_MS } from '../../../../src/ui/shell/away.ts';

test('a wait is said in whole seconds or minutes, never less than it is', () => {
  expect([1, 1_000, 4_001, 119_000].map(spell)).toEqual([
    '1 second',
    '1 second',
    '5 seconds',
    '119 seconds',
  ]);
  expect([120_000, 120_001, 900_000].map(spell)).toEqual(['2 minutes', '3 minutes', '15 minutes']);
});

test('the time that counts where none was chosen is one of those offered', () => {
  expect(TIMES.map(({ ms }) => ms)).toContain(LOCK_AFTER_MS);
});
