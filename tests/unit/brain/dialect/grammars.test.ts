import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Dialect, DialectRequest } from '../../../../src/brain/local/dialect/dialect.ts';
import type { Notation } from '../../../../src/brain/local/grammar.ts';
import { acceptor } from '../local/accepts.ts';
import { everything, getWeather, now, searchFlights, setReminder } from '../local/tools.ts';
import { ALL, call, called, NAMES, request, user } from './conversations.ts';

const TOOLS = [searchFlights, getWeather, setReminder, now, everything];
const cases = NAMES.flatMap((family) =>
  (['gbnf', 'ebnf'] as const).map((notation) => [family, notation] as const),
);

const asked = (more: Partial<DialectRequest> = {}): DialectRequest =>
  request([user('x')], { tools: TOOLS, ...more });
const grammarOf = (dialect: Dialect, notation: Notation, more?: Partial<DialectRequest>) =>
  acceptor(dialect.grammar(asked(more), notation));

/** Calls as the family writes them in its history. */
function written(
  dialect: Dialect,
  ...calls: (readonly [string, Record<string, unknown>])[]
): string {
  const made = calls.map(([name, args], at) => call(name, args, `${name}-${at}`));
  return dialect.render(request([user('x'), called(...made)], { tools: TOOLS }))[1] ?? '';
}

describe.each(cases)('%s (%s): a reply', (family, notation) => {
  const dialect = ALL[family];
  const accepts = grammarOf(dialect, notation);
  const write = (...calls: (readonly [string, Record<string, unknown>])[]): string =>
    written(dialect, ...calls);

  test.each([
    'Hello! How can I help?',
    'Light rain in Goa, up to 29 °C. नमस्ते 你好 🙂',
    'One.\n\n- a\n- b\n    c',
    'Use a < b, or <b>bold</b> 🙂',
  ])('may be text: %j', (text) => {
    expect(accepts(text)).toBe(true);
  });

  test('may be a call of every offered tool', () => {
    expect(accepts(write(['now', {}]))).toBe(true);
    expect(accepts(write(['get_weather', { city: 'Goa', date: 'next "Friday"' }]))).toBe(true);
    const flight = { origin: 'D', destination: 'G', date: 'x', part: 'morning' };
    expect(accepts(write(['search_flights', flight]))).toBe(true);
    const all = {
      count: -3,
      names: ['a', 'b'],
      weight: -0.5,
      fast: true,
      place: { city: 'x', kind: 'a' },
      free: { k: 3 },
      code: 'abcde',
      tree: { left: { name: 'v' } },
      any: false,
    };
    const ordered = Object.fromEntries(
      Object.entries(all).sort(([a], [b]) =>
        family === 'gemma4' || family === 'functiongemma' ? a.localeCompare(b) : 0,
      ),
    );
    expect(accepts(write(['everything', ordered]))).toBe(true);
  });

  test('may be up to four calls, or one where the family knows no more', () => {
    const once = ['now', {}] as const;
    const several = family !== 'llama3';
    const four = several ? write(once, once, once, once) : write(once) + write(once);
    expect(accepts(four)).toBe(several);
    if (several) expect(accepts(write(once, once, once, once, once))).toBe(false);
  });

  test('may be no call of another tool, with other arguments, or after a text', () => {
    const good = write(['get_weather', { city: 'Goa', date: 'x' }]);
    expect(accepts(good)).toBe(true);
    expect(accepts(good.replace('get_weather', 'delete_all'))).toBe(false);
    expect(accepts(write(['get_weather', { city: 'Goa' }]))).toBe(false);
    expect(accepts(write(['get_weather', { city: 'Goa', date: 'x', units: 'c' }]))).toBe(false);
    expect(accepts(write(['get_weather', { city: 3, date: 'x' }]))).toBe(false);
    expect(accepts(good.slice(0, -1))).toBe(false);
    expect(accepts(`Well. ${good}`)).toBe(family === 'llama3');
    expect(accepts('')).toBe(false);
    expect(accepts(' Hello')).toBe(false);
    expect(accepts(`a${' '.repeat(9)}b`)).toBe(false);
  });

  test('is held to text, or to calls, where it is asked to be', () => {
    const good = write(['now', {}]);
    const none = grammarOf(dialect, notation, { toolChoice: 'none' });
    const required = grammarOf(dialect, notation, { toolChoice: 'required' });
    expect([none(good), none('Hello')]).toEqual([false, true]);
    expect([required(good), required('Hello')]).toEqual([true, false]);
    expect(grammarOf(dialect, notation, { tools: [] })('Hello')).toBe(true);
  });

  test('with white space in JSON only where one may stand', () => {
    if (!['qwen3', 'chatml', 'llama3'].includes(family)) return;
    const good = write(['get_weather', { city: 'Goa', date: 'x' }]);
    const arguments_ = /\{"city".*?\}/.exec(good)?.[0] ?? '';
    expect(accepts(good.replace(arguments_, '{"city":"Goa","date":"x"}'))).toBe(true);
    expect(accepts(good.replace(arguments_, '{"city":  "Goa", "date": "x"}'))).toBe(false);
    expect(accepts(good.replace(arguments_, '{ "city": "Goa", "date": "x"}'))).toBe(false);
  });

  test('is a grammar whatever a tool’s schema holds', () => {
    const odd = {
      name: 'odd',
      description: '',
      inputSchema: {
        type: 'object',
        properties: {
          'a b"\\\n': { type: 'string' },
          loop: { $ref: '#/properties/loop' },
          lost: { $ref: '#/$defs/%zz' },
          empty: { enum: [] },
          never: { type: 'array', maxItems: 0 },
          quoted: { enum: ['a"b\\c\nd\te', 'f\r\0\x7f\\x', null, true, 0.5] },
          wrong: { type: 7, items: 'x', properties: [], maxLength: -3 },
          nothing: null,
          union: { oneOf: [{ type: 'null' }] },
        },
      },
    };
    // A line end or a zero as such would end a rule, or the whole grammar.
    expect(dialect.grammar(asked({ tools: [odd] }), notation)).not.toMatch(/[^\P{Cc}\n]/u);
    const allows = grammarOf(dialect, notation, { tools: [odd] });
    for (const quoted of ['a"b\\c\nd\te', 'f\r\0\x7f\\x']) {
      const made = request([user('x'), called(call('odd', { quoted }))], { tools: [odd] });
      expect(allows(dialect.render(made)[1] ?? '')).toBe(true);
    }
    const render = dialect.render(request([user('x'), called(call('odd', {}))], { tools: [odd] }));
    expect(allows(render[1] ?? '')).toBe(true);
  });
});

