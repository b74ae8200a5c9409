/**
 * The text behind "Copy report": what happened at a server, for whoever runs it or this app.
 * Promise: no secret is in it. Addresses go without their query, and what looks like a key is struck.
 */
import { version } from '../../package.json';
import type { ServerRecord } from '../store/records.ts';
import { redact } from '../store/redact.ts';
import type { HostError } from './types.ts';

/** What went wrong; a call's outcome has these as well. */
export type Reported = Pick<HostError, 'message' | 'advice'> &
  Partial<Pick<HostError, 'detail' | 'seen'>> & {
    /** Of a stored error it may be one that an older version knew. */
    readonly code?: string;
  };

export interface ReportContext {
  readonly server: Pick<ServerRecord, 'name' | 'url'> & Partial<Pick<ServerRecord, 'era'>>;
  /** What was tried, e.g. `Connect`, `Call get_weather`. */
  readonly tried: string;
  /** Milliseconds since the epoch at which it failed. */
  readonly at: number;
  /** Struck by value, beside what looks like a secret. */
  readonly secrets?: readonly string[];
}

/** Plain text, one fact a line. */
export function reportOf(error: Reported, about: ReportContext): string {
  const { server, tried, at, secrets = [] } = about;
  const { seen } = error;
  const lines: [string, string | undefined][] = [
    ['App', `Deft ${version}`],
    ['Time', new Date(at).toISOString()],
    ['Server', `${server.name}, ${addressOf(server.url)}`],
    ['Protocol', server.era ? `${server.era.kind}, found ${dayOf(server.era.at)}` : 'not known'],
    ['Tried', tried],
    ['What happened', error.message],
    ['Advice', error.advice],
    ['Kind', error.code],
    ['Status', seen ? (seen.status === null ? 'no answer' : String(seen.status)) : undefined],
    ['JSON-RPC error', seen?.code === undefined ? undefined : String(seen.code)],
    ...Object.entries(seen?.headers ?? {}),
    ['Detail', error.detail],
    ['Page', globalThis.location?.origin],
    ['Browser', globalThis.navigator?.userAgent],
  ];
  const known = [...secrets, ...secretsOf(server.url)];
  return lines
    .filter((line): line is [string, string] => line[1] !== undefined && line[1] !== '')
    .map(([name, value]) => `${name}: ${redact(value.replace(/\s+/g, ' '), known)}`)
    .join('\n');
}

function dayOf(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}

function addressOf(url: string): string {
  if (!URL.canParse(url)) return '';
  const { host, origin, pathname } = new URL(url);
  return host === '' ? 'in the app' : `${origin}${pathname}`;
}

function secretsOf(url: string): string[] {
  return URL.canParse(url) ? [...new URL(url).searchParams.values()] : [];
}
