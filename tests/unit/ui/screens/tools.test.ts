import { describe, expect, it } from 'vitest';
import { listedTools, matches, parametersOf, ruleWords } from '../../../../src/ui/screens/tools.ts';

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

describe("the list of a server's tools", () => {
  const tool = (name: string, more: { title?: string; description?: string } = {}) => ({
    name,
    inputSchema: {},
    pin: name,
    on: true,
    ...more,
  });
  const server = {
    tools: [
      tool('get_day', { title: 'Day', description: 'Reads one day of the calendar' }),
      tool('put_day'),
      tool('drop_day'),
    ],
    appeared: ['drop_day'],
    missing: [{ name: 'old_day', title: 'Old day', at: 5 }],
  };
  const shown = (query: string): string[] =>
    listedTools(server, query).map(({ kind, name }) => `${kind} ${name}`);

  it('has new tools first, then missing ones, and then the rest as the server has them', () => {
    expect(shown('')).toEqual(['tool drop_day', 'missing old_day', 'tool get_day', 'tool put_day']);
    expect(listedTools(server, '').map((one) => one.kind === 'tool' && one.isNew)).toEqual([
      true,
      false,
      false,
      false,
    ]);
  });

  it('is searched by all words of name, title and description, in any case and order', () => {
    expect(shown('CALENDAR day')).toEqual(['tool get_day']);
    expect(shown('old')).toEqual(['missing old_day']);
    expect(shown('zeppelin')).toEqual([]);
    expect(matches('', undefined)).toBe(true);
  });

  it('has a rule in words', () => {
    expect(ruleWords({ readOnly: true })).toBe('that say they only read');
    expect(ruleWords({ pattern: 'get_*' })).toBe('whose name fits get_*');
    expect(ruleWords({ readOnly: true, pattern: 'get_*' })).toBe(
      'that say they only read and whose name fits get_*',
    );
  });
});
