/** A price of a cloud model, as it is typed. */
import { expect, it } from 'vitest';
import { priceTyped, readPrice } from '../../../../src/ui/screens/price.ts';

it.each([
  ['0.15', '0.6', { input: 0.15, output: 0.6 }],
  [' 3 ', '15', { input: 3, output: 15 }],
  ['0,15', ',5', { input: 0.15, output: 0.5 }],
  ['0,075', '0', { input: 0.075, output: 0 }],
  ['', '  ', null],
])('%j read and %j written is a price', (input, output, price) => {
  expect(readPrice({ input, output })).toEqual({ ok: true, price });
});

it.each([
  ['1', '', 'output', /missing.*leave both empty/],
  ['', '1', 'input', /missing.*leave both empty/],
  ['cheap', '1', 'input', /not a price.*like 0\.15/],
  ['1', '-1', 'output', /not a price/],
  ['1,000', '1', 'input', /not a price/],
  ['1e3', '1', 'input', /not a price/],
  ['1', '10001', 'output', /more than 10000 dollars/],
])('%j read and %j written is refused in words, at its field', (input, output, field, error) => {
  expect(readPrice({ input, output })).toEqual({
    ok: false,
    field,
    error: expect.stringMatching(error),
  });
});

it('stands in its field as it can be read again, and not known is empty', () => {
  expect([priceTyped(0.075), priceTyped(0), priceTyped(undefined)]).toEqual(['0.075', '0', '']);
});
