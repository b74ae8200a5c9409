/** What the tests of sign-in share: the app's end of it, a server to sign in at, and a person. */
import { createSignIn, type SignInOptions } from '../../../src/mcp/auth/signin.ts';
import type { SignIn, SignInEnd } from '../../../src/mcp/auth/types.ts';
import type { ServerRecord } from '../../../src/store/records.ts';
import type { Store } from '../../../src/store/store.ts';
import { newHost, newStore, toolOf } from './setup.ts';
import { visit, type Visit } from '../../servers/person.ts';
import type { Host, ToolCaller } from '../../../src/mcp/types.ts';

export const ORIGIN = 'http://localhost:5173';

export interface Desk {
  readonly store: Store;
  readonly signIn: SignIn;
  readonly record: ServerRecord;
  /** Every request that the app made, with what it carried. */
  readonly sent: { readonly url: string; readonly headers: Headers; readonly body: string }[];
  /** Addresses that the window was sent to. */
  readonly opened: string[];
  /** The app's fetch, as the desk was given it. */
  readonly fetch: typeof globalThis.fetch;
  /** The last visit of the person. */
  visited(): Visit | null;
  /** What the person does with an answer before it comes back; by default nothing. */
  tamper(change: (callback: URL) => void): void;
  answer: 'allow' | 'decline' | 'nothing';
  /** Called where the person can go no further. */
  onStuck: () => void;
  /** Signs in with a person at hand. */
  go(signal?: AbortSignal): Promise<SignInEnd>;
}

export async function newDesk(
  url: string,
  options: Partial<SignInOptions> & { readonly id?: string } = {},
): Promise<Desk> {
  const store = (options.store as Store | undefined) ?? (await newStore());
  const record: ServerRecord = {
    id: options.id ?? crypto.randomUUID(),
    name: 'Notebook',
    url,
    addedAt: 0,
    enabled: true,
    trustHints: false,
    private: false,
    auth: 'oauth',
  };
  await store.servers.put(record);
  const { origin = ORIGIN } = options;
  const home = `${origin}/oauth/callback`;
  const sent: Desk['sent'] = [];
  const opened: string[] = [];
  const jar = new Map<string, string>();
  let visited: Visit | null = null;
  let change: (callback: URL) => void = () => undefined;
  const send = options.fetch ?? globalThis.fetch;

  const desk: Desk = {
    store,
    record,
    sent,
    opened,
    fetch: send,
    answer: 'allow',
    onStuck: () => undefined,
    visited: () => visited,
    tamper: (how) => (change = how),
    go: (signal = new AbortController().signal) => desk.signIn.signIn(record, signal),
    signIn: createSignIn({
      origin,
      windows: {
        popup: () => ({
          go(address) {
            opened.push(address);
            if (desk.answer === 'nothing') return;
            void visit(address, home, desk.answer, jar)
              .then(async (done) => {
                visited = done;
                change(done.callback);
                await desk.signIn.receive(done.callback.searchParams);
              })
              .catch(() => desk.onStuck());
          },
          close: () => undefined,
        }),
        leave: (address) => void opened.push(address),
        here: () => `/servers/${record.id}`,
        onReturn: () => () => undefined,
      },
      ...options,
      store,
      fetch: (input, init) => {
        const body = init?.body;
        sent.push({
          url: String(input),
          headers: new Headers(init?.headers),
          body: body === undefined || body === null ? '' : String(body),
        });
        return send(input, init);
      },
    }),
  };
  return desk;
}

/** A host over the desk's store, so that calls go through all that they go through in the app. */
export async function hostOf(desk: Desk): Promise<Host & ToolCaller> {
  const { host } = await newHost({ store: desk.store, signIn: desk.signIn });
  return host;
}

export const read = (desk: Desk) => toolOf(desk.record.id, 'read_notes', { readOnly: true });
export const write = (desk: Desk) => toolOf(desk.record.id, 'write_note');

/** The text of an error, all of it, for what must not stand in it. */
export function wordsOf(end: SignInEnd): string {
  return end.ok ? '' : `${end.error.message} ${end.error.advice} ${end.error.detail ?? ''}`;
}

export function messageOf(end: SignInEnd): string {
  return end.ok ? 'signed in' : end.error.message;
}
