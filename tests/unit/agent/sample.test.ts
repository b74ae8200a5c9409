/** What a server asks of a model: its words and nothing else, within its bounds, never a throw. */
import { expect, test } from 'vitest';
import { sample, think } from '../../../src/agent/sample.ts';
import type { SampleRequest } from '../../../src/mcp/types.ts';
import { createRouter } from '../../../src/router/router.ts';
import { scriptedBrain, type Say } from './world.ts';

const request: SampleRequest = {
  systemPrompt: 'Be brief.',
  maxTokens: 50,
  temperature: 0.3,
  messages: [
    { role: 'user', content: [{ type: 'text', text: 'One.' }] },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'Two.' },
        { type: 'image', data: 'AAAA', mimeType: 'image/png' },
      ],
    },
    { role: 'assistant', content: [{ type: 'text', text: 'Three.' }] },
  ],
};
const never = (): AbortSignal => new AbortController().signal;
const ask = (say: Say, change: Partial<SampleRequest> = {}, place: 'phone' | 'cloud' = 'phone') => {
  const brain = scriptedBrain([say], place);
  return sample({ ...request, ...change }, brain, 'Now', never()).then((made) => ({
    made,
    asked: brain.requests[0],
  }));
};

test('the model gets the server’s words, the roles in turn, and no tools', async () => {
  const { made, asked } = await ask({ text: 'An answer.' });
  expect(made).toMatchObject({
    ok: true,
    text: 'An answer.',
    stopReason: 'endTurn',
    usage: { promptTokens: 100, outputTokens: 10 },
  });
  expect(asked).toMatchObject({ system: '', tools: [], maxTokens: 50, temperature: 0.3 });
  expect(asked?.messages.map(({ role, text }) => [role, text])).toEqual([
    ['user', 'Be brief.\n\nOne.\n\nTwo.\n[image]'],
    ['assistant', 'Three.'],
  ]);
});

test('in the cloud the instructions are the system’s', async () => {
  const { asked } = await ask({ text: 'An answer.' }, {}, 'cloud');
  expect(asked?.system).toBe('Be brief.');
  expect(asked?.messages[0]?.text).toMatch(/^One\./);
});

test('an answer ends at a stop sequence, at its length, or by itself, and says which', async () => {
  const stopped = await ask({ text: 'One two three.' }, { stopSequences: ['', 'three', 'two'] });
  expect(stopped.made).toMatchObject({ text: 'One', stopReason: 'stopSequence' });
  const cut = await ask({ text: 'One two', end: 'length' });
  expect(cut.made).toMatchObject({ text: 'One two', stopReason: 'maxTokens' });
});

test('what went wrong comes as words', async () => {
  expect((await ask({ error: 'gpu' })).made).toMatchObject({ ok: false, message: 'It broke.' });
  expect((await ask({ text: ' ' })).made).toMatchObject({ ok: false });
  const long = [{ role: 'user' as const, content: [{ type: 'text', text: 'x'.repeat(20_000) }] }];
  const { made, asked } = await ask({ text: 'Never.' }, { messages: long });
  expect(made).toMatchObject({ ok: false, message: expect.stringContaining('too long') });
  expect(asked).toBeUndefined();
});

test('no answer is longer than the window allows, whatever the server asks', async () => {
  const { asked } = await ask({ text: 'An answer.' }, { maxTokens: 1_000_000 });
  expect(asked?.maxTokens).toBeLessThanOrEqual(1024);
});

test('a stopped model gives nothing', async () => {
  const stop = new AbortController();
  const asking = sample(request, scriptedBrain([{ hang: true, text: 'Half' }]), 'Now', stop.signal);
  stop.abort();
  expect(await asking).toMatchObject({ ok: false });
});

test('a private result that comes in while the person looks at the question, or a brain is chosen, keeps it on the phone', async () => {
  for (const comesIn of ['before', 'while choosing', 'never'] as const) {
    const phone = scriptedBrain([{ text: 'Here.' }]);
    const cloud = scriptedBrain([{ text: 'There.' }], 'cloud');
    let isPrivate = comesIn === 'before';
    const router = createRouter({
      online: () => true,
      phone: async () => phone,
      cloud: async () => {
        isPrivate ||= comesIn === 'while choosing';
        return cloud;
      },
    });
    const reached = async () => null;
    const thinking = { router, isPrivate: async () => isPrivate, reached, now: () => 'Now' };
    const made = await think(thinking, request, 'cloud', never());
    expect(cloud.requests).toHaveLength(comesIn === 'never' ? 1 : 0);
    expect(made).toMatchObject(
      comesIn === 'never'
        ? { ok: true, text: 'There.', place: 'cloud' }
        : { ok: false, message: expect.stringContaining('stays on this phone') },
    );
    expect(await think(thinking, request, 'phone', never())).toMatchObject({ place: 'phone' });
  }
});

test('where cloud models have cost as much today as they may, a server’s question is not sent to one', async () => {
  const phone = scriptedBrain([{ text: 'Here.' }]);
  const cloud = scriptedBrain([{ text: 'There.' }], 'cloud');
  const router = createRouter({
    online: () => true,
    phone: async () => phone,
    cloud: async () => cloud,
  });
  const limit = { message: 'Cloud models have cost $2.00 today.', advice: 'Use the phone.' };
  const thinking = {
    router,
    isPrivate: async () => false,
    reached: async () => limit,
    now: () => 'Now',
  };
  expect(await think(thinking, request, 'cloud', never())).toEqual({ ok: false, ...limit });
  expect(cloud.requests).toHaveLength(0);
  expect(await think(thinking, request, 'phone', never())).toMatchObject({ text: 'Here.' });
});
