import { afterEach, describe, expect, test } from 'vitest';
import { createCrashFlag, type CrashFlag } from '../../../src/brain/local/crash-flag.ts';
import { createWorkerEngine } from '../../../src/brain/local/engines/client.ts';
import { spawnWorker } from '../../../src/brain/local/engines/spawn.ts';
import { createMemory, type InMemory, type Memory } from '../../../src/brain/local/memory.ts';
import { MODEL_LOCK } from '../../../src/brain/local/tab-lock.ts';
import { createTrials } from '../../../src/brain/local/trials.ts';
import type { CatalogueRow } from '../../../src/brain/local/types.ts';
import type { ModelAttempt, ModelTrial } from '../../../src/store/records.ts';
import { ask, chat, never, puppetRow, read } from './rows.ts';
import puppetUrl from './workers/puppet.worker.ts?worker&url';

const PROMPT = ask(chat(['Hello']));

interface Tab {
  readonly memory: Memory;
  /** What was in memory, one after the other. */
  readonly states: readonly InMemory[];
  readonly spawned: () => number;
  /** What was noted of models on this phone. */
  readonly trials: () => readonly ModelTrial[];
  /** Which workers began and ended, in order. */
  readonly workers: readonly string[];
  /** What the database says of a load or a first answer under way. */
  readonly underWay: () => ModelAttempt | null;
  readonly flag: CrashFlag;
}

let tabs: Tab[] = [];

/** What one tab has; the engines are puppets. */
function tab(patience = {}, idleMs = 300_000): Tab {
  const states: InMemory[] = [];
  let spawned = 0;
  const workers: string[] = [];
  const spawn = (): Worker => {
    const name = String((spawned += 1));
    const worker = spawnWorker(puppetUrl, 'puppet');
    workers.push(`${name} begins`);
    const terminate = worker.terminate.bind(worker);
    worker.terminate = () => {
      workers.push(`${name} ends`);
      terminate();
    };
    return worker;
  };
  let kept: readonly ModelTrial[] = [];
  let underWay: ModelAttempt | null = null;
  const flag = createCrashFlag({
    get: async () => ({ underWay }),
    set: async (change) => void ({ underWay } = change),
  });
  const memory = createMemory({
    engine: () => createWorkerEngine({ spawn, patience }),
    onChange: (state) => states.push(state),
    onAbsent: () => undefined,
    trials: createTrials(
      {
        get: async () => ({ trials: kept }),
        set: async ({ trials }) => void (kept = trials),
      },
      () => 'a chip',
    ),
    flag,
    idleMs: () => idleMs,
  });
  const made: Tab = {
    memory,
    states,
    spawned: () => spawned,
    workers,
    trials: () => kept,
    underWay: () => underWay,
    flag,
  };
  tabs.push(made);
  return made;
}

const load = (from: Tab, id: string, signal = never()): Promise<void> =>
  from.memory.engine(puppetRow(id)).load(puppetRow(id), () => undefined, signal);

const say = async (from: Tab, id: string): Promise<string> =>
  (await read(from.memory.engine(puppetRow(id)), PROMPT)).text;

const lockHeld = async (): Promise<boolean> =>
  ((await navigator.locks.query()).held ?? []).some((lock) => lock.name === MODEL_LOCK);

afterEach(async () => {
  for (const { memory } of tabs) await memory.unload();
  tabs = [];
  expect(await lockHeld()).toBe(false);
});

