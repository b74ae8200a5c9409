/** A failure that the person who runs the command can do something about. */
export class Problem extends Error {
  override readonly name = 'Problem';
  /** What to do, as a sentence. */
  readonly advice: string;

  /** `message` says what happened, as a sentence. */
  constructor(message: string, advice: string) {
    super(message);
    this.advice = advice;
  }
}
