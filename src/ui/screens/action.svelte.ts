/** Something that the person started and that takes a while: never twice at once, never silent. */
import { sentenceFor, type Sentence } from '../errors.ts';

export class Action {
  busy = $state(false);
  /** What went wrong with the last run. */
  error = $state.raw<Sentence | null>(null);
  #last = Promise.resolve();

  /** Runs it; a rejection becomes `error`. */
  async run(work: () => Promise<void>): Promise<void> {
    if (this.busy) return;
    this.busy = true;
    this.error = null;
    try {
      await work();
    } catch (cause) {
      this.error = sentenceFor(cause);
    } finally {
      this.busy = false;
    }
  }

  /** Runs it behind what runs already, so that no tap is lost; an error before it stays in sight. */
  inTurn(work: () => Promise<void>): Promise<void> {
    const waits = this.busy;
    this.#last = this.#last.then(async () => {
      const earlier = waits ? this.error : null;
      await this.run(work);
      this.error ??= earlier;
    });
    return this.#last;
  }
}
