import { describe, expect, test } from 'vitest';
import type { ToolChoice, ToolSpec } from '../../../../src/brain/brain.ts';
import { type Notation, replyGrammar, TOOL_CODE } from '../../../../src/brain/local/grammar.ts';
import { acceptor } from './accepts.ts';
import { everything, getWeather, now, searchFlights, setReminder } from './tools.ts';

const TOOLS = [searchFlights, getWeather, setReminder, now, everything];
const grammarOf = (tools: readonly ToolSpec[], choice: ToolChoice, notation: Notation): string =>
  replyGrammar({ tools, choice, form: TOOL_CODE, notation });
const block = (...lines: string[]): string => `\`\`\`tool_code\n${lines.join('\n')}\n\`\`\``;

describe.each(['gbnf', 'ebnf'] as Notation[])('the grammar (%s)', (notation) => {
  const accepts = acceptor(grammarOf(TOOLS, 'auto', notation));

  test.each([
    'Hello! How can I help?',
    'Light rain in Goa, up to 29 °C. नमस्ते 你好 🙂',
    'One.\n\n- a\n- b\n    c',
    'Use `x` or\n\n```python\nprint(1)\n```',
    'a ``b`` c',
    block('now()'),
    block('search_flights(origin="Delhi", destination="Goa", date="next Friday")'),
    block('search_flights(origin="D", destination="G", date="x", part="morning")', 'now()'),
    block('set_reminder(text="say \\"hi\\", \\\\ and \\n", time="18:00")'),
    block('everything(count=-3, names=[])'),
    block(
      'everything(count=0, names=["a", "b"], weight=-0.5, fast=True, place={"city": "x", "kind": "b \\"c\\""}, free={"k": 3}, code="abcde", tree={"left": {"name": "v"}}, any=False)',
    ),
  ])('allows %j', (text) => {
    expect(accepts(text)).toBe(true);
  });

  test.each([
    ['nothing', ''],
    ['a tool that was not offered', block('delete_all()')],
    ['a missing argument', block('get_weather(city="Goa")')],
    ['an unknown argument', block('get_weather(city="Goa", date="x", units="c")')],
    [
      'a value that is no choice',
      block('search_flights(origin="D", destination="G", date="x", part="night")'),
    ],
    ['text where a number is wanted', block('everything(count="3", names=[])')],
    ['a number with a leading zero', block('everything(count=03, names=[])')],
    ['too many entries', block('everything(count=1, names=["a", "b", "c", "d"])')],
    ['no tool in a block', '```tool_code\n\n```'],
    ['a block that does not end', '```tool_code\nnow()'],
    ['a block after text', `Well. ${block('now()')}`],
    ['five calls', block('now()', 'now()', 'now()', 'now()', 'now()')],
    ['a line break in a string', block('set_reminder(text="a\nb")')],
    ['white space first', ' Hello'],
    ['white space last', 'Hello '],
    ['a run of spaces', `a${' '.repeat(9)}b`],
    ['a run of line breaks', 'a\n\n\nb'],
  ])('does not allow %s', (_what, text) => {
    expect(accepts(text)).toBe(false);
  });

  test('lets only calls through where one is required, and only text where none may be made', () => {
    const required = acceptor(grammarOf(TOOLS, 'required', notation));
    expect([required(block('now()')), required('Hello')]).toEqual([true, false]);
    for (const grammar of [grammarOf(TOOLS, 'none', notation), grammarOf([], 'required', notation)])
      expect([acceptor(grammar)(block('now()')), acceptor(grammar)('Hello')]).toEqual([
        false,
        true,
      ]);
  });

  test('is a grammar whatever a tool’s schema holds', () => {
    const odd: ToolSpec = {
      name: 'odd',
      description: '',
      inputSchema: {
        type: 'object',
        properties: {
          'a b"\\\n': { type: 'string' },
          loop: { $ref: '#/properties/loop' },
          lost: { $ref: '#/$defs/none' },
          far: { $ref: 'https://example.org/schema' },
          deep: Array.from({ length: 9 }).reduce<unknown>((items) => ({ type: 'array', items }), {
            type: 'string',
          }),
          empty: { enum: [] },
          never: { type: 'array', maxItems: 0 },
          quoted: { enum: ['a"b\\c\nd\te', null, true, 0.5] },
          wrong: { type: 7, items: 'x', properties: [], maxLength: -3 },
          nothing: null,
          one: { const: 'only' },
          maybe: { type: ['null', 'integer'] },
          union: { oneOf: [{ type: 'null' }] },
        },
      },
    };
    const allows = acceptor(grammarOf([odd], 'auto', notation));
    expect(allows(block('odd()'))).toBe(true);
    expect(allows(block('odd(a_b_="x", quoted="a\\"b\\\\c\\nd\\te", one="only", maybe=3)'))).toBe(
      true,
    );
    expect(allows(block('odd(never=[])'))).toBe(true);
    expect(allows(block('odd(one="other")'))).toBe(false);
  });
});

test('strings are bounded where the engine can count, by maxLength too', () => {
  const accepts = acceptor(grammarOf([setReminder, everything], 'auto', 'gbnf'));
  const reminder = (length: number): string => block(`set_reminder(text="${'a'.repeat(length)}")`);
  expect([accepts(reminder(200)), accepts(reminder(201))]).toEqual([true, false]);
  const code = (text: string): string => block(`everything(count=1, names=[], code="${text}")`);
  expect([accepts(code('abcde')), accepts(code('abcdef'))]).toEqual([true, false]);
});

test('no character is counted for xgrammar, which pays for each with its whole vocabulary', () => {
  const grammar = grammarOf(TOOLS, 'auto', 'ebnf');
  const counted = grammar.match(/\[\^[^\n]*?\]\)?\{\d+,(\d+)\}/g) ?? [];
  expect(counted).toEqual([]);
});
