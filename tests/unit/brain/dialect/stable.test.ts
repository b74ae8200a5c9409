import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { BrainMessage } from '../../../../src/brain/brain.ts';
import { ALL, call, NAMES, request } from './conversations.ts';

const words = fc.string({ maxLength: 20 });

/** One turn: a question, some steps of calls with their results, and at last an answer. */
const turn = fc
  .record({
    question: words,
    steps: fc.array(
      fc.array(fc.record({ city: words, result: words }), { minLength: 1, maxLength: 2 }),
      {
        maxLength: 2,
      },
    ),
    answer: fc.string({ minLength: 1, maxLength: 20 }),
  })
  .map(({ question, steps, answer }, at = Math.random()): BrainMessage[] => [
    { role: 'user', text: question },
    ...steps.flatMap((calls, step): BrainMessage[] => {
      const ids = calls.map((_call, index) => `${at}-${step}-${index}`);
      return [
        {
          role: 'assistant',
          text: '',
          calls: calls.map(({ city }, index) =>
            call('get_weather', { city, date: 'today' }, ids[index]),
          ),
        },
        ...calls.map(({ result }, index): BrainMessage => ({
          role: 'tool',
          callId: ids[index] ?? '',
          name: 'get_weather',
          text: result,
          isError: false,
        })),
      ];
    }),
    { role: 'assistant', text: answer, calls: [] },
  ]);

/** Where a request was made: before each message of the model. */
const asked = (messages: readonly BrainMessage[]): number[] =>
  messages.flatMap((message, at) => (message.role === 'assistant' ? [at] : []));

describe.each(NAMES)('%s: what was computed of a prompt stays valid', (family) => {
  const render = (messages: readonly BrainMessage[], think: boolean): readonly string[] =>
    ALL[family].render(request(messages, { think }));

  test('while a conversation goes on with the same tools', () => {
    const conversation = fc.array(turn, { minLength: 1, maxLength: family === 'gemma3' ? 1 : 3 });
    fc.assert(
      fc.property(conversation, fc.boolean(), (turns, think) => {
        const messages = turns.flat();
        const whole = [...messages, { role: 'user', text: 'and?' } as const];
        const later = family === 'gemma3' ? render(messages, think) : render(whole, think);
        for (const at of asked(messages)) {
          const earlier = render(messages.slice(0, at), think);
          expect(later.slice(0, earlier.length)).toEqual(earlier);
        }
      }),
      { numRuns: 60 },
    );
  });

  test('and its pieces are prompt and reply in turns', () => {
    fc.assert(
      fc.property(turn, (messages) => {
        const pieces = render(messages.slice(0, -1), false);
        expect(pieces.length % 2).toBe(1);
        expect(pieces.every((piece) => typeof piece === 'string')).toBe(true);
      }),
      { numRuns: 30 },
    );
  });
});
