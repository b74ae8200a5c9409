import { describe, expect, test } from 'vitest';
import type { BrainMessage, ToolSpec } from '../../../../src/brain/brain.ts';
import { repairCall } from '../../../../src/brain/local/repair/repair.ts';
import { readSaid } from '../../../../src/brain/local/repair/said.ts';
import { CLOCK, getWeather, searchFlights, setReminder } from './tools.ts';

type Args = Readonly<Record<string, unknown>>;

const asked = (text: string): BrainMessage[] => [{ role: 'user', text }];
const repair = (args: Args, words: string | BrainMessage[], tool: ToolSpec = setReminder) =>
  repairCall(args, tool, {
    messages: typeof words === 'string' ? asked(words) : words,
    now: CLOCK,
  });
const tool = (properties: Record<string, unknown>, required: string[] = []): ToolSpec => ({
  name: 'tool',
  description: '',
  inputSchema: { type: 'object', properties, required },
});

describe('days and times in words', () => {
  test.each<[string, string[], string[]]>([
    ['call mom tomorrow at 6pm', ['tomorrow'], ['18:00']],
    ['on Tuesday at 7:30 am', ['Tuesday'], ['07:30']],
    ['next Friday at 10 a.m.', ['next Friday'], ['10:00']],
    ['in 3 days at 17:00', ['in 3 days'], ['17:00']],
    ['tonight at 8', ['tonight'], ['20:00']],
    ['tomorrow morning at 8', ['tomorrow'], ['08:00']],
    ['on 4 December at noon', ['4 December'], ['12:00']],
    ['December 4th, 2026 at 12:15 am', ['December 4th, 2026'], ['00:15']],
    ['the day after tomorrow at 12pm', ['the day after tomorrow'], ['12:00']],
    ['2026-12-04, or 4/12, or Monday', ['2026-12-04', '4/12', 'Monday'], []],
    ['from 9am to 5pm today, and 9 am again', ['today'], ['09:00', '17:00']],
    ['I may march at 8 people at 25:00 for $7.30', [], []],
    ['pick me up at 8', [], []],
    ['a ratio of 16:9 at 50%', [], []],
  ])('%s', (words, days, clocks) => {
    const said = readSaid(words);
    expect(said.days).toEqual(days);
    expect(said.clocks.map(({ value }) => value)).toEqual(clocks);
  });
});

