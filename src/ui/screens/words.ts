/** Figures and times in the words that the screens use. */

const UNITS = ['bytes', 'kB', 'MB', 'GB', 'TB'] as const;

/** E.g. `292 MB`, `1.4 GB`; decimal, as phones count their storage; never broken over two lines. */
export function bytes(count: number): string {
  let value = count;
  let unit = 0;
  while (value >= 999.5 && unit < UNITS.length - 1) {
    value /= 1000;
    unit++;
  }
  const digits = unit > 2 && value < 100 ? 1 : 0;
  return `${value.toFixed(digits)}\u00a0${UNITS[unit]}`;
}

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** E.g. `just now`, `5 min ago`, `3 h ago`, `2 days ago`. */
export function ago(at: number, now: number): string {
  const past = Math.max(0, now - at);
  if (past < MINUTE) return 'just now';
  if (past < HOUR) return `${Math.floor(past / MINUTE)} min ago`;
  if (past < DAY) return `${Math.floor(past / HOUR)} h ago`;
  const days = Math.floor(past / DAY);
  return days === 1 ? '1 day ago' : `${days} days ago`;
}

/** E.g. `40 s left`, `5 min left`; nothing where it cannot be told. */
export function timeLeft(missing: number, perSecond: number): string {
  if (perSecond <= 0) return '';
  const seconds = missing / perSecond;
  if (seconds < 90) return `${Math.max(1, Math.round(seconds))} s left`;
  if (seconds < 90 * 60) return `${Math.round(seconds / 60)} min left`;
  return `${Math.round(seconds / 3600)} h left`;
}

function sameDay(a: Date, b: Date): boolean {
  return a.toDateString() === b.toDateString();
}

/** E.g. `Today, 09:00`, `Tomorrow, 09:00`, `Fri, 4 Dec, 09:00`, in the phone's own language. */
export function dayAndTime(at: number, now: number): string {
  const date = new Date(at);
  const today = new Date(now);
  const time = date.toLocaleTimeString([], { hour: 'numeric', minute: '2-digit' });
  const near = [
    ['Yesterday', -1],
    ['Today', 0],
    ['Tomorrow', 1],
  ] as const;
  for (const [word, days] of near) {
    const day = new Date(today.getFullYear(), today.getMonth(), today.getDate() + days);
    if (sameDay(day, date)) return `${word}, ${time}`;
  }
  const day = date.toLocaleDateString([], {
    weekday: 'short',
    day: 'numeric',
    month: 'short',
    ...(date.getFullYear() === today.getFullYear() ? {} : { year: 'numeric' }),
  });
  return `${day}, ${time}`;
}

/** `1 tool`, `2 tools`. */
export function count(number: number, one: string, many = `${one}s`): string {
  return `${number.toLocaleString()} ${number === 1 ? one : many}`;
}

/** The host of an address, or the address where it has none. */
export function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host || url : url;
}
