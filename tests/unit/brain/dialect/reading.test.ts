import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ReplyEvent } from '../../../../src/brain/local/dialect/dialect.ts';
import { DIALECTS } from '../../../../src/brain/local/dialect/families.ts';
import type { Family } from '../../../../src/brain/local/types.ts';
import { everything, getWeather, now, searchFlights, setReminder } from '../local/tools.ts';
import { call, called, request, user } from './conversations.ts';
import { brokenReply, SCRAPS, THOUGHT, WRITTEN } from './written.ts';

const TOOLS = [searchFlights, getWeather, setReminder, now, everything];
const NAMES = new Set(TOOLS.map((tool) => tool.name));
const families = Object.keys(DIALECTS) as Family[];
const thinking: readonly Family[] = ['qwen3', 'gemma4'];

function pieces(family: Family, parts: readonly string[], cut = false): ReplyEvent[] {
  const reader = DIALECTS[family].reader({ tools: TOOLS, toolChoice: 'auto' });
  return [...parts.flatMap((part) => reader.push(part)), ...reader.end(cut)];
}

/** Events with neighbouring texts joined: what does not depend on where the stream was cut. */
function joined(events: readonly ReplyEvent[]): ReplyEvent[] {
  const out: ReplyEvent[] = [];
  for (const event of events) {
    const last = out.at(-1);
    if (event.type !== 'call' && last?.type === event.type)
      out[out.length - 1] = { type: event.type, text: last.text + event.text };
    else out.push(event);
  }
  return out;
}

const read = (family: Family, text: string, cut = false): ReplyEvent[] =>
  joined(pieces(family, [text], cut));

