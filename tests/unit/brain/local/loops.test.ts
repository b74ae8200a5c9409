import { expect, test } from 'vitest';
import { loopLength } from '../../../../src/brain/local/loops.ts';

test.each([
  ['I am sure. '.repeat(6), 11],
  ['get_data' + '_data'.repeat(12), 5],
  [`A long sentence that is said again, with all its words. `.repeat(4), 56],
  ['a'.repeat(300), 1],
])('%j is a loop', (text, length) => {
  expect(loopLength(text)).toBe(length);
});

test.each([
  '',
  'Light rain in Goa, so take a raincoat.',
  'No, no, no, no.',
  '| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |',
  '-'.repeat(80),
  '1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n14\n15\n16\n17\n18\n19\n20',
])('%j is none', (text) => {
  expect(loopLength(text)).toBe(0);
});
