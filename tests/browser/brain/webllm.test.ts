import { commands } from 'vitest/browser';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { ToolSpec } from '../../../src/brain/brain.ts';
import { gemma3 } from '../../../src/brain/local/dialect/gemma3.ts';
import { download } from '../../../src/brain/local/downloads.ts';
import { createWorkerEngine, type HostedEngine } from '../../../src/brain/local/engines/client.ts';
import { checkGpu } from '../../../src/brain/local/engines/gpu.ts';
import { spawnWorker } from '../../../src/brain/local/engines/spawn.ts';
import { createWebllm } from '../../../src/brain/local/engines/webllm.ts';
import workerUrl from '../../../src/brain/local/engines/webllm.worker.ts?worker&url';
import { removeFiles, webllmEntry } from '../../../src/brain/local/files.ts';
import type { CatalogueRow } from '../../../src/brain/local/types.ts';
import { ask, chat, never, read, tinyGemma } from './rows.ts';
import lostDeviceUrl from './workers/lost-device.worker.ts?worker&url';
import noAdapterUrl from './workers/no-adapter.worker.ts?worker&url';

/** As the demo server has it. */
const GET_WEATHER: ToolSpec = {
  name: 'get_weather',
  description: 'Get the weather forecast of a city for a day.',
  inputSchema: {
    type: 'object',
    properties: {
      city: { type: 'string', description: 'Name of the city.' },
      date: { type: 'string', description: 'Day, as YYYY-MM-DD.' },
    },
    required: ['city', 'date'],
  },
};

const STORY = ask(chat(['Tell me a story.']));
const WEATHER = ask(
  gemma3.render({
    now: 'Sunday 2026-11-29 14:05, Asia/Kolkata',
    messages: [{ role: 'user', text: 'What is the weather in Mumbai tomorrow?' }],
    tools: [GET_WEATHER],
    toolChoice: 'auto',
  }),
);
const CALL = '```tool_code\nget_weather(city="Mumbai", date="tomorrow")\n```';

let server: string;
let row: CatalogueRow;
let engine: HostedEngine;

const load = (
  which: HostedEngine,
  onProgress: (fraction: number | null) => void = () => undefined,
): Promise<void> => which.load(row, onProgress, never());

// The real library on software WebGPU, with a real model that came through the app's own download.
beforeAll(async () => {
  server = await commands.startFileServer();
  row = await tinyGemma(server);
  await download(row, { signal: never(), onProgress: () => undefined });
  // From here on nothing may come from the network.
  await commands.stopFileServer(server);
  engine = createWebllm();
});
afterAll(async () => {
  await engine.unload();
  await removeFiles(row);
});

