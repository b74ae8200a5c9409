/**
 * Which attachments have changed at their servers since they were read. They are watched from when they
 * hang on the draft until the conversation is left, sent or not; nothing is read again by itself.
 */
import type { Host } from '../../mcp/types.ts';
import type { AttachmentPart } from '../../store/records.ts';

export interface Changes {
  /** Keys of those that changed; on the screen a reactive set. */
  readonly changed: Set<string>;
  /** By key: ends the watch. */
  readonly ends: Map<string, () => void>;
}

/** Watched at once: each keeps a connection. The oldest are let go. */
const MOST = 10;

export function changeKey({ server, uri, at }: AttachmentPart): string {
  return `${at} ${server} ${uri}`;
}

export function watchFor(
  { changed, ends }: Changes,
  host: Pick<Host, 'watchResource'>,
  part: AttachmentPart,
): void {
  const key = changeKey(part);
  if (part.uri === '' || ends.has(key)) return;
  let over = false;
  let stop: (() => void) | null = null;
  ends.set(key, () => {
    over = true;
    stop?.();
  });
  const [oldest] = ends.keys();
  if (ends.size > MOST && oldest !== undefined) end(ends, oldest);
  host
    .watchResource(part.server, part.uri, () => changed.add(key))
    .then((given) => {
      if (over) given();
      else stop = given;
    })
    // A server that cannot tell, or cannot be reached: what is attached stays what it was.
    .catch(() => undefined);
}

/** It hangs on nothing any more. */
export function forgetChange({ changed, ends }: Changes, part: AttachmentPart): void {
  const key = changeKey(part);
  changed.delete(key);
  end(ends, key);
}

function end(ends: Changes['ends'], key: string): void {
  ends.get(key)?.();
  ends.delete(key);
}
