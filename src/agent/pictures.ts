/**
 * Which pictures a model is shown: those in results and those that hang on the person's words, the
 * newest first and never more than a few. Pure; what their bytes are is the brain's to read.
 */
import type { BrainImage, BrainMessage } from '../brain/brain.ts';
import type { ContentBlock, Part, PictureOwner } from '../store/records.ts';

/** Pictures in one request: no provider takes fewer (Mistral takes eight). */
const MOST_PICTURES = 8;

/** Stands as the server of what the person attached from this phone. */
const OWN: PictureOwner = 'you';

/** Names are a server's words, too. */
export const oneLine = (name: string): string =>
  name
    .replace(/[\s[\]]+/g, ' ')
    .trim()
    .slice(0, 100);

/** The pictures in the content of a result or a resource. `from`: who gave it, if not the person. */
export function picturesIn(
  content: readonly ContentBlock[],
  name: string,
  from?: string,
): BrainImage[] {
  return content.flatMap((block): BrainImage[] => {
    const held = block.type === 'resource' ? (block.resource as Partial<ContentBlock>) : block;
    const data = block.type === 'resource' ? held?.blob : block.type === 'image' && held.data;
    const mime = held?.mimeType;
    if (typeof data !== 'string' || typeof mime !== 'string' || !/^image\//i.test(mime)) return [];
    return [{ mime, data, name: oneLine(name), ...(from === undefined ? {} : { from }) }];
  });
}

/** The pictures that hang on the person's words. */
export function attachedPictures(parts: readonly Part[]): BrainImage[] {
  return parts.flatMap((part) =>
    part.kind === 'attachment'
      ? picturesIn(part.content, part.name, isOwn(part.server) ? undefined : part.serverName)
      : [],
  );
}

/** Whether something attached is the person's own, and no server's. */
export const isOwn = (server: string): boolean => server === OWN;

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
