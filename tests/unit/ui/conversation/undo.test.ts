import { describe, expect, it } from 'vitest';
import type { CallPart, Outcome } from '../../../../src/store/records.ts';
import { undoStatus } from '../../../../src/ui/conversation/undo-status.ts';
import { undoFor } from '../../../../src/ui/conversation/undo.ts';
import { call, message, said } from '../../../browser/ui/fake-app.ts';

const undo = (change: Partial<CallPart>): CallPart => call({ undoes: 'made', ...change });
const ended = (outcome: Outcome): CallPart => undo({ state: 'done', outcome });
const words = { message: 'The line broke.', advice: 'Look there.' };

describe('what became of an undo', () => {
  it.each<[string, CallPart, boolean, string, boolean]>([
    ['asked about', undo({ state: 'asked' }), true, 'Undo waits for your answer', false],
    ['under way', undo({ state: 'running' }), true, 'Undo under way', false],
    [
      'stopped at its question',
      undo({ state: 'asked' }),
      false,
      'Not undone: it was stopped.',
      true,
    ],
    ['denied', undo({ state: 'denied' }), false, 'Not undone: you said no.', true],
    ['refused', undo({ state: 'refused', why: 'Never.' }), false, 'Not undone. Never.', true],
    ['done', ended({ kind: 'result', content: [] }), false, 'Undone', false],
    [
      'not sent',
      ended({ kind: 'unavailable', code: 'offline', ...words }),
      false,
      'Not undone. The line broke. Look there.',
      true,
    ],
    ['unknown', ended({ kind: 'unknown', ...words }), false, 'The line broke. Look there.', false],
    ['late', ended({ kind: 'timeout', ...words }), false, 'The line broke. Look there.', false],
  ])('%s', (_, part, busy, text, again) => {
    expect(undoStatus(part, busy)).toMatchObject({ text, again });
  });

  it('is never offered again where it may have run', () => {
    expect(undoStatus(undo({ state: 'running' }), false).again).toBe(false);
    expect(undoStatus(ended({ kind: 'tool_error', content: [] }), false).again).toBe(false);
  });

  it('is that of the newest try', () => {
    const [first, second] = [undo({ state: 'denied' }), undo({ state: 'done' })];
    const messages = [said('Do it'), message('assistant', [first]), message('assistant', [second])];
    expect(undoFor('made', messages)).toBe(second);
    expect(undoFor('another', messages)).toBeUndefined();
  });
});
