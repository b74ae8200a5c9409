import { describe, expect, test, vi } from 'vitest';
import { later } from '../../src/later.ts';

interface Clock {
  now(zone: string): Promise<string>;
  stop(): void;
  subscribe(listener: () => void): () => void;
}

function loading() {
  let settle!: { resolve: (clock: Clock) => void; reject: (cause: Error) => void };
  const loaded = new Promise<Clock>((resolve, reject) => {
    settle = { resolve, reject };
  });
  return { loaded, settle };
}

const released = vi.fn();
const clock = (listeners: Set<() => void> = new Set()): Clock => ({
  now: async (zone) => `noon in ${zone}`,
  stop: () => undefined,
  subscribe(listener) {
    listeners.add(listener);
    return () => {
      listeners.delete(listener);
      released();
    };
  },
});

describe('a stand-in for what is loaded later', () => {
  test('does what is asked of it early once the code is there', async () => {
    const { loaded, settle } = loading();
    const answer = later(loaded).now('Goa');
    settle.resolve(clock());
    expect(await answer).toBe('noon in Goa');
  });

  test('tells whoever asks that the code cannot be had, and nobody else', async () => {
    const { loaded, settle } = loading();
    const it = later(loaded);
    const answer = it.now('Goa');
    it.subscribe(() => undefined);
    settle.reject(new Error('no network'));
    await expect(answer).rejects.toThrow('no network');
  });

  test('keeps who listens from the beginning, until they go', async () => {
    const { loaded, settle } = loading();
    const listeners = new Set<() => void>();
    const it = later(loaded);
    const [one, two] = [it.subscribe(() => undefined), it.subscribe(() => undefined)];
    two();
    settle.resolve(clock(listeners));
    await loaded;
    expect(listeners.size).toBe(1);
    one();
    expect(listeners.size).toBe(0);
  });

  test('has methods of its own, is the same each time, and is no promise', async () => {
    const stop = vi.fn();
    const it = later(Promise.resolve(clock()), { stop });
    it.stop();
    expect(stop).toHaveBeenCalledOnce();
    expect(it.now).toBe(it.now);
    expect(await it).toBe(it);
  });
});
