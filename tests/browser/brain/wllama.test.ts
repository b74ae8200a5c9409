import { commands } from 'vitest/browser';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { download } from '../../../src/brain/local/downloads.ts';
import { createWorkerEngine, type HostedEngine } from '../../../src/brain/local/engines/client.ts';
import { spawnWorker } from '../../../src/brain/local/engines/spawn.ts';
import { createWllama } from '../../../src/brain/local/engines/wllama.ts';
import { fileName, makeFolder, removeFiles } from '../../../src/brain/local/files.ts';
import type { CatalogueRow } from '../../../src/brain/local/types.ts';
import { ask, chat, never, randomGguf, read, tinyGguf } from './rows.ts';
import oldBrowserUrl from './workers/old-browser.worker.ts?worker&url';

/** Random weights say noise, bytes that are no text among it: every test holds them to letters. */
const LETTERS = 'root ::= [a-z]*';
const noise = (prompt: readonly string[], maxTokens: number) =>
  ask(prompt, { grammar: LETTERS, maxTokens });
const LONG = 'What is the weather in the city? '.repeat(12);

let server: string;
let row: CatalogueRow;
let engine: HostedEngine;

const load = (
  which: HostedEngine,
  onProgress: (fraction: number | null) => void = () => undefined,
): Promise<void> => which.load(row, onProgress, never());

// llama.cpp in WebAssembly, with a real GGUF that came through the app's own download.
beforeAll(async () => {
  server = await commands.startFileServer();
  row = await randomGguf(server);
  await download(row, { signal: never(), onProgress: () => undefined });
  await commands.stopFileServer(server);
  engine = createWllama();
});
afterAll(async () => {
  await engine.unload();
  await removeFiles(row);
});

describe('wllama', () => {
  test('loads without a network, and says how far it is', async () => {
    const seen: number[] = [];
    await load(engine, (fraction) => seen.push(fraction ?? -1));
    expect(engine.loaded).toBe(true);
    expect(seen.at(-1)).toBe(1);
  });

  test('streams, says how far it has read, and counts', async () => {
    const { text, tokens, done, prefill } = await read(engine, noise(chat([LONG]), 40));
    expect(text).toMatch(/^[a-z]+$/);
    expect(tokens).toBe(40);
    expect(done).toMatchObject({ reason: 'length', outputTokens: 40 });
    expect(done.promptTokens).toBeGreaterThan(100);
    expect(prefill.at(-1)).toBe(1);
    expect(prefill.length).toBeGreaterThan(3);
  });

  test('goes on in its cache: a second turn computes only what is new', async () => {
    const first = await read(engine, noise(chat([LONG]), 10));
    const prompt = chat([LONG, 'And tomorrow?'], [first.text]);
    const second = await read(engine, noise(prompt, 10));
    expect(second.done.cachedTokens).toBeGreaterThan(first.done.promptTokens - 2);
    expect(second.done.promptTokens - second.done.cachedTokens).toBeLessThan(60);
  });

  test('is held to a grammar, whatever the model would say', async () => {
    const grammar = 'root ::= "get_time(city=\\"" [A-Z] [a-z]{2,8} "\\")"';
    const { text, done } = await read(engine, ask(chat(['Hello']), { grammar, maxTokens: 60 }));
    expect(text).toMatch(/^get_time\(city="[A-Z][a-z]+"\)$/);
    expect(done.reason).toBe('stop');
  });

  test('ends before a stop string', async () => {
    const grammar = 'root ::= "one two three"';
    const { text, done } = await read(engine, ask(chat(['Hello']), { grammar, stop: [' three'] }));
    expect({ text, reason: done.reason }).toEqual({ text: 'one two', reason: 'stop' });
  });

  test('gives out the text of the control tokens that a dialect reads, and of no others', async () => {
    // Both the token and its letters fit; six seeds choose either.
    const grammar = 'root ::= "<start_of_turn>a"';
    const texts = async (markers: readonly string[]): Promise<string[]> => {
      const all: string[] = [];
      for (let seed = 1; seed <= 6; seed += 1) {
        const sampling = { temperature: 10, seed };
        const request = ask(chat(['Hello']), { grammar, markers, sampling, maxTokens: 40 });
        all.push((await read(engine, request)).text);
      }
      return all;
    };
    expect(new Set(await texts(['<start_of_turn>']))).toEqual(new Set(['<start_of_turn>a']));
    expect(await texts([])).toContain('a');
  });

  test('the same seed says the same, another something else', async () => {
    const say = async (seed: number): Promise<string> => {
      const request = { ...noise(chat(['Hello']), 20), sampling: { temperature: 1.5, seed } };
      return (await read(engine, request)).text;
    };
    const first = await say(1);
    expect(await say(1)).toBe(first);
    expect(await say(2)).not.toBe(first);
  });

  test('stops while it reads a long prompt: the answer comes at once, and the next one works', async () => {
    const stop = new AbortController();
    let stoppedAt = 0;
    const seen: string[] = [];
    const long = noise(chat(['What is it? '.repeat(60)]), 5);
    for await (const event of engine.generate(long, stop.signal)) {
      seen.push(event.type === 'done' ? event.reason : event.type);
      // It has begun to read, and is not through.
      if (event.type !== 'prefill' || event.fraction === null || stoppedAt) continue;
      expect(event.fraction).toBeLessThan(1);
      stoppedAt = performance.now();
      stop.abort();
    }
    expect(performance.now() - stoppedAt).toBeLessThan(200);
    expect(seen).not.toContain('token');
    expect(seen.at(-1)).toBe('aborted');
    expect((await read(engine, noise(chat(['Hello']), 5))).tokens).toBe(5);
  });

  test('a prompt beyond the window is refused, and the next one works', async () => {
    const long = read(engine, noise(chat(['word '.repeat(2000)]), 5));
    await expect(long).rejects.toMatchObject({ kind: 'context' });
    expect(engine.loaded).toBe(true);
    expect((await read(engine, noise(chat(['Hello']), 5))).tokens).toBe(5);
  });

  test('an answer that fills the window ends there', async () => {
    const { done } = await read(engine, noise(chat(['Hello']), 5000));
    expect(done.reason).toBe('length');
    expect(done.promptTokens + done.outputTokens).toBeGreaterThanOrEqual(row.contextTokens - 1);
  });
});