const GOA = { city: 'Goa', date: 'tomorrow' };
describe.each(families)('%s is read', (family) => {
  test('a call as it should be, without a note', () => {
    const [event, ...more] = read(family, WRITTEN[family]);
    expect(event).toMatchObject({ type: 'call', name: 'get_weather', args: GOA });
    expect(event).not.toHaveProperty('mended');
    expect(more).toEqual([]);
  });

  test('text, and text before a call', () => {
    const text = 'Light rain in Goa: a < b, 29 °C.';
    expect(read(family, `${text}\n`)).toEqual([{ type: 'text', text }]);
    if (family === 'llama3') return;
    expect(read(family, `Let me see.\n${WRITTEN[family]}`)).toMatchObject([
      { type: 'text', text: 'Let me see.' },
      { type: 'call', args: GOA },
    ]);
  });

  test('whatever it wrote of a call is read as that call', () => {
    const { neutralise, render } = DIALECTS[family];
    const safe = fc
      .string({ unit: 'grapheme', maxLength: 30 })
      .filter((text) => neutralise(text) === text && !text.includes('`'));
    const args = fc.record(
      {
        count: fc.integer({ min: -1e6, max: 1e6 }),
        names: fc.array(safe, { maxLength: 3 }),
        weight: fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e6, max: 1e6 }),
        fast: fc.boolean(),
        place: fc.record({ city: safe }),
        code: safe,
      },
      { requiredKeys: ['count', 'names'], noNullPrototype: true },
    );
    fc.assert(
      fc.property(args, (given) => {
        const messages = [user('x'), called(call('everything', given))];
        const written = render(request(messages, { tools: TOOLS }))[1] ?? '';
        const [event] = read(family, written);
        expect(event).toMatchObject({ type: 'call', name: 'everything' });
        expect(event).toHaveProperty('args', JSON.parse(JSON.stringify(given)));
        expect(event).not.toHaveProperty('mended');
      }),
      { numRuns: 100 },
    );
  });

  test.each([
    ['in JSON', '{"name": "get_weather", "arguments": {"city": "Goa", "date": "tomorrow"}}'],
    [
      'in a code fence',
      '```json\n{"name": "get_weather", "arguments": {"city": "Goa", "date": "tomorrow"}}\n```',
    ],
    [
      'in single quotes',
      "{'name': 'get_weather', 'arguments': {'city': 'Goa', 'date': 'tomorrow'}}",
    ],
    [
      'with trailing commas',
      '{"name": "get_weather", "arguments": {"city": "Goa", "date": "tomorrow",},}',
    ],
    [
      'without its last brackets',
      '{"name": "get_weather", "arguments": {"city": "Goa", "date": "tomorrow"',
    ],
    [
      'with a bracket too many',
      '{"name": "get_weather", "arguments": {"city": "Goa", "date": "tomorrow"}}}',
    ],
    [
      'with a bracket too many, in tags',
      '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Goa", "date": "tomorrow"}}}\n</tool_call>',
    ],
    [
      'with a bracket too many, as a list',
      '[{"name": "get_weather", "arguments": {"city": "Goa", "date": "tomorrow"}}]]',
    ],
    [
      'with a bracket too many, after the token for code',
      '<|python_tag|>{"name": "get_weather", "parameters": {"city": "Goa", "date": "tomorrow"}}}',
    ],
    [
      'in braces with one too many',
      '<start_function_call>call:get_weather{city:"Goa",date:"tomorrow"}}<end_function_call>',
    ],
    [
      'with names that have no quotes',
      '{name: "get_weather", parameters: {city: "Goa", date: "tomorrow"}}',
    ],
    [
      'in the form of a cloud',
      '{"type": "function", "function": {"name": "get_weather", "arguments": "{\\"city\\": \\"Goa\\", \\"date\\": \\"tomorrow\\"}"}}',
    ],
    ['as a list', '[{"name": "get_weather", "arguments": {"city": "Goa", "date": "tomorrow"}}]'],
    ['Python-like', 'get_weather(city="Goa", date="tomorrow")'],
    ['Python-like, in a fence', "```python\nget_weather(city='Goa', date='tomorrow')\n```"],
    ['by place', 'get_weather("Goa", "tomorrow")'],
    [
      'in tags without an end',
      '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Goa", "date": "tomorrow"}}',
    ],
    ['Python-like, in tags', '<tool_call>get_weather(city="Goa", date="tomorrow")</tool_call>'],
    [
      'in braces without an end',
      '<|tool_call>call:get_weather{city:<|"|>Goa<|"|>,date:<|"|>tomorrow<|"|>}',
    ],
    [
      'in braces with plain quotes',
      '<start_function_call>call:get_weather{city:"Goa",date:"tomorrow"}<end_function_call>',
    ],
    ['in braces, bare', 'call:get_weather{city:<escape>Goa<escape>,date:<escape>tomorrow<escape>}'],
    [
      'with another spelling',
      '<tool_call>{"name": "getWeather", "arguments": {"city": "Goa", "date": "tomorrow"}}</tool_call>',
    ],
    [
      'after the token for code',
      '<|python_tag|>{"name": "get_weather", "parameters": {"city": "Goa", "date": "tomorrow"}}',
    ],
  ])('a call %s, with a note of what was mended', (_how, text) => {
    const events = read(family, text);
    expect(events).toMatchObject([{ type: 'call', name: 'get_weather', args: GOA }]);
    const [event] = events;
    const native = event?.type === 'call' && event.mended === undefined;
    // What is a slip to one family is another's own way.
    if (native) expect(['llama3']).toContain(family);
  });

  test('a bracket too many is named, and words behind a call are none', () => {
    const json = '{"name": "get_weather", "arguments": {"city": "Goa", "date": "tomorrow"}}';
    const [event] = read(family, `${json}}`);
    expect(event).toHaveProperty('mended', expect.stringContaining('a bracket too many'));
    for (const behind of ['}}}}', '} or not', '}\n{"name": "pay"}'])
      expect(read(family, json + behind).filter((one) => one.type === 'call' && one.args)).toEqual(
        [],
      );
  });

  test.each(['+919876543210', '12345678901234567890'])(
    'a number that would lose something is read as it was written: %s',
    (code) => {
      const text = `{"name": "everything", "arguments": {"count": -3, "weight": 1e3, "code": ${code}}}`;
      expect(read(family, text)).toMatchObject([{ args: { count: -3, weight: 1000, code } }]);
    },
  );

  test.each(['; ', ', ', ';'])('every call of a line, with %j between them', (between) => {
    const once = 'get_weather(city="Goa", date="tomorrow")';
    const text = `\`\`\`tool_code\n${once}${between}${once.replace('Goa', 'Pune')}; now()\n\`\`\``;
    expect(read(family, text)).toMatchObject([
      { args: GOA, raw: once },
      { args: { ...GOA, city: 'Pune' } },
      { name: 'now', args: {} },
    ]);
  });

  test('two blocks, the first without an end', () => {
    if (family === 'gemma3' || family === 'llama3') return;
    const [open] = DIALECTS[family].markers;
    const once = WRITTEN[family];
    const noEnd = once.slice(0, once.lastIndexOf('<'));
    expect(once.startsWith(open ?? '-')).toBe(true);
    expect(read(family, noEnd + once)).toMatchObject([
      { args: GOA, mended: 'a missing end marker' },
      { args: GOA },
    ]);
  });

  test('a call that is cut off has no arguments', () => {
    const once = WRITTEN[family];
    for (let at = once.indexOf('Goa'); at < once.indexOf('tomorrow') + 4; at += 1) {
      const calls = read(family, once.slice(0, at), true).filter((event) => event.type === 'call');
      for (const event of calls) expect(event).toMatchObject({ args: null });
    }
  });

  test('nothing is a call where none may be made', () => {
    const reader = DIALECTS[family].reader({ tools: TOOLS, toolChoice: 'none' });
    const events = [...reader.push(WRITTEN[family]), ...reader.end(false)];
    expect(joined(events)).toEqual([{ type: 'text', text: WRITTEN[family] }]);
  });

  test('the same wherever it is cut in two', () => {
    const samples = [
      WRITTEN[family],
      `Well < see <b>.\n\n${WRITTEN[family]}${WRITTEN[family]} and more`,
      `${THOUGHT[family] ?? ''}${WRITTEN[family]}`,
      `${THOUGHT[family] ?? ''}Rain, \n\n and <sun>. `,
    ];
    for (const text of samples) {
      const whole = read(family, text);
      for (let at = 0; at <= text.length; at += 1)
        expect(joined(pieces(family, [text.slice(0, at), text.slice(at)]))).toEqual(whole);
    }
  });
});

