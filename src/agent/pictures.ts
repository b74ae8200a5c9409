/**
 * The pictures in results and those that hang on the person's words. Pure; what their bytes are is the
 * brain's to read.
 */
import type { BrainImage } from '../brain/brain.ts';
import type { ContentBlock, Part, PictureOwner } from '../store/records.ts';

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
