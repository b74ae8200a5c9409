/** Ways to a cloud model: presets, accounts, sign-in. */
import type { Brain, BrainError } from '../brain.ts';
import type { CloudAccount, CloudKind, TokenPrice } from '../../store/records.ts';

export interface CloudPreset {
  readonly id: string;
  readonly label: string;
  readonly kind: CloudKind;
  readonly baseUrl: string;
  /** Whether a key is needed: Ollama and llama.cpp on the LAN need none. */
  readonly needsKey: boolean;
  readonly signIn: boolean;
  /** It says with each answer what that cost. */
  readonly tellsCost?: boolean;
  readonly defaultModel: string;
  readonly contextTokens: number;
  /** Where a key is had; the person opens it. */
  readonly keyUrl?: string;
  /** What the person must set on their own server, if it is one. */
  readonly hint?: string;
}

export interface NewAccount {
  readonly preset: string;
  readonly kind: CloudKind;
  readonly label: string;
  readonly baseUrl: string;
  readonly model: string;
  readonly key: string;
  /** Its model can see pictures; default: as far as its name says. */
  readonly images?: boolean;
}

export interface Cloud {
  presets(): readonly CloudPreset[];
  accounts(): Promise<readonly CloudAccount[]>;
  /** Tries the key with one tiny request before it is stored; nothing is stored where it fails. */
  add(
    account: NewAccount,
  ): Promise<
    | { readonly ok: true; readonly account: CloudAccount }
    | { readonly ok: false; readonly error: BrainError }
  >;
  /** Says of an account's model whether it can see pictures. */
  setImages(id: string, images: boolean): Promise<void>;
  /** Says what an account's model costs, for providers that do not; null: that is not known. */
  setPrice(id: string, price: TokenPrice | null): Promise<void>;
  /** Whether an account's model can see pictures: as the person said, or else as its name says. */
  sees(account: Pick<CloudAccount, 'preset' | 'model' | 'images'>): Promise<boolean>;
  remove(id: string): Promise<void>;
  brain(id: string): Promise<Brain | null>;
  /** Starts OpenRouter's PKCE sign-in: the URL to go to. The verifier is kept until `finishSignIn`. */
  startSignIn(preset: string, returnTo: string): Promise<string>;
  /** Ends it with the query of the redirect; the new key makes an account. */
  finishSignIn(
    query: URLSearchParams,
  ): Promise<
    | { readonly ok: true; readonly account: CloudAccount }
    | { readonly ok: false; readonly error: BrainError }
  >;
}
