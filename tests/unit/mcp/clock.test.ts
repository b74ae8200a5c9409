import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createClocks } from '../../../src/mcp/clock.ts';
import { never } from './setup.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** A question that is answered when the test says so. */
function question() {
  let answer = () => {};
  const promise = new Promise<void>((resolve) => {
    answer = resolve;
  });
  const seen: { signal?: AbortSignal } = {};
  const ask = (signal: AbortSignal) => {
    seen.signal = signal;
    return promise;
  };
  return { ask, answer: () => answer(), seen };
}

describe('the clock of a call', () => {
  it('runs out after silence, and each sign of life starts it anew', () => {
    const clock = createClocks().start(1_000, 10_000, never());
    vi.advanceTimersByTime(900);
    clock.touch();
    vi.advanceTimersByTime(900);
    expect(clock.signal.aborted).toBe(false);
    vi.advanceTimersByTime(100);
    expect(clock.signal.aborted).toBe(true);
    expect(clock.late()).toBe(true);
  });

  it('runs out at its ceiling, whatever signs of life come', () => {
    const clock = createClocks().start(1_000, 2_000, never());
    for (let step = 0; step < 4; step += 1) {
      vi.advanceTimersByTime(500);
      clock.touch();
    }
    expect(clock.late()).toBe(true);
  });

  it('counts silence only, where it has no bound', () => {
    const clock = createClocks().start(1_000, 2_000, never());
    clock.unbound();
    for (let step = 0; step < 9; step += 1) {
      vi.advanceTimersByTime(500);
      clock.touch();
    }
    expect(clock.late()).toBe(false);
    vi.advanceTimersByTime(1_000);
    expect(clock.late()).toBe(true);
  });

  it('follows the caller, and is not late then', () => {
    const stop = new AbortController();
    const clock = createClocks().start(1_000, 2_000, stop.signal);
    stop.abort();
    expect(clock.signal.aborted).toBe(true);
    expect(clock.late()).toBe(false);
  });

  it('stops at its end', () => {
    const clock = createClocks().start(1_000, 2_000, never());
    clock.end();
    vi.advanceTimersByTime(5_000);
    expect(clock.signal.aborted).toBe(false);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('stands still while a person is asked, as long as any question is open', async () => {
    const clocks = createClocks();
    const clock = clocks.start(1_000, 2_000, never());
    vi.advanceTimersByTime(600);
    const [one, two] = [question(), question()];
    const both = [clocks.during(never(), one.ask), clocks.during(never(), two.ask)];
    const begun = clocks.start(1_000, 2_000, never());
    vi.advanceTimersByTime(60_000);
    one.answer();
    await both[0];
    vi.advanceTimersByTime(60_000);
    expect(clock.late()).toBe(false);
    two.answer();
    await both[1];
    vi.advanceTimersByTime(399);
    expect(clock.late()).toBe(false);
    vi.advanceTimersByTime(1);
    expect(clock.late()).toBe(true);
    expect(begun.late()).toBe(false);
  });
});

describe('a question to a person', () => {
  it('is taken back when the last call is over that it can belong to', async () => {
    const clocks = createClocks();
    const calls = [clocks.start(1_000, 2_000, never()), clocks.start(1_000, 2_000, never())];
    const asked = question();
    const asking = clocks.during(never(), asked.ask);
    calls[0]?.end();
    expect(asked.seen.signal?.aborted).toBe(false);
    calls[1]?.end();
    expect(asked.seen.signal?.aborted).toBe(true);
    asked.answer();
    await asking;
  });

  it('out of the blue stays, whatever calls come and go', async () => {
    const clocks = createClocks();
    const asked = question();
    const asking = clocks.during(never(), asked.ask);
    clocks.start(1_000, 2_000, never()).end();
    expect(asked.seen.signal?.aborted).toBe(false);
    asked.answer();
    await asking;
  });
});
