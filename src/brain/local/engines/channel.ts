/** A queue between a callback that pushes and one async reader. */
export class Channel<T> {
  readonly #items: T[] = [];
  #failure: { readonly error: unknown } | null = null;
  #wake: (() => void) | null = null;

  push(item: T): void {
    this.#items.push(item);
    this.#wake?.();
  }

  /** The reader gets what was pushed before, then this error. */
  fail(error: unknown): void {
    this.#failure ??= { error };
    this.#wake?.();
  }

  /** The next item; waits for it. Rejects with the error of `fail`. */
  async next(): Promise<T> {
    for (;;) {
      if (this.#items.length > 0) return this.#items.shift() as T;
      if (this.#failure) throw this.#failure.error;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      this.#wake = null;
    }
  }
}
