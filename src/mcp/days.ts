/**
 * Days in words, resolved against the phone's clock and time zone. Models are bad at dates and good
 * at copying words, so they pass "next Friday" on and this file works it out.
 *
 * The rules: a plain weekday is the first such day after today; "next Friday" is the Friday of the
 * next week, Monday to Sunday; a day and month without a year lie in the future or are today; a time
 * that has passed today means tomorrow. Whatever is not a day as a whole is no day: null.
 */
import { GB, casual, type Chrono } from 'chrono-node/en';
import type { ParsedResult } from 'chrono-node/en';

/** What an argument wants: a day alone, or a day with a time. */
export type DayKind = 'date' | 'date-time';

export interface Reading {
  /** RFC 3339: `2026-12-04`, or `2026-12-04T09:00:00+05:30`. */
  readonly value: string;
  /** For the person: `Friday, 4 December`, with the year where it is another one, and the time. */
  readonly shown: string;
}

/** A moment as clocks on the wall show it. Months count from 1. */
interface WallClock {
  readonly year: number;
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
}

const WEEKDAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
const MONTHS = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
];

/** Hours that parts of a day stand for; chrono's own would wake people at six. */
const PARTS_OF_DAY: readonly (readonly [RegExp, number])[] = [
  [/\bmorning\b/, 9],
  [/\bnoon\b|\bmidday\b/, 12],
  [/\bafternoon\b/, 15],
  [/\bevening\b/, 19],
  [/\bnight\b|\btonight\b/, 20],
];
/** The time of a day that is given without one. */
const DEFAULT_HOUR = 9;

/** Words around a day that say nothing about it. */
const FILLERS = /\b(on|by|for|at|the|this|coming|upcoming|in|of|date|day)\b|[.,;()"'\s]+/g;

/**
 * Reads a day, or a day and time, from a text. Null where the text as a whole is none.
 *
 * @param locale decides whether 4/12 is 4 December (everywhere else) or 12 April (`en-US`).
 */
export function readDay(
  said: string,
  kind: DayKind,
  now: Date,
  timeZone: string,
  locale = 'en-GB',
): Reading | null {
  const text = said.trim();
  if (text === '' || text.length > 100) return null;
  const today = wallClock(now, timeZone);
  const exact = readIso(text, kind, timeZone);
  const wall = exact ?? readWords(text, kind, today, locale === 'en-US' ? casual : GB);
  if (!wall) return null;
  return kind === 'date'
    ? { value: isoDate(wall), shown: showDay(wall, today) }
    : { value: isoDateTime(wall, timeZone), shown: showMoment(wall, today) };
}

/** True for what RFC 3339 calls a full-date or a date-time: nothing is left to resolve. */
export function isExact(text: string, kind: DayKind): boolean {
  const match = (
    kind === 'date'
      ? /^(\d{4})-(\d\d)-(\d\d)$/
      : /^(\d{4})-(\d\d)-(\d\d)[Tt]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:[Zz]|[+-]\d\d:\d\d)$/
  ).exec(text);
  return match !== null && isRealDay(Number(match[1]), Number(match[2]), Number(match[3]));
}

/** ISO forms that lack what the kind wants, or have more of it: a bare date, a local time. */
function readIso(text: string, kind: DayKind, timeZone: string): WallClock | null {
  const match =
    /^(\d{4})-(\d\d?)-(\d\d?)(?:[Tt ](\d\d?):(\d\d)(?::\d\d(?:\.\d+)?)?([Zz]|[+-]\d\d:\d\d)?)?$/.exec(
      text,
    );
  if (!match) return null;
  const [year, month, day] = [Number(match[1]), Number(match[2]), Number(match[3])];
  if (!isRealDay(year, month, day)) return null;
  if (match[6] !== undefined && kind === 'date-time')
    return wallClock(new Date(text.replace(' ', 'T')), timeZone);
  const hour = match[4] === undefined ? DEFAULT_HOUR : Number(match[4]);
  const minute = match[5] === undefined ? 0 : Number(match[5]);
  return hour < 24 && minute < 60 ? { year, month, day, hour, minute } : null;
}

function readWords(
  text: string,
  kind: DayKind,
  today: WallClock,
  parser: Chrono,
): WallClock | null {
  const words = text
    .toLowerCase()
    .replace(/^day after tomorrow/, 'the day after tomorrow')
    .replace(/\bfrom today\b/, 'from now')
    .replace(/\bweds\b/, 'wednesday');
  // Chrono reads and answers in the machine's own wall clock; so it is given the phone's.
  const reference = new Date(today.year, today.month - 1, today.day, today.hour, today.minute);
  const results = parser.parse(words, reference);
  const [found] = results;
  if (!found || results.length > 1 || found.end) return null;
  const rest = words.slice(0, found.index) + words.slice(found.index + found.text.length);
  if (rest.replace(FILLERS, '') !== '') return null;
  const day = dayOf(found, words, today);
  return day && withTime(day, found, words, kind, today);
}

type Day = Pick<WallClock, 'year' | 'month' | 'day'>;

