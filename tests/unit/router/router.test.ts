/** The router's rules, over every combination of what it can be told. */
import { describe, expect, test } from 'vitest';
import type { Brain } from '../../../src/brain/brain.ts';
import { createRouter } from '../../../src/router/router.ts';
import type { Route, RouteContext } from '../../../src/router/types.ts';
import type { Mode } from '../../../src/store/records.ts';

type Model = 'none' | 'small' | 'large';

interface Case {
  readonly mode: Mode;
  readonly forced?: 'phone' | 'cloud';
  readonly online: boolean;
  readonly private: boolean;
  readonly phone: Model;
  readonly cloud: Model;
  readonly after?: RouteContext['after'];
}

const PROMPT = 2_000;
const WINDOWS = { small: 1_000, large: 100_000 } as const;

function brain(place: 'phone' | 'cloud', model: Model): Brain | null {
  if (model === 'none') return null;
  return {
    describe: () => ({
      id: `${place}:${model}`,
      place,
      model,
      label: `the ${place} model`,
      contextTokens: WINDOWS[model],
      maxTools: 8,
      can: { tools: true, images: false, schema: true },
    }),
    stream: () => {
      throw new Error('a router never asks a model');
    },
    countTokens: () => 0,
  };
}

function choose(given: Case): Promise<Route> {
  return createRouter({
    phone: () => Promise.resolve(brain('phone', given.phone)),
    cloud: () => Promise.resolve(brain('cloud', given.cloud)),
    online: () => given.online,
  }).choose({
    mode: given.mode,
    private: given.private,
    promptTokens: PROMPT,
    ...(given.forced ? { forced: given.forced } : {}),
    ...(given.after ? { after: given.after } : {}),
  });
}

const place = (route: Route) => (route.ok ? route.brain.describe().place : route.code);

const MODELS: readonly Model[] = ['none', 'small', 'large'];
const AFTER: readonly RouteContext['after'][] = [
  undefined,
  ...(['phone', 'cloud'] as const).flatMap((where) =>
    (['bad-call', 'repeat', 'error'] as const).map((why) => ({ place: where, why })),
  ),
];

function* every(): Generator<Case> {
  for (const mode of ['phone', 'auto', 'cloud'] as const)
    for (const forced of [undefined, 'phone', 'cloud'] as const)
      for (const online of [true, false])
        for (const isPrivate of [true, false])
          for (const phone of MODELS)
            for (const cloud of MODELS)
              for (const after of AFTER)
                yield { mode, forced, online, private: isPrivate, phone, cloud, after };
}

/** What the design says, written as one rule after the other. */
function expected(given: Case): string {
  const { forced, mode, after, online } = given;
  const phone = given.phone === 'none' ? 'no-model' : given.phone === 'small' ? 'window' : 'phone';
  const cloud = !online
    ? 'offline'
    : given.private && forced !== 'cloud'
      ? 'private'
      : given.cloud === 'none'
        ? 'no-key'
        : given.cloud === 'small'
          ? 'window'
          : 'cloud';
  const only = forced ?? (mode === 'auto' ? undefined : mode);
  if (only) {
    if (after?.place === only) return 'no-handover';
    return only === 'phone' ? phone : cloud;
  }
  if (after) return after.place === 'cloud' ? 'no-handover' : cloud;
  if (phone === 'phone') return 'phone';
  if (cloud === 'cloud') return 'cloud';
  if (phone === 'window') return 'window';
  return cloud === 'no-key' ? 'no-model' : cloud;
}