describe.each(NAMES)('%s: what is allowed', (family) => {
  const dialect = ALL[family];

  test('is read without a slip, as the call that it is', () => {
    const accepts = grammarOf(dialect, 'ebnf');
    const words = fc
      .string({ unit: 'grapheme-ascii', maxLength: 20 })
      .filter((text) => dialect.neutralise(text) === text && !/[`<]/.test(text));
    fc.assert(
      fc.property(words, words, (city, date) => {
        const args = { city, date };
        const reply = written(dialect, ['get_weather', args]);
        expect(accepts(reply)).toBe(true);
        const reader = dialect.reader({ tools: TOOLS, toolChoice: 'auto' });
        const events = [...reader.push(reply), ...reader.end(false)];
        expect(events).toMatchObject([{ type: 'call', name: 'get_weather', args }]);
      }),
      { numRuns: 40 },
    );
  });

  test('counts no character for xgrammar, which pays for each with its whole vocabulary', () => {
    const grammar = dialect.grammar(asked({ think: true }), 'ebnf');
    const counted = grammar.match(/(?:\[\^[^\n]*?\]|\))\)?\{\d+,(\d{2,})\}/g) ?? [];
    expect(counted.filter((part) => part.startsWith('[^'))).toEqual([]);
  });
});

describe.each(['qwen3', 'gemma4'] as const)('%s may think first', (family) => {
  const thought = {
    qwen3: '<think>\nIs 3 < 4?\nYes.\n</think>\n\n',
    gemma4: '<|channel>thought\nIs 3 < 4?\n<channel|>',
  }[family];

  test.each(['gbnf', 'ebnf'] as const)('only where it is wanted (%s)', (notation) => {
    const wanted = grammarOf(ALL[family], notation, { think: true });
    const unwanted = grammarOf(ALL[family], notation, { think: false });
    const reply = written(ALL[family], ['now', {}]);
    for (const answer of ['Yes.', reply]) {
      expect([wanted(thought + answer), wanted(answer)]).toEqual([true, true]);
      expect([unwanted(thought + answer), unwanted(answer)]).toEqual([false, true]);
    }
    expect(wanted(thought)).toBe(false);
  });
});
