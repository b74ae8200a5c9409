import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { modelNames } from '../../../src/mcp/names.ts';

const names = (...tools: [string, string][]) =>
  modelNames(tools.map(([serverName, tool]) => ({ serverName, tool })));

describe('the names under which a model sees tools', () => {
  it('are the tools own, where these are valid and free', () => {
    expect(names(['Travel', 'search_flights'], ['Travel', 'getWeather'])).toEqual([
      'search_flights',
      'getWeather',
    ]);
  });

  it('carry the server where another one was there first', () => {
    expect(names(['Docs', 'search'], ['My Shop', 'search'])).toEqual(['search', 'my_shop_search']);
  });

  it('stay when a server is added behind', () => {
    const before = names(['Docs', 'search'], ['Shop', 'search']);
    const after = names(['Docs', 'search'], ['Shop', 'search'], ['Zoo', 'search'], ['Zoo', 'x']);
    expect(after.slice(0, 2)).toEqual(before);
  });

  it('never shadow another one by case alone', () => {
    expect(names(['A', 'Search'], ['B', 'search'])).toEqual(['Search', 'b_search']);
  });

  it.each([
    ['repos/list-issues', 'repos_list_issues'],
    ['files.read', 'files_read'],
    ['2fa', 'srv_2fa'],
    ['検索', 'srv'],
    ['', 'srv'],
    ['café', 'cafe'],
  ])('make %j valid', (tool, name) => {
    expect(names(['Srv', tool])).toEqual([name]);
  });

  it('number what is still the same', () => {
    expect(names(['A', 'x'], ['A', 'x'], ['A', 'x'])).toEqual(['x', 'a_x', 'a_x_2']);
  });

  it('tell long names apart that begin alike', () => {
    const long = 'a'.repeat(90);
    const [one, two] = names(['S', `${long}1`], ['S', `${long}2`]);
    expect(one).not.toBe(two);
    expect(one?.length).toBe(64);
  });

  it('are always unique and valid', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.string({ maxLength: 70 }), fc.string({ maxLength: 90 })), {
          maxLength: 30,
        }),
        (tools) => {
          const made = names(...tools);
          expect(new Set(made.map((name) => name.toLowerCase())).size).toBe(tools.length);
          for (const name of made) expect(name).toMatch(/^[A-Za-z_][A-Za-z0-9_]{0,63}$/);
        },
      ),
    );
  });
});
