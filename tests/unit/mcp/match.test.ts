import { expect, test } from 'vitest';
import { rarity, terms } from '../../../src/mcp/bm25.ts';
import { bestOf, COLLECTION, matchOf, USUAL } from '../../../src/mcp/match.ts';
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
  const words = 'What is the weather in Goa tomorrow?';
  const alone = matchOf(words, [WEATHER]);
  expect(alone).toBeGreaterThan(5);
  const others = Array.from({ length: 50 }, (_, at) => `tool_${at} Does something else.`);
  expect(matchOf(words, [...others, WEATHER])).toBe(alone);
});

test('what shares no word, and nothing at all, matches not at all', () => {
  expect(matchOf('Sing me a lovely song', [WEATHER])).toBe(0);
  expect(matchOf('Sing me a lovely song', [])).toBe(0);
});

test('a rare word says more than one that many tools have', () => {
  const rare = bestOf('umbrella', ['umbrella']);
  expect(rare).toBeGreaterThan(bestOf('number', ['number']) * 2);
});

test('a short request is measured as one of the usual length, and a long one as it is', () => {
  const short = 'Weather in Goa tomorrow';
  expect(matchOf(short, [WEATHER])).toBeGreaterThan(bestOf(short, [WEATHER]) * 1.2);
  const long = `${short}, and afterwards umbrellas, raincoats, lighthouses, violins and marmalade`;
  expect(matchOf(long, [WEATHER])).toBe(bestOf(long, [WEATHER]));
});

test('of two words nothing is said', () => {
  expect(matchOf('What time is it?', [WEATHER])).toBeUndefined();
  expect(matchOf('Weather today', [WEATHER])).toBeUndefined();
});

test('the usual length is that of the requests of the collection that need a tool', async () => {
  const requests = (await countedCases()).filter(({ calls }) => calls.length > 0);
  const worth = requests.map(({ question }) =>
    [...new Set(terms(question))].reduce(
      (sum, word) => sum + rarity(COLLECTION.of(word), COLLECTION.count),
      0,
    ),
  );
  expect(worth.reduce((sum, one) => sum + one, 0) / worth.length).toBeCloseTo(USUAL, 1);
});
