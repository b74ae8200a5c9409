/** The phone's hands: what its tools do. Handed to the host as a server in the page. */
import type { InPageServer } from '../mcp/types.ts';
import type { Reminder } from '../store/records.ts';
import type { Store } from '../store/store.ts';
import { browserDevice, type Device } from './device.ts';
import { openInPage, ToolFailure, type ServedTool } from './server.ts';
import { DEVICE_STATUS, NOW, SET_REMINDER } from './tools.ts';

const INFO = { name: 'phone', title: 'This phone', version: '1.0.0' };

/** Reminders further away than this are a slip of the year. */
const FURTHEST_MS = 10 * 366 * 86_400_000;
const MOST_WAITING = 500;

export interface PhoneOptions {
  readonly store: Pick<Store, 'reminders'>;
  readonly now?: () => number;
  /** The phone's time zone, an IANA name. */
  readonly timeZone?: () => string;
  readonly device?: Device;
}

export function createPhone(options: PhoneOptions): InPageServer {
  const { store, now = Date.now } = options;
  const timeZone = options.timeZone ?? (() => Intl.DateTimeFormat().resolvedOptions().timeZone);
  const device = options.device ?? browserDevice();
  const tools: readonly ServedTool[] = [
    { definition: SET_REMINDER, handle: setReminder },
    { definition: NOW, handle: tellNow },
    { definition: DEVICE_STATUS, handle: tellStatus },
  ];

  async function setReminder(args: Readonly<Record<string, unknown>>): Promise<object> {
    const text = typeof args.text === 'string' ? args.text.trim().slice(0, 500) : '';
    const at = typeof args.at === 'string' ? Date.parse(args.at) : NaN;
    if (text === '') throw new ToolFailure('There is nothing to remind of.');
    if (Number.isNaN(at)) throw new ToolFailure('The time could not be read.');
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
    return { ok: true, text, at: inWords(at) };
  }

  async function tellNow(): Promise<object> {
    return { now: inWords(now()), iso: new Date(now()).toISOString(), time_zone: timeZone() };
  }

  async function tellStatus(): Promise<object> {
    const [battery, storage] = await Promise.all([device.battery(), device.storage()]);
    const network = device.network();
    return {
      online: device.online(),
      ...(network ? { network } : {}),
      ...(battery
        ? { battery_percent: Math.round(battery.level * 100), charging: battery.charging }
        : {}),
      ...(storage
        ? {
            storage_used_mb: Math.round(storage.used / 1e6),
            storage_free_mb: Math.round((storage.quota - storage.used) / 1e6),
          }
        : {}),
    };
  }

  /** `Friday 4 December 2026, 09:00` on the phone's own clock. */
  function inWords(at: number): string {
    const format = (options: Intl.DateTimeFormatOptions) =>
      new Intl.DateTimeFormat('en-GB', { timeZone: timeZone(), ...options }).format(at);
    const day = format({ weekday: 'long', day: 'numeric', month: 'long', year: 'numeric' });
    const time = format({ hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
    return `${day.replace(',', '')}, ${time}`;
  }

  return {
    id: 'phone',
    name: INFO.title,
    tools: tools.map(({ definition }) => definition),
    open: () => openInPage(INFO, tools),
  };
}
