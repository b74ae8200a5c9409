import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { App } from '../../../../src/app.ts';
import { lockWhenAway } from '../../../../src/ui/shell/away.ts';

const MINUTE = 60_000;
const stops: (() => void)[] = [];

/** A page that can be put out of sight, and a clock that moves only by `advance`. */
function pageStub() {
  const listeners = new Set<() => void>();
  const style = { visibility: '' };
  const page = {
    hidden: false,
    documentElement: { style },
    addEventListener: (_name: string, listener: () => void) => listeners.add(listener),
    removeEventListener: (_name: string, listener: () => void) => listeners.delete(listener),
  };
  vi.stubGlobal('document', page);
  return {
    covered: () => style.visibility === 'hidden',
    show(hidden: boolean) {
      page.hidden = hidden;
      for (const listener of listeners) listener();
    },
    listeners,
  };
}

function start(options: { lockAfterMs?: number | null; on?: boolean } = {}) {
  const page = pageStub();
  let { lockAfterMs, on = true } = options;
  let working = false;
  const told = new Set<() => void>();
  const order: string[] = [];
  const app = {
    lock: { on: () => on },
    settings: {
      get: async () => (lockAfterMs === undefined ? {} : { lockAfterMs }),
      subscribe(listener: () => void) {
        told.add(listener);
        return () => told.delete(listener);
      },
    },
    conversations: {
      working: () => working,
      async list() {
        order.push('stored');
        return [];
      },
    },
  } as unknown as App;
  const reload = vi.fn(() => order.push('locked'));
  const stop = lockWhenAway(app, reload);
  stops.push(stop);
  return {
    page,
    reload,
    order,
    stop,
    work: (now: boolean) => (working = now),
    turn: (now: boolean) => (on = now),
    set(ms: number | null) {
      lockAfterMs = ms;
      for (const listener of told) listener();
    },
  };
}

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  for (const stop of stops.splice(0)) stop();
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

describe('out of sight', () => {
  test('for five minutes, where nothing else was chosen, it locks; what was being stored is stored first', async () => {
    const { page, reload, order } = start();
    await pass(0);
    page.show(true);
    await pass(5 * MINUTE - 1);
    expect(reload).not.toHaveBeenCalled();
    await pass(1_001);
    expect(order).toEqual(['stored', 'locked']);
  });

  test('for less, it is covered and there again at once', async () => {
    const { page, reload } = start();
    await pass(0);
    page.show(true);
    expect(page.covered()).toBe(true);
    await pass(4 * MINUTE);
    page.show(false);
    expect(page.covered()).toBe(false);
    await pass(60 * MINUTE);
    expect(reload).not.toHaveBeenCalled();
    // The time begins anew.
    page.show(true);
    await pass(4 * MINUTE);
    page.show(false);
    expect(reload).not.toHaveBeenCalled();
  });

  test.each([
    [0, 1_001],
    [MINUTE, MINUTE + 1_001],
    [60 * MINUTE, 60 * MINUTE + 1_001],
  ])('for %d ms, where that was chosen, it locks', async (lockAfterMs, away) => {
    const { page, reload } = start({ lockAfterMs });
    await pass(0);
    page.show(true);
    await pass(Math.max(0, lockAfterMs - 1));
    expect(reload).toHaveBeenCalledTimes(lockAfterMs === 0 ? 1 : 0);
    await pass(away - lockAfterMs + 1);
    expect(reload).toHaveBeenCalledTimes(1);
  });

  test('for ever, where only closing locks, it stays open', async () => {
    const { page, reload } = start({ lockAfterMs: null });
    await pass(0);
    page.show(true);
    await pass(30 * 24 * 60 * MINUTE);
    page.show(false);
    expect(reload).not.toHaveBeenCalled();
    expect(page.covered()).toBe(false);
  });

  test('with a turn at work it waits until that has ended', async () => {
    const { page, reload, work } = start({ lockAfterMs: MINUTE });
    await pass(0);
    work(true);
    page.show(true);
    await pass(20 * MINUTE);
    expect(reload).not.toHaveBeenCalled();
    work(false);
    await pass(1_001);
    expect(reload).toHaveBeenCalledTimes(1);
  });

  test('with a turn at work, and shown again after the time, it locks at once and stays covered', async () => {
    const { page, reload, work } = start({ lockAfterMs: MINUTE });
    await pass(0);
    work(true);
    page.show(true);
    await pass(2 * MINUTE);
    page.show(false);
    expect(reload).toHaveBeenCalledTimes(1);
    expect(page.covered()).toBe(true);
  });

  test('while the page slept and no timer ran, or while the clock was set back, the time counts', async () => {
    const { page, reload } = start({ lockAfterMs: MINUTE });
    await pass(0);
    page.show(true);
    vi.setSystemTime(Date.now() + 2 * MINUTE);
    page.show(false);
    expect(reload).toHaveBeenCalledTimes(1);

    const back = start({ lockAfterMs: MINUTE });
    await pass(0);
    back.work(true);
    back.page.show(true);
    await pass(2 * MINUTE);
    vi.setSystemTime(Date.now() - 60 * MINUTE);
    back.page.show(false);
    expect(back.reload).toHaveBeenCalledTimes(1);
  });

  test('without a lock nothing happens, and one that is turned on meanwhile counts', async () => {
    const { page, reload, turn } = start({ on: false, lockAfterMs: 0 });
    await pass(0);
    page.show(true);
    expect(page.covered()).toBe(false);
    await pass(60 * MINUTE);
    page.show(false);
    expect(reload).not.toHaveBeenCalled();
    turn(true);
    page.show(true);
    await pass(1_001);
    expect(reload).toHaveBeenCalledTimes(1);
  });

  test('a time that is chosen anew counts from then on', async () => {
    const { page, reload, set } = start({ lockAfterMs: null });
    await pass(0);
    page.show(true);
    await pass(2 * MINUTE);
    set(MINUTE);
    await pass(1_001);
    expect(reload).toHaveBeenCalledTimes(1);
  });

  test('it locks once, and no more once it was ended', async () => {
    const { page, reload, stop } = start({ lockAfterMs: MINUTE });
    await pass(0);
    page.show(true);
    await pass(10 * MINUTE);
    page.show(false);
    page.show(true);
    expect(reload).toHaveBeenCalledTimes(1);
    stop();
    expect(page.listeners.size).toBe(0);
    expect(page.covered()).toBe(false);
  });
});
