import { expect, test } from 'vitest';
import { terms } from '../../../src/mcp/bm25.ts';
import { COLLECTION, matchOf } from '../../../src/mcp/match.ts';
import { searchText } from '../../../src/mcp/search-text.ts';
import { countedCases } from '../../evals/bfcl/cases.ts';

const WEATHER = 'get_weather get_weather Get the weather forecast of a city for a day. city date';

test('the words of the collection were counted over it', async () => {
  const texts = (await countedCases()).flatMap(({ tools }) => tools).map(searchText);
  const held = new Map<string, number>();
  for (const text of texts)
    for (const word of new Set(terms(text))) held.set(word, (held.get(word) ?? 0) + 1);
  expect(COLLECTION.count).toBe(texts.length);
  expect(COLLECTION.length).toBeCloseTo(
    texts.reduce((sum, text) => sum + terms(text).length, 0) / texts.length,
    5,
  );
  for (const [word, count] of held) expect(COLLECTION.of(word), word).toBe(count > 1 ? count : 0);
});

test('what fits matches well, whatever other tools there are', () => {
  const words = 'What is the weather in Goa?';
  const alone = matchOf(words, [WEATHER]);
  expect(alone).toBeGreaterThan(5);
  const others = Array.from({ length: 50 }, (_, at) => `tool_${at} Does something else.`);
  expect(matchOf(words, [...others, WEATHER])).toBe(alone);
});

test('what shares no word, and nothing at all, matches not at all', () => {
  expect(matchOf('Sing me a song', [WEATHER])).toBe(0);
  expect(matchOf('Sing me a song', [])).toBe(0);
});

test('a rare word says more than one that many tools have', () => {
  const rare = matchOf('umbrella', ['umbrella']);
  expect(rare).toBeGreaterThan(matchOf('number', ['number']) * 2);
});
