import { describe, expect, test } from 'vitest';
import { createWorkerEngine, type Patience } from '../../../src/brain/local/engines/client.ts';
import { spawnWorker } from '../../../src/brain/local/engines/spawn.ts';
import { EngineError, type EngineErrorKind } from '../../../src/brain/local/errors.ts';
import { ask, chat, never, puppetRow as row, read } from './rows.ts';
import puppetUrl from './workers/puppet.worker.ts?worker&url';

const SHORT: Partial<Patience> = {
  load: 20_000,
  firstToken: 300,
  promptToken: 0,
  token: 300,
  stopAnswer: 100,
  stop: 300,
};
const PROMPT = ask(chat(['Hello']));

const puppet = (patience = SHORT) =>
  createWorkerEngine({ spawn: () => spawnWorker(puppetUrl, 'puppet'), patience });

async function kindOf(work: Promise<unknown>): Promise<EngineErrorKind | undefined> {
  const error: unknown = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  return error instanceof EngineError ? error.kind : undefined;
}

async function loaded(id: string, patience?: Partial<Patience>) {
  const engine = puppet(patience);
  await engine.load(row(id), () => undefined, never());
  return engine;
}

describe('loading', () => {
  test('that makes no progress ends as stalled', async () => {
    const engine = puppet({ ...SHORT, load: 300 });
    const load = engine.load(row('hangs-in-load'), () => undefined, never());
    expect(await kindOf(load)).toBe('stalled');
    expect(engine.loaded).toBe(false);
  });

  test('may take longer than its patience while it makes progress', async () => {
    const engine = puppet({ ...SHORT, load: 2_000 });
    const seen: (number | null)[] = [];
    await engine.load(row('creeps-in-load'), (fraction) => seen.push(fraction), never());
    expect(engine.loaded).toBe(true);
    expect(seen).toHaveLength(10);
  });

  test('in a worker that crashes, or cannot be started, is an error', async () => {
    expect(await kindOf(loaded('crashes-in-load'))).toBe('internal');
    const missing = createWorkerEngine({
      spawn: () => spawnWorker('/no/such/worker.js', 'missing'),
      patience: SHORT,
    });
    expect(await kindOf(missing.load(row('x'), () => undefined, never()))).toBe('internal');
  });

  test('can be aborted, with the reason of who did', async () => {
    const engine = puppet({ ...SHORT, load: 60_000 });
    const stop = new AbortController();
    const load = engine.load(row('hangs-in-load'), () => undefined, stop.signal);
    stop.abort(new Error('not wanted any more'));
    await expect(load).rejects.toThrow('not wanted any more');
    expect(engine.loaded).toBe(false);
  });

  test('does not begin where the preflight fails', async () => {
    let spawned = false;
    const engine = createWorkerEngine({
      spawn: () => {
        spawned = true;
        return spawnWorker(puppetUrl, 'puppet');
      },
      preflight: () => Promise.reject(new EngineError('gpu', 'no GPU')),
    });
    expect(await kindOf(engine.load(row('x'), () => undefined, never()))).toBe('gpu');
    expect(spawned).toBe(false);
  });
});

describe('generating', () => {
  test.each(['hangs-in-prefill', 'hangs-in-decode'])('%s ends as stalled', async (id) => {
    const engine = await loaded(id);
    expect(await kindOf(read(engine, PROMPT))).toBe('stalled');
    expect(engine.loaded).toBe(false);
  });

  test('is patient in proportion to the prompt', async () => {
    const engine = await loaded('hangs-in-prefill', { ...SHORT, promptToken: 5 });
    const began = performance.now();
    expect(await kindOf(read(engine, ask(['word '.repeat(120)])))).toBe('stalled');
    expect(performance.now() - began).toBeGreaterThan(1200);
  });

  test('in a worker that crashes is an error, and the engine can be loaded anew', async () => {
    const engine = await loaded('crashes-in-generate');
    let text = '';
    const reading = read(engine, PROMPT, never(), (all) => (text = all));
    expect(await kindOf(reading)).toBe('internal');
    expect(text).toBe('half');
    expect(engine.loaded).toBe(false);
    expect(await kindOf(read(engine, PROMPT))).toBe('internal');
    await engine.load(row('refuses'), () => undefined, never());
    expect(engine.loaded).toBe(true);
  });

  test('a refused prompt leaves the model in memory, a broken engine does not', async () => {
    const refusing = await loaded('refuses');
    expect(await kindOf(read(refusing, PROMPT))).toBe('context');
    expect(refusing.loaded).toBe(true);
    const breaking = await loaded('breaks');
    expect(await kindOf(read(breaking, PROMPT))).toBe('memory');
    expect(breaking.loaded).toBe(false);
  });

  test('a stop is answered at once even by an engine that does not stop, which is then ended', async () => {
    const engine = await loaded('hangs-in-prefill');
    const stop = new AbortController();
    const seen: string[] = [];
    let began = 0;
    for await (const event of engine.generate(PROMPT, stop.signal)) {
      seen.push(event.type === 'done' ? event.reason : event.type);
      if (event.type !== 'prefill') continue;
      began = performance.now();
      stop.abort();
    }
    expect(seen).toEqual(['prefill', 'aborted']);
    expect(performance.now() - began).toBeLessThan(280);
    await expect.poll(() => engine.loaded).toBe(false);
  });

  test('who waits for an engine that is still stopping can give up too', async () => {
    const engine = await loaded('hangs-in-prefill', { ...SHORT, stop: 60_000 });
    for await (const event of engine.generate(PROMPT, never())) if (event.type === 'prefill') break;
    const stop = new AbortController();
    const waiting = read(engine, PROMPT, stop.signal);
    stop.abort();
    expect((await waiting).done.reason).toBe('aborted');
    await engine.unload();
  });

  test('who stops reading stops the engine', async () => {
    const engine = await loaded('hangs-in-decode', { ...SHORT, token: 60_000 });
    for await (const event of engine.generate(PROMPT, never())) if (event.type === 'token') break;
    await expect.poll(() => engine.loaded).toBe(false);
  });

  test('nothing is computed for a signal that has aborted already', async () => {
    const engine = await loaded('hangs-in-prefill');
    expect((await read(engine, PROMPT, AbortSignal.abort())).done.reason).toBe('aborted');
    expect(engine.loaded).toBe(true);
  });

  test('unloading in the midst of it is an error for who reads', async () => {
    const engine = await loaded('hangs-in-decode');
    const reading = kindOf(read(engine, PROMPT, never(), () => void engine.unload()));
    expect(await reading).toBe('internal');
  });
});
