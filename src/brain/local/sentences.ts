/** What a person reads when a model on the phone fails: a sentence for each kind of engine error. */
import type { BrainError } from '../brain.ts';
import { EngineError, type EngineErrorKind } from './errors.ts';

const SENTENCES: Readonly<
  Record<EngineErrorKind, (label: string) => Pick<BrainError, 'message' | 'advice'>>
> = {
  absent: (label) => ({
    message: `${label} is not on this phone any more.`,
    advice: 'Download it again on the Models page, or let the cloud take this turn.',
  }),
  gpu: (label) => ({
    message: `The graphics chip stopped working for ${label}.`,
    advice: 'Try again. If it happens again, choose a model that runs on the CPU.',
  }),
  memory: (label) => ({
    message: `There is not enough memory for ${label}.`,
    advice: 'Close other apps and tabs and try again, or choose a smaller model.',
  }),
  context: (label) => ({
    message: `This conversation is too long for ${label}.`,
    advice: 'Send a shorter message, start a new conversation, or let the cloud take this turn.',
  }),
  stalled: (label) => ({
    message: `${label} stopped answering.`,
    advice: 'Try again. If it happens again, choose a smaller model.',
  }),
  unsafe: (label) => ({
    message: `${label} failed on this phone before, so it was not started again.`,
    advice: 'Take the safer choice that is offered for it, or let the cloud take this turn.',
  }),
  internal: (label) => ({
    message: `${label} failed on this phone.`,
    advice: 'Try again. If it happens again, download the model anew or choose another one.',
  }),
};

/** Anything thrown below the brain, as an error for the person. `label` is the model's own. */
export function brainError(thrown: unknown, label: string): BrainError {
  const { kind, message } = EngineError.from(thrown);
  const { message: what, advice } = SENTENCES[kind](label);
  return {
    kind: kind === 'unsafe' ? 'internal' : kind,
    message: what,
    advice,
    detail: message,
  };
}
