/** The cloud brains in a real browser: CORS, streams and refusals are the browser's own here. */
import { afterEach, expect, test } from 'vitest';
import { commands } from 'vitest/browser';
import type { Brain, BrainEvent } from '../../../../src/brain/brain.ts';
import { createCloud } from '../../../../src/brain/cloud/accounts.ts';
import type { Cloud } from '../../../../src/brain/cloud/types.ts';
import type { CloudKind } from '../../../../src/store/records.ts';
import { openStore } from '../../../../src/store/open.ts';

const servers: string[] = [];
afterEach(async () => {
  for (const url of servers.splice(0)) await commands.stopCloudServer(url);
});

async function start(options?: Parameters<typeof commands.startCloudServer>[0]): Promise<string> {
  const url = await commands.startCloudServer(options);
  servers.push(url);
  return url;
}

async function newCloud(): Promise<Cloud> {
  const store = await openStore({ name: `cloud-${crypto.randomUUID()}`, channel: false });
  return createCloud({ store });
}

function add(cloud: Cloud, kind: CloudKind, baseUrl: string, model = 'strong', preset = 'other') {
  return cloud.add({ preset, kind, label: 'Test host', baseUrl, model, key: 'secret-key-1' });
}

async function events(brain: Brain, text: string, signal = new AbortController().signal) {
  const seen: BrainEvent[] = [];
  const request = {
    system: 'You are helpful.',
    now: 'Sunday 2026-11-29 14:05, Asia/Kolkata',
    messages: [{ role: 'user', text }],
    tools: [],
    toolChoice: 'auto',
    maxTokens: 500,
  } as const;
  for await (const event of brain.stream(request, signal)) seen.push(event);
  return seen;
}

const said = (seen: readonly BrainEvent[]) =>
  seen.map((event) => (event.type === 'text' ? event.text : '')).join('');

test.each([
  ['openai', '/v1'],
  ['anthropic', '/v1'],
  ['gemini', '/v1beta'],
] as const)('%s answers a page of another origin, piece by piece', async (kind, path) => {
  const cloud = await newCloud();
  const added = await add(cloud, kind, (await start()) + path);
  if (!added.ok) throw new Error(`${added.error.message} ${added.error.detail}`);
  const brain = await cloud.brain(added.account.id);
  const seen = await events(brain!, 'Count to 30.');
  expect(said(seen)).toMatch(/^1 2 3 .* 30$/);
  expect(seen.filter(({ type }) => type === 'text').length).toBeGreaterThan(10);
  expect(seen.at(-1)).toEqual({ type: 'end', reason: 'stop' });
});

test('a host that lets no browser in is told from one that is not there', async () => {
  const cloud = await newCloud();
  const closed = await start({ cors: false });
  expect(await add(cloud, 'openai', `${closed}/v1`)).toMatchObject({
    ok: false,
    error: { kind: 'cors', message: expect.stringContaining('does not let this app in') },
  });
  expect(await add(cloud, 'openai', `${closed}/v1`, 'qwen3:8b', 'ollama')).toMatchObject({
    ok: false,
    error: { kind: 'cors', advice: expect.stringContaining(`OLLAMA_ORIGINS=${location.origin}`) },
  });
  await commands.stopCloudServer(closed);
  expect(await add(cloud, 'openai', `${closed}/v1`)).toMatchObject({
    ok: false,
    error: { kind: 'unreachable', message: expect.stringContaining('did not answer') },
  });
  expect(await cloud.accounts()).toEqual([]);
});

test('a connection that is cut keeps its text, a redirect is not followed', async () => {
  // A browser throws away what it has not handed over yet when a connection breaks.
  const url = await start({ chunkDelayMs: 10 });
  const store = await openStore({ name: `cloud-${crypto.randomUUID()}`, channel: false });
  const cloud = createCloud({ store });
  const brainOf = async (model: string) => {
    await store.accounts.put({
      id: model,
      kind: 'openai',
      preset: 'other',
      label: 'Test host',
      baseUrl: `${url}/v1`,
      model,
      contextTokens: 10_000,
    });
    await store.vault.set(`cloud:${model}`, 'secret-key-1');
    return (await cloud.brain(model))!;
  };
  const cut = await events(await brainOf('cut'), 'Count to 30.');
  expect(said(cut)).toMatch(/^1 2 3/);
  expect(cut.at(-1)).toMatchObject({ reason: 'error', error: { kind: 'server' } });

  const moved = await events(await brainOf('redirect'), 'Hello');
  expect(moved.at(-1)).toMatchObject({
    error: { kind: 'protocol', message: expect.stringContaining('sends this request on') },
  });

  const waiting = await events(await brainOf('rate'), 'Hello');
  expect(waiting.at(-1)).toMatchObject({ error: { kind: 'rate', retryAfterMs: 7_000 } });
});

test('an abort in the middle ends the stream at once', async () => {
  const cloud = await newCloud();
  const added = await add(cloud, 'openai', `${await start({ chunkDelayMs: 50 })}/v1`);
  const brain = added.ok ? await cloud.brain(added.account.id) : null;
  const control = new AbortController();
  const seen: BrainEvent[] = [];
  for await (const event of brain!.stream(
    {
      system: '',
      now: 'Sunday 2026-11-29 14:05, Asia/Kolkata',
      messages: [{ role: 'user', text: 'Count to 900.' }],
      tools: [],
      toolChoice: 'auto',
      maxTokens: 5_000,
    },
    control.signal,
  )) {
    seen.push(event);
    if (event.type === 'text') control.abort();
  }
  expect(seen.at(-1)).toEqual({ type: 'end', reason: 'aborted' });
  expect(seen.filter(({ type }) => type === 'text')).toHaveLength(1);
});
