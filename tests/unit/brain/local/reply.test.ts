import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ReplyEvent } from '../../../../src/brain/local/dialect/dialect.ts';
import { gemma3 } from '../../../../src/brain/local/dialect/gemma3.ts';
import { everything, getWeather, now, searchFlights, setReminder } from './tools.ts';

const TOOLS = [searchFlights, getWeather, setReminder, now, everything];

function readPieces(pieces: readonly string[], cut = false): ReplyEvent[] {
  const reader = gemma3.reader({ tools: TOOLS, toolChoice: 'auto' });
  return [...pieces.flatMap((piece) => reader.push(piece)), ...reader.end(cut)];
}

/** Events with neighbouring texts joined: what does not depend on where the stream was cut. */
function joined(events: readonly ReplyEvent[]): ReplyEvent[] {
  const out: ReplyEvent[] = [];
  for (const event of events) {
    const last = out.at(-1);
    if (event.type === 'text' && last?.type === 'text')
      out[out.length - 1] = { type: 'text', text: last.text + event.text };
    else out.push(event);
  }
  return out;
}

const read = (text: string, cut = false): ReplyEvent[] => joined(readPieces([text], cut));
const block = (...lines: string[]): string => `\`\`\`tool_code\n${lines.join('\n')}\n\`\`\``;
const argsOf = (text: string, cut = false): unknown[] =>
  read(text, cut).map((event) => (event.type === 'call' ? event.args : event.text));

const RAIN = { city: 'Mumbai', date: 'tomorrow' };

describe('a reply is read', () => {
  test('as text where it is text', () => {
    expect(read('Light rain in Mumbai, up to 29 °C.\n')).toEqual([
      { type: 'text', text: 'Light rain in Mumbai, up to 29 °C.' },
    ]);
  });

  test('as calls where it is a block, each as written', () => {
    const first = 'get_weather(city="Mumbai", date="tomorrow")';
    expect(read(block(first, 'now()'))).toEqual([
      { type: 'call', name: 'get_weather', args: RAIN, raw: first },
      { type: 'call', name: 'now', args: {}, raw: 'now()' },
    ]);
  });

  test('as text and then calls where both come', () => {
    expect(read(`Let me see.\n${block('now()')}`)).toEqual([
      { type: 'text', text: 'Let me see.' },
      { type: 'call', name: 'now', args: {}, raw: 'now()' },
    ]);
  });

  test('with every type of value', () => {
    const line =
      'everything(count=-3, names=["a", "b"], weight=0.5, fast=True, place={"city": "Goa", "kind": None}, any="x")';
    expect(argsOf(block(line))).toEqual([
      {
        count: -3,
        names: ['a', 'b'],
        weight: 0.5,
        fast: true,
        place: { city: 'Goa', kind: null },
        any: 'x',
      },
    ]);
  });

  test('as it comes: a call is there before the block ends, text before the next word', () => {
    const reader = gemma3.reader({ tools: TOOLS, toolChoice: 'auto' });
    expect(reader.push('Hello')).toEqual([{ type: 'text', text: 'Hello' }]);
    expect(reader.push('\n```tool_code\nnow()\nget_')).toMatchObject([{ name: 'now' }]);
  });
});

describe('usual mistakes are forgiven:', () => {
  test.each([
    ['a trailing comma', block('get_weather(city="Mumbai", date="tomorrow",)')],
    ['single quotes', block("get_weather(city='Mumbai', date='tomorrow')")],
    ['curly quotes', block('get_weather(city=“Mumbai”, date=‘tomorrow’)')],
    ['no quotes', block('get_weather(city=Mumbai, date=tomorrow)')],
    ['no closing fence', '```tool_code\nget_weather(city="Mumbai", date="tomorrow")'],
    ['no closing bracket', block('get_weather(city="Mumbai", date="tomorrow"')],
    ['no fence at all', 'get_weather(city="Mumbai", date="tomorrow")'],
    ['print', block('print(get_weather(city="Mumbai", date="tomorrow"))')],
    ['an assignment', block('weather = get_weather(city="Mumbai", date="tomorrow");')],
    ['a module before the name', block('tools.get_weather(city="Mumbai", date="tomorrow")')],
    ['another case', block('getWeather(city="Mumbai", date="tomorrow")')],
    ['colons', block('get_weather(city: "Mumbai", date: "tomorrow")')],
    ['quoted names', block('get_weather("city"="Mumbai", "date"="tomorrow")')],
    ['arguments by place', block('get_weather("Mumbai", "tomorrow")')],
    ['one object', block('get_weather({"city": "Mumbai", "date": "tomorrow"})')],
    ['several lines', block('get_weather(\n  city="Mumbai",\n  date="tomorrow"\n)')],
    ['a comment', block('# the weather', 'get_weather(city="Mumbai", date="tomorrow")')],
    [
      'JSON in a block',
      block('{"name": "get_weather", "arguments": {"city": "Mumbai", "date": "tomorrow"}}'),
    ],
    [
      'JSON in tags',
      '<tool_call>{"name":"get_weather","arguments":{"city":"Mumbai","date":"tomorrow"}}</tool_call>',
    ],
    [
      'JSON alone',
      '{"name": "get_weather", "parameters": "{\\"city\\": \\"Mumbai\\", \\"date\\": \\"tomorrow\\"}"}',
    ],
  ])('%s', (_mistake, text) => {
    expect(read(text)).toMatchObject([{ type: 'call', name: 'get_weather', args: RAIN }]);
  });

  test('a result that the model makes up is not read', () => {
    const text = `${block('now()')}\n\`\`\`tool_output\n{"time":"09:00"}\n\`\`\`\nIt is nine.`;
    expect(read(text)).toEqual([{ type: 'call', name: 'now', args: {}, raw: 'now()' }]);
  });

  test('a second block is', () => {
    expect(read(`${block('now()')}\n${block('now()')}`)).toHaveLength(2);
  });

  test('an optional argument that is None is left out', () => {
    expect(argsOf(block('set_reminder(text="x", time=None)'))).toEqual([{ text: 'x' }]);
  });
});

