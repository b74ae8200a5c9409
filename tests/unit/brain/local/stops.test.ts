import { expect, test } from 'vitest';
import { StopStrings } from '../../../../src/brain/local/engines/stops.ts';

function stream(
  stops: readonly string[],
  pieces: readonly string[],
): { out: string; found: boolean } {
  const filter = new StopStrings(stops);
  const out = pieces.map((piece) => filter.push(piece)).join('') + filter.rest();
  return { out, found: filter.found };
}

test('ends before the first stop string, however it is cut', () => {
  for (const pieces of [['one STOP two'], ['one S', 'TOP two'], [...'one STOP two']])
    expect(stream(['STOP'], pieces)).toEqual({ out: 'one ', found: true });
});

test('gives back what only looked like the beginning of one', () => {
  expect(stream(['STOP'], ['one ST', 'ART S'])).toEqual({ out: 'one START S', found: false });
  expect(stream(['aab'], [...'aaac'])).toEqual({ out: 'aaac', found: false });
});

test('takes the earliest of several', () => {
  expect(stream(['late', 'early'], ['an early, late end'])).toEqual({ out: 'an ', found: true });
});

test('lets everything through where there is none', () => {
  expect(stream([], ['a', 'b'])).toEqual({ out: 'ab', found: false });
  expect(stream([''], ['a', 'b'])).toEqual({ out: 'ab', found: false });
});
