/**
 * What is kept of a server's sign-in: one row of the vault, encrypted. It is bound to the server's
 * address, and each credential in it to the issuer that gave it (RFC 6749, 2.2): what was given for
 * one is never sent to another.
 */
import type {
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from '@modelcontextprotocol/client';
import type { ServerRecord } from '../../store/records.ts';
import type { Vault } from '../../store/store.ts';
import type { Exclusive } from './locks.ts';

export interface Kept {
  /** Address of the server that all of this is for. */
  readonly server: string;
  readonly tokens?: StoredOAuthTokens & {
    readonly issuer: string;
    /** When they were given, in milliseconds since the epoch. */
    readonly at: number;
  };
  /** They were refused, or their time is over. */
  readonly expired?: boolean;
  /** What the tokens were asked for (RFC 8707). */
  readonly resource?: string;
  /** How the authorization server was found. */
  readonly discovery?: OAuthDiscoveryState;
  /** How this app is known, by issuer. */
  readonly clients?: Readonly<Record<string, StoredOAuthClientInformation>>;
  /** The client that the person typed in; with the issuer that it turned out to belong to. */
  readonly typed?: StoredOAuthClientInformation;
  /** The authorization server takes only apps that it knows. */
  readonly needsClient?: boolean;
  /** Rights that were asked for with the tokens. */
  readonly asked?: string;
  /** Rights that the server wants beyond those. */
  readonly wanted?: string;
  /** The name that the authorization server has for the person. */
  readonly who?: string;
}

export interface Keep {
  read(record: ServerRecord): Promise<Kept>;
  /** Changes it while no other tab does. `change` may take its time. */
  change<T>(record: ServerRecord, change: (kept: Kept, write: Write) => Promise<T>): Promise<T>;
}

/** Null deletes it. */
export type Write = (kept: Kept | null) => Promise<void>;

export function keepName(id: string): string {
  return `oauth:${id}`;
}

export function createKeep(vault: Vault, exclusive: Exclusive): Keep {
  async function read(record: ServerRecord): Promise<Kept> {
    const none: Kept = { server: record.url };
    const text = await vault.get(keepName(record.id));
    if (text === undefined) return none;
    const kept = JSON.parse(text) as Kept;
    return kept.server === record.url ? kept : none;
  }
  return {
    read,
    change: (record, change) =>
      exclusive.run(keepName(record.id), async () =>
        change(await read(record), (kept) =>
          kept === null
            ? vault.delete(keepName(record.id))
            : vault.set(keepName(record.id), JSON.stringify(kept)),
        ),
      ),
  };
}

/** A token is renewed this long before its time is over, so that a call does not meet its end. */
export const EARLY_MS = 20_000;

/** True where the access token's time is over, or is within `marginMs`. */
export function isOver({ tokens }: Kept, now: number, marginMs = 0): boolean {
  if (tokens?.expires_in === undefined) return false;
  return now + marginMs >= tokens.at + tokens.expires_in * 1000;
}