describe('WebLLM', () => {
  test('loads without a network, and says how far it is', async () => {
    const seen: number[] = [];
    await load(engine, (fraction) => seen.push(fraction ?? -1));
    expect(engine.loaded).toBe(true);
    expect(seen.at(-1)).toBe(1);
    expect(seen.toSorted((a, b) => a - b)).toEqual(seen);
  });

  test('streams what the model says, and counts it', async () => {
    const { text, tokens, done } = await read(engine, WEATHER);
    expect(text).toBe(CALL);
    expect(tokens).toBeGreaterThan(5);
    expect(done).toMatchObject({ reason: 'stop', cachedTokens: 0 });
    expect(done.outputTokens).toBeGreaterThanOrEqual(tokens);
  });

  test('stops in the middle of a story', async () => {
    const stop = new AbortController();
    let stoppedAt = 0;
    const { text, done } = await read(engine, STORY, stop.signal, (all) => {
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

  test('goes on in its cache: a second turn computes only what is new', async () => {
    const name = await read(engine, ask(chat(['My name is Priya.'])));
    const prompt = chat(['My name is Priya.', 'What is my name?'], [name.text]);
    const second = await read(engine, ask(prompt));
    expect(second.text).toBe('Your name is Priya.');
    expect(second.done.cachedTokens).toBeGreaterThanOrEqual(name.done.promptTokens);
    expect(second.done.promptTokens - second.done.cachedTokens).toBeLessThan(20);

    // The same prompt, computed from the beginning, has as many tokens and gets the same answer.
    await read(engine, ask(chat(['Hello'])));
    const fresh = await read(engine, ask(prompt));
    expect(fresh.text).toBe(second.text);
    expect(fresh.done).toMatchObject({ cachedTokens: 0, promptTokens: second.done.promptTokens });
  });

  test('after a stop, and after a stop string, the next turn is computed anew and is right', async () => {
    const cut = await read(engine, { ...STORY, stop: [' fox'] });
    expect(cut.text).toBe('Once upon a time a small');
    expect(cut.done.reason).toBe('stop');
    const next = ask(chat(['Tell me a story.', 'What is the weather in Mumbai?'], [cut.text]));
    expect((await read(engine, next)).done.cachedTokens).toBe(0);
  });

  test('ends at the most tokens', async () => {
    const { done } = await read(engine, { ...STORY, maxTokens: 7 });
    expect(done).toMatchObject({ reason: 'length', outputTokens: 7 });
  });

  test('is held to a grammar, whatever the model would say', async () => {
    const grammar = 'root ::= "get_time(city=\\"" [A-Z] [a-z]{2,8} "\\")"';
    const { text, done } = await read(engine, { ...WEATHER, grammar, maxTokens: 60 });
    expect(text).toMatch(/^get_time\(city="[A-Z][a-z]+"\)$/);
    expect(done.reason).toBe('stop');
  });

  test('passes the prompt on unchanged: $ sequences are text', async () => {
    const grammar = 'root ::= "$& $$ $1"';
    const first = await read(engine, ask(chat(['Say $& $$ $1']), { grammar }));
    expect(first.text).toBe('$& $$ $1');
    const second = await read(engine, ask(chat(['Say $& $$ $1', 'Hello'], [first.text])));
    expect(second.done.cachedTokens).toBeGreaterThan(0);
  });

  test('a prompt beyond the window is refused, and the next one works', async () => {
    const long = read(engine, ask(chat(['word '.repeat(2000)])));
    await expect(long).rejects.toMatchObject({ kind: 'context' });
    expect(engine.loaded).toBe(true);
    expect((await read(engine, WEATHER)).text).toBe(CALL);
  });

  test('a grammar that is none is an error, and the engine can be loaded anew', async () => {
    const broken = read(engine, { ...WEATHER, grammar: 'root ::= (' });
    await expect(broken).rejects.toMatchObject({ kind: 'internal' });
    expect(engine.loaded).toBe(false);
    await load(engine);
    expect((await read(engine, WEATHER)).text).toBe(CALL);
  });

  test('unloads, and loads again', async () => {
    await engine.unload();
    expect(engine.loaded).toBe(false);
    await load(engine);
    expect((await read(engine, WEATHER)).text).toBe(CALL);
  });
});

describe('stopped while it reads a long prompt', () => {
  test('WebLLM answers at once; its worker is ended and loads anew at the next use', async () => {
    const impatient = createWorkerEngine({
      spawn: () => spawnWorker(workerUrl, 'webllm'),
      preflight: checkGpu,
      patience: { stop: 1 },
    });
    await load(impatient);
    const stop = new AbortController();
    let began = 0;
    const seen: string[] = [];
    const prompt = ask(chat(['What is it? '.repeat(100)]));
    for await (const event of impatient.generate(prompt, stop.signal)) {
      seen.push(event.type === 'done' ? event.reason : event.type);
      if (event.type === 'prefill') {
        began = performance.now();
        stop.abort();
      }
    }
    expect(performance.now() - began).toBeLessThan(200);
    expect(seen).toEqual(['prefill', 'aborted']);
    await expect.poll(() => impatient.loaded).toBe(false);
    await load(impatient);
    expect((await read(impatient, WEATHER)).text).toBe(CALL);
    await impatient.unload();
  });
});

describe('what goes wrong with WebLLM has a kind', () => {
  test('no usable GPU is found out before the worker starts', async () => {
    const adapter = vi.spyOn(GPU.prototype, 'requestAdapter').mockResolvedValue(null);
    await expect(load(createWebllm())).rejects.toMatchObject({ kind: 'unfit' });
    adapter.mockRestore();
  });

  test('a GPU that is gone when the worker looks', async () => {
    const blind = createWorkerEngine({ spawn: () => spawnWorker(noAdapterUrl, 'webllm') });
    await expect(load(blind)).rejects.toMatchObject({ kind: 'gpu' });
  });

  test('a device that is lost between two turns, and in the midst of one', async () => {
    let worker!: Worker;
    const fragile = createWorkerEngine({
      spawn: () => (worker = spawnWorker(lostDeviceUrl, 'webllm')),
    });
    await load(fragile);
    worker.postMessage('lose');
    await expect.poll(() => fragile.loaded).toBe(false);

    await load(fragile);
    let lost = false;
    const story = read(fragile, STORY, never(), (all) => {
      if (all.length < 40 || lost) return;
      lost = true;
      worker.postMessage('lose');
    });
    await expect(story).rejects.toMatchObject({ kind: 'gpu' });
    expect(fragile.loaded).toBe(false);
  });

  test('what a row puts in place of the published configuration reaches the library', async () => {
    // Of both windows the library takes one: with this one too it refuses, by its own check.
    const twofold = { ...row, overrides: { sliding_window_size: 512 } };
    await expect(createWebllm().load(twofold, () => undefined, never())).rejects.toMatchObject({
      message: expect.stringMatching(/sliding_window_size: 512/) as string,
    });
  });

  test('a file that was cleared behind our back is absent, and nothing is fetched for it', async () => {
    const entry = webllmEntry(row, 'params_shard_0.bin');
    const cache = await caches.open(entry.scope);
    const kept = await cache.match(entry.url);
    await cache.delete(entry.url);
    await expect(load(engine)).rejects.toMatchObject({ kind: 'absent' });
    await cache.put(entry.url, kept!);
    await load(engine);
  });
});
