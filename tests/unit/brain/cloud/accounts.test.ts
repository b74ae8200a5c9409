/** Accounts: tried before they are stored, their keys in the vault alone. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createCloud } from '../../../../src/brain/cloud/accounts.ts';
import type { NewAccount } from '../../../../src/brain/cloud/types.ts';
import type { Store } from '../../../../src/store/store.ts';
import { startCloud, type CloudServer } from '../../../servers/cloud.ts';
import { KEY, WIRES, ask, collect, newStore } from './bench.ts';

let server: CloudServer;
let open: CloudServer;
beforeAll(async () => {
  server = await startCloud();
  open = await startCloud({ needsKey: false });
});
afterAll(async () => {
  await server.close();
  await open.close();
});

const entry = (change: Partial<NewAccount> = {}): NewAccount => ({
  preset: 'other',
  kind: 'openai',
  label: 'My host',
  baseUrl: `${server.url}/v1`,
  model: 'strong',
  key: KEY,
  ...change,
});

async function cloudWith(options: Partial<Parameters<typeof createCloud>[0]> = {}) {
  const store = await newStore();
  return { store, cloud: createCloud({ store, ...options }) };
}

async function nothingStored(store: Store): Promise<boolean> {
  return (
    (await store.accounts.all()).length === 0 && (await store.settings.get()).cloudAccount === null
  );
}

describe('adding', () => {
  test.each(WIRES)('tries the key once with a tiny request: $kind', async ({ kind, path }) => {
    const { cloud, store } = await cloudWith();
    const before = server.requests.length;
    const added = await cloud.add(entry({ kind, baseUrl: server.url + path }));
    if (!added.ok) throw new Error(added.error.message);
    expect(server.requests.length - before).toBe(1);
    expect(JSON.stringify(server.requests.at(-1)!.body).length).toBeLessThan(400);
    expect(await cloud.accounts()).toEqual([added.account]);
    expect(JSON.stringify(await store.accounts.all())).not.toContain(KEY);
    expect(await store.vault.get(`cloud:${added.account.id}`)).toBe(KEY);

    const brain = await cloud.brain(added.account.id);
    expect(brain!.describe()).toMatchObject({
      id: `cloud:${added.account.id}:strong`,
      place: 'cloud',
      model: 'strong',
      label: 'strong, My host',
    });
    expect((await collect(brain!, ask('Say hello.'))).text).toBe('Hello.');
  });

  test('makes the first account the one that Cloud uses, and no later one', async () => {
    const { cloud, store } = await cloudWith();
    const first = await cloud.add(entry());
    await cloud.add(entry({ label: 'Second' }));
    expect((await store.settings.get()).cloudAccount).toBe(first.ok && first.account.id);
  });

  test('takes a key with spaces around it, and an address without its path', async () => {
    const { cloud } = await cloudWith();
    const added = await cloud.add(entry({ key: ` ${KEY}\n`, baseUrl: `${server.url}/` }));
    expect(added).toMatchObject({ ok: true, account: { baseUrl: `${server.url}/v1` } });
  });

  test('needs no key where the host wants none', async () => {
    const { cloud } = await cloudWith();
    const added = await cloud.add(entry({ preset: 'ollama', key: '', baseUrl: `${open.url}/v1` }));
    expect(added.ok).toBe(true);
    expect(open.requests.at(-1)!.headers).not.toHaveProperty('authorization');
    expect(added.ok && (await cloud.brain(added.account.id))).toBeTruthy();
  });

  test.each([
    ['a key that is refused', { key: 'bad-key-0123456789' }, 'auth', /refused the key/],
    ['no key where one is needed', { preset: 'openai', key: '' }, 'auth', /key is empty/],
    ['no key where the host wants one', { key: '' }, 'auth', /wants a key/],
    ['a key with a space in it', { key: 'abc def' }, 'auth', /character that no key has/],
    ['no model', { model: ' ' }, 'model', /id is empty/],
    ['an unknown model', { model: 'missing' }, 'model', /no model "missing"/],
    ['no address', { baseUrl: '' }, 'protocol', /address is empty/],
    ['an address that is none', { baseUrl: 'no such thing' }, 'protocol', /not an address/],
    ['http to far away', { baseUrl: 'http://example.com/v1' }, 'protocol', /unprotected/],
  ] as const)('stores nothing for %s', async (_name, change, kind, words) => {
    const { cloud, store } = await cloudWith();
    const added = await cloud.add(entry(change));
    expect(added).toMatchObject({
      ok: false,
      error: { kind, message: expect.stringMatching(words) },
    });
    expect(await nothingStored(store)).toBe(true);
    if (change && 'key' in change && change.key)
      expect(JSON.stringify(added)).not.toContain(change.key);
  });
});

describe('a stored account', () => {
  test('keeps one brain until its account or key changes', async () => {
    const { cloud, store } = await cloudWith();
    const added = await cloud.add(entry());
    if (!added.ok) throw new Error('not added');
    const { id } = added.account;
    const brain = await cloud.brain(id);
    expect(await cloud.brain(id)).toBe(brain);
    await store.vault.set(`cloud:${id}`, 'another-key');
    expect(await cloud.brain(id)).not.toBe(brain);
  });

  test('has no brain where its key is gone or it does not exist', async () => {
    const { cloud, store } = await cloudWith();
    expect(await cloud.brain('nobody')).toBeNull();
    await store.accounts.put({
      id: 'imported',
      kind: 'openai',
      preset: 'openai',
      label: 'OpenAI',
      baseUrl: `${server.url}/v1`,
      model: 'strong',
      contextTokens: 1000,
    });
    expect(await cloud.brain('imported')).toBeNull();
  });

  test('is removed with its key, and the next one takes its place', async () => {
    const { cloud, store } = await cloudWith();
    const first = await cloud.add(entry());
    const second = await cloud.add(entry({ label: 'Second' }));
    if (!first.ok || !second.ok) throw new Error('not added');
    await cloud.remove(first.account.id);
    expect(await store.vault.has(`cloud:${first.account.id}`)).toBe(false);
    expect((await store.settings.get()).cloudAccount).toBe(second.account.id);
    await cloud.remove(second.account.id);
    expect(await nothingStored(store)).toBe(true);
    expect(await cloud.brain(second.account.id)).toBeNull();
  });
});

test('every preset has a usable address, and only those that run at home need no key', async () => {
  const { cloud } = await cloudWith();
  const presets = cloud.presets();
  expect(presets.map(({ id }) => id)).toEqual(
    expect.arrayContaining([
      'openrouter',
      'openai',
      'anthropic',
      'gemini',
      'mistral',
      'ollama',
      'lmstudio',
      'llamacpp',
      'other',
    ]),
  );
  for (const preset of presets) {
    if (preset.id === 'other') continue;
    expect(new URL(preset.baseUrl).protocol).toBe(preset.needsKey ? 'https:' : 'http:');
    expect(preset.defaultModel).not.toBe('');
    expect(Boolean(preset.keyUrl)).toBe(preset.needsKey);
  }
});

test('tokens are over-estimated slightly, never under', async () => {
  const { cloud } = await cloudWith();
  const added = await cloud.add(entry());
  const brain = added.ok ? await cloud.brain(added.account.id) : null;
  expect(brain!.countTokens('')).toBe(0);
  // 10 tokens in the vocabularies of 2024 and later.
  expect(brain!.countTokens('The quick brown fox jumps over the lazy dog.')).toBeGreaterThanOrEqual(
    10,
  );
  expect(brain!.countTokens('नमस्ते')).toBeGreaterThanOrEqual(3);
});
