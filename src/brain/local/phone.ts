/**
 * What this phone has for a model: memory, GPU, room, battery, connection. Read anew each time that it
 * is asked for, as far as it changes; the room at most every two seconds, since browsers count it slowly.
 */
import { probeGpu } from './engines/gpu.ts';
import { noStorage } from './files.ts';
import type { Phone } from './fit.ts';
import { inTime } from './in-time.ts';

/** Parts of the web platform that only some browsers have, and TypeScript's library does not. */
interface Telling {
  /** Device Memory: GiB, rounded to a power of two and at most 8. */
  readonly deviceMemory?: number;
  /** Network Information. */
  readonly connection?: {
    readonly type?: string;
    readonly effectiveType?: string;
    readonly saveData?: boolean;
  };
  /** Battery Status. */
  getBattery?(): Promise<{ readonly level: number; readonly charging: boolean }>;
}

const ROOM_MS = 2_000;

/** What does not change while the page is open. */
export async function readPhone(): Promise<Phone> {
  const { deviceMemory } = navigator as Telling;
  const missing = await noStorage();
  return {
    gpu: await probeGpu(),
    ...(missing === undefined ? {} : { noStorage: missing }),
    ...(deviceMemory === undefined ? {} : { memory: deviceMemory * 2 ** 30 }),
  };
}

/** What the browser tells of the phone, the same as long as it is the same phone. */
export function deviceName({ gpu, memory }: Phone): string {
  const cores = navigator.hardwareConcurrency;
  return [
    gpu.usable ? gpu.device || 'a graphics chip' : 'no graphics chip',
    `${cores} cores`,
    ...(memory === undefined ? [] : [`${memory / 2 ** 30} GB`]),
  ].join(', ');
}

/**
 * A connection that the person asked to spare, or that looks like one that is paid by the megabyte.
 * Where the browser does not tell its kind, a slow one counts as mobile.
 */
function isMetered(): boolean {
  const { saveData, type, effectiveType } = (navigator as Telling).connection ?? {};
  const mobile = type === undefined ? /2g|3g/.test(effectiveType ?? '') : type === 'cellular';
  return saveData === true || mobile;
}

let room: { readonly at: number; readonly free: number | undefined } | null = null;

async function readRoom(): Promise<number | undefined> {
  if (room && performance.now() - room.at < ROOM_MS) return room.free;
  const told: StorageEstimate = await inTime(navigator.storage.estimate(), {});
  const { quota, usage } = told;
  const free = quota === undefined || usage === undefined ? undefined : quota - usage;
  room = { at: performance.now(), free };
  return free;
}

/** The phone as it is now; `pending` are the bytes that running downloads still bring. */
export async function phoneNow(phone: Phone, pending: number): Promise<Phone> {
  const [free, battery] = await Promise.all([
    readRoom(),
    inTime((navigator as Telling).getBattery?.(), undefined),
  ]);
  return {
    ...phone,
    metered: isMetered(),
    ...(free === undefined ? {} : { free: free - pending }),
    ...(battery ? { battery: { level: battery.level, charging: battery.charging } } : {}),
  };
}
