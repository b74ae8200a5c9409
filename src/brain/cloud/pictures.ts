/**
 * The pictures of a request as they leave the phone: told by their bytes, PNG or JPEG (Gemini takes no
 * GIF, llama.cpp no WebP), none so large that it is refused. What cannot be shown becomes a sentence
 * in its place. For the receipt each is a mark instead of its bytes.
 */
import type { BrainImage, BrainMessage, BrainRequest } from '../brain.ts';
import { base64Of, bytesOf, readPicture, withNotes, type Picture } from '../pictures.ts';
import { decodes, LONGEST, redraw } from '../redraw.ts';
import { toHex } from '../../store/canonical.ts';

/** In bytes: of eight such pictures a request stays below the 20 MB that Gemini takes at once. */
const MOST_BYTES = 1_500_000;
/** Pictures that are kept as they were made ready, for the next step of a turn. */
const MOST_KEPT = 16;

/** What is done with a picture: sent as it is, or drawn anew before. */
export function planOf({ mime, width, height }: Picture, bytes: number): 'send' | 'redraw' {
  const plain = mime === 'image/png' || mime === 'image/jpeg';
  return plain && Math.max(width, height) <= LONGEST && bytes <= MOST_BYTES ? 'send' : 'redraw';
}

type Ready =
  | { readonly ok: true; readonly image: BrainImage; readonly mark: string }
  | { readonly ok: false; readonly words: string };

export type Album = Map<string, Promise<Ready>>;

export interface ReadyRequest {
  readonly request: BrainRequest;
  /** A body without the bytes of its pictures. */
  readonly receipt: (body: string) => string;
}

const WHY = {
  kind: 'it is no PNG, JPEG, WebP or GIF',
  size: 'it is too large',
  broken: 'it is broken',
} as const;

async function makeReady({ data, name = 'without a name' }: BrainImage): Promise<Ready> {
  const not = (why: keyof typeof WHY): Ready => ({
    ok: false,
    words: `[picture: ${name}, not shown: ${WHY[why]}]`,
  });
  const bytes = bytesOf(data);
  const picture = bytes && readPicture(bytes);
  if (!bytes || !picture) return not('kind');
  if (planOf(picture, bytes.length) === 'send')
    return (await decodes(bytes, picture.mime)) ? leaving(picture.mime, bytes) : not('broken');
  const drawn = await redraw(bytes);
  if (!drawn.ok) return not(drawn.why);
  const made = bytesOf(drawn.picture.data);
  return made && made.length <= MOST_BYTES ? leaving(drawn.picture.mime, made) : not('size');
}

async function leaving(mime: string, bytes: Uint8Array<ArrayBuffer>): Promise<Ready> {
  const hash = toHex(new Uint8Array(await crypto.subtle.digest('SHA-256', bytes)));
  return {
    ok: true,
    image: { mime, data: base64Of(bytes) },
    mark: `[${mime}, ${bytes.length} bytes, SHA-256 ${hash}]`,
  };
}

/** Never rejects for what a picture is: one that cannot be shown is told of in words. */
export async function readyPictures(request: BrainRequest, album: Album): Promise<ReadyRequest> {
  const marks = new Map<string, string>();
  const prepare = (image: BrainImage): Promise<Ready> => {
    const key = `${image.name ?? ''}\n${image.data}`;
    const known = album.get(key);
    const ready = known ?? makeReady(image);
    // The one that was used last is forgotten last.
    album.delete(key);
    album.set(key, ready);
    if (album.size > MOST_KEPT) album.delete(album.keys().next().value!);
    return ready;
  };
  const messages: BrainMessage[] = [];
  for (const message of request.messages) {
    if (message.role === 'assistant' || !message.images?.length) {
      messages.push(message);
      continue;
    }
    const images: BrainImage[] = [];
    const notes: string[] = [];
    // One after the other: each takes much memory while it is decoded.
    for (const image of message.images) {
      const ready = await prepare(image);
      if (ready.ok) {
        images.push(ready.image);
        marks.set(ready.image.data, ready.mark);
      } else notes.push(ready.words);
    }
    messages.push({ ...message, text: withNotes(message.text, notes), images });
  }
  return {
    request: { ...request, messages },
    receipt: (body) => [...marks].reduce((text, [data, mark]) => text.replaceAll(data, mark), body),
  };
}
