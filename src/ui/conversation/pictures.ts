/** Pictures that the person chose, pasted or dropped, as what hangs on the draft. */
import type { App } from '../../app.ts';
import type { AttachmentPart, PictureOwner } from '../../store/records.ts';
import { count } from './words.ts';

/** More than this many at once no model is shown. */
const MOST = 8;
const OWNER: PictureOwner = 'you';

/** Whether something attached is the person's own, and no server's. */
export const isOwn = ({ server }: Pick<AttachmentPart, 'server'>): boolean => server === OWNER;

export interface Chosen {
  readonly parts: readonly AttachmentPart[];
  /** What went wrong with others of them; empty where nothing did. */
  readonly trouble: string;
}

/** Reads them one after the other: each takes much memory while it is decoded. */
export async function readPictures(
  files: readonly File[],
  attached: readonly AttachmentPart[],
  pictures: App['pictures'],
): Promise<Chosen> {
  const room = Math.max(0, MOST - attached.filter(isOwn).length);
  const parts: AttachmentPart[] = [];
  const trouble: string[] = [];
  const now = Date.now();
  for (const [index, file] of files.slice(0, room).entries()) {
    const read = await pictures.attach(file, now + index);
    if (read.ok) parts.push(read.part);
    else trouble.push(`${read.message} ${read.advice}`);
  }
  if (files.length > room)
    trouble.push(
      `A message holds at most ${count(MOST)} pictures. Send the others with the next one.`,
    );
  return { parts, trouble: trouble.join(' ') };
}
