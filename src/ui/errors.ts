/** Sentences for what a call into the app may reject with; for notices beside what the person did. */
export interface Sentence {
  readonly text: string;
  readonly advice: string;
}

/** Errors that are made for the person carry an `advice`; the others are faults of ours. */
export function sentenceFor(cause: unknown): Sentence {
  if (cause instanceof Error && cause.name === 'QuotaError')
    return {
      text: 'This phone has no room left for Deft, so nothing was stored.',
      advice: 'Delete a model or old conversations, then try again. What you typed is still here.',
    };
  if (cause instanceof Error && 'advice' in cause && typeof cause.advice === 'string')
    return { text: cause.message, advice: cause.advice };
  return {
    text: 'Something in Deft failed.',
    advice: 'Try again. If it keeps happening, reload the app; what you typed is kept.',
  };
}
