import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createReminders, type Due } from '../../../src/phone/reminders.ts';
import type { Reminder } from '../../../src/store/records.ts';
import type { Store } from '../../../src/store/store.ts';
import { newStore } from '../mcp/setup.ts';

const START = Date.parse('2026-11-29T08:00:00Z');

/** A watch with a clock and a page of the test's own. */
async function watched(store?: Store) {
  const own = store ?? (await newStore());
  const said: Due[][] = [];
  let show = () => {};
  const reminders = createReminders({
    store: own,
    now: () => Date.now(),
    onVisible: (listener) => {
      show = listener;
      return () => {
        show = () => {};
      };
    },
  });
  return {
    store: own,
    reminders,
    said,
    listen: () => reminders.subscribe((due) => said.push([...due])),
    show: () => show(),
  };
}

const reminder = (id: string, at: number, state: Reminder['state'] = 'waiting'): Reminder => ({
  id,
  text: `text ${id}`,
  at,
  createdAt: START,
  state,
});

beforeEach(() => {
  // The database keeps its own time.
  vi.useFakeTimers({ now: START, toFake: ['Date', 'setTimeout', 'clearTimeout'] });
});
afterEach(() => {
  vi.useRealTimers();
});

const texts = (said: Due[][]) => said.map((due) => due.map(({ id }) => id));

/** Lets the database answer, which takes turns of the real event loop. */
async function settle(check: () => boolean): Promise<void> {
  for (let turn = 0; turn < 2_000 && !check(); turn += 1)
    await new Promise((resolve) => setImmediate(resolve));
  expect(check()).toBe(true);
}

describe('reminders', () => {
  it('that became due while the app was closed are said when it opens, once', async () => {
    const { store, listen, said } = await watched();
    await store.reminders.put(reminder('late', START - 5_000));
    await store.reminders.put(reminder('later', START - 1_000));
    await store.reminders.put(reminder('done', START - 9_000, 'dismissed'));
    const stop = listen();
    await settle(() => said.length > 0);
    expect(texts(said)).toEqual([['late', 'later']]);
    expect((await store.reminders.get('late'))?.state).toBe('shown');
    stop();
    const again = await watched(store);
    again.listen();
    await store.reminders.put(reminder('fresh', START - 1));
    await settle(() => again.said.length > 0);
    expect(texts(again.said)).toEqual([['fresh']]);
  });

  it('are said at their time', async () => {
    const { store, listen, said } = await watched();
    await store.reminders.put(reminder('soon', START + 60_000));
    listen();
    await settle(() => vi.getTimerCount() === 1);
    vi.advanceTimersByTime(59_000);
    expect(said).toEqual([]);
    vi.advanceTimersByTime(1_000);
    await settle(() => said.length > 0);
    expect(texts(said)).toEqual([['soon']]);
  });

  it('that are added while it watches are watched, too', async () => {
    const { store, listen, said } = await watched();
    listen();
    await store.reminders.put(reminder('new', START + 1_000));
    await settle(() => vi.getTimerCount() === 1);
    vi.advanceTimersByTime(1_000);
    await settle(() => said.length > 0);
    expect(texts(said)).toEqual([['new']]);
  });

  it('are looked at again when the page comes back, because timers sleep with the phone', async () => {
    const { store, listen, said, show } = await watched();
    await store.reminders.put(reminder('slept', START + 60_000));
    listen();
    await settle(() => vi.getTimerCount() === 1);
    vi.setSystemTime(START + 120_000);
    show();
    await settle(() => said.length > 0);
    expect(texts(said)).toEqual([['slept']]);
  });

  it('far away do not overflow the timer', async () => {
    const { store, listen, said } = await watched();
    const days = 40 * 86_400_000;
    await store.reminders.put(reminder('far', START + days));
    listen();
    await settle(() => vi.getTimerCount() === 1);
    vi.advanceTimersByTime(1_000);
    expect(said).toEqual([]);
    expect(vi.getTimerCount()).toBe(1);
  });

  it('are said by one of two tabs', async () => {
    const one = await watched();
    const two = await watched(one.store);
    await one.store.reminders.put(reminder('once', START - 1));
    one.listen();
    two.listen();
    await settle(() => one.said.length + two.said.length > 0);
    await one.store.reminders.put(reminder('twice', START - 1));
    await settle(() => one.said.length + two.said.length > 1);
    expect([...texts(one.said), ...texts(two.said)].sort()).toEqual([['once'], ['twice']]);
  });

  it('are listed until they are dismissed, and nobody is told after the end', async () => {
    const { store, reminders, listen, said } = await watched();
    await store.reminders.put(reminder('b', START + 2));
    await store.reminders.put(reminder('a', START + 1));
    expect((await reminders.list()).map(({ id }) => id)).toEqual(['a', 'b']);
    await reminders.dismiss('a');
    expect((await reminders.list()).map(({ id }) => id)).toEqual(['b']);
    const stop = listen();
    await settle(() => vi.getTimerCount() === 1);
    stop();
    expect(vi.getTimerCount()).toBe(0);
    expect(said).toEqual([]);
  });

  it('become a calendar file', async () => {
    const { store, reminders } = await watched();
    await store.reminders.put(reminder('x', START));
    const file = await reminders.ics('x');
    expect(file?.type).toBe('text/calendar');
    expect(await file?.text()).toContain('SUMMARY:text x\r\n');
    expect(await reminders.ics('none')).toBeNull();
  });
});