describe('no arguments are made up:', () => {
  test.each([
    ['cut in a string', '```tool_code\nget_weather(city="Mum'],
    ['cut between arguments', '```tool_code\nget_weather(city="Mumbai", '],
    ['cut before the bracket', '```tool_code\nget_weather(city="Mumbai", date="tomorrow"'],
    ['an open string', block('get_weather(city="Mumbai)')],
    ['a list that does not end', block('get_weather(city=["a", "b")')],
    ['a value without a name after one with', block('get_weather(city="a", "b")')],
    ['an expression', block('get_weather(city=cities[0], date="tomorrow")')],
    ['no call', block('get_weather')],
  ])('%s', (_what, text) => {
    const [event, ...more] = read(text, true);
    expect(event).toMatchObject({ type: 'call', name: 'get_weather', args: null });
    expect(more).toEqual([]);
  });

  test('JSON without a name has no name and no arguments', () => {
    expect(read(block('{"city": "Mumbai"}'))).toMatchObject([{ name: '', args: null }]);
  });

  test('a tool that was not offered keeps its name, and has no arguments', () => {
    expect(read(block('delete_all(really=True)'))).toMatchObject([
      { name: 'delete_all', args: null },
    ]);
  });

  test('JSON that is no call of a tool is text', () => {
    expect(read('{"answer": 42}')).toEqual([{ type: 'text', text: '{"answer": 42}' }]);
    expect(read('now (as of today) it is fine')).toEqual([
      { type: 'text', text: 'now (as of today) it is fine' },
    ]);
  });

  test('an argument called __proto__ is an argument and nothing else', () => {
    const [args] = argsOf(block('everything(any={"__proto__": {"polluted": True}})'));
    expect(JSON.stringify(args)).toBe('{"any":{"__proto__":{"polluted":true}}}');
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });
});

describe('whatever comes,', () => {
  const SAMPLES = [
    block(
      'get_weather(city="Mumbai", date="tomorrow")',
      'now()',
      'set_reminder(text="it\'s \\"x\\"")',
    ),
    `Well, let me see.\n\n${block("get_weather(city='Mumbai', date=['a',\n 'b'])")}`,
    '{"name": "get_weather", "arguments": {"city": "Mumbai", "date": "tomorrow"}}',
    'now()',
    'Use ``` or ``code`` or\n\n```python\nprint(1)\n```\nas you like. ',
    `${block('now()')}\n\n${block('now()', 'get_weather(city="a\nb", date="c")')} and more`,
    '<tool_call>{"name":"now","arguments":{}}</tool_call><tool_call>{"name":"now"}</tool_call>',
  ];

  test.each(SAMPLES)('it is read the same wherever it is cut in two: %j', (text) => {
    const whole = read(text);
    for (let at = 0; at <= text.length; at += 1)
      expect(joined(readPieces([text.slice(0, at), text.slice(at)]))).toEqual(whole);
  });

  const scraps = fc.array(
    fc.oneof(
      fc.constantFrom(
        '```tool_code\n',
        '```',
        '\n',
        'get_weather(',
        'now()',
        'city=',
        '"',
        "'",
        '\\',
        ', ',
        ')',
        '(',
        '[',
        ']',
        '{"a": ',
        '}',
        'None',
        '<tool_call>',
        '</tool_call>',
        '{"name": "now", "arguments": {}}',
        '```tool_output\n',
        '\u{1F600}',
        '\uD800',
        '=',
        '#',
        '-1e999',
      ),
      fc.string({ unit: 'grapheme', maxLength: 12 }),
    ),
    { maxLength: 40 },
  );

  test('it never throws, and reads the same in pieces of one, two or many characters', () => {
    fc.assert(
      fc.property(scraps, fc.boolean(), fc.nat(7), (parts, cut, size) => {
        const text = parts.join('');
        const whole = joined(readPieces([text], cut));
        expect(joined(readPieces(parts, cut))).toEqual(whole);
        const pieces = text.match(new RegExp(`[^]{1,${size + 1}}`, 'g')) ?? [];
        expect(joined(readPieces(pieces, cut))).toEqual(whole);
        for (const event of whole)
          if (event.type === 'call' && event.args !== null)
            expect(Object.getPrototypeOf(event.args)).toBe(Object.prototype);
      }),
      { numRuns: 500 },
    );
  });

  test('it ends: an endless block has no more than sixteen calls', () => {
    const reader = gemma3.reader({ tools: TOOLS, toolChoice: 'auto' });
    const events = reader.push(`\`\`\`tool_code\n${'now()\n'.repeat(5000)}`);
    expect(events).toHaveLength(16);
    expect(reader.done).toBe(true);
  });

  test('it is read in time: a hundred thousand brackets, or quotes, are no burden', () => {
    const start = performance.now();
    for (const junk of ['(', '["', "'", 'now(', '{"a":', '\\', '`'])
      read(`\`\`\`tool_code\n${junk.repeat(100_000)}`);
    expect(performance.now() - start).toBeLessThan(5_000);
  });
});
