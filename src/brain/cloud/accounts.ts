/**
 * The person's accounts with cloud models: kept in the store, their keys encrypted in the vault
 * under `cloud:<id>`, each turned into a brain when one is asked for.
 *
 * Promise: an account that is stored has answered once with its key, its address and its model.
 */
import type { Brain, BrainError } from '../brain.ts';
import type { CloudAccount } from '../../store/records.ts';
import type { Store } from '../../store/store.ts';
import { OTHER, cloudPresets } from './presets.ts';
import type { Net } from './stream.ts';
import type { Cloud, CloudPreset, NewAccount } from './types.ts';

const STALL_MS = 60_000;
const MAX_BYTES = 16 * 1024 * 1024;

export interface CloudOptions {
  readonly store: Pick<Store, 'accounts' | 'vault' | 'settings'>;
  readonly fetch?: typeof globalThis.fetch;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
  readonly online?: () => boolean;
  /** Longest silence of a host before a step ends, in milliseconds. */
  readonly stallMs?: number;
  /** Longest answer, in bytes. */
  readonly maxBytes?: number;
}

type Added =
  | { readonly ok: true; readonly account: CloudAccount }
  | { readonly ok: false; readonly error: BrainError };

export function createCloud(options: CloudOptions): Cloud {
  const { store } = options;
  const net: Net = {
    fetch: options.fetch ?? ((input, init) => globalThis.fetch(input, init)),
    now: options.now ?? Date.now,
    online: options.online ?? (() => globalThis.navigator?.onLine !== false),
    stallMs: options.stallMs ?? STALL_MS,
    maxBytes: options.maxBytes ?? MAX_BYTES,
  };
  const presets = cloudPresets();
  /** One brain an account, for what it learns of its host; made anew where account or key change. */
  const brains = new Map<string, { readonly made: string; readonly brain: Promise<Brain> }>();

  const presetOf = (id: string): CloudPreset =>
    presets.find((preset) => preset.id === id) ?? presets.find((preset) => preset.id === OTHER)!;

  /** The wires come with the first brain: no screen needs them. */
  async function make(account: CloudAccount, key: string): Promise<Brain> {
    const [{ makeBrain }, { counted }] = await Promise.all([
      import('./make.ts'),
      import('./cost.ts'),
    ]);
    const brain = makeBrain(account, key, presetOf(account.preset), net);
    return counted(brain, account.price, (cost) => store.settings.spend(dayOf(net.now()), cost));
  }

  /** Stores an account with its key; the first one becomes the one that Cloud uses. */
  async function keep(account: CloudAccount, key: string): Promise<Added> {
    // The key first: an account without its key would be offered and fail.
    if (key) await store.vault.set(vaultName(account.id), key);
    await store.accounts.put(account);
    if ((await store.settings.get()).cloudAccount === null)
      await store.settings.set({ cloudAccount: account.id });
    return { ok: true, account };
  }

  async function add(entry: NewAccount): Promise<Added> {
    const preset = presetOf(entry.preset);
    const { readAddress } = await import('./address.ts');
    const address = readAddress(entry.baseUrl, entry.kind);
    if (!address.ok) return address;
    const key = entry.key.trim();
    const model = entry.model.trim();
    if (!model)
      return failed(
        'model',
        'The model’s id is empty.',
        'Enter the id of a model of this provider.',
      );
    if (preset.needsKey && !key)
      return failed('auth', 'The key is empty.', `Enter a key of ${preset.label}.`);
    if (!/^[\x21-\x7e]*$/.test(key))
      return failed(
        'auth',
        'The key holds a space or a character that no key has.',
        'Copy it again, from its first to its last character.',
      );
    const account: CloudAccount = {
      id: crypto.randomUUID(),
      kind: entry.kind,
      preset: preset.id,
      label: entry.label.trim() || new URL(address.baseUrl).host,
      baseUrl: address.baseUrl,
      model,
      contextTokens: preset.contextTokens,
      ...(entry.images === undefined ? {} : { images: entry.images }),
    };
    const error = await tryOut(await make(account, key), net.now());
    return error ? { ok: false, error } : keep(account, key);
  }

  return {
    presets: () => presets,

    accounts: () => store.accounts.all(),

    add,

    async setImages(id, images) {
      await store.accounts.update(id, (account) => ({ ...account, images }));
    },

    async setPrice(id, price) {
      await store.accounts.update(id, ({ price: _, ...account }) => ({
        ...account,
        ...(price ? { price } : {}),
      }));
    },

    async sees(account) {
      const { seesPictures } = await import('./sight.ts');
      return seesPictures(account);
    },

    async remove(id) {
      brains.delete(id);
      await store.accounts.delete(id);
      await store.vault.delete(vaultName(id));
      if ((await store.settings.get()).cloudAccount === id) {
        const [next] = await store.accounts.all();
        await store.settings.set({ cloudAccount: next?.id ?? null });
      }
    },

    async brain(id) {
      const account = await store.accounts.get(id);
      if (!account) return null;
      const key = (await store.vault.get(vaultName(id))) ?? '';
      if (!key && presetOf(account.preset).needsKey) return null;
      const made = JSON.stringify([account, key]);
      const known = brains.get(id);
      if (known?.made === made) return known.brain;
      const brain = make(account, key);
      brains.set(id, { made, brain });
      brain.catch(() => brains.delete(id));
      return brain;
    },

    async startSignIn(preset, returnTo) {
      const { startSignIn } = await import('./signin.ts');
      return startSignIn(presetOf(preset), returnTo, store.vault, net.now());
    },

    async finishSignIn(query) {
      const { finishSignIn } = await import('./signin.ts');
      const signedIn = await finishSignIn(query, store.vault, net);
      if (!signedIn.ok) return signedIn;
      const preset = presetOf(signedIn.preset);
      // Signing in again renews the key of the account that is there.
      const known = (await store.accounts.all()).find(({ preset: id }) => id === preset.id);
      return keep(
        known ?? {
          id: crypto.randomUUID(),
          kind: preset.kind,
          preset: preset.id,
          label: preset.label,
          baseUrl: preset.baseUrl,
          model: preset.defaultModel,
          contextTokens: preset.contextTokens,
        },
        signedIn.key,
      );
    },
  };
}

/** A day of this device's calendar, as YYYY-MM-DD. */
function dayOf(ms: number): string {
  const at = new Date(ms);
  const two = (part: number): string => String(part).padStart(2, '0');
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
}

function vaultName(id: string): string {
  return `cloud:${id}`;
}

function failed(kind: BrainError['kind'], message: string, advice: string): Added {
  return { ok: false, error: { kind, message, advice } };
}

/** Asks for one word; the error that it meets, or null. */
async function tryOut(brain: Brain, now: number): Promise<BrainError | null> {
  const request = {
    system: 'Answer with one word.',
    now: new Date(now).toISOString().slice(0, 10),
    messages: [{ role: 'user', text: 'Say yes.' }],
    tools: [],
    toolChoice: 'none',
    maxTokens: 16,
  } as const;
  for await (const event of brain.stream(request, new AbortController().signal))
    if (event.type === 'end' && event.reason === 'error') return event.error;
  return null;
}
