import { describe, expect, it } from 'vitest';
import { parametersOf } from '../../../../src/ui/screens/tools.ts';

describe('the arguments of a tool in words', () => {
  it('says type, choices and whether an argument is needed', () => {
    const parameters = parametersOf({
      type: 'object',
      properties: {
        city: { type: 'string', description: 'Name of the city.' },
        date: { type: 'string', format: 'date' },
        class: { enum: ['economy', 'business'] },
        tags: { type: 'array', items: { type: 'string' } },
        limit: { type: ['integer', 'null'] },
      },
      required: ['city'],
    });
    expect(parameters.map(({ name, type, required }) => [name, type, required])).toEqual([
      ['city', 'string', true],
      ['date', 'string (date)', false],
      ['class', 'one of economy, business', false],
      ['tags', 'list of string', false],
      ['limit', 'integer or null', false],
    ]);
    expect(parameters[0]?.description).toBe('Name of the city.');
  });

  it('survives any schema that a server may send', () => {
    for (const schema of [{}, { properties: null }, { properties: [] }, { properties: 'x' }])
      expect(parametersOf(schema)).toEqual([]);
    expect(parametersOf({ properties: { a: null, b: true }, required: 'a' })).toEqual([
      { name: 'a', type: 'anything', description: '', required: false },
      { name: 'b', type: 'anything', description: '', required: false },
    ]);
  });
});
