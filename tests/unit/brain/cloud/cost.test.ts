/** What a cloud costs is counted wherever its answer goes, also where no provider says it. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createCloud } from '../../../../src/brain/cloud/accounts.ts';
import { costOf, counted } from '../../../../src/brain/cloud/cost.ts';
import type { Brain, BrainEvent } from '../../../../src/brain/brain.ts';
import { startCloud, type CloudServer } from '../../../servers/cloud.ts';
import { KEY, ask, collect, newStore } from './bench.ts';

let server: CloudServer;
beforeAll(async () => void (server = await startCloud()));
afterAll(() => server.close());

/** Noon, so that no time zone makes another day of it. */
const NOW = new Date(2026, 10, 30, 12).getTime();

async function account(model = 'strong') {
  const store = await newStore();
  const cloud = createCloud({ store, now: () => NOW });
  const added = await cloud.add({
    preset: 'other',
    kind: 'anthropic',
    label: 'My host',
    baseUrl: `${server.url}/v1`,
    model,
    key: KEY,
  });
  if (!added.ok) throw new Error(added.error.message);
  const spent = async (): Promise<number> => (await store.settings.get()).spent?.cost ?? 0;
  return { store, cloud, id: added.account.id, spent };
}

describe('what an answer costs', () => {
  const price = { input: 3, output: 15 };

  test('is what its provider says, before any price', () => {
    expect(costOf({ promptTokens: 1000, cost: 0.5 }, price)).toBe(0.5);
    expect(costOf({ cost: 0 }, price)).toBe(0);
  });

  test('is made of its tokens and the price, and unknown without either', () => {
    expect(costOf({ promptTokens: 1_000_000, outputTokens: 100_000 }, price)).toBe(4.5);
    expect(costOf({}, price)).toBe(0);
    expect(costOf({ promptTokens: 1000 }, undefined)).toBeUndefined();
  });
});

test('with a price that the person set, every answer is in the sum of the day and in its own figures', async () => {
  const { cloud, id, spent, store } = await account();
  expect(await spent()).toBe(0);
  await cloud.setPrice(id, { input: 1000, output: 2000 });
  const brain = await cloud.brain(id);
  const answer = await collect(brain!, ask('Say hello.'));
  const { promptTokens = 0, outputTokens = 0, cost = 0 } = answer.usage ?? {};
  expect(promptTokens).toBeGreaterThan(0);
  expect(cost).toBeCloseTo((promptTokens * 1000 + outputTokens * 2000) / 1e6);
  expect(await spent()).toBeCloseTo(cost);
  expect((await store.settings.get()).spent?.day).toBe('2026-11-30');
  await collect((await cloud.brain(id))!, ask('Say hello.'));
  expect(await spent()).toBeCloseTo(2 * cost);
  // Without a price nothing is made up.
  await cloud.setPrice(id, null);
  await collect((await cloud.brain(id))!, ask('Say hello.'));
  expect(await spent()).toBeCloseTo(2 * cost);
});

test('an answer that nobody waits for to its end is counted all the same', async () => {
  const { cloud, id, spent } = await account();
  await cloud.setPrice(id, { input: 1000, output: 2000 });
  const brain = await cloud.brain(id);
  for await (const event of brain!.stream(ask('Say hello.'), new AbortController().signal))
    if (event.type === 'usage') break;
  expect(await spent()).toBeGreaterThan(0);
});

describe('an answer that breaks off before its provider says what it used', () => {
  const price = { input: 1_000_000, output: 10_000_000 };
  /** Counts letters, writes `events`. */
  const brain = (events: readonly BrainEvent[]): Brain => ({
    describe: () => ({}) as ReturnType<Brain['describe']>,
    countTokens: (text) => text.length,
    async *stream() {
      yield* events;
    },
  });
  const costs = async (events: readonly BrainEvent[], request = ask('Say hello.')) => {
    let sum = 0;
    const told = await collect(
      counted(brain(events), price, async (cost) => void (sum += cost)),
      request,
    );
    return { sum, told: told.usage?.cost };
  };
  const aborted = { type: 'end', reason: 'aborted' } as const;
  const words = { type: 'text', text: 'Hel' } as const;

  test('is counted by what was read and written until then, pictures left out', async () => {
    const { sum, told } = await costs([words, aborted]);
    expect(told).toBe(sum);
    const more = await costs([words, { ...words, text: 'lo' }, aborted]);
    expect(more.sum - sum).toBe(20);
    expect(sum).toBeGreaterThan(30 + 'Say hello.'.length);
    const seen = ask('Say hello.');
    const images = [{ mime: 'image/png', data: 'A'.repeat(10_000) }];
    const messages = seen.messages.map((it) => (it.role === 'user' ? { ...it, images } : it));
    expect((await costs([words, aborted], { ...seen, messages })).sum).toBe(sum);
  });

  test('is counted by the provider’s figures as far as they came, and by its cost where that came', async () => {
    const begun = { type: 'usage', usage: { promptTokens: 7, outputTokens: 1 } } as const;
    expect((await costs([words, begun, aborted])).sum).toBe(7 + 30);
    const known = { type: 'usage', usage: { cost: 0.5 } } as const;
    expect((await costs([words, known, aborted])).sum).toBe(0.5);
  });

  test('costs nothing where nothing was written', async () => {
    const error = { kind: 'auth', message: 'No.', advice: '' } as const;
    expect((await costs([{ type: 'end', reason: 'error', error }])).sum).toBe(0);
  });
});

test('what the person says of a model in two places at once is all kept, and of one that is gone nothing', async () => {
  const { cloud, id, store } = await account();
  const price = { input: 1, output: 2 };
  await Promise.all([cloud.setImages(id, true), cloud.setPrice(id, price)]);
  expect(await store.accounts.get(id)).toMatchObject({ images: true, price });
  await Promise.all([cloud.setImages(id, false), store.accounts.delete(id)]);
  expect(await store.accounts.get(id)).toBeUndefined();
});
