import { describe, expect, it } from 'vitest';
import { isExact, readDay } from '../../../src/mcp/days.ts';

const INDIA = 'Asia/Kolkata';
/** A Sunday afternoon in India. */
const SUNDAY = new Date('2026-11-29T14:05:00+05:30');

const day = (said: string, now = SUNDAY, zone = INDIA, locale?: string) =>
  readDay(said, 'date', now, zone, locale)?.value ?? null;
const moment = (said: string, now = SUNDAY, zone = INDIA) =>
  readDay(said, 'date-time', now, zone)?.value ?? null;

describe('days in words, on Sunday 29 November 2026', () => {
  it.each([
    ['today', '2026-11-29'],
    ['tonight', '2026-11-29'],
    ['Tomorrow', '2026-11-30'],
    ['tomorrow morning', '2026-11-30'],
    ['yesterday', '2026-11-28'],
    ['the day after tomorrow', '2026-12-01'],
    ['day after tomorrow', '2026-12-01'],
    ['in 5 days', '2026-12-04'],
    ['in five days', '2026-12-04'],
    ['ten days from today', '2026-12-09'],
    ['in a week', '2026-12-06'],
    ['in two weeks', '2026-12-13'],
    // A plain weekday is the first such day after today.
    ['Monday', '2026-11-30'],
    ['on Friday', '2026-12-04'],
    ['this Friday', '2026-12-04'],
    ['coming Friday', '2026-12-04'],
    ['weds', '2026-12-02'],
    ['sunday', '2026-12-06'],
    ['Friday morning', '2026-12-04'],
    // "Next" is in the next week, Monday to Sunday.
    ['next Monday', '2026-11-30'],
    ['next Friday', '2026-12-04'],
    ['next sunday', '2026-12-06'],
    ['Friday next week', '2026-12-04'],
    ['next Friday morning', '2026-12-04'],
    ['this weekend', '2026-12-05'],
    ['last Friday', '2026-11-27'],
    // A day and month lie in the future.
    ['29 November', '2026-11-29'],
    ['4 December', '2026-12-04'],
    ['December 4th', '2026-12-04'],
    ['Friday, 4 December', '2026-12-04'],
    ['8 January', '2027-01-08'],
    ['on February 7', '2027-02-07'],
    ['28 November', '2027-11-28'],
    ['8 January 2028', '2028-01-08'],
    ['4/12', '2026-12-04'],
    // ISO passes, also with a time or without its zeros.
    ['2026-12-16', '2026-12-16'],
    ['2026-12-4', '2026-12-04'],
    ['2026-12-16T09:00:00+05:30', '2026-12-16'],
  ])('%s is %s', (said, value) => {
    expect(day(said)).toBe(value);
  });

  it.each([
    'banana',
    '',
    '   ',
    'tomorrow banana',
    'every Friday',
    'December',
    'next month',
    'sometime',
    '9am',
    '2026-02-30',
    '31 February',
    'from Monday to Friday',
    'Monday or Tuesday',
    `tomorrow${' '.repeat(200)}x`,
  ])('%j is no day', (said) => {
    expect(day(said)).toBeNull();
  });

  it('reads a day and month with a slash as the person writes it', () => {
    expect(day('4/12', SUNDAY, INDIA, 'en-US')).toBe('2027-04-12');
    expect(day('4/12', SUNDAY, INDIA, 'en-IN')).toBe('2026-12-04');
  });

  it('are shown with their weekday, and with the year where it is another', () => {
    const shown = (said: string) => readDay(said, 'date', SUNDAY, INDIA)?.shown;
    expect(shown('next Friday')).toBe('Friday, 4 December');
    expect(shown('8 January')).toBe('Friday, 8 January 2027');
    expect(readDay('tomorrow 9am', 'date-time', SUNDAY, INDIA)?.shown).toBe(
      'Monday, 30 November, 09:00',
    );
  });
});

