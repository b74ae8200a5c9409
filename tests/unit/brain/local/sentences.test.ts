import { describe, expect, test } from 'vitest';
import { EngineError, type EngineErrorKind } from '../../../../src/brain/local/errors.ts';
import { brainError } from '../../../../src/brain/local/sentences.ts';

const KINDS: readonly EngineErrorKind[] = [
  'absent',
  'unfit',
  'gpu',
  'memory',
  'context',
  'stalled',
  'unsafe',
  'internal',
];

describe('what a person reads when a model on the phone fails', () => {
  test.each(KINDS)('%s: names the model, says what to do, survives a worker’s border', (kind) => {
    const wire = new EngineError(kind, 'The detail.').toWire();
    const error = brainError(EngineError.fromWire(wire), 'Gemma');
    expect(error.message).toMatch(/Gemma.*\.$/);
    expect(error.advice).toMatch(/\.$/);
    expect(error.detail).toBe('The detail.');
  });

  test('a phone that cannot run it says why, one where it failed says that it waits', () => {
    const unfit = new EngineError('unfit', 'This browser offers no usable GPU.');
    expect(brainError(unfit, 'Gemma')).toMatchObject({
      kind: 'gpu',
      message: 'Gemma cannot run on this phone. This browser offers no usable GPU.',
    });
    expect(brainError(new EngineError('unsafe', 'x'), 'Gemma')).toMatchObject({
      kind: 'internal',
      message: expect.stringMatching(/failed on this phone before/) as string,
    });
  });
});
