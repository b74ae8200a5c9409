/** Sign-in with servers, as the host and the screens see it. */
import type { AuthProvider } from '@modelcontextprotocol/client';
import type { ServerRecord } from '../../store/records.ts';
import type { HostError } from '../types.ts';

export type SignInState =
  /** Nothing is known of a sign-in. */
  | 'none'
  | 'signed-in'
  /** It was signed in, and what it was given holds no longer. */
  | 'expired'
  /** It wants a sign-in, and there was none yet. */
  | 'wanted';

/** What a screen shows of a server's sign-in. No secret is in it. */
export interface SignInView {
  readonly state: SignInState;
  /** Host of the authorization server. */
  readonly at: string | null;
  /** The name that it has for the person, where it tells one. Untrusted. */
  readonly who: string | null;
  /** What was granted. Untrusted. */
  readonly scopes: readonly string[];
  /** What the server wants beyond that, for something that was asked of it. Untrusted. */
  readonly wanted: readonly string[];
  /** Client id that the person typed in. */
  readonly clientId: string | null;
  /** It takes only apps that it knows: one has to be typed in. */
  readonly needsClient: boolean;
}

export type SignInEnd =
  | { readonly ok: true }
  | {
      readonly ok: false;
      readonly error: HostError;
      /** Beginning anew at once may do better. */
      readonly again?: boolean;
    };

/** What became of an answer that arrived at the app's own address. */
export type Received =
  /** Another tab of the app waits for it and has it now: this one may close. */
  | { readonly kind: 'handed-over' }
  | { readonly kind: 'signed-in'; readonly server: ServerRecord; readonly returnTo: string }
  | { readonly kind: 'failed'; readonly error: HostError; readonly returnTo: string };

export interface SignIn {
  /** What the transports of a server need: its token, and what to do where that is refused. */
  provider(record: ServerRecord): AuthProvider;
  /** Tokens of a server and what its address carries, to be struck out; the same, growing array. */
  secrets(record: ServerRecord): readonly string[];
  /**
   * Signs in, in a window that is opened at once: to be called within the person's tap. Where no
   * window can be opened, the page goes there itself and comes back.
   */
  signIn(record: ServerRecord, signal: AbortSignal): Promise<SignInEnd>;
  /** Takes an answer that arrived at the app's own address. */
  receive(query: URLSearchParams): Promise<Received>;
  /**
   * Forgets what was given, and has it revoked. `revoked`: the authorization server confirmed it.
   */
  signOut(record: ServerRecord): Promise<{ readonly revoked: boolean }>;
  state(record: ServerRecord): Promise<SignInState>;
  view(record: ServerRecord): Promise<SignInView>;
  /** Sets the client id that the person was given, or takes it away. */
  setClient(record: ServerRecord, client: { id: string; secret?: string } | null): Promise<void>;
  /**
   * Notes that the server wants more rights than were given: the next sign-in asks for them too.
   * False where they were asked for already, so that asking again would not help.
   */
  wantScope(record: ServerRecord, scope: string): Promise<boolean>;
  /** Called when any server's sign-in changed, in any tab. */
  subscribe(listener: () => void): () => void;
}

/** A window in which the person signs in. */
export interface SignInWindow {
  go(url: string): void;
  close(): void;
}

/** What sign-in needs of the browser. */
export interface SignInWindows {
  /** A new window; null where the browser allows none, or opens none in an installed app. */
  popup(): SignInWindow | null;
  /** Leaves the page for an address. */
  leave(url: string): void;
  /** Path of the page that the person is on. */
  here(): string;
  /** Called each time the person comes back to the page. */
  onReturn(listener: () => void): () => void;
}

/** A fault of a sign-in, with its words for the person. */
export class SignInFault extends Error {
  override readonly name = 'SignInFault';
  readonly error: HostError;
  constructor(error: HostError) {
    super(error.message);
    this.error = error;
  }
}
