/** What may leave the phone is read from the store at the last moment, whatever was known before. */
import { describe, expect, test } from 'vitest';
import type { Brain } from '../../../src/brain/brain.ts';
import { openSession, type Session } from '../../../src/agent/session.ts';
import { createGate } from '../../../src/policy/gate.ts';
import { createRouter } from '../../../src/router/router.ts';
import type { Conversation, Mode } from '../../../src/store/records.ts';
import type { Store } from '../../../src/store/store.ts';
import { conversation, freshStore } from '../store/helpers.ts';
import { scriptedBrain, textResult, toolboxOf } from './world.ts';

const free = { held: async () => false, free: async () => undefined };
const LOCKS = {
  ...free,
  async tryRun(_: string, work: () => Promise<void>) {
    await work();
    return true;
  },
};

async function world(mode: Mode, look: (store: Store) => Promise<void> = async () => undefined) {
  // Deaf: this tab hears nothing of what another one writes.
  const store = await freshStore();
  await store.conversations.put(conversation('c1', { mode }));
  const script = [{ calls: [{ name: 'look', args: {} }] }, { text: 'Done.' }];
  const phone = scriptedBrain(script);
  const cloud = scriptedBrain(script, 'cloud');
  const cloudSeat = { open: async (): Promise<Brain> => cloud };
  const router = createRouter({
    online: () => true,
    phone: async () => phone,
    cloud: () => cloudSeat.open(),
  });
  const session = await openSession('c1', {
    store,
    toolbox: toolboxOf({
      look: {
        readOnly: true,
        run: async () => {
          await look(store);
          return textResult('seen');
        },
      },
    }),
    router,
    gate: { ...createGate({ store }), judge: async () => ({ verdict: 'run', why: 'A test.' }) },
    resultText: (outcome) => JSON.stringify(outcome),
    locks: LOCKS,
    clock: () => Date.now(),
    breathe: async () => undefined,
    timeZone: () => 'UTC',
  });
  if (!session) throw new Error('no conversation');
  return { store, session, phone, cloud, cloudSeat };
}

/** As another tab does it: the session's own copy does not change by it. */
const behind = (store: Store, change: Partial<Conversation>): Promise<unknown> =>
  store.conversations.update('c1', (old) => ({ ...old, ...change }));

const ended = (session: Session): Promise<void> =>
  new Promise((resolve) => {
    const stop = session.subscribe(({ activity, messages }) => {
      const { state } = messages.at(-1)?.message ?? {};
      if (activity.kind !== 'idle' || messages.length < 2 || state === 'running') return;
      stop();
      resolve();
    });
  });

const places = (session: Session): string[] =>
  session
    .view()
    .messages.flatMap(({ parts }) =>
      parts.map((part) => (part.kind === 'route' ? part.place : '')).filter(Boolean),
    );

describe('a turn in the cloud', () => {
  test.each<[string, Partial<Conversation>]>([
    ['another tab switches to the phone', { mode: 'phone' }],
    ['a private result comes in elsewhere', { private: true }],
  ])('ends there from the step on before which %s', async (_, change) => {
    const { session, cloud, phone } = await world('cloud', (store) =>
      behind(store, change).then(() => undefined),
    );
    await session.send('Look');
    await ended(session);
    expect(cloud.requests).toHaveLength(1);
    expect(phone.requests).toHaveLength(change.mode ? 2 : 0);
    if (change.private)
      expect(session.view().messages.at(-1)?.parts.at(-1)).toMatchObject({
        kind: 'notice',
        text: expect.stringContaining('stays on this phone'),
      });
  });

  test.each<[string, Partial<Conversation>]>([
    ['another tab switches to the phone', { mode: 'phone' }],
    ['a private result comes in elsewhere', { private: true }],
  ])('does not begin where %s while its brain is being chosen', async (_, change) => {
    const { session, cloud, cloudSeat, store } = await world('cloud');
    cloudSeat.open = async () => {
      await behind(store, change);
      return cloud;
    };
    await session.send('Look');
    await ended(session);
    expect(cloud.requests).toEqual([]);
    expect(places(session)[0]).toBe('cloud');
  });

  test('does not begin where the mode was switched before and this tab has not heard of it', async () => {
    const { session, cloud, phone, store } = await world('cloud');
    await behind(store, { mode: 'phone' });
    await session.send('Look');
    await ended(session);
    expect(cloud.requests).toEqual([]);
    expect(phone.requests).toHaveLength(2);
  });
});

test('a summary is written where the conversation may be read by now', async () => {
  const { session, cloud, phone, store } = await world('phone');
  await session.send('Look');
  await ended(session);
  // As if the model had not been shown the oldest turn any more.
  const view = session.view().messages.at(-1)!;
  const at = view.parts.findLastIndex((part) => part.kind === 'route');
  const route = view.parts[at];
  if (route?.kind !== 'route' || !route.context) throw new Error('no route');
  const dropped = { ...route, context: { ...route.context, dropped: 1 } };
  await store.messages.putPart(view.message, at, dropped);
  await behind(store, { mode: 'cloud' });
  const again = await openSession('c1', {
    store,
    toolbox: toolboxOf({}),
    router: createRouter({
      online: () => true,
      phone: async () => phone,
      cloud: async () => {
        await behind(store, { private: true });
        return cloud;
      },
    }),
    gate: createGate({ store }),
    resultText: () => '',
    locks: LOCKS,
    clock: () => Date.now(),
    breathe: async () => undefined,
    timeZone: () => 'UTC',
  });
  const trouble = await again?.summarise();
  expect(trouble?.message).toContain('stays on this phone');
  expect(cloud.requests).toEqual([]);
});