describe('every combination', () => {
  const cases = [...every()];

  test('is decided as the rules say', async () => {
    for (const given of cases)
      expect(place(await choose(given)), JSON.stringify(given)).toBe(expected(given));
    expect(cases.length).toBe(3 * 3 * 2 * 2 * 3 * 3 * 7);
  });

  test('has its sentences', async () => {
    for (const given of cases) {
      const route = await choose(given);
      const sentences = route.ok ? [route.reason] : [route.message, route.advice];
      for (const sentence of sentences)
        expect(sentence, JSON.stringify(given)).toMatch(/^[A-Z].*\.$/);
      if (route.ok) expect(route.rule).toMatch(/^[a-z-]+$/);
    }
  });

  test('keeps its promises', async () => {
    for (const given of cases) {
      const where = place(await choose(given));
      const about = JSON.stringify(given);
      if (where !== 'cloud') continue;
      expect(given.online, about).toBe(true);
      expect(given.mode === 'phone' && given.forced !== 'cloud', about).toBe(false);
      expect(given.private && given.forced !== 'cloud', about).toBe(false);
      expect(given.cloud, about).toBe('large');
    }
  });
});

const base: Case = { mode: 'auto', online: true, private: false, phone: 'large', cloud: 'large' };

describe('the reason', () => {
  test.each<[string, Partial<Case>, string, string]>([
    ['Auto prefers the phone', {}, 'auto', 'Auto asks the phone’s own model first.'],
    [
      'no model',
      { phone: 'none' },
      'no-model',
      'There is no model on this phone. So the cloud takes this step.',
    ],
    [
      'too long',
      { phone: 'small' },
      'window',
      'This conversation is too long for the phone model: about 2000 tokens, and 1000 fit. So the cloud takes this step.',
    ],
    [
      'a bad call',
      { after: { place: 'phone', why: 'bad-call' } },
      'bad-call',
      'The phone’s model did not get a tool call right. So the cloud takes this step.',
    ],
    [
      'going round',
      { after: { place: 'phone', why: 'repeat' } },
      'repeat',
      'The phone’s model went round in circles. So the cloud takes this step.',
    ],
    [
      'no memory',
      { after: { place: 'phone', why: 'error', kind: 'memory' } },
      'error',
      'The phone’s model ran out of memory. So the cloud takes this step.',
    ],
    ['Phone', { mode: 'phone' }, 'mode', 'Phone is chosen: nothing leaves this phone.'],
    ['Cloud', { mode: 'cloud' }, 'mode', 'Cloud is chosen for this conversation.'],
    [
      'the person',
      { mode: 'phone', forced: 'cloud' },
      'forced',
      'You sent this turn to the cloud.',
    ],
  ])('%s', async (_name, change, rule, reason) => {
    expect(await choose({ ...base, ...change })).toMatchObject({ ok: true, rule, reason });
  });
});

describe('a refusal', () => {
  test.each<[string, Partial<Case>, string, RegExp, RegExp]>([
    [
      'private in Cloud',
      { mode: 'cloud', private: true },
      'private',
      /stays on this phone/,
      /send this one turn to the cloud yourself/,
    ],
    [
      'offline in Cloud',
      { mode: 'cloud', online: false },
      'offline',
      /no network/,
      /let the phone/,
    ],
    [
      'a bad call in Phone',
      { mode: 'phone', after: { place: 'phone', why: 'bad-call' } },
      'no-handover',
      /tool call right\. Phone is chosen/,
      /send this turn to the cloud/,
    ],
    [
      'a bad call in Auto, offline',
      { online: false, after: { place: 'phone', why: 'bad-call' } },
      'offline',
      /tool call right\. There is no network/,
      /other words/,
    ],
    [
      'a bad call in Auto, private',
      { private: true, after: { place: 'phone', why: 'bad-call' } },
      'private',
      /stays on this phone/,
      /send this one turn/,
    ],
    [
      'a bad call in Auto, no key',
      { cloud: 'none', after: { place: 'phone', why: 'bad-call' } },
      'no-key',
      /no cloud key/,
      /add a cloud key/,
    ],
    [
      'nothing at all',
      { phone: 'none', cloud: 'none' },
      'no-model',
      /no model on this phone\. There is no cloud key/,
      /Download a model, or add a cloud key/,
    ],
    [
      'no model, offline',
      { phone: 'none', online: false },
      'offline',
      /no model on this phone\. There is no network/,
      /Go online/,
    ],
    [
      'the cloud failed in Auto',
      { after: { place: 'cloud', why: 'error', kind: 'stalled' } },
      'no-handover',
      /cloud’s model stood still/,
      /send this turn to the phone/,
    ],
  ])('%s', async (_name, change, code, message, advice) => {
    expect(await choose({ ...base, ...change })).toMatchObject({
      ok: false,
      code,
      message: expect.stringMatching(message),
      advice: expect.stringMatching(advice),
    });
  });
});

