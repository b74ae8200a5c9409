import { describe, expect, test } from 'vitest';
import { summarise } from '../../../src/agent/summary.ts';
import type { Brain, BrainMessage } from '../../../src/brain/brain.ts';
import { scriptedBrain } from './world.ts';

const NOW = 'Sunday 2026-11-29 14:05, UTC';
const signal = new AbortController().signal;
const said: BrainMessage[] = [
  { role: 'user', text: 'Find a flight to Goa.' },
  {
    role: 'assistant',
    text: '',
    calls: [{ id: 'c', name: 'search_flights', args: { to: 'Goa' }, raw: '' }],
  },
  { role: 'tool', callId: 'c', name: 'search_flights', text: '6E 2131', isError: false },
  { role: 'assistant', text: 'Take 6E 2131.', calls: [] },
];

describe('a summary', () => {
  test('is asked of the model with everything that was said, and no tools', async () => {
    const brain = scriptedBrain([{ text: 'A flight to Goa: 6E 2131. ' }]);
    expect(await summarise(said, brain, NOW, signal)).toEqual({
      ok: true,
      text: 'A flight to Goa: 6E 2131.',
    });
    const [request] = brain.requests;
    expect(request).toMatchObject({ tools: [], toolChoice: 'none', think: false });
    for (const piece of ['Find a flight to Goa.', 'search_flights {"to":"Goa"}', '6E 2131'])
      expect(request?.messages[0]?.text).toContain(piece);
  });

  test('of more than fits is one of the newest end', async () => {
    const brain: Brain & { requests: { messages: readonly BrainMessage[] }[] } = scriptedBrain([
      { text: 'Short.' },
    ]);
    const long: BrainMessage[] = Array.from({ length: 900 }, (_, n) => ({
      role: 'user',
      text: `This is message number ${n} of many.`,
    }));
    expect((await summarise(long, brain, NOW, signal)).ok).toBe(true);
    const text = brain.requests[0]?.messages[0]?.text ?? '';
    expect(brain.countTokens(text)).toBeLessThan(4096);
    expect(text).toContain('number 899');
    expect(text).not.toContain('number 0 ');
  });

  test('that fails or is empty says why', async () => {
    expect(await summarise(said, scriptedBrain([{ error: 'gpu' }]), NOW, signal)).toMatchObject({
      ok: false,
      error: { kind: 'gpu' },
    });
    expect(await summarise(said, scriptedBrain([{ text: ' ' }]), NOW, signal)).toMatchObject({
      ok: false,
      error: { kind: 'protocol' },
    });
  });
});