describe('the one model in memory', () => {
  test('is loaded once for many turns, and by a turn that finds none', async () => {
    const here = tab();
    await load(here, 'works');
    expect(await say(here, 'works')).toBe('yes');
    expect(await say(here, 'works')).toBe('yes');
    expect(here.spawned()).toBe(1);
    await here.memory.unload();
    expect(await say(here, 'works')).toBe('yes');
    expect(here.spawned()).toBe(2);
  });

  test('makes room for another one', async () => {
    const here = tab();
    await load(here, 'works');
    await load(here, 'refuses');
    expect(here.states.at(-1)).toEqual({ id: 'refuses', state: 'warm' });
    expect(await say(here, 'works')).toBe('yes');
    expect(here.states.at(-1)).toEqual({ id: 'works', state: 'warm' });
  });

  test('is let go before one of the other engine is loaded: the phone never holds two', async () => {
    const here = tab();
    await load(here, 'works');
    const other: CatalogueRow = { ...puppetRow('refuses'), engine: 'webllm' };
    await here.memory.engine(other).load(other, () => undefined, never());
    expect(here.workers).toEqual(['1 begins', '1 ends', '2 begins']);
  });

  test('that died between two turns is not shown, and is loaded anew', async () => {
    const here = tab();
    await load(here, 'dies-when-idle');
    await expect.poll(() => here.states.at(-1)).toBeNull();
    await load(here, 'works');
    expect(await say(here, 'works')).toBe('yes');
  });

  test('whose load fails leaves the lock to others', async () => {
    const [here, there] = [tab({ load: 100 }), tab()];
    await expect(load(here, 'hangs-in-load')).rejects.toMatchObject({ kind: 'stalled' });
    expect(here.states.at(-1)).toBeNull();
    expect(await say(there, 'works')).toBe('yes');
    expect(there.states.some((state) => state?.state === 'loading')).toBe(true);
  });
});

describe('two tabs', () => {
  test('take turns, and who waits says so', async () => {
    const [here, there] = [tab(), tab()];
    expect(await say(here, 'works')).toBe('yes');
    expect(await say(there, 'works')).toBe('yes');
    expect(here.states.at(-1)).toBeNull();
    expect(there.states).toContainEqual({
      id: 'works',
      state: 'loading',
      fraction: null,
      waiting: true,
    });
    expect(there.states.at(-1)).toEqual({ id: 'works', state: 'warm' });
  });

  test('a model that was just loaded is used before it is given up', async () => {
    const [here, there] = [tab(), tab()];
    await load(here, 'works');
    const other = say(there, 'works');
    await expect.poll(() => there.states.length).toBeGreaterThan(1);
    expect(await say(here, 'works')).toBe('yes');
    expect(here.spawned()).toBe(1);
    expect(await other).toBe('yes');
  });

  test('waiting for the other one can be given up', async () => {
    const [here, there] = [tab(), tab()];
    await load(here, 'works');
    const stop = new AbortController();
    const waiting = load(there, 'works', stop.signal);
    await expect.poll(() => there.states.length).toBeGreaterThan(1);
    stop.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
    expect(there.states.at(-1)).toBeNull();
    expect(await say(here, 'works')).toBe('yes');
  });
});

describe('a model that nobody uses', () => {
  test('is let go after a while, and comes back by itself', async () => {
    const here = tab({}, 50);
    expect(await say(here, 'works')).toBe('yes');
    await expect.poll(() => here.states.at(-1)).toBeNull();
    expect(await lockHeld()).toBe(false);
    expect(await say(here, 'works')).toBe('yes');
    expect(here.spawned()).toBe(2);
  });

  test('is not let go while it answers', async () => {
    const here = tab({}, 20);
    const stop = new AbortController();
    let text = '';
    const answer = read(here.memory.engine(puppetRow('creeps')), PROMPT, stop.signal, (all) => {
      text = all;
    });
    await expect.poll(() => text.length, { timeout: 5_000 }).toBeGreaterThan(5);
    expect(here.states.at(-1)).toEqual({ id: 'creeps', state: 'generating' });
    stop.abort();
    expect((await answer).done.reason).toBe('aborted');
    await expect.poll(() => here.states.at(-1)).toBeNull();
  });

  test('is let go when the page is frozen, but not one that is at work', async () => {
    const here = tab();
    await load(here, 'works');
    document.dispatchEvent(new Event('freeze'));
    await expect.poll(() => here.states.at(-1)).toBeNull();
    const loading = load(here, 'creeps-in-load');
    await expect.poll(() => here.states.at(-1)).toMatchObject({ state: 'loading' });
    document.dispatchEvent(new Event('freeze'));
    await loading;
    expect(here.states.at(-1)).toEqual({ id: 'creeps-in-load', state: 'warm' });
  });
});

