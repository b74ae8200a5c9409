import { describe, expect, test } from 'vitest';
import type { BrainMessage, ToolSpec } from '../../../../src/brain/brain.ts';
import { copiesOf, MOST_WORDS, numbersIn } from '../../../../src/brain/local/copies.ts';
import { gemma3 } from '../../../../src/brain/local/dialect/gemma3.ts';
import { acceptor } from './accepts.ts';
import { CLOCK, getWeather } from './tools.ts';

const user = (text: string): BrainMessage => ({ role: 'user', text });
const said = (text: string): BrainMessage => ({ role: 'assistant', text, calls: [] });
const result = (text: string): BrainMessage => ({
  role: 'tool',
  callId: '1',
  name: 'x',
  text,
  isError: false,
});

const book: ToolSpec = {
  name: 'book',
  description: 'Book a table.',
  inputSchema: {
    type: 'object',
    properties: {
      place: { type: 'string', description: "Where, such as 'the terrace'." },
      guests: { type: 'integer' },
      names: { type: 'array', items: { type: 'string' } },
      mood: { type: 'string', enum: ['quiet', 'lively'] },
      share: { type: 'number' },
    },
    required: ['place'],
  },
};
const WORDS = 'Book "Chez Anna" in Marseille’s port for 4 people, with Ömer and Li, 15% off.';

const fits = (messages: readonly BrainMessage[], tool: ToolSpec, call: string): boolean[] =>
  (['gbnf', 'ebnf'] as const).map((notation) => {
    const request = { now: CLOCK, messages, tools: [tool], copies: true } as const;
    const grammar = gemma3.grammar({ ...request, toolChoice: 'required' }, notation);
    return acceptor(grammar)(`\`\`\`tool_code\n${call}\n\`\`\``);
  });

describe('a call of a model that copies', () => {
  test.each([
    ['a word', 'book(place="Marseille")', true],
    ['a run of words, in quotes and not', 'book(place="Chez Anna in Marseille")', true],
    ['a run over a mark and an ending', 'book(place="Marseille’s port")', true],
    ['a run to the end of the text', 'book(place="Li, 15% off")', true],
    ['what the description names', 'book(place="the terrace")', true],
    ['an allowed value', 'book(place="port", mood="quiet")', true],
    ['words in a list', 'book(place="port", names=["Ömer", "Li"])', true],
    ['a number that was said', 'book(place="port", guests=4)', true],
    ['a share in per cent, as one and as a fraction', 'book(place="port", share=0.15)', true],
    ['part of a word', 'book(place="Mars")', false],
    ['words that do not follow each other', 'book(place="Chez Marseille")', false],
    ['a name that nobody said', 'book(place="Chez Ana")', false],
    ['nothing at all', 'book(place="")', false],
    ['a number that nobody said', 'book(place="port", guests=5)', false],
  ])('may hold, or not: %s', (_what, call, may) => {
    expect(fits([user(WORDS)], book, call)).toEqual([may, may]);
  });

  test('may hold anything where there is nothing to copy', () => {
    expect(fits([user('?!')], book, 'book(place="Chez Ana", guests=5)')).toEqual([true, true]);
  });

  test('may hold any number where none was said', () => {
    const words = [user('A table in Lyon for all of us')];
    expect(fits(words, book, 'book(place="Lyon", guests=12)')).toEqual([true, true]);
  });

  test('may hold a day in the form that is asked for', () => {
    const call = 'get_weather(city="Goa", date="2026-11-30")';
    expect(fits([user('Weather in Goa tomorrow?')], getWeather, call)).toEqual([true, true]);
  });

  test('may take up what was said before, and what was answered', () => {
    const before = [user('Where is Café Lux?'), said('It is in Graz.'), user('Book it')];
    for (const place of ['Café Lux', 'Graz', 'it'])
      expect(fits(before, book, `book(place="${place}")`)).toEqual([true, true]);
  });

  test('may be made up from results once there are some', () => {
    const after = [user('Book it'), said(''), result('{"place":"Graz"}')];
    expect(fits(after, book, 'book(place="Graz, at noon")')).toEqual([true, true]);
  });
});

test('quotes and backslashes of the request cannot break out of a string', () => {
  const words = [user(String.raw`Find C:\temp\" or "quo"te and x`)];
  expect(fits(words, book, String.raw`book(place="C:\\temp\\ or quote")`)).toEqual([true, true]);
});

test('the grammar has one rule for each word, whatever the length of the text', () => {
  const words = (count: number): string =>
    Array.from({ length: count }, (_, at) => `word${at}`).join(' ');
  const length = (count: number): number =>
    gemma3.grammar(
      {
        now: CLOCK,
        messages: [user(words(count))],
        tools: [book],
        toolChoice: 'auto',
        copies: true,
      },
      'ebnf',
    ).length;
  expect(length(40) - length(30)).toBeLessThanOrEqual((length(30) - length(20)) * 1.1);
});

test('the newest texts are copied from, and no text that is too long', () => {
  const long = Array.from({ length: MOST_WORDS + 1 }, (_, at) => `w${at}`).join(' ');
  expect(copiesOf([user(long)])).toBeNull();
  const copies = copiesOf([user(long), said('Done.'), user('Now Graz')]);
  expect(copies?.texts.map((words) => words.map(({ core }) => core))).toEqual([
    ['Now', 'Graz'],
    ['Done'],
  ]);
});

test.each([
  ['I borrow $20,000 for 5 years at 4.5%', [20000, 5, 4.5, 0.045]],
  ['between -3 and 7, or 2 million, half a dozen', [-3, 7, 2000000, 0.5]],
  ['rooms 5-7, version v2, 1,2,3', [5, 7, 1, 2, 3]],
  ['nothing of the kind', []],
])('the numbers of %j', (text, numbers) => {
  expect(numbersIn(text).toSorted()).toEqual(numbers.toSorted());
});
