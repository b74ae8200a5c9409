/**
 * Makes connections to servers, on the MCP SDK. This file and what it imports are loaded with the
 * first connection, because the SDK is large.
 *
 * Promise: nothing here throws; a server is found in whichever era of the protocol it speaks, and over
 * HTTP+SSE (2024-11-05) where it knows nothing newer.
 */
import './no-eval.ts';
import { SdkError, SdkErrorCode, type Transport } from '@modelcontextprotocol/client';
import { newClient } from './client.ts';
import { createClocks } from './clock.ts';
import type { ConnectOptions, Connection, Limits, Opened } from './connection-types.ts';
import { internal } from './errors.ts';
import { explain, late, MAX_MEGABYTES } from './explain.ts';
import { createHearing } from './hearing.ts';
import { createAnswer } from './inquiries.ts';
import { link, type Standing } from './link.ts';
import { asHttpError, httpTransport, noteSends, sseTransport } from './transports.ts';
import type { HostError } from './types.ts';
import { DEADLINE, within } from './within.ts';
import { createWire, type Wire } from './wire.ts';

export type * from './connection-types.ts';

/** What holds where a server has none of its own; its page shows the first and the third. */
export const LIMITS: Limits = { connect: 10_000, list: 15_000, call: 60_000, ceiling: 600_000 };
/** How long a found protocol era is believed without asking again. */
const ERA_DAYS = 7;
/** Answers to a POST of servers that may know HTTP+SSE only (2025-03-26, backwards compatibility). */
const BEFORE_HTTP = [400, 404, 405];
/** Answers that say enough: another way of asking would get the same. */
const SETTLED = [401, 403, 429];

type Plan = 'auto' | 'legacy' | 'sse';
type Attempt = { ok: true; connection: Connection } | { ok: false; cause: unknown };

/** Connects to a server over HTTP. */
export async function openHttp(options: ConnectOptions): Promise<Opened> {
  const { peer, now } = options;
  const limits = { ...LIMITS, ...options.limits };
  const deadline = Date.now() + limits.connect;
  const seconds = limits.connect / 1000;
  // The first attempt says most: the others only fail in a way that the server may not know.
  let first: HostError | null = null;
  let status: number | null = null;
  let isUndecided = true;
  for (const plan of plansFor(options)) {
    const isFallback = first !== null;
    if (isFallback && plan === 'sse' && !BEFORE_HTTP.includes(status ?? 0)) continue;
    if (isFallback && plan !== 'sse' && !isUndecided) continue;
    let onStreamEnd = () => {};
    const wire = createWire(
      options.fetch,
      MAX_MEGABYTES * 1_000_000,
      now,
      plan === 'sse' ? () => onStreamEnd() : undefined,
    );
    const transport =
      plan === 'sse' ? sseTransport(options, wire.fetch) : httpTransport(options, wire.fetch);
    const attempt = await attemptOver(transport, plan, wire, {
      options,
      limits,
      ms: deadline - Date.now(),
    });
    if (attempt.ok) {
      // The SDK would open another stream, of a session that knows nothing of this one's calls.
      onStreamEnd = () => void transport.close();
      return attempt;
    }
    const { cause } = attempt;
    if (cause === DEADLINE) {
      first ??= late(peer, wire.last(), seconds);
      break;
    }
    const told = { ...options, wire, seconds, connecting: true };
    first ??= (await explain(plan === 'sse' ? asHttpError(cause, wire) : cause, told)).error;
    status = wire.last()?.status ?? null;
    if (status === null || SETTLED.includes(status)) break;
    isUndecided = plan !== 'auto' || saysNothingOfEras(cause);
  }
  return { ok: false, error: first ?? internal('No attempt was made.') };
}

/** What was found out before comes first, as long as it is believed. */
function plansFor({ era, transport, now }: ConnectOptions): readonly Plan[] {
  const isFresh = era !== undefined && now() - era.at < ERA_DAYS * 86_400_000;
  if (isFresh && transport === 'sse') return ['sse', 'auto', 'legacy'];
  return isFresh && era.kind === 'legacy' ? ['legacy', 'auto', 'sse'] : ['auto', 'legacy', 'sse'];
}

/** True where the probe for the new era failed without saying which era the server speaks. */
function saysNothingOfEras(cause: unknown): boolean {
  return SdkError.isInstance(cause) && cause.code === SdkErrorCode.EraNegotiationFailed;
}

/** Connects to a server in the page. */
export async function openInPage(
  transport: Transport,
  options: Pick<ConnectOptions, 'peer' | 'now' | 'online' | 'onChanged' | 'limits' | 'onLog'>,
): Promise<Opened> {
  const { fetch } = globalThis;
  const full = { ...options, headers: {}, secrets: [], era: undefined, fetch };
  const limits = { ...LIMITS, ...options.limits };
  const wire = createWire(fetch, MAX_MEGABYTES * 1_000_000, options.now);
  const attempt = await attemptOver(transport, 'legacy', wire, {
    options: full,
    limits,
    ms: limits.connect,
  });
  if (attempt.ok) return attempt;
  const { cause } = attempt;
  return { ok: false, error: internal(cause instanceof Error ? cause.message : String(cause)) };
}

async function attemptOver(
  transport: Transport,
  plan: Plan,
  wire: Wire,
  { options, limits, ms }: Pick<Standing, 'options' | 'limits'> & { readonly ms: number },
): Promise<Attempt> {
  const clocks = createClocks();
  const answer = createAnswer(options.asks);
  const client = newClient(options.asks, answer, clocks);
  const hearing = createHearing(client, options);
  noteSends(transport, wire);
  const connecting = client.connect(transport, {
    timeout: Math.max(1, ms),
    ...(plan === 'auto' ? {} : { prior: { kind: 'legacy' } }),
  });
  try {
    await within(connecting, ms);
  } catch (cause) {
    hearing.end();
    await transport.close().catch(() => undefined);
    return { ok: false, cause };
  }
  const talk = { client, clocks, answer, trace: wire.trace };
  const kind = plan === 'sse' ? 'sse' : 'http';
  const standing = { options, limits, client, talk, hearing, transport, kind, wire } as const;
  return { ok: true, connection: link(standing) };
}
