/** Which of the pictures a model is shown: the newest, and never more than a few. Pure. */
import type { BrainMessage } from '../brain/brain.ts';

/** Pictures in one request: no provider takes fewer (Mistral takes eight). */
const MOST_PICTURES = 8;

/** The turns with the newest pictures only; each of the others is named in the text of its message. */
export function newestPictures(
  turns: readonly (readonly BrainMessage[])[],
  most = MOST_PICTURES,
): BrainMessage[][] {
  let left = most;
  const keep = (message: BrainMessage): BrainMessage => {
    if (message.role === 'assistant' || !message.images?.length) return message;
    const { images } = message;
    const first = Math.max(0, images.length - left);
    left -= images.length - first;
    if (first === 0) return message;
    const named = images.slice(0, first).map(({ name }) => `[picture: ${name}, not shown]`);
    return {
      ...message,
      text: [message.text, ...named].filter(Boolean).join('\n'),
      images: images.slice(first),
    };
  };
  // From the newest back, so that the oldest are those that are left out.
  return turns
    .toReversed()
    .map((turn) => turn.toReversed().map(keep).toReversed())
    .toReversed();
}

/** Who gave the pictures that a model is shown; the person's own are nobody's. */
export function picturesFrom(messages: readonly BrainMessage[]): string[] {
  const all = messages.flatMap((message) =>
    message.role === 'assistant' ? [] : (message.images ?? []),
  );
  return [...new Set(all.flatMap(({ from }) => (from === undefined ? [] : [from])))];
}
