import { commands } from 'vitest/browser';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openSession, type Session } from '../../../src/agent/session.ts';
import type { Brain } from '../../../src/brain/brain.ts';
import { createLocalBrain } from '../../../src/brain/local/brain.ts';
import { download } from '../../../src/brain/local/downloads.ts';
import { createWorkerEngine } from '../../../src/brain/local/engines/client.ts';
import { spawnWorker } from '../../../src/brain/local/engines/spawn.ts';
import { removeFiles } from '../../../src/brain/local/files.ts';
import { createMemory } from '../../../src/brain/local/memory.ts';
import { createTrials } from '../../../src/brain/local/trials.ts';
import type { CatalogueRow } from '../../../src/brain/local/types.ts';
import { createHost } from '../../../src/mcp/host.ts';
import { resultText } from '../../../src/mcp/render.ts';
import { createToolbox } from '../../../src/mcp/toolbox.ts';
import { createGate } from '../../../src/policy/gate.ts';
import { createRouter } from '../../../src/router/router.ts';
import { createTabLocks } from '../../../src/store/locks.ts';
import { openStore } from '../../../src/store/open.ts';
import type { Part } from '../../../src/store/records.ts';
import type { Store } from '../../../src/store/store.ts';
import { never, tinyGemma } from './rows.ts';
import lostDeviceUrl from './workers/lost-device.worker.ts?worker&url';

let row: CatalogueRow;
let store: Store;

beforeAll(async () => {
  const server = await commands.startFileServer();
  row = await tinyGemma(server);
  await download(row, { signal: never(), onProgress: () => undefined });
  await commands.stopFileServer(server);
  store = await openStore({ name: `lost-turn-${crypto.randomUUID()}` });
});
afterAll(async () => {
  store.close();
  await removeFiles(row);
});

/** A conversation of the app in which the phone's own model answers. */
async function converse(brain: Brain): Promise<Session> {
  const timeZone = (): string => 'Asia/Kolkata';
  const host = createHost({ store, inPage: [], online: () => false });
  const now = Date.now();
  const id = crypto.randomUUID();
  await store.conversations.put({
    id,
    title: '',
    createdAt: now,
    updatedAt: now,
    mode: 'phone',
    draft: '',
    queue: [],
    private: false,
    pinned: false,
  });
  const session = await openSession(id, {
    store,
    toolbox: createToolbox({ store, host, timeZone, locale: () => 'en' }),
    router: createRouter({
      online: () => false,
      phone: async () => brain,
      cloud: async () => null,
    }),
    gate: createGate({ store }),
    resultText,
    locks: createTabLocks(navigator.locks),
    clock: () => Date.now(),
    breathe: () => new Promise((resolve) => setTimeout(resolve)),
    timeZone,
  });
  return session!;
}

const partsOf = (session: Session): readonly Part[] => session.view().messages.at(-1)?.parts ?? [];
const textOf = (session: Session): string =>
  partsOf(session).flatMap((part) => (part.kind === 'text' ? [part.text] : []))[0] ?? '';

const stateOf = (session: Session): string | undefined =>
  session.view().messages.at(-1)?.message.state;

test('a device lost in the midst of an answer: its words stay, the turn is offered again and has its answer on a new engine', async () => {
  let worker!: Worker;
  let spawned = 0;
  const memory = createMemory({
    engine: () =>
      createWorkerEngine({
        spawn: () => {
          spawned += 1;
          return (worker = spawnWorker(lostDeviceUrl, 'webllm'));
        },
      }),
    onChange: () => undefined,
    onAbsent: () => undefined,
    trials: createTrials({ get: async () => ({}), set: async () => undefined }, () => 'a chip'),
    flag: { raise: async () => undefined, lower: () => undefined },
    idleMs: () => 300_000,
  });
  const session = await converse(createLocalBrain({ row, engine: memory.engine(row) }));
  const stop = session.subscribe(() => {
    if (textOf(session).length < 40) return;
    stop();
    worker.postMessage('lose');
  });
  await session.send('Tell me a story.');
  await expect.poll(() => stateOf(session), { timeout: 120_000 }).toBe('paused');

  const kept = textOf(session);
  expect(kept.length).toBeGreaterThanOrEqual(40);
  expect(partsOf(session).at(-1)).toMatchObject({
    kind: 'notice',
    code: 'brain-gpu',
    text: expect.stringMatching(/^The graphics chip stopped working for /) as string,
    action: 'retry',
  });

  // What the notice's button does.
  await session.resume();
  await expect.poll(() => stateOf(session), { timeout: 120_000 }).toBe('done');
  expect(spawned).toBe(2);
  expect(textOf(session)).toBe(kept);
  const texts = partsOf(session).filter((part) => part.kind === 'text');
  expect(texts.at(-1)?.text.length).toBeGreaterThan(kept.length);
  expect(session.view().messages[0]?.parts).toMatchObject([{ text: 'Tell me a story.' }]);
  session.close();
  await memory.unload();
});