describe('with weights that were trained', () => {
  const PRIYA = ask(chat(['My name is Priya.']));
  let trained: CatalogueRow;
  const loadTrained = (): Promise<void> => engine.load(trained, () => undefined, never());

  beforeAll(async () => {
    await engine.unload();
    const files = await commands.startFileServer();
    trained = await tinyGguf(files);
    await download(trained, { signal: never(), onProgress: () => undefined });
    await commands.stopFileServer(files);
    await loadTrained();
  });
  afterAll(async () => {
    await engine.unload();
    await removeFiles(trained);
  });

  test('stops in the middle of a story, and is ready for the next', async () => {
    const stop = new AbortController();
    let stoppedAt = 0;
    const story = ask(chat(['Tell me a story.']));
    const { text, done } = await read(engine, story, stop.signal, (all) => {
      if (all.length < 60 || stoppedAt) return;
      stoppedAt = performance.now();
      stop.abort();
    });
    expect(done.reason).toBe('aborted');
    expect(performance.now() - stoppedAt).toBeLessThan(200);
    expect(text.startsWith('Once upon a time a small fox')).toBe(true);
    expect(text.length).toBeLessThan(200);
    expect(engine.loaded).toBe(true);
  });

  test('unloads, and without a network comes back and says the same', async () => {
    const before = await read(engine, PRIYA);
    expect(before.text).toMatch(/Priya/);
    await engine.unload();
    expect(engine.loaded).toBe(false);
    await loadTrained();
    const after = await read(engine, PRIYA);
    expect(after.text).toBe(before.text);
    // Nothing of it was in a cache, but what every text begins with: the self-test read that.
    expect(after.done.cachedTokens).toBeLessThan(2);
  });
});

describe('in a browser without JSPI', () => {
  test('the build for older browsers runs, from files of this app', async () => {
    const old = createWorkerEngine({ spawn: () => spawnWorker(oldBrowserUrl, 'wllama') });
    await load(old);
    const { text, tokens } = await read(old, noise(chat(['Hello']), 10));
    expect(tokens).toBe(10);
    expect(text).toMatch(/^[a-z]+$/);
    await old.unload();
  });
});

describe('a file that is no model has a kind of error, and harms nothing', () => {
  /** Loads a file of these bytes in place of the model. */
  async function loadBytes(bytes: BlobPart): Promise<void> {
    const bad = { ...row, id: 'bad.wllama' };
    const at = await makeFolder(bad.id);
    const handle = await at.getFileHandle(fileName('random.gguf'), { create: true });
    const writable = await handle.createWritable();
    await writable.write(new Blob([bytes]));
    await writable.close();
    try {
      await engine.load(bad, () => undefined, never());
    } finally {
      await removeFiles(bad);
    }
  }
  const model = async (): Promise<Uint8Array<ArrayBuffer>> => {
    const at = await makeFolder(row.id);
    const file = await (await at.getFileHandle(fileName('random.gguf'))).getFile();
    return new Uint8Array(await file.arrayBuffer());
  };

  test('a web page', async () => {
    const page = '<!doctype html><title>Sign in</title>'.repeat(100);
    await expect(loadBytes(page)).rejects.toMatchObject({ kind: 'internal' });
  });

  test('a file that was cut off', async () => {
    const whole = await model();
    await expect(loadBytes(whole.subarray(0, whole.length >> 1))).rejects.toMatchObject({
      kind: 'internal',
    });
  });

  test('a damaged header', async () => {
    const whole = await model();
    whole.fill(255, 8, 40);
    await expect(loadBytes(whole)).rejects.toMatchObject({ kind: 'internal' });
  });

  test('a file that was cleared behind our back', async () => {
    const gone = { ...row, id: 'gone.wllama' };
    await expect(engine.load(gone, () => undefined, never())).rejects.toMatchObject({
      kind: 'absent',
    });
  });

  test('and after all of them the right one loads', async () => {
    await load(engine);
    expect((await read(engine, noise(chat(['Hello']), 5))).tokens).toBe(5);
  });
});
