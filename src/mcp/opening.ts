/**
 * Makes connections: what goes with every request to a server (its key, its sign-in, the person's own
 * proxy), its time limits, and what it may ask for. Changes nothing that is stored.
 */
import type { ServerRecord } from '../store/records.ts';
import type { Store } from '../store/store.ts';
import { keyHeaders } from './address.ts';
import type { SignIn } from './auth/types.ts';
import type { BoundAsks, ConnectOptions, Limits, Opened } from './connection-types.ts';
import { internal, isLoopback, offline, type Peer } from './errors.ts';
import type { InPageServer, ServerAsks } from './types.ts';

export interface OpeningOptions {
  readonly inPage: readonly InPageServer[];
  readonly vault: Pick<Store['vault'], 'get'>;
  readonly fetch: typeof globalThis.fetch;
  readonly now: () => number;
  readonly online: () => boolean;
  readonly limits: Partial<Limits> | undefined;
  readonly asks: ServerAsks | undefined;
  readonly signIn: Pick<SignIn, 'provider' | 'secrets' | 'wantScope'> | undefined;
}

/** Where what a server says by itself goes. */
export type Ears = Required<Pick<ConnectOptions, 'onChanged' | 'onLog'>>;

export type Open = (record: ServerRecord, ears: Ears, key?: string) => Promise<Opened>;

/** Name of a server's key in the vault. */
export function vaultName(id: string): string {
  return `server:${id}`;
}

/** `open` connects to a server; a `key` takes the place of the one in the vault. */
export function createOpening(options: OpeningOptions): Open {
  const { inPage, vault, now, online, asks, signIn } = options;

  return async function open(record, ears, typed) {
    const local = inPage.find(({ id }) => id === record.id);
    const url = new URL(record.url);
    const key = typed ?? (await vault.get(vaultName(record.id)));
    const keyHeader = key === undefined ? null : (record.keyHeader ?? 'Authorization');
    const signedIn = record.auth ? signIn : undefined;
    const peer: Peer = {
      // A server that is being added gets its name while it is connected.
      get name() {
        return record.name;
      },
      url,
      keyHeader,
      signedIn: signedIn !== undefined,
    };
    if (!local && !online() && !isLoopback(url)) return { ok: false, error: offline(peer) };
    const carried =
      key === undefined || keyHeader === null
        ? { ok: true as const, headers: {} }
        : keyHeaders(key, keyHeader);
    if (!carried.ok) return carried;
    const shared = {
      peer,
      now,
      online,
      limits: limitsOf(record, options.limits),
      onChanged: ears.onChanged,
      onLog: ears.onLog,
      ...(asks ? { asks: bound(asks, record, url.host) } : {}),
    };
    try {
      const { openHttp, openInPage } = await import('./connection.ts');
      if (local) return await openInPage(local.open(), shared);
      const { proxy } = record;
      return await openHttp({
        ...shared,
        fetch: proxy === undefined ? options.fetch : throughProxy(options.fetch, proxy),
        era: record.era,
        headers: carried.headers,
        secrets: signedIn
          ? together(key, signedIn.secrets(record))
          : together(key, [...url.searchParams.values()]),
        ...(record.transport ? { transport: record.transport } : {}),
        ...(signedIn
          ? {
              authProvider: signedIn.provider(record),
              onScopeWanted: async (scope: string) =>
                void (await signedIn.wantScope(record, scope)),
            }
          : {}),
      });
    } catch (cause) {
      return { ok: false, error: internal(cause instanceof Error ? cause.message : String(cause)) };
    }
  };
}

/** Without a key it stays the same array: that of a sign-in grows with every new token. */
function together(key: string | undefined, known: readonly string[]): readonly string[] {
  return key === undefined ? known : [key, ...known];
}

/** No call takes longer, however much it tells of its progress, unless the person set more. */
const CEILING_MS = 600_000;

/** The person's limits for this server, over those of the app. */
export function limitsOf(
  { limits }: Pick<ServerRecord, 'limits'>,
  shared: Partial<Limits> = {},
): Partial<Limits> {
  const { connectMs: connect, callMs: call } = limits ?? {};
  const ceiling = Math.max(call ?? 0, shared.ceiling ?? CEILING_MS);
  return {
    ...shared,
    ceiling,
    ...(connect === undefined ? {} : { connect }),
    ...(call === undefined ? {} : { call }),
  };
}

/**
 * Requests by way of a proxy that runs on the person's word: the address goes behind the proxy's own,
 * encoded as one segment of its path.
 */
export function throughProxy(
  fetch: typeof globalThis.fetch,
  proxy: string,
): typeof globalThis.fetch {
  const before = proxy.replace(/\/+$/, '');
  return (input, init) => {
    if (input instanceof Request)
      return fetch(new Request(`${before}/${encodeURIComponent(input.url)}`, input), init);
    return fetch(`${before}/${encodeURIComponent(String(input))}`, init);
  };
}

/** What one server may ask; the model only where the person allowed it. */
function bound(asks: ServerAsks, record: ServerRecord, host: string): BoundAsks {
  const server = () => ({ id: record.id, name: record.name, host });
  return {
    elicit: (request, signal) => asks.elicit(server(), request, signal),
    ...(record.sampling
      ? { sample: (request, signal) => asks.sample(server(), request, signal) }
      : {}),
  };
}
