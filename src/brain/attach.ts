/**
 * A picture of the person's own, made ready to hang on their words. Promise: it is drawn anew, however
 * small, so that nothing of what the camera wrote beside it (place, time, device) is stored or sent.
 */
import type { AttachmentPart, PictureOwner } from '../store/records.ts';
import { redraw, type Redrawn } from './redraw.ts';

/** Larger files are not even read, in bytes. */
const LARGEST_FILE = 60_000_000;
const LONGEST_NAME = 100;
const OWNER: PictureOwner = 'you';

export type Attached =
  | { readonly ok: true; readonly part: AttachmentPart }
  /** Sentences for the person: what happened, and what to do. */
  | { readonly ok: false; readonly message: string; readonly advice: string };

const TROUBLE: Record<
  Extract<Redrawn, { ok: false }>['why'],
  (name: string) => { readonly message: string; readonly advice: string }
> = {
  kind: (name) => ({
    message: `${name} is no PNG, JPEG, WebP or GIF picture.`,
    advice: 'Choose another one, or take a screenshot of it.',
  }),
  size: (name) => ({
    message: `${name} is too large for this phone to draw.`,
    advice: 'Make it smaller, or take a screenshot of it.',
  }),
  broken: (name) => ({
    message: `${name} cannot be read as a picture.`,
    advice: 'It may be damaged. Choose another one.',
  }),
};

/** `at`: when it was attached; tells pictures apart, so each has its own. */
export async function attachPicture(file: File, at: number): Promise<Attached> {
  const name = file.name.replace(/\s+/g, ' ').trim().slice(0, LONGEST_NAME) || 'Picture';
  if (file.size > LARGEST_FILE) return { ok: false, ...TROUBLE.size(name) };
  // A file that is gone, or that the browser may not read any more.
  const bytes = await file.arrayBuffer().catch(() => null);
  const drawn = bytes
    ? await redraw(new Uint8Array(bytes))
    : ({ ok: false, why: 'broken' } as const);
  if (!drawn.ok) return { ok: false, ...TROUBLE[drawn.why](name) };
  const { data, mime } = drawn.picture;
  return {
    ok: true,
    part: {
      kind: 'attachment',
      step: 0,
      server: OWNER,
      serverName: 'a picture of yours',
      uri: '',
      name,
      content: [{ type: 'image', data, mimeType: mime }],
      at,
    },
  };
}
