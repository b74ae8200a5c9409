/** How the list of conversations is grouped, and where a search hit is marked. Pure. */
import type { ConversationHit } from '../../store/store.ts';

export type Entry = ConversationHit;

export interface Group {
  readonly title: string;
  readonly entries: readonly Entry[];
}

/** Pinned first, then by the day of the last change; the order inside stays as given. */
export function byTime(entries: readonly Entry[], now: number): Group[] {
  const today = new Date(now);
  const start = (back: number): number =>
    new Date(today.getFullYear(), today.getMonth(), today.getDate() - back).getTime();
  const title = ({ conversation }: Entry): string => {
    if (conversation.pinned) return 'Pinned';
    if (conversation.updatedAt >= start(0)) return 'Today';
    if (conversation.updatedAt >= start(1)) return 'Yesterday';
    if (conversation.updatedAt >= start(7)) return 'The last seven days';
    return 'Earlier';
  };
  const groups = new Map<string, Entry[]>();
  for (const name of ['Pinned', 'Today', 'Yesterday', 'The last seven days', 'Earlier'])
    groups.set(name, []);
  for (const entry of entries) groups.get(title(entry))?.push(entry);
  return [...groups]
    .filter(([, inside]) => inside.length > 0)
    .map(([name, inside]) => ({ title: name, entries: inside }));
}

export interface Piece {
  readonly text: string;
  readonly hit: boolean;
}

/** Cuts a text where words of the query stand in it, in any case. */
export function marked(text: string, query: string): Piece[] {
  const words = query.split(/\s+/).filter((word) => word !== '');
  if (words.length === 0) return [{ text, hit: false }];
  const pattern = words.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|');
  return text
    .split(new RegExp(`(${pattern})`, 'giu'))
    .map((piece, index) => ({ text: piece, hit: index % 2 === 1 }))
    .filter((piece) => piece.text !== '');
}
