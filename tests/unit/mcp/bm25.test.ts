import { describe, expect, it } from 'vitest';
import { buildIndex, terms } from '../../../src/mcp/bm25.ts';

const documents = [
  'search_flights Search flights between two cities on a date.',
  'get_weather Weather forecast: rain, sun, temperature',
  'set_reminder Remind the user of something at a time.',
];

function best(query: string): number | null {
  const scores = [...buildIndex(documents).search(query)].sort((a, b) => b[1] - a[1]);
  return scores[0]?.[0] ?? null;
}

describe('retrieval', () => {
  it.each([
    ['find me a morning flight to Goa', 0],
    ['will it rain on Friday', 1],
    ['do I need a raincoat', 1],
    ['remind me to call home', 2],
    ['tell me a joke', null],
    ['', null],
  ])('finds for %j', (query, document) => {
    expect(best(query)).toBe(document);
  });

  it('scores a rare word over a common one', () => {
    const index = buildIndex(['red apple', 'red pear', 'red plum']);
    const [[position] = []] = [...index.search('red pear')].sort((a, b) => b[1] - a[1]);
    expect(position).toBe(1);
  });

  it('reads names in snake and camel case and other alphabets', () => {
    expect(terms('listOpenIssues search_flights поиск')).toEqual([
      'list',
      'open',
      'issu',
      'search',
      'flight',
      'поиск',
    ]);
  });

  it('has no scores where there are no documents', () => {
    expect(buildIndex([]).search('anything').size).toBe(0);
  });
});
