/**
 * The days and times of day that a person's words name. English; what is not understood is not found,
 * and then nothing is repaired.
 */

export interface Clock {
  /** As written, e.g. `6pm`. */
  readonly words: string;
  /** 24 hours, `HH:MM`. */
  readonly value: string;
}

export interface Said {
  /** Without repetitions, in order. */
  readonly clocks: readonly Clock[];
  /** As written, e.g. `next Friday`, `tomorrow`, `in 3 days`; without repetitions, in order. */
  readonly days: readonly string[];
}

const WEEKDAY = '(?:mon|tues|wednes|thurs|fri|satur|sun)day';
const MONTH =
  '(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sep(?:t(?:ember)?)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)';
const COUNT = '(?:\\d{1,3}|a|one|two|three|four|five|six|seven|eight|nine|ten)';
const DAY = new RegExp(
  [
    '\\b\\d{4}-\\d\\d-\\d\\d\\b',
    '\\b(?:the )?day after tomorrow\\b',
    '\\b(?:today|tonight|tomorrow|yesterday)\\b',
    `\\b(?:(?:next|this|coming) )?${WEEKDAY}\\b`,
    `\\bin ${COUNT} (?:day|week)s?\\b`,
    `\\b(?:the )?\\d{1,2}(?:st|nd|rd|th)?(?: of)? ${MONTH}\\b(?:,? \\d{4}\\b)?`,
    `\\b${MONTH} \\d{1,2}(?:st|nd|rd|th)?\\b(?:,? \\d{4}\\b)?`,
    '\\b\\d{1,2}/\\d{1,2}(?:/\\d{2,4})?\\b',
  ].join('|'),
  'gi',
);
const TIME =
  /\b(\d{1,2})[:.](\d\d)\s*([ap])\.?m\b\.?|\b(\d{1,2})\s*([ap])\.?m\b\.?|\b(\d{1,2}):(\d\d)\b|\b(noon|midday|midnight)\b|\bat (\d{1,2})(?: o'clock)?\b(?![\d:./%]|\s*(?:[ap]\.?m\b|\w+s\b))/gi;

/** What the words name. */
export function readSaid(text: string): Said {
  const days = [...text.matchAll(DAY)].map(([words]) => words);
  const clocks = [...text.matchAll(TIME)].flatMap((match): Clock[] => {
    const value = clockOf(match, text);
    return value === null ? [] : [{ words: match[0], value }];
  });
  return {
    days: unique(days, (words) => words.toLowerCase()),
    clocks: unique(clocks, (clock) => clock.value),
  };
}

function clockOf(match: RegExpMatchArray, text: string): string | null {
  const [, longHour, longMinute, longHalf, hour, half, fullHour, fullMinute, word, bare] = match;
  if (longHour && longHalf) return twelve(Number(longHour), Number(longMinute), longHalf);
  if (hour && half) return twelve(Number(hour), 0, half);
  if (fullHour) return clock(Number(fullHour), Number(fullMinute));
  if (word) return word.toLowerCase() === 'midnight' ? '00:00' : '12:00';
  return bare ? bareHour(Number(bare), text) : null;
}

/** `at 8` is a time only where something says which of the two it is. */
function bareHour(hour: number, text: string): string | null {
  if (hour > 12) return clock(hour, 0);
  if (/\b(?:tonight|evening|afternoon|night)\b/i.test(text)) return twelve(hour, 0, 'p');
  return /\bmorning\b/i.test(text) ? twelve(hour, 0, 'a') : null;
}

function twelve(hour: number, minute: number, half: string): string | null {
  if (hour < 1 || hour > 12) return null;
  return clock((hour % 12) + (half.toLowerCase() === 'p' ? 12 : 0), minute);
}

function clock(hour: number, minute: number): string | null {
  if (hour > 23 || minute > 59) return null;
  return `${String(hour).padStart(2, '0')}:${String(minute).padStart(2, '0')}`;
}

function unique<T>(list: readonly T[], key: (item: T) => string): T[] {
  return list.filter((item, at) => list.findIndex((other) => key(other) === key(item)) === at);
}
