import { expect, test } from 'vitest';
import { engineFault } from '../../../../src/brain/local/engines/faults.ts';
import { EngineError, type EngineErrorKind } from '../../../../src/brain/local/errors.ts';

/** Words that the engines were seen to use. */
const SEEN: readonly (readonly [unknown, EngineErrorKind])[] = [
  [
    Object.assign(new Error('Prompt tokens exceed context window size: 600'), {
      name: 'ContextWindowSizeExceededError',
    }),
    'context',
  ],
  [
    new Error(
      'request (18001 tokens) exceeds the available context size (1024 tokens), try increasing it',
    ),
    'context',
  ],
  [new Error('Unable to find a compatible GPU. This issue might be because your computer…'), 'gpu'],
  [
    Object.assign(new Error('WebGPU is not supported in your current environment'), {
      name: 'WebGPUNotAvailableError',
    }),
    'gpu',
  ],
  [new Error('Cannot initialize runtime because of requested maxBufferSize exceeds limit.'), 'gpu'],
  [
    Object.assign(new Error('This model requires WebGPU extension shader-f16'), {
      name: 'ShaderF16SupportError',
    }),
    'gpu',
  ],
  [new Error('The GPU device was lost (unknown): VK_ERROR_DEVICE_LOST'), 'gpu'],
  [new RangeError('Array buffer allocation failed'), 'memory'],
  [new RangeError('WebAssembly.Memory(): could not allocate memory'), 'memory'],
  [new Error('(ABORT) Cannot enlarge memory, OOM'), 'memory'],
  [{ message: 'failed to allocate buffer for kv cache' }, 'memory'],
  [new RangeError('Invalid typed array length: 1163217991'), 'internal'],
  [new WebAssembly.RuntimeError('unreachable'), 'internal'],
  [1234567, 'internal'],
  [undefined, 'internal'],
];

test.each(SEEN)('%s is of kind %s', (thrown, kind) => {
  const error = engineFault(thrown);
  expect(error.kind).toBe(kind);
  expect(error.message).not.toBe('');
});

test('an error that has a kind keeps it', () => {
  const error = new EngineError('absent', 'not stored: x');
  expect(engineFault(error)).toBe(error);
});
