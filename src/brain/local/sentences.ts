/** What a person reads when a model on the phone fails: a sentence for each kind of engine error. */
import type { BrainError, BrainErrorKind } from '../brain.ts';
import { EngineError, type EngineErrorKind } from './errors.ts';

/** The kinds that a brain does not tell apart from others. */
const AS_BRAIN: Partial<Record<EngineErrorKind, BrainErrorKind>> = {
  unfit: 'gpu',
  unsafe: 'internal',
};

const SENTENCES: Readonly<
  Record<EngineErrorKind, (label: string, detail: string) => Pick<BrainError, 'message' | 'advice'>>
> = {
  absent: (label) => ({
    message: `${label} is not on this phone any more.`,
    advice: 'Download it again on the Models page, or let the cloud take this turn.',
  }),
  unfit: (label, detail) => ({
    message: `${label} cannot run on this phone. ${detail}`,
    advice: 'Choose a model that runs on the processor, or let the cloud take this turn.',
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
  const { kind, message: detail } = EngineError.from(thrown);
  return {
    kind: AS_BRAIN[kind] ?? (kind as BrainErrorKind),
    ...SENTENCES[kind](label, detail),
    detail,
  };
}