/** The cases that a small model on the phone got wrong when it resolved them itself. */
describe.each([
  ['2026-11-29', 'Asia/Kolkata'],
  ['2026-03-10', 'America/New_York'],
  ['2025-08-21', 'Pacific/Auckland'],
  ['2027-01-30', 'UTC'],
])('on %s in %s', (today, zone) => {
  // Noon there, whatever the zone: no zone is more than 14 hours away.
  const now = new Date(`${today}T12:00:00Z`);
  const local = new Intl.DateTimeFormat('en-CA', { timeZone: zone }).format(now);
  const base = new Date(`${local}T00:00:00Z`);
  const weekday = base.getUTCDay();
  const at = (days: number) => new Date(base.getTime() + days * 86_400_000);
  const iso = (date: Date) => date.toISOString().slice(0, 10);
  const english = (date: Date, options: Intl.DateTimeFormatOptions) =>
    new Intl.DateTimeFormat('en-GB', { timeZone: 'UTC', ...options }).format(date);
  const nameOf = (date: Date) => english(date, { weekday: 'long' });
  const next = (wanted: number) => at((weekday === 0 ? 1 : 8 - weekday) + ((wanted + 6) % 7));

  it.each<[string, Date]>([
    ['today', at(0)],
    ['tomorrow', at(1)],
    ['the day after tomorrow', at(2)],
    [`on ${nameOf(at(3))}`, at(3)],
    [`on ${nameOf(at(5))}`, at(5)],
    [nameOf(at(7)), at(7)],
    ['next Friday', next(5)],
    ['next Tuesday', next(2)],
    ['next Sunday', next(0)],
    [english(at(40), { day: 'numeric', month: 'long' }), at(40)],
    [english(at(70), { day: 'numeric', month: 'short' }), at(70)],
    ['in 5 days', at(5)],
    [iso(at(17)), at(17)],
  ])('%s', (said, date) => {
    expect(day(said, now, zone)).toBe(iso(date));
  });
});

describe('days with a time', () => {
  it.each([
    ['tomorrow 9am', '2026-11-30T09:00:00+05:30'],
    ['tomorrow at 9', '2026-11-30T09:00:00+05:30'],
    ['tomorrow at 18:30', '2026-11-30T18:30:00+05:30'],
    ['next Friday at 7:40 PM', '2026-12-04T19:40:00+05:30'],
    ['tomorrow morning', '2026-11-30T09:00:00+05:30'],
    ['tomorrow evening', '2026-11-30T19:00:00+05:30'],
    ['tonight', '2026-11-29T20:00:00+05:30'],
    ['noon tomorrow', '2026-11-30T12:00:00+05:30'],
    ['in 2 hours', '2026-11-29T16:05:00+05:30'],
    ['in ten minutes', '2026-11-29T14:15:00+05:30'],
    // A time alone is the next one that the clock will show.
    ['16:00', '2026-11-29T16:00:00+05:30'],
    ['9am', '2026-11-30T09:00:00+05:30'],
    // A day alone is its morning.
    ['Friday', '2026-12-04T09:00:00+05:30'],
    ['2026-12-04', '2026-12-04T09:00:00+05:30'],
    // Exact forms that lack a zone get the phone's.
    ['2026-12-04T18:15', '2026-12-04T18:15:00+05:30'],
    ['2026-12-04 18:15', '2026-12-04T18:15:00+05:30'],
    ['2026-12-04T18:15:00Z', '2026-12-04T23:45:00+05:30'],
  ])('%s is %s', (said, value) => {
    expect(moment(said)).toBe(value);
  });

  it.each(['banana', 'tomorrow at 25:00', '2026-12-04T29:00'])('%j is none', (said) => {
    expect(moment(said)).toBeNull();
  });

  it('take the offset that holds on their day', () => {
    const winter = new Date('2026-03-27T12:00:00+01:00');
    expect(moment('tomorrow 9am', winter, 'Europe/Berlin')).toBe('2026-03-28T09:00:00+01:00');
    expect(moment('Monday 9am', winter, 'Europe/Berlin')).toBe('2026-03-30T09:00:00+02:00');
  });

  it('that a clock change skips are still moments', () => {
    const before = new Date('2026-03-28T12:00:00+01:00');
    const value = moment('tomorrow at 2:30', before, 'Europe/Berlin');
    expect(Number.isNaN(Date.parse(value ?? ''))).toBe(false);
  });

  it('follow the phone and not the machine: the same instant is another day elsewhere', () => {
    const instant = new Date('2026-11-29T20:00:00Z');
    expect(day('today', instant, 'Asia/Kolkata')).toBe('2026-11-30');
    expect(day('today', instant, 'America/New_York')).toBe('2026-11-29');
  });
});

describe('exact forms', () => {
  it.each([
    ['2026-12-04', 'date', true],
    ['2026-02-30', 'date', false],
    ['2026-12-04T09:00:00Z', 'date-time', true],
    ['2026-12-04T09:00:00.5+05:30', 'date-time', true],
    ['2026-12-04T09:00', 'date-time', false],
    ['2026-12-04', 'date-time', false],
  ] as const)('%s as a %s: %s', (text, kind, exact) => {
    expect(isExact(text, kind)).toBe(exact);
  });
});
