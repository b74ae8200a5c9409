/** Reads days, places and times out of words, as a strong model would. */
import { casual } from 'chrono-node/en';

const DAYS = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];
const MONTH =
  '(?:january|february|march|april|may|june|july|august|september|october|november|december)';
const DAY = new RegExp(
  [
    String.raw`\b\d{4}-\d{2}-\d{2}\b`,
    String.raw`\bthe day after tomorrow\b`,
    String.raw`\btoday\b|\btonight\b|\btomorrow\b`,
    String.raw`\bin \d+ days?\b`,
    String.raw`\b(?:next |this )?(?:${DAYS.join('|')})\b`,
    String.raw`\b\d{1,2}(?:st|nd|rd|th)? (?:of )?${MONTH}\b|\b${MONTH} \d{1,2}(?:st|nd|rd|th)?\b`,
  ].join('|'),
  'i',
);

/** The phone's clock, from the `Now:` line of the system text. */
export function clockIn(system: string): Date | null {
  const found = /Now: \w* ?(\d{4})-(\d{2})-(\d{2})(?: (\d{2}):(\d{2}))?/.exec(system);
  if (!found) return null;
  const [, year, month, day, hour = '12', minute = '0'] = found;
  return new Date(Number(year), Number(month) - 1, Number(day), Number(hour), Number(minute));
}

/** Whether the system text asks for days as they were said. */
export function wantsDaysAsSaid(system: string): boolean {
  return /days? as the (?:user|person) said/i.test(system);
}

export function dayWords(request: string): string | null {
  return DAY.exec(request)?.[0] ?? null;
}

function isoDay(date: Date): string {
  const two = (n: number) => String(n).padStart(2, '0');
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

/** "Next Friday" is the Friday of next week, Monday to Sunday; a bare weekday is the coming one. */
export function resolveDay(words: string, now: Date): string {
  const next = new RegExp(`^next (${DAYS.join('|')})$`, 'i').exec(words);
  if (next) {
    const monday = new Date(now);
    monday.setDate(now.getDate() - ((now.getDay() + 6) % 7) + 7);
    monday.setDate(monday.getDate() + ((DAYS.indexOf(next[1]!.toLowerCase()) + 6) % 7));
    return isoDay(monday);
  }
  const date = casual.parseDate(words, now, { forwardDate: true });
  return date ? isoDay(date) : words;
}

interface Moment {
  /** As it was said, e.g. "tomorrow at 9". */
  readonly words: string;
  /** Local time, `YYYY-MM-DDTHH:MM`, where the clock is known. */
  readonly iso: string | null;
  /** The request without these words. */
  readonly rest: string;
}

export function momentIn(request: string, now: Date | null): Moment | null {
  const [found] = casual.parse(request, now ?? new Date(), { forwardDate: true });
  if (!found) return null;
  const date = found.date();
  const time = `${String(date.getHours()).padStart(2, '0')}:${String(date.getMinutes()).padStart(2, '0')}`;
  return {
    words: found.text,
    iso: now ? `${isoDay(date)}T${time}` : null,
    rest: `${request.slice(0, found.index)} ${request.slice(found.index + found.text.length)}`,
  };
}

const CITY = String.raw`([A-Z][\p{L}'-]*(?: [A-Z][\p{L}'-]*){0,2})`;

export function routeIn(request: string): { from: string; to: string } | null {
  const found =
    new RegExp(String.raw`from ${CITY} to ${CITY}`, 'u').exec(request) ??
    new RegExp(String.raw`\b${CITY} to ${CITY}`, 'u').exec(request);
  return found ? { from: found[1]!, to: found[2]! } : null;
}

export function cityIn(request: string): string | null {
  return new RegExp(String.raw`\b(?:in|to|for|at) ${CITY}`, 'u').exec(request)?.[1] ?? null;
}

export function partOfDay(request: string): 'morning' | 'afternoon' | 'evening' | null {
  const found = /\b(morning|afternoon|evening)\b/i.exec(request)?.[1]?.toLowerCase();
  return (found as 'morning' | 'afternoon' | 'evening' | undefined) ?? null;
}
