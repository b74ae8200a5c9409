import { expect, test } from 'vitest';
import { nonsense } from '../../../../src/brain/local/engines/self-test.ts';

const tokens = (texts: readonly string[], logprob = -0.5) =>
  texts.map((token) => ({ token, logprob }));

test.each([
  ['words', [' five', ',', ' six', ',', ' seven', ',', ' eight', ',']],
  ['lines', ['\n', '\n', 'Five', '.', '\n', '\t', 'a', 'b']],
  ['other scripts', ['पाँच', ' ', '五', '😀', ' ', 'ش', '.', ' ']],
  ['an answer that ends early', [' five']],
])('%s are language', (_what, texts) => {
  expect(nonsense(texts.join(''), tokens(texts))).toBeUndefined();
});

test.each([
  ['no token', '', [], /no token/],
  ['numbers that are none', ' five', tokens([' five'], NaN), /NaN/],
  ['numbers without end', ' five', tokens([' five'], -Infinity), /Infinity/],
  ['one token over and over', '!!!!!!!!', tokens(Array(8).fill('!')), /"!" over and over/],
  ['bytes', '\uFFFD\uFFFDa', tokens(['\uFFFD', '\uFFFD', 'a']), /no text/],
  ['control characters', 'a\u0001', tokens(['a', '\u0001']), /no text/],
])('%s are nonsense', (_what, text, given, why) => {
  expect(nonsense(text, given)).toMatch(why);
});

test('a logarithm that 32 bits rounded over 0 is none, one above that is', () => {
  expect(nonsense('one two', tokens(['one', ' two'], 2.4e-7))).toBeUndefined();
  expect(nonsense('one two', tokens(['one', ' two'], 0.5))).toContain('0.5');
});
