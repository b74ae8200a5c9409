import { expect, test } from 'vitest';
import { conversation, draft, freshStore, text } from './helpers.ts';

const WORDS = 'flight raincoat Mumbai weather ticket café window seat tomorrow please'.split(' ');

test('a thousand messages, results of 20 KB among them, are searched in a moment', async () => {
  const { store } = await freshStore();
  for (let c = 0; c < 40; c++) {
    await store.conversations.put(conversation(`c${c}`, `Number ${c}`));
    for (let m = 0; m < 25; m++) {
      const words = Array.from({ length: 120 }, (_, i) => WORDS[(i * 7 + m + c) % WORDS.length]);
      const needle = c === 33 && m === 12 ? ' Zürich' : '';
      await store.messages.add(draft(`c${c}m${m}`, `c${c}`), [
        text(words.join(' ') + needle),
        {
          kind: 'step',
          step: 0,
          end: 'stop',
          usage: {},
          sent: { to: 'api.example.test', text: 'y'.repeat(20_000) },
        },
      ]);
    }
  }
  const started = performance.now();
  const hits = await store.conversations.search('zurich raincoat');
  const took = performance.now() - started;
  expect(hits.map((hit) => hit.conversation.id)).toEqual(['c33']);
  console.log(`search over 1,000 messages: ${took.toFixed(0)} ms`);
  // Generous, for a machine that does other things; a read of every receipt would take far longer.
  expect(took).toBeLessThan(1_500);
});
