/**
 * Stop strings in a stream. The text before the first of them is let through; what may be the
 * beginning of one is held back until it is known.
 */
export class StopStrings {
  readonly #stops: readonly string[];
  #held = '';
  #found = false;

  constructor(stops: readonly string[]) {
    this.#stops = stops.filter((stop) => stop !== '');
  }

  /** True once a stop string was met; nothing comes out after it. */
  get found(): boolean {
    return this.#found;
  }

  /** Takes new text, gives back what is certain to come before any stop string. */
  push(text: string): string {
    if (this.#found) return '';
    const all = this.#held + text;
    const first = Math.min(
      ...this.#stops.map((stop) => all.indexOf(stop)).filter((at) => at >= 0),
      Infinity,
    );
    if (first !== Infinity) {
      this.#found = true;
      this.#held = '';
      return all.slice(0, first);
    }
    const keep = Math.max(0, ...this.#stops.map((stop) => overlap(all, stop)));
    this.#held = all.slice(all.length - keep);
    return all.slice(0, all.length - keep);
  }

  /** At the end of the stream: what was held back and turned out to be no stop string. */
  rest(): string {
    const held = this.#held;
    this.#held = '';
    return held;
  }
}

/** Length of the longest beginning of `stop` with which `text` ends. */
function overlap(text: string, stop: string): number {
  for (let length = Math.min(stop.length - 1, text.length); length > 0; length -= 1)
    if (text.endsWith(stop.slice(0, length))) return length;
  return 0;
}
