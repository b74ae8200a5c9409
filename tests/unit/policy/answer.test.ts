import { afterEach, describe, expect, test, vi } from 'vitest';
import { createGate } from '../../../src/policy/gate.ts';
import { openStore } from '../../../src/store/open.ts';
import { asked, freshGate, question } from './helpers.ts';

const never = () => new AbortController().signal;

afterEach(() => {
  vi.useRealTimers();
});

describe('an answer', () => {
  test('given before anyone waits is there at once', async () => {
    const { gate } = await freshGate();
    await gate.decide(question('k'), { allow: false, scope: 'once', reason: 'Too dear' });
    expect(await gate.answer(asked('k'), never())).toEqual({
      allow: false,
      scope: 'once',
      reason: 'Too dear',
    });
  });

  test('reaches everyone who waits', async () => {
    const { gate } = await freshGate();
    const waiting = [gate.answer(asked('k'), never()), gate.answer(asked('k'), never())];
    await gate.decide(question('other'), { allow: true, scope: 'once' });
    await gate.decide(question('k'), { allow: true, scope: 'once' });
    expect(await Promise.all(waiting)).toEqual([
      { allow: true, scope: 'once' },
      { allow: true, scope: 'once' },
    ]);
  });

  test('that falls between the look and its result is not missed', async () => {
    const { store } = await freshGate();
    let release = () => {};
    const held = new Promise<void>((resolve) => (release = resolve));
    let looks = 0;
    const gate = createGate({
      store: {
        ...store,
        decisions: {
          ...store.decisions,
          get: async (callId) => {
            const found = await store.decisions.get(callId);
            // The first look has read "none" and is slow to say so.
            if (looks++ === 0) await held;
            return found;
          },
        },
      },
    });
    const waiting = gate.answer(asked('k'), never());
    await vi.waitFor(() => expect(looks).toBe(1));
    await gate.decide(question('k'), { allow: true, scope: 'once' });
    expect(await waiting).toEqual({ allow: true, scope: 'once' });
    release();
  });

  test('taken in another tab arrives over the channel', async () => {
    const name = `tabs-${process.pid}`;
    const [here, there] = [await openStore({ name }), await openStore({ name })];
    const waiting = createGate({ store: here }).answer(asked('k'), never());
    await createGate({ store: there }).decide(question('k'), { allow: true, scope: 'always' });
    expect(await waiting).toEqual({ allow: true, scope: 'always' });
    here.close();
    there.close();
  });

  test('of a tab that was killed before it could tell is found all the same', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const { gate, store } = await freshGate();
    const silent = createGate({
      store: { ...store, changes: { subscribe: () => () => {}, announce: () => {} } },
    });
    const waiting = silent.answer(asked('k'), never());
    await gate.decide(question('k'), { allow: true, scope: 'once' });
    vi.advanceTimersByTime(5_000);
    expect(await waiting).toEqual({ allow: true, scope: 'once' });
  });

  test('that is no longer waited for rejects with the reason, before and while waiting', async () => {
    const { gate } = await freshGate();
    const reason = new Error('stopped');
    await expect(gate.answer(asked('k'), AbortSignal.abort(reason))).rejects.toBe(reason);
    const controller = new AbortController();
    const waiting = gate.answer(asked('k'), controller.signal);
    controller.abort(reason);
    await expect(waiting).rejects.toBe(reason);
  });

  test('leaves no listener behind', async () => {
    const { store } = await freshGate();
    let listeners = 0;
    const gate = createGate({
      store: {
        ...store,
        changes: {
          ...store.changes,
          subscribe: (listener) => {
            listeners++;
            const off = store.changes.subscribe(listener);
            return () => {
              listeners--;
              off();
            };
          },
        },
      },
    });
    const controller = new AbortController();
    const aborted = gate.answer(asked('a'), controller.signal);
    const answered = gate.answer(asked('k'), never());
    controller.abort(new Error('stopped'));
    await expect(aborted).rejects.toThrow('stopped');
    await gate.decide(question('k'), { allow: true, scope: 'once' });
    await answered;
    expect(listeners).toBe(0);
  });
});

describe('a decision', () => {
  test('is taken exactly once, and only the one that stands leaves a grant', async () => {
    const { gate, store } = await freshGate();
    const results = await Promise.all(
      Array.from({ length: 10 }, (_, i) =>
        gate.decide(question('k'), {
          allow: i % 2 === 0,
          scope: i < 5 ? 'always' : 'conversation',
        }),
      ),
    );
    expect(results.filter(Boolean)).toHaveLength(1);
    const won = results.indexOf(true);
    expect(await gate.answer(asked('k'), never())).toMatchObject({ allow: won % 2 === 0 });
    const grants = await store.grants.all();
    expect(grants).toHaveLength(1);
    expect(grants[0]).toMatchObject({
      server: 's1',
      tool: 'save_trip',
      pin: 'pin-1',
      verdict: won % 2 === 0 ? 'allow' : 'deny',
    });
  });

  test('that came too late changes nothing', async () => {
    const { gate, store } = await freshGate();
    expect(await gate.decide(question('k'), { allow: false, scope: 'once' })).toBe(true);
    expect(await gate.decide(question('k'), { allow: true, scope: 'always' })).toBe(false);
    expect(await gate.answer(asked('k'), never())).toEqual({ allow: false, scope: 'once' });
    expect(await store.grants.all()).toEqual([]);
  });

  test('replaces the grant of the same tool and scope', async () => {
    const { gate, store } = await freshGate();
    await gate.decide(question('k1'), { allow: true, scope: 'always' });
    await gate.decide(question('k2', { pin: 'pin-2' }), { allow: false, scope: 'always' });
    expect(await store.grants.all()).toMatchObject([{ pin: 'pin-2', verdict: 'deny' }]);
  });
});
