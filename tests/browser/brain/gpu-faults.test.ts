import { commands } from 'vitest/browser';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { brainNotice } from '../../../src/agent/notices.ts';
import type { Brain, BrainEvent, BrainRequest } from '../../../src/brain/brain.ts';
import { createLocalBrain } from '../../../src/brain/local/brain.ts';
import { download } from '../../../src/brain/local/downloads.ts';
import { createWorkerEngine } from '../../../src/brain/local/engines/client.ts';
import { checkGpu } from '../../../src/brain/local/engines/gpu.ts';
import { spawnWorker } from '../../../src/brain/local/engines/spawn.ts';
import workerUrl from '../../../src/brain/local/engines/webllm.worker.ts?worker&url';
import { removeFiles } from '../../../src/brain/local/files.ts';
import { createMemory, type InMemory, type Memory } from '../../../src/brain/local/memory.ts';
import { createTrials } from '../../../src/brain/local/trials.ts';
import type { CatalogueRow } from '../../../src/brain/local/types.ts';
import type { ModelTrial } from '../../../src/store/records.ts';
import { never, tinyGemma } from './rows.ts';
import brokenDriverUrl from './workers/broken-driver.worker.ts?worker&url';
import lostDeviceUrl from './workers/lost-device.worker.ts?worker&url';
import noAdapterUrl from './workers/no-adapter.worker.ts?worker&url';
import smallLimitsUrl from './workers/small-limits.worker.ts?worker&url';

const REQUEST: BrainRequest = {
  system: '',
  now: 'Sunday 2026-11-29 14:05, Asia/Kolkata',
  messages: [{ role: 'user', text: 'Tell me a story.' }],
  tools: [],
  toolChoice: 'none',
  maxTokens: 60,
};
const LONG: BrainRequest = {
  ...REQUEST,
  messages: [{ role: 'user', text: 'What is it? '.repeat(110) }],
};

interface Phone {
  readonly memory: Memory;
  readonly brain: (row?: CatalogueRow) => Brain;
  /** The worker that was started last. */
  readonly worker: () => Worker;
  readonly spawned: () => number;
  readonly states: readonly InMemory[];
  readonly trials: () => readonly ModelTrial[];
}

let row: CatalogueRow;
let phones: Phone[] = [];

/** The whole way from the brain to a worker of WebLLM, on a GPU with a fault. */
function phone(url: string): Phone {
  const states: InMemory[] = [];
  let kept: readonly ModelTrial[] = [];
  let last!: Worker;
  let spawned = 0;
  const memory = createMemory({
    engine: () =>
      createWorkerEngine({
        spawn: () => {
          spawned += 1;
          return (last = spawnWorker(url, 'webllm'));
        },
        preflight: checkGpu,
      }),
    onChange: (state) => states.push(state),
    onAbsent: () => undefined,
    trials: createTrials(
      { get: async () => ({ trials: kept }), set: async ({ trials }) => void (kept = trials) },
      () => 'a chip',
    ),
    flag: { raise: async () => undefined, lower: () => undefined },
    idleMs: () => 300_000,
  });
  const made: Phone = {
    memory,
    brain: (of = row) => createLocalBrain({ row: of, engine: memory.engine(of) }),
    worker: () => last,
    spawned: () => spawned,
    states,
    trials: () => kept,
  };
  phones.push(made);
  return made;
}

async function ask(
  brain: Brain,
  request = REQUEST,
  onEvent: (event: BrainEvent, text: string) => void = () => undefined,
): Promise<{ text: string; end: BrainEvent }> {
  let text = '';
  let end!: BrainEvent;
  for await (const event of brain.stream(request, never())) {
    if (event.type === 'text') text += event.text;
    onEvent(event, text);
    end = event;
  }
  return { text, end };
}

const failed = (message: RegExp): unknown =>
  expect.objectContaining({
    type: 'end',
    reason: 'error',
    error: expect.objectContaining({
      kind: 'gpu',
      message: expect.stringMatching(message) as string,
      advice: expect.stringMatching(/\w/) as string,
    }) as unknown,
  });

beforeAll(async () => {
  const server = await commands.startFileServer();
  row = await tinyGemma(server);
  await download(row, { signal: never(), onProgress: () => undefined });
  await commands.stopFileServer(server);
});
afterAll(() => removeFiles(row));
afterEach(async () => {
  for (const { memory } of phones) await memory.unload();
  phones = [];
});

