/** When the model in use is said to be gone, and in which words. */
import { expect, test } from 'vitest';
import type { ModelStatus, ModelView } from '../../../../src/brain/local/types.ts';
import { missingModel } from '../../../../src/ui/shell/missing.ts';

const view = (id: string, status: ModelStatus): ModelView => ({
  row: {
    id,
    label: id,
    engine: 'wllama',
    family: 'gemma3',
    note: '',
    files: [],
    base: 'https://example.org/',
    licence: { name: 'test', url: 'https://example.org/' },
    contextTokens: 1024,
    maxTools: 5,
    memory: 1,
    beside: true,
  },
  status,
  stored: 0,
  fit: { verdict: 'well', reason: '', asks: [] },
});
const failed = (fault: 'evicted' | 'damaged'): ModelStatus => ({
  kind: 'failed',
  fault,
  message: 'What happened.',
  advice: 'What to do.',
});

test('one that the browser cleared is told in the words of its card', () => {
  const said = { text: 'What happened.', advice: 'What to do.' };
  expect(missingModel([view('a', failed('evicted'))], 'a')).toEqual(said);
});

test.each([
  ['is in no list any more', []],
  ['is listed, and nothing of it is here', [view('a', { kind: 'absent' })]],
])('one that %s is told as not here', (_name, models) => {
  expect(missingModel(models, 'a')?.text).toBe('The model in use is not on this phone.');
});

test.each([
  ['it is here', [view('a', { kind: 'ready' })], 'a'],
  ['it is on its way', [view('a', { kind: 'paused', received: 1, total: 2 })], 'a'],
  ['it failed in another way', [view('a', failed('damaged'))], 'a'],
  ['another one is gone', [view('a', failed('evicted')), view('b', { kind: 'ready' })], 'b'],
  ['none is in use', [view('a', { kind: 'absent' })], null],
])('nothing is said where %s', (_name, models, used) => {
  expect(missingModel(models, used)).toBeUndefined();
});