function dayOf(found: ParsedResult, words: string, today: WallClock): Day | null {
  const { start } = found;
  const read: Day = {
    year: start.get('year') ?? today.year,
    month: start.get('month') ?? today.month,
    day: start.get('day') ?? today.day,
  };
  const weekday = start.get('weekday');
  if (!start.isCertain('day')) {
    if (start.isCertain('weekday') && weekday !== null && !/\b(last|past)\b/.test(words))
      return /\bnext\b/.test(words) ? nextWeeks(weekday, today) : firstAfter(weekday, today);
    if (start.isCertain('weekday') || start.isCertain('hour')) return read;
    return null;
  }
  if (start.isCertain('year')) return read;
  for (let year = today.year; year < today.year + 8; year += 1)
    if (isRealDay(year, read.month, read.day) && !isBefore({ ...read, year }, today))
      return { ...read, year };
  return null;
}

function withTime(
  day: Day,
  found: ParsedResult,
  words: string,
  kind: DayKind,
  today: WallClock,
): WallClock | null {
  const { start } = found;
  const part = PARTS_OF_DAY.find(([pattern]) => pattern.test(words));
  const certain = start.isCertain('hour');
  const hour = certain ? (start.get('hour') ?? 0) : (part?.[1] ?? DEFAULT_HOUR);
  const minute = certain ? (start.get('minute') ?? 0) : 0;
  const wall = { ...day, hour, minute };
  const onlyTime = !start.isCertain('day') && !start.isCertain('weekday');
  if (!onlyTime) return wall;
  // A time alone is not a day; as a moment it is the next time that the clock shows it.
  if (kind === 'date') return null;
  const passed = hour * 60 + minute <= today.hour * 60 + today.minute;
  const sameDay = { ...today, hour, minute };
  return passed ? { ...sameDay, ...shift(today, 1) } : sameDay;
}

/** The first such weekday after today. */
function firstAfter(weekday: number, today: Day): Day {
  return shift(today, ((weekday - weekdayOf(today) + 6) % 7) + 1);
}

/** That weekday of the next week, Monday to Sunday. */
function nextWeeks(weekday: number, today: Day): Day {
  const now = weekdayOf(today);
  const toMonday = now === 0 ? 1 : 8 - now;
  return shift(today, toMonday + ((weekday + 6) % 7));
}

function utc(day: Day): Date {
  return new Date(Date.UTC(day.year, day.month - 1, day.day));
}

function weekdayOf(day: Day): number {
  return utc(day).getUTCDay();
}

function shift(day: Day, days: number): Day {
  const moved = new Date(utc(day).getTime() + days * 86_400_000);
  return {
    year: moved.getUTCFullYear(),
    month: moved.getUTCMonth() + 1,
    day: moved.getUTCDate(),
  };
}

function isBefore(a: Day, b: Day): boolean {
  return utc(a).getTime() < utc(b).getTime();
}

function isRealDay(year: number, month: number, day: number): boolean {
  const date = utc({ year, month, day });
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
}

/** What the clock on the wall shows at an instant in a time zone (IANA name). */
export function wallClock(instant: Date, timeZone: string): WallClock {
  const parts = new Intl.DateTimeFormat('en-GB', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
  }).formatToParts(instant);
  const part = (type: Intl.DateTimeFormatPartTypes) =>
    Number(parts.find((candidate) => candidate.type === type)?.value);
  return {
    year: part('year'),
    month: part('month'),
    day: part('day'),
    hour: part('hour'),
    minute: part('minute'),
  };
}

/**
 * Minutes that the zone is ahead of UTC when its clocks show this. An hour that a clock change skips
 * or repeats is taken with the offset that holds after the change, so the moment is never lost.
 */
function offsetAt(wall: WallClock, timeZone: string): number {
  const asUtc = Date.UTC(wall.year, wall.month - 1, wall.day, wall.hour, wall.minute);
  const offsetOf = (instant: number) => {
    const there = wallClock(new Date(instant), timeZone);
    const shown = Date.UTC(there.year, there.month - 1, there.day, there.hour, there.minute);
    return Math.round((shown - Math.floor(instant / 60_000) * 60_000) / 60_000);
  };
  const guess = offsetOf(asUtc);
  return offsetOf(asUtc - guess * 60_000);
}

const two = (number: number) => String(number).padStart(2, '0');

function isoDate(wall: Day): string {
  return `${String(wall.year).padStart(4, '0')}-${two(wall.month)}-${two(wall.day)}`;
}

function isoDateTime(wall: WallClock, timeZone: string): string {
  const offset = offsetAt(wall, timeZone);
  const size = Math.abs(offset);
  const zone = `${offset < 0 ? '-' : '+'}${two(Math.floor(size / 60))}:${two(size % 60)}`;
  return `${isoDate(wall)}T${two(wall.hour)}:${two(wall.minute)}:00${zone}`;
}

function showDay(wall: Day, today: Day): string {
  const text = `${WEEKDAYS[weekdayOf(wall)]}, ${wall.day} ${MONTHS[wall.month - 1]}`;
  return wall.year === today.year ? text : `${text} ${wall.year}`;
}

function showMoment(wall: WallClock, today: Day): string {
  return `${showDay(wall, today)}, ${two(wall.hour)}:${two(wall.minute)}`;
}
