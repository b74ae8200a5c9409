/** The phone's hands: what its tools do. Handed to the host as a server in the page. */
import type { InPageServer } from '../mcp/types.ts';
import type { Reminder } from '../store/records.ts';
import type { Store } from '../store/store.ts';
import { browserDevice, type Device } from './device.ts';
import { openInPage, ToolFailure, type ServedTool, type Told } from './server.ts';
import { DEVICE_STATUS, NOW, SET_REMINDER } from './tools.ts';

const INFO = { name: 'phone', title: 'This phone', version: '1.0.0' };

/** Reminders further away than this are a slip of the year. */
const FURTHEST_MS = 10 * 366 * 86_400_000;
const MOST_WAITING = 500;
/** When a reminder is due that has a day but no time, and one that has neither. */
const DEFAULT_TIME = { hour: 9, minute: 0 };
const DEFAULT_DELAY_MS = 3_600_000;

export interface PhoneOptions {
  readonly store: Pick<Store, 'reminders'>;
  readonly now?: () => number;
  readonly device?: Device;
}

/** Its times are those of the phone's own clock, in the time zone that the phone is set to. */
export function createPhone(options: PhoneOptions): InPageServer {
  const { store, now = Date.now } = options;
  const device = options.device ?? browserDevice();
  const tools: readonly ServedTool[] = [
    { definition: SET_REMINDER, handle: setReminder },
    { definition: NOW, handle: tellNow },
    { definition: DEVICE_STATUS, handle: tellStatus },
  ];

  async function setReminder(args: Readonly<Record<string, unknown>>): Promise<Told> {
    const text = typeof args.text === 'string' ? args.text.trim().slice(0, 500) : '';
    if (text === '') throw new ToolFailure('There is nothing to remind of.');
    const at = dueAt(args.date, args.time, now());
    if (at <= now())
      throw new ToolFailure(`That time has passed: ${inWords(at)}. Give a later day or time.`);
    if (at > now() + FURTHEST_MS) throw new ToolFailure('That is more than ten years away.');
    const waiting = (await store.reminders.all()).filter(({ state }) => state === 'waiting');
    if (waiting.length >= MOST_WAITING) throw new ToolFailure('There are too many reminders.');
    const reminder: Reminder = {
      id: crypto.randomUUID(),
      text,
      at,
      createdAt: now(),
      state: 'waiting',
    };
    await store.reminders.put(reminder);
    const chosen = args.date === undefined || args.time === undefined;
    return {
      words: `Reminder set for ${inWords(at)}: ${text}`,
      // What the model did not say itself, it has to be told.
      result: chosen ? { ok: true, at: inWords(at) } : { ok: true },
    };
  }

  async function tellNow(): Promise<Told> {
    const date = new Date(now());
    const result = {
      weekday: part(date, { weekday: 'long' }),
      date: `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`,
      time: `${two(date.getHours())}:${two(date.getMinutes())}`,
      zone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    };
    return { words: `${inWords(now())}, ${result.zone}`, result };
  }

  async function tellStatus(): Promise<Told> {
    const [battery, storage] = await Promise.all([device.battery(), device.storage()]);
    const network = device.network();
    const percent = battery ? Math.round(battery.level * 100) : null;
    const free = storage ? Math.round((storage.quota - storage.used) / 1e8) / 10 : null;
    const words = [
      ...(battery ? [`Battery ${percent}%${battery.charging ? ', charging' : ''}`] : []),
      device.online() ? `online${network ? ` (${network})` : ''}` : 'offline',
      ...(free === null ? [] : [`${free} GB free for this app`]),
    ];
    return {
      words: words.join(' · '),
      result: {
        ...(battery ? { battery_percent: percent, charging: battery.charging } : {}),
        online: device.online(),
        ...(network ? { network } : {}),
        ...(free === null ? {} : { free_gb: free }),
      },
    };
  }

  return {
    id: 'phone',
    name: INFO.title,
    tools: tools.map(({ definition }) => definition),
    open: () => openInPage(INFO, tools),
  };
}

/**
 * When a reminder is due. A day without a time is its morning; a time without a day is the next one
 * that the clock shows; without either it is an hour from now.
 */
function dueAt(date: unknown, time: unknown, now: number): number {
  if (date === undefined && time === undefined) return now + DEFAULT_DELAY_MS;
  const clock = time === undefined ? DEFAULT_TIME : readTime(String(time));
  if (!clock) throw new ToolFailure('The time must be given as HH:MM.');
  const day = date === undefined ? new Date(now) : readDate(String(date));
  if (!day) throw new ToolFailure('The date must be given as YYYY-MM-DD.');
  day.setHours(clock.hour, clock.minute, 0, 0);
  if (date === undefined && day.getTime() <= now) day.setDate(day.getDate() + 1);
  return day.getTime();
}

function readDate(text: string): Date | null {
  const match = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text.trim());
  if (!match) return null;
  const day = new Date(Number(match[1]), Number(match[2]) - 1, Number(match[3]));
  return day.getMonth() === Number(match[2]) - 1 ? day : null;
}

/** `17:00`, `5 pm`, `7:30 am`, `noon`. */
function readTime(text: string): { hour: number; minute: number } | null {
  const words = text.trim().toLowerCase();
  if (words === 'noon') return { hour: 12, minute: 0 };
  if (words === 'midnight') return { hour: 0, minute: 0 };
  const match = /^(\d{1,2})(?:[:.](\d\d))?(?::\d\d)?\s*([ap])?\.?(?:m\.?)?$/.exec(words);
  if (!match || (match[2] === undefined && match[3] === undefined)) return null;
  const [said, minute] = [Number(match[1]), Number(match[2] ?? 0)];
  const half = match[3];
  if (half && (said < 1 || said > 12)) return null;
  const hour = half ? (said % 12) + (half === 'p' ? 12 : 0) : said;
  return hour < 24 && minute < 60 ? { hour, minute } : null;
}

/** `Friday 4 December 2026, 09:00`. */
function inWords(at: number): string {
  const day = part(at, { weekday: 'long', day: 'numeric', month: 'long', year: 'numeric' });
  const time = part(at, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
  return `${day.replace(',', '')}, ${time}`;
}

function part(at: Date | number, options: Intl.DateTimeFormatOptions): string {
  return new Intl.DateTimeFormat('en-GB', options).format(at);
}

function two(number: number): string {
  return String(number).padStart(2, '0');
}