describe('a GPU that cannot run the model is told before a worker starts', () => {
  test('no adapter', async () => {
    const adapter = vi.spyOn(GPU.prototype, 'requestAdapter').mockResolvedValue(null);
    const here = phone(workerUrl);
    const { end } = await ask(here.brain());
    adapter.mockRestore();
    expect(end).toEqual(failed(/cannot run on this phone\. This browser offers no usable GPU\.$/));
    expect(here.spawned()).toBe(0);
    expect(here.trials()).toMatchObject([{ failed: 'gpu', open: true }]);
  });

  test('no 16 bits: the software GPU of these tests really has none', async () => {
    const here = phone(workerUrl);
    const { end } = await ask(here.brain({ ...row, features: ['shader-f16'] }));
    expect(end).toEqual(failed(/cannot calculate in 16 bits/));
    expect(here.spawned()).toBe(0);
  });

  test('another feature that it lacks', async () => {
    const { end } = await ask(
      phone(workerUrl).brain({ ...row, features: ['bgra8unorm-storage', 'no-such-feature'] }),
    );
    expect(end).toEqual(failed(/lacks what this model needs \(\S+\)/));
  });

  test('a part of the model that is too large for it', async () => {
    const { end } = await ask(phone(workerUrl).brain({ ...row, largestBuffer: 2 ** 33 }));
    expect(end).toEqual(failed(/part of this model is 8192 MB/));
  });

  test('limits below what the engine needs', async () => {
    const small = { maxComputeWorkgroupStorageSize: 16 << 10 } as GPUSupportedLimits;
    const limits = vi.spyOn(GPUAdapter.prototype, 'limits', 'get').mockReturnValue(small);
    const { end } = await ask(phone(workerUrl).brain());
    limits.mockRestore();
    expect(end).toEqual(failed(/too small for it \(maxComputeWorkgroupStorageSize is 16384/));
  });
});

describe('in the worker', () => {
  test('a GPU that is gone by then', async () => {
    const { end } = await ask(phone(noAdapterUrl).brain());
    expect(end).toEqual(failed(/stopped working/));
  });

  test('the limits are raised to the adapter’s own, where WebLLM would ask for less', async () => {
    const adapter = (await navigator.gpu.requestAdapter())!;
    const asked: Record<string, number>[] = [];
    const requestDevice = phone(smallLimitsUrl);
    const answer = ask(requestDevice.brain());
    await expect.poll(() => requestDevice.spawned()).toBe(1);
    requestDevice.worker().addEventListener('message', ({ data }) => {
      if (data.type === 'limits') asked.push(data.limits);
    });
    expect((await answer).end).toMatchObject({ reason: expect.not.stringMatching('error') });
    expect(asked).toEqual([
      expect.objectContaining({
        maxBufferSize: adapter.limits.maxBufferSize,
        maxStorageBufferBindingSize: 128 << 20,
      }),
    ]);
  });

  test('a driver that calculates nonsense does not pass for ready', async () => {
    const here = phone(brokenDriverUrl);
    const { end, text } = await ask(here.brain());
    expect(text).toBe('');
    expect(end).toMatchObject({
      error: { kind: 'gpu', detail: expect.stringMatching(/self-test/) },
    });
    expect(here.states.some((state) => state?.state === 'warm')).toBe(false);
    expect(here.trials()).toMatchObject([{ failed: 'gpu', open: true }]);
  });

  test('what passed the self-test is not tested again', async () => {
    const here = phone(workerUrl);
    await ask(here.brain());
    const [passed] = here.trials();
    expect(passed).toMatchObject({ model: row.id, device: 'a chip' });
    await here.memory.unload();
    const sent = vi.spyOn(Worker.prototype, 'postMessage');
    await ask(here.brain());
    expect(sent).toHaveBeenCalledWith({ type: 'load', row, selfTest: false });
    sent.mockRestore();
  });
});

describe('a device that is lost', () => {
  /** After the loss: the turn can be had again, on an engine that is made anew. */
  async function again(here: Phone, end: BrainEvent): Promise<void> {
    expect(end).toEqual(failed(/^The graphics chip stopped working for tiny-gemma/));
    if (end.type !== 'end' || end.reason !== 'error') throw new Error('no error');
    expect(brainNotice(end.error, 'phone').action).toBe('retry');
    expect(here.states.at(-1)).toBeNull();
    const before = here.spawned();
    const { text, end: second } = await ask(here.brain());
    expect(second).toEqual({ type: 'end', reason: 'length' });
    expect(text).toMatch(/^Once upon a time/);
    expect(here.spawned()).toBe(before + 1);
  }

  test('while the model loads', async () => {
    const here = phone(lostDeviceUrl);
    let told = false;
    const { end } = await ask(here.brain(), REQUEST, (event) => {
      if (told || event.type !== 'progress' || !event.fraction) return;
      told = true;
      here.worker().postMessage('lose');
    });
    expect(told).toBe(true);
    expect(here.trials()).toMatchObject([{ failed: 'gpu', open: true }]);
    await again(here, end);
  });

  test('while it reads the prompt', async () => {
    const here = phone(lostDeviceUrl);
    const { end, text } = await ask(here.brain(), LONG, (event) => {
      if (event.type === 'progress' && event.phase === 'prefill') here.worker().postMessage('lose');
    });
    expect(text).toBe('');
    await again(here, end);
  });

  test('in the midst of an answer: what was written stays', async () => {
    const here = phone(lostDeviceUrl);
    let told = false;
    const { end, text } = await ask(here.brain(), REQUEST, (_event, all) => {
      if (told || all.length < 40) return;
      told = true;
      here.worker().postMessage('lose');
    });
    expect(text).toMatch(/^Once upon a time a small fox/);
    // Once is bad luck and offers the turn again, not another model.
    expect(here.trials().some((trial) => trial.open)).toBe(false);
    await again(here, end);
  });
});
