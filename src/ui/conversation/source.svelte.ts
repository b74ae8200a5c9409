/** An address for the bytes of a picture, a sound or a file, for as long as it is on the screen. */
import { blobOf, type Media } from './values.ts';

export class Source {
  /** Null until there is one. */
  url = $state<string | null>(null);
  /** There is nothing in the bytes, or the browser can make nothing of them. */
  broken = $state(false);

  /** To be made while a component is set up; `media` is read anew when it changes. */
  constructor(media: () => Media) {
    $effect(() => {
      const blob = blobOf(media());
      this.broken = blob === null;
      if (!blob) return;
      const url = URL.createObjectURL(blob);
      this.url = url;
      return () => URL.revokeObjectURL(url);
    });
  }

  /** The browser could not draw or play it. */
  fail = (): void => {
    this.broken = true;
  };
}