describe('a repair', () => {
  test('says what it changed and leaves the rest', () => {
    const { args, changes } = repair(
      { text: 'call mom', date: '2026-11-30', time: '16:00' },
      'Remind me to call mom tomorrow at 6pm',
    );
    expect(args).toEqual({ text: 'call mom', date: '2026-11-30', time: '18:00' });
    expect(changes).toEqual(['time: "16:00" → "18:00"']);
  });

  test.each<[string, Args]>([
    [
      'Remind me to call mom tomorrow at 6pm',
      { text: 'call mom', date: '2026-11-30', time: '18:00' },
    ],
    ['Remind me to water the plants', { text: 'water the plants' }],
    ['Take the bins out on Tuesday', { text: 'take the bins out', date: 'Tuesday' }],
  ])('changes nothing that is right: %s', (words, args) => {
    expect(repair(args, words)).toEqual({ args, changes: [] });
  });

  test('fills in the time and the day that the call left out', () => {
    expect(
      repair({ text: 'pay rent', date: 'in 3 days' }, 'Pay rent in 3 days at 17:00').args,
    ).toEqual({ text: 'pay rent', date: 'in 3 days', time: '17:00' });
    expect(repair({ text: 'pay rent' }, 'Remind me to pay rent on Monday').args).toEqual({
      text: 'pay rent',
      date: 'Monday',
    });
  });

  test('fills in nothing where two times were named, or two arguments want one', () => {
    const words = 'Remind me at 6pm that the shop closes at 8pm';
    expect(repair({ text: 'shop' }, words).args).toEqual({ text: 'shop' });
    const shift = tool({
      start: { type: 'string', format: 'time' },
      end: { type: 'string', format: 'time' },
    });
    expect(repair({}, 'From 9am', shift).args).toEqual({});
  });

  test('leaves out a day and a time that nobody named', () => {
    const { args } = repair(
      { text: 'lock the door', date: '2026-11-30', time: '2026-11-30' },
      'Remind me to lock the door',
    );
    expect(args).toEqual({ text: 'lock the door' });
  });

  test('puts the named day for another one, in words', () => {
    const { args } = repair({ city: 'Goa', date: '2026-11-30' }, 'Goa next Friday?', getWeather);
    expect(args).toEqual({ city: 'Goa', date: 'next Friday' });
  });

  test('of two days believes the model', () => {
    const words = 'Fly on Monday and tell me the weather on Friday';
    const args = { city: 'Goa', date: '2026-11-30' };
    expect(repair(args, words, getWeather).args).toEqual(args);
  });

  test('keeps a required day that nobody named: it is a guess that the person sees', () => {
    const args = { city: 'Goa', date: '2026-11-29' };
    expect(repair(args, 'Weather in Goa?', getWeather)).toEqual({ args, changes: [] });
  });

  test('keeps what an earlier turn or a result named', () => {
    const messages: BrainMessage[] = [
      { role: 'user', text: 'My flight is on 2026-12-04.' },
      { role: 'assistant', text: 'Noted.', calls: [] },
      { role: 'user', text: 'Remind me to pack' },
    ];
    const args = { text: 'pack', date: '2026-12-04' };
    expect(repair(args, messages).args).toEqual(args);
  });

  test('makes a day and a time of one argument', () => {
    const moment = tool({ at: { type: 'string', format: 'date-time' } }, ['at']);
    const at = (value: string, words: string): unknown =>
      repair({ at: value }, words, moment).args.at;
    expect(at('2026-11-30', 'Tomorrow at 6pm')).toBe('Tomorrow at 18:00');
    expect(at('17:00', 'in 3 days at 17:00')).toBe('in 3 days at 17:00');
    expect(at('tomorrow at 6pm', 'Ring tomorrow at 6pm')).toBe('tomorrow at 6pm');
    expect(at('16:00', 'Remind me to ring')).toBe('16:00');
  });

  test('drops an optional text, number or list that nobody asked for, never a required one', () => {
    const optional = tool(
      {
        who: { type: 'string' },
        note: { type: 'string' },
        count: { type: 'integer' },
        tags: { type: 'array', items: { type: 'string' } },
        size: { enum: ['big', 'small'] },
        fast: { type: 'boolean' },
      },
      ['who'],
    );
    const all = { who: 'Zoe', note: 'bring cake', count: 7, tags: ['x'], size: 'big', fast: true };
    expect(repair(all, 'Invite somebody', optional).args).toEqual({
      who: 'Zoe',
      size: 'big',
      fast: true,
    });
    const words = 'Invite Zoe, bring a cake, seven people, tag x';
    expect(repair(all, words, optional)).toEqual({ args: all, changes: [] });
  });

  test('cuts a list at the first text that comes again', () => {
    const list = tool({ names: { type: 'array', items: { type: 'string' } } }, ['names']);
    const { args } = repair({ names: ['Goa', 'Delhi', 'Goa', 'Delhi'] }, 'Goa and Delhi', list);
    expect(args).toEqual({ names: ['Goa', 'Delhi'] });
  });

  test('5% is 0.05 where a fraction is wanted, and 5 where not', () => {
    const rate = (schema: object): unknown =>
      repair({ rate: 5 }, 'at 5% interest', tool({ rate: { type: 'number', ...schema } }, ['rate']))
        .args.rate;
    expect(rate({ description: 'Rate as a decimal.' })).toBe(0.05);
    expect(rate({ maximum: 1 })).toBe(0.05);
    expect(rate({ description: 'Rate in per cent.' })).toBe(5);
  });

  test('leaves what it does not know as it is', () => {
    const args = { text: 'x', unknown: { deep: [1, null] } };
    expect(repair(args, 'Remind me of x').args).toEqual(args);
    const flight = { origin: 'A', destination: 'B', date: 'x', part: 'evening' };
    expect(repair(flight, 'A to B x', searchFlights).args).toEqual(flight);
  });
});