describe('loading ahead', () => {
  test('makes the next use start at once, and a use meanwhile hears how far it is', async () => {
    const here = tab({ load: 2_000 });
    const ahead = here.memory.warm(puppetRow('creeps-in-load'));
    const heard: (number | null)[] = [];
    const row = puppetRow('creeps-in-load');
    await here.memory.engine(row).load(row, (fraction) => heard.push(fraction), never());
    await ahead;
    expect(here.spawned()).toBe(1);
    expect(heard).toContain(1);
  });

  test('takes no model away from another tab', async () => {
    const [here, there] = [tab(), tab()];
    await load(here, 'works');
    await there.memory.warm(puppetRow('works'));
    expect(there.spawned()).toBe(0);
    expect(here.states.at(-1)).toEqual({ id: 'works', state: 'warm' });
  });
});

describe('the crash flag', () => {
  test('is up while a model loads, and down after it, also after a failure', async () => {
    const here = tab({ load: 2_000 });
    const loading = load(here, 'creeps-in-load');
    await expect
      .poll(here.underWay)
      .toMatchObject({ model: 'creeps-in-load', contextTokens: 100, answering: false });
    await loading;
    expect(await here.flag.take()).toBeNull();
    await load(here, 'crashes-in-load').catch(() => undefined);
    expect(await here.flag.take()).toBeNull();
  });

  test('is up while a model answers for the first time since it was loaded, and never again', async () => {
    const here = tab();
    const row = puppetRow('creeps');
    for (const first of [true, false]) {
      const stop = new AbortController();
      let text = '';
      const answer = read(here.memory.engine(row), PROMPT, stop.signal, (all) => (text = all));
      await expect.poll(() => text.length).toBeGreaterThan(0);
      expect(here.underWay()).toEqual(
        first ? expect.objectContaining({ model: 'creeps', answering: true }) : null,
      );
      stop.abort();
      await answer;
      expect(here.underWay()).toBeNull();
    }
    expect(here.trials()).toMatchObject([{ model: 'creeps', contextTokens: 100 }]);
    expect(here.trials()[0]?.failed).toBeUndefined();
  });

  test('found up by the next page it is taken, once', async () => {
    const here = tab({ load: 2_000 });
    const loading = load(here, 'creeps-in-load');
    await expect.poll(here.underWay).not.toBeNull();
    expect(await here.flag.take()).toMatchObject({ model: 'creeps-in-load', answering: false });
    expect(await here.flag.take()).toBeNull();
    await loading;
  });

  test('is down where the page is left, at once', async () => {
    const here = tab({ load: 2_000 });
    const loading = load(here, 'creeps-in-load');
    await expect.poll(here.underWay).not.toBeNull();
    const up = here.underWay();
    dispatchEvent(new Event('pagehide'));
    // The database may not be written any more when a page goes: localStorage is.
    expect(localStorage.getItem('deft.over')).toBe(up?.mark);
    const next = createCrashFlag({
      get: async () => ({ underWay: up }),
      set: async () => undefined,
    });
    expect(await next.take()).toBeNull();
    await loading;
  });
});

describe('what a model did to this phone is noted', () => {
  test.each([
    ['refuses-to-load', 'gpu'],
    ['hangs-in-load', 'stalled'],
    ['breaks', 'memory'],
  ] as const)('%s: %s, at once', async (id, failed) => {
    const here = tab(id === 'hangs-in-load' ? { load: 100 } : {});
    await expect(say(here, id)).rejects.toMatchObject({ kind: failed });
    expect(here.trials()).toMatchObject([{ model: id, device: 'cpu', failed, open: true }]);
    // And nothing of it stays in memory.
    expect(here.workers).toEqual(['1 begins', '1 ends']);
    expect(here.states.at(-1)).toBeNull();
  });

  test('a device lost in an answer is bad luck, the second one is a failure', async () => {
    const here = tab();
    await expect(say(here, 'loses-its-device')).rejects.toMatchObject({ kind: 'gpu' });
    expect(here.trials()).toMatchObject([{ lostAt: expect.any(Number) as number }]);
    expect(here.trials()[0]?.failed).toBeUndefined();
    await expect(say(here, 'loses-its-device')).rejects.toMatchObject({ kind: 'gpu' });
    expect(here.trials()).toMatchObject([{ failed: 'gpu', open: true }]);
  });

  test('what says nothing about the phone is not', async () => {
    const here = tab();
    await expect(say(here, 'refuses')).rejects.toMatchObject({ kind: 'context' });
    await expect(say(here, 'crashes-in-load')).rejects.toMatchObject({ kind: 'internal' });
    expect(here.trials()).toEqual([]);
  });
});
