import { afterEach, describe, expect, test } from 'vitest';
import { takeFlag } from '../../../src/brain/local/crash-flag.ts';
import { createWorkerEngine } from '../../../src/brain/local/engines/client.ts';
import { spawnWorker } from '../../../src/brain/local/engines/spawn.ts';
import { createMemory, type InMemory, type Memory } from '../../../src/brain/local/memory.ts';
import { MODEL_LOCK } from '../../../src/brain/local/tab-lock.ts';
import { ask, chat, never, puppetRow, read } from './rows.ts';
import puppetUrl from './workers/puppet.worker.ts?worker&url';

const PROMPT = ask(chat(['Hello']));

interface Tab {
  readonly memory: Memory;
  /** What was in memory, one after the other. */
  readonly states: readonly InMemory[];
  readonly spawned: () => number;
}

let tabs: Tab[] = [];

/** What one tab has; the engines are puppets. */
function tab(patience = {}): Tab {
  const states: InMemory[] = [];
  let spawned = 0;
  const spawn = (): Worker => {
    spawned += 1;
    return spawnWorker(puppetUrl, 'puppet');
  };
  const memory = createMemory({
    engine: () => createWorkerEngine({ spawn, patience }),
    onChange: (state) => states.push(state),
    onAbsent: () => undefined,
  });
  const made = { memory, states, spawned: () => spawned };
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
    expect(there.states[0]).toEqual({ id: 'works', state: 'loading', fraction: null });
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

describe('the crash flag', () => {
  test('is up while a model loads, and down after it, also after a failure', async () => {
    const here = tab({ load: 2_000 });
    const loading = load(here, 'creeps-in-load');
    await expect.poll(() => localStorage.getItem('deft.loading')).toBe('creeps-in-load');
    await loading;
    expect(takeFlag()).toBeNull();
    await load(here, 'crashes-in-load').catch(() => undefined);
    expect(takeFlag()).toBeNull();
  });

  test('is down where the page is left', async () => {
    const here = tab({ load: 2_000 });
    const loading = load(here, 'creeps-in-load');
    await expect.poll(() => localStorage.getItem('deft.loading')).toBe('creeps-in-load');
    dispatchEvent(new Event('pagehide'));
    expect(localStorage.getItem('deft.loading')).toBeNull();
    await loading;
  });

  test('is taken once', () => {
    localStorage.setItem('deft.loading', 'x');
    expect(takeFlag()).toBe('x');
    expect(takeFlag()).toBeNull();
  });
});
