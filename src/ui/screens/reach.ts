/** How a server is reached, as its page sets it: time limits, and the person's own proxy. Pure. */
import type { ServerRecord } from '../../store/records.ts';

type Limits = NonNullable<ServerRecord['limits']>;

export interface Limit {
  readonly key: keyof Limits;
  readonly label: string;
  /** In milliseconds, like the next two; what holds where nothing is set. */
  readonly usual: number;
  readonly least: number;
  readonly most: number;
}

export const LIMITS: readonly Limit[] = [
  {
    key: 'connectMs',
    label: 'Longest wait to connect',
    usual: 10_000,
    least: 1_000,
    most: 120_000,
  },
  { key: 'callMs', label: 'Longest wait for a call', usual: 60_000, least: 1_000, most: 600_000 },
];

/** The limits with one of them set to a number of seconds; what makes no sense is brought into range. */
export function withLimit(limits: Limits | undefined, limit: Limit, seconds: number): Limits {
  const wanted = Number.isFinite(seconds) ? seconds * 1000 : limit.usual;
  return {
    ...limits,
    [limit.key]: Math.round(Math.min(limit.most, Math.max(limit.least, wanted))),
  };
}

export type ReadProxy =
  | { readonly ok: true; /** Undefined: none. */ readonly proxy: string | undefined }
  | { readonly ok: false; readonly error: string };

/** The address of a proxy as typed; a page may only reach https, or this device. */
export function readProxy(text: string): ReadProxy {
  const typed = text.trim();
  if (typed === '') return { ok: true, proxy: undefined };
  const url = URL.canParse(typed) ? new URL(typed) : null;
  if (!url || (url.protocol !== 'https:' && url.protocol !== 'http:'))
    return { ok: false, error: 'Type its address, such as http://localhost:4320.' };
  if (url.protocol === 'http:' && !/^(localhost|127\.0\.0\.1)$/.test(url.hostname))
    return { ok: false, error: 'A proxy that is not on this device must have https.' };
  if (url.search !== '' || url.hash !== '' || url.username !== '' || url.password !== '')
    return { ok: false, error: 'Leave out everything behind its path, and names and passwords.' };
  return { ok: true, proxy: url.href.replace(/\/+$/, '') };
}
