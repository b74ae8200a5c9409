import { describe, expect, test } from 'vitest';
import { CATEGORIES, toJsonSchema, unseenCases, type Case } from '../../evals/bfcl/cases.ts';
import { isExact, isRightTool } from '../../evals/bfcl/check.ts';

const wants = (...calls: Case['calls']): Case => ({
  id: 'x',
  category: 'simple',
  question: '',
  tools: [],
  calls,
});
const area = { name: 'area', accepted: { base: [10], unit: ['cm', ''], at: [{ x: [1, 2] }, ''] } };

describe('the cases', () => {
  test('are the same ones each time, and none that was looked at before', async () => {
    const [few, many] = [await unseenCases('multiple', 5), await unseenCases('multiple', 9)];
    expect(many.slice(0, 5)).toEqual(few);
    expect(few[0]?.id).toBe('multiple_48');
  });

  test('of every category have tools, and right calls but where no tool fits', async () => {
    for (const category of CATEGORIES)
      for (const one of await unseenCases(category, 60)) {
        expect(one.question).not.toBe('');
        expect(one.tools.length).toBeGreaterThan(0);
        expect(one.calls.length > 0).toBe(category !== 'irrelevance');
        const names = one.tools.map(({ name }) => name);
        for (const call of one.calls) expect(names).toContain(call.name);
      }
  });

  test('speak JSON Schema', () => {
    expect(
      toJsonSchema({
        type: 'dict',
        properties: {
          a: { type: 'float', optional: true },
          b: { type: 'tuple', items: { type: 'any' } },
        },
        required: ['a'],
      }),
    ).toEqual({
      type: 'object',
      properties: { a: { type: 'number' }, b: { type: 'array', items: {} } },
      required: ['a'],
    });
  });
});

describe('a call is exact', () => {
  test.each([
    ['as wanted', { base: 10, unit: 'cm' }, true],
    ['without what may be left out', { base: 10 }, true],
    ['in another spelling of a string', { base: 10, unit: 'C.M.' }, true],
    ['with an object whose keys are accepted', { base: 10, at: { x: 2 } }, true],
    ['with another value', { base: 11 }, false],
    ['without what is required', { unit: 'cm' }, false],
    ['with what nobody asked for', { base: 10, height: 3 }, false],
    ['with an object of another shape', { base: 10, at: { y: 2 } }, false],
  ])('%s: %j is %s', (_name, args, exact) => {
    expect(isExact({ calls: [{ name: 'area', args }] }, wants(area))).toBe(exact);
  });

  test('only with every call that is wanted, in any order, and no more', () => {
    const other = { name: 'other', accepted: { n: [1] } };
    const made = [
      { name: 'other', args: { n: 1 } },
      { name: 'area', args: { base: 10 } },
    ];
    expect(isExact({ calls: made }, wants(area, other))).toBe(true);
    expect(isExact({ calls: made }, wants(area))).toBe(false);
    expect(isExact({ calls: made.slice(1) }, wants(area, other))).toBe(false);
    expect(isExact({ calls: [] }, wants())).toBe(true);
    expect(isExact({ calls: [{ name: 'area', args: null }] }, wants(area))).toBe(false);
    expect(isRightTool({ calls: made }, wants(area))).toBe(false);
  });

  test('never of a model that failed, not even where no call is wanted', () => {
    expect(isExact({ calls: [], error: 'The model did not get ready.' }, wants())).toBe(false);
  });
});