test('the cloud is not even looked at in Phone mode', async () => {
  const router = createRouter({
    phone: () => Promise.resolve(brain('phone', 'large')),
    cloud: () => Promise.reject(new Error('asked for the cloud')),
    online: () => {
      throw new Error('asked for the network');
    },
  });
  const route = await router.choose({ mode: 'phone', private: false, promptTokens: 10 });
  expect(place(route)).toBe('phone');
});

test('room is left for an answer', async () => {
  const given = (promptTokens: number) =>
    createRouter({
      phone: () => Promise.resolve(brain('phone', 'small')),
      cloud: () => Promise.resolve(null),
      online: () => true,
    }).choose({ mode: 'phone', private: false, promptTokens });
  expect((await given(744)).ok).toBe(true);
  expect((await given(745)).ok).toBe(false);
});

describe('a message with pictures', () => {
  const seeing = (place: 'phone' | 'cloud', images: boolean): Brain => {
    const made = brain(place, 'large')!;
    const info = { ...made.describe(), can: { tools: true, images, schema: true } };
    return { ...made, describe: () => info };
  };
  const route = (
    change: Partial<RouteContext>,
    { phone = false, cloud = true as boolean | null, online = true } = {},
  ) =>
    createRouter({
      phone: async () => seeing('phone', phone),
      cloud: async () => (cloud === null ? null : seeing('cloud', cloud)),
      online: () => online,
    }).choose({ mode: 'auto', private: false, promptTokens: 10, pictures: 1, ...change });
  const told = (choice: Route) => (choice.ok ? choice.notice : undefined);

  test('goes to the cloud in Auto where the phone’s model cannot see, with its reason', async () => {
    expect(await route({ pictures: 2 })).toMatchObject({
      ok: true,
      rule: 'images',
      reason:
        'Your message has 2 pictures, which the phone’s model cannot see. So the cloud takes this step.',
    });
    expect(place(await route({}))).toBe('cloud');
    expect(told(await route({}))).toBeUndefined();
  });

  test('stays on a phone that can see, and without pictures nothing changes', async () => {
    expect(place(await route({}, { phone: true }))).toBe('phone');
    expect(told(await route({}, { phone: true }))).toBeUndefined();
    expect(place(await route({ pictures: 0 }))).toBe('phone');
    expect(told(await route({ pictures: 0 }))).toBeUndefined();
  });

  test.each([
    ['private', { private: true }, {}, /stays on this phone/],
    ['offline', {}, { online: false }, /when you are online/],
    ['no key', {}, { cloud: null }, /Add a cloud model/],
    ['a cloud that is blind, too', {}, { cloud: false }, /Choose a cloud model that can see/],
    ['Phone', { mode: 'phone' as const }, {}, /Send this turn to a cloud model/],
    ['sent to the phone', { forced: 'phone' as const }, {}, /Send this turn to a cloud model/],
  ])('stays on the phone and says so: %s', async (_, context, ports, advice) => {
    const choice = await route(context, ports);
    expect(place(choice)).toBe('phone');
    expect(told(choice)?.text).toBe(
      'the phone model cannot see pictures. It is told only that there is one in your message.',
    );
    expect(told(choice)?.advice).toMatch(advice);
  });

  test('a cloud that was chosen and cannot see says so, and what to do', async () => {
    for (const context of [{ mode: 'cloud' }, { forced: 'cloud' }] as const) {
      const choice = await route(context, { cloud: false });
      expect(place(choice)).toBe('cloud');
      expect(told(choice)?.advice).toBe(
        'Choose a cloud model that can see, or say under Cloud models that this one can.',
      );
    }
    const handed = await route({ after: { place: 'phone', why: 'error' } }, { cloud: false });
    expect(told(handed)?.text).toContain('the cloud model cannot see pictures');
  });
});
