/** The model in use is gone from this phone: what is said of it, wherever the person is. */
import type { ModelView } from '../../brain/local/types.ts';
import type { Sentence } from '../errors.ts';

/**
 * Says that the browser has cleared the model in use, or a part of it; undefined where it has not.
 * `models` is the whole list, `used` the id of the model in use.
 */
export function missingModel(
  models: readonly ModelView[],
  used: string | null,
): Sentence | undefined {
  if (used === null) return undefined;
  const status = models.find(({ row }) => row.id === used)?.status;
  if (status?.kind === 'failed' && status.fault === 'evicted')
    return { text: status.message, advice: status.advice };
  // Of one whose every trace was cleared, or that is in use on another phone only, no name is known.
  if (status === undefined || status.kind === 'absent')
    return {
      text: 'The model in use is not on this phone.',
      advice: 'Download it, or choose another one.',
    };
  return undefined;
}