describe.each(thinking)('%s thinks:', (family) => {
  const thought = { type: 'thinking', text: 'Rain, <b>perhaps</b>.' };

  test('before a text and before a call', () => {
    expect(read(family, `${THOUGHT[family]}It rains.`)).toEqual([
      thought,
      { type: 'text', text: 'It rains.' },
    ]);
    expect(read(family, `${THOUGHT[family]}${WRITTEN[family]}`)).toMatchObject([
      thought,
      { type: 'call', args: GOA },
    ]);
  });

  test('as it comes, also where it is cut off', () => {
    const text = THOUGHT[family] ?? '';
    const end = text.indexOf('perhaps');
    expect(read(family, text.slice(0, end), true)).toEqual([
      { type: 'thinking', text: 'Rain, <b>' },
    ]);
    const reader = DIALECTS[family].reader({ tools: TOOLS, toolChoice: 'auto' });
    expect(reader.push(text.slice(0, end)).at(0)).toMatchObject({ type: 'thinking' });
  });

  test('where nothing may be called too', () => {
    const reader = DIALECTS[family].reader({ tools: TOOLS, toolChoice: 'none' });
    const events = [...reader.push(`${THOUGHT[family]}It rains.`), ...reader.end(false)];
    expect(joined(events)).toEqual([thought, { type: 'text', text: 'It rains.' }]);
  });
});

const scraps = fc.array(
  fc.oneof(fc.constantFrom(...SCRAPS), fc.string({ unit: 'grapheme', maxLength: 8 })),
  { maxLength: 30 },
);

test('whatever comes, no reader throws, and it reads the same wherever the stream is cut', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...families),
      scraps,
      fc.boolean(),
      fc.nat(7),
      (family, parts, cut, size) => {
        const text = parts.join('');
        const whole = joined(pieces(family, [text], cut));
        expect(joined(pieces(family, parts, cut))).toEqual(whole);
        const equal = text.match(new RegExp(`[^]{1,${size + 1}}`, 'g')) ?? [];
        expect(joined(pieces(family, equal, cut))).toEqual(whole);
      },
    ),
    { numRuns: 1000 },
  );
});

test('a reply is read in time, however it is made', () => {
  const start = performance.now();
  for (const family of families) {
    const [open = '```tool_code\n'] = DIALECTS[family].markers;
    for (const junk of ['(', '["', "'", '{"a":', '\\', '<', '{a:<|"|>', '<think>', open])
      read(family, open + junk.repeat(20_000));
  }
  expect(performance.now() - start).toBeLessThan(10_000);
});

/** Five hundred calls, each broken in one of the ways in which models break them. */
describe('five hundred malformed calls', () => {
  test('never throw, and never make a call of a tool that was not offered', () => {
    let calls = 0;
    fc.assert(
      fc.property(brokenReply, fc.boolean(), ({ reader, text }, cut) => {
        for (const event of read(reader, text, cut)) {
          if (event.type !== 'call' || event.args === null) continue;
          calls += 1;
          expect(NAMES.has(event.name)).toBe(true);
          expect(Object.getPrototypeOf(event.args)).toBe(Object.prototype);
        }
      }),
      { numRuns: 500 },
    );
    // What can be read still is.
    expect(calls).toBeGreaterThan(15);
  });
});
