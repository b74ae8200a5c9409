import { expect, test } from 'vitest';
import { createLocalBrain } from '../../../../src/brain/local/brain.ts';
import type { GenerateRequest, LocalEngine } from '../../../../src/brain/local/types.ts';
import { png } from '../png.ts';
import { rowOf } from './rows.ts';

test('no model on the phone says that it sees, and each is told in words of a picture', async () => {
  const requests: GenerateRequest[] = [];
  const engine: LocalEngine = {
    load: () => Promise.resolve(),
    async *generate(request) {
      requests.push(request);
      yield { type: 'token', text: 'I cannot see it.' };
      yield { type: 'done', reason: 'stop', promptTokens: 9, cachedTokens: 0, outputTokens: 5 };
    },
    unload: () => Promise.resolve(),
  };
  const brain = createLocalBrain({ row: rowOf({ engine: 'wllama', images: true }), engine });
  expect(brain.describe().can.images).toBe(false);
  const data = png(640, 480).toString('base64');
  const request = {
    system: '',
    now: 'Sunday 2026-11-29 14:05, UTC',
    messages: [{ role: 'user', text: 'What is it?', images: [{ mime: 'image/png', data }] }],
    tools: [],
    toolChoice: 'auto',
    maxTokens: 50,
  } as const;
  let end = '';
  for await (const event of brain.stream(request, new AbortController().signal))
    if (event.type === 'end') end = event.reason;
  expect(end).toBe('stop');
  const prompt = JSON.stringify(requests[0]);
  expect(prompt).toContain('[a picture, 640×480, which this model cannot see]');
  expect(prompt).not.toContain(data);
});
