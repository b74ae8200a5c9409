/**
 * Sign-in with servers. This file is small and loaded with the app; the protocol itself (flow.ts)
 * comes with the first sign-in or renewal.
 *
 * Promises: tokens are kept encrypted, bound to the server's address and to the issuer that gave
 * them; however many calls and tabs find a token run out, one of them renews it.
 */
import type { ServerRecord } from '../../store/records.ts';
import type { Store } from '../../store/store.ts';
import { bearerOf } from './bearer.ts';
import { EARLY_MS, createKeep, isOver, keepName, type Kept } from './keep.ts';
import { createExclusive } from './locks.ts';
import type { SignIn, SignInState, SignInView, SignInWindows } from './types.ts';

export interface SignInOptions {
  readonly store: Pick<Store, 'servers' | 'vault' | 'changes'>;
  readonly windows: SignInWindows;
  /** The app's own, e.g. `https://deft.example`. */
  readonly origin: string;
  readonly fetch?: typeof globalThis.fetch;
  readonly now?: () => number;
  readonly online?: () => boolean;
  /** Without them, as on Node, only this page's own calls are kept apart. */
  readonly locks?: LockManager;
  /** Milliseconds that a person may take to sign in. */
  readonly waitMs?: number;
}

const WAIT_MS = 600_000;

export function createSignIn(options: SignInOptions): SignIn {
  const { store } = options;
  const exclusive = createExclusive(options.locks);
  const keep = createKeep(store.vault, exclusive);
  const now = options.now ?? Date.now;
  const context = {
    store,
    keep,
    exclusive,
    now,
    fetch: options.fetch ?? ((input, init) => globalThis.fetch(input, init)),
    online: options.online ?? (() => globalThis.navigator?.onLine !== false),
    origin: options.origin,
    windows: options.windows,
    waitMs: options.waitMs ?? WAIT_MS,
  } as const;
  const flow = () => import('./flow.ts');
  const secrets = new Map<string, string[]>();
  const renewals = new Map<string, Promise<void>>();

  function secretsOf(record: ServerRecord): string[] {
    let known = secrets.get(record.id);
    if (!known) secrets.set(record.id, (known = [...new URL(record.url).searchParams.values()]));
    return known;
  }

  /** The token to send; noted, so that it can be struck out of whatever comes back. */
  async function tokenOf(record: ServerRecord): Promise<string | undefined> {
    const { tokens, expired } = await keep.read(record);
    if (!tokens || expired) return undefined;
    const known = secretsOf(record);
    for (const secret of [tokens.access_token, tokens.refresh_token])
      if (secret !== undefined && !known.includes(secret)) known.push(secret);
    return tokens.access_token;
  }

  /** One renewal at a time in this page; the lock within sees to the other tabs. */
  function renew(
    record: ServerRecord,
    refused: string | undefined,
    challenge: Response | null,
  ): Promise<void> {
    let renewal = renewals.get(record.id);
    if (!renewal) {
      renewal = flow()
        .then((it) => it.renew(context, record, refused, challenge))
        .finally(() => renewals.delete(record.id));
      renewals.set(record.id, renewal);
    }
    return renewal;
  }

  function stateOf(record: ServerRecord, kept: Kept): SignInState {
    const { tokens } = kept;
    if (tokens) {
      const over = kept.expired || (!tokens.refresh_token && isOver(kept, now()));
      return over ? 'expired' : 'signed-in';
    }
    return record.auth === 'oauth' ? 'wanted' : 'none';
  }

  return {
    provider: (record) => ({
      async token() {
        const kept = await keep.read(record);
        const due = kept.tokens?.refresh_token && !kept.expired && isOver(kept, now(), EARLY_MS);
        if (due && context.online()) await renew(record, kept.tokens?.access_token, null);
        return tokenOf(record);
      },
      async onUnauthorized({ response }) {
        const { tokens } = await keep.read(record);
        await renew(record, bearerOf(response) ?? tokens?.access_token, response);
      },
    }),
    secrets: secretsOf,

    async signIn(record, signal) {
      // At once, while the browser still knows that the person tapped.
      const popup = context.windows.popup();
      const { signIn } = await flow();
      return signIn(context, record, popup, signal);
    },

    async receive(query) {
      const { receive } = await flow();
      return receive(context, query);
    },

    async signOut(record) {
      const kept = await keep.read(record);
      const revoked = kept.tokens ? await (await flow()).revoke(context, record, kept) : false;
      await keep.change(record, (_kept, write) => write(null));
      return { revoked };
    },

    state: async (record) => stateOf(record, await keep.read(record)),

    async view(record): Promise<SignInView> {
      const kept = await keep.read(record);
      const words = (text: string | undefined) => (text ?? '').split(/\s+/).filter(Boolean);
      const granted = words(kept.tokens?.scope);
      return {
        state: stateOf(record, kept),
        at: hostOf(kept.tokens?.issuer),
        who: kept.who ?? null,
        scopes: granted,
        wanted: words(kept.wanted).filter((scope) => !granted.includes(scope)),
        clientId: kept.typed?.client_id ?? null,
        needsClient: kept.needsClient === true,
      };
    },

    setClient: (record, client) =>
      keep.change(record, ({ typed, ...kept }, write) =>
        write(
          client === null
            ? kept
            : {
                ...kept,
                typed: {
                  client_id: client.id,
                  ...(client.secret ? { client_secret: client.secret } : {}),
                },
              },
        ),
      ),

    async wantScope(record, scope) {
      const { wantScope } = await flow();
      return wantScope(context, record, scope);
    },

    subscribe: (listener) =>
      store.changes.subscribe(({ topic, key }) => {
        if (topic === 'secrets' && key.startsWith(keepName(''))) listener();
      }),
  };
}

function hostOf(issuer: string | undefined): string | null {
  return issuer !== undefined && URL.canParse(issuer) ? new URL(issuer).host : null;
}
