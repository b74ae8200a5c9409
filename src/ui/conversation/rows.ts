/**
 * A conversation as rows of the list: a message of the person is one, an answer one for each part,
 * a long text several. A row keeps its key while its message grows.
 */
import type { MessageView } from '../../app.ts';
import type { Part, Summary } from '../../store/records.ts';
import { chunks } from '../markdown/chunks.ts';
import { newestContext } from './words.ts';

export type Row = {
  readonly key: string;
  readonly view: MessageView;
  /** The first row of its message: it carries the heading. */
  readonly first: boolean;
} & (
  | { readonly kind: 'words' }
  | { readonly kind: 'text'; readonly text: string; readonly tail: boolean }
  | { readonly kind: 'part'; readonly part: Shown; readonly index: number }
  /** Behind the parts of an answer: its receipt, what can be done. */
  | { readonly kind: 'foot' }
  | { readonly kind: 'boundary'; readonly boundary: Boundary }
);

/** Before the turn at which the model's view begins. */
export interface Boundary {
  /** What the model is shown in place of the turns before. */
  readonly summary?: Summary;
  /** Turns before it, from the first on. */
  readonly turns: number;
}

export type Shown = Extract<Part, { kind: 'thinking' | 'call' | 'badcall' | 'notice' }>;

const known = new WeakMap<MessageView, readonly Row[]>();

/** Rows of one message; the same ones as long as the message is the same. */
function rowsOf(view: MessageView): readonly Row[] {
  const before = known.get(view);
  if (before) return before;
  const rows = view.message.role === 'user' ? [words(view)] : answer(view);
  known.set(view, rows);
  return rows;
}

/** All rows; `boundary` lies before the turn that it names, counted from the first. */
export function rows(messages: readonly MessageView[], boundary: Boundary | null): readonly Row[] {
  if (!boundary) return messages.flatMap(rowsOf);
  let turn = boundary.turns;
  return messages.flatMap((view) => {
    if (view.message.role !== 'user') return rowsOf(view);
    turn -= 1;
    if (turn !== -1) return rowsOf(view);
    return [{ key: 'boundary', view, first: false, kind: 'boundary', boundary }, ...rowsOf(view)];
  });
}

/** Where the model's view begins, as far as its newest step tells; null where it sees everything. */
export function boundaryOf(
  messages: readonly MessageView[],
  summary: Summary | undefined,
): Boundary | null {
  const dropped = newestContext(messages)?.dropped ?? 0;
  if (summary) return { summary, turns: Math.max(dropped, summary.turns) };
  return dropped > 0 ? { turns: dropped } : null;
}

const words = (view: MessageView): Row => ({
  key: view.message.id,
  view,
  first: true,
  kind: 'words',
});

function answer(view: MessageView): Row[] {
  const list: Row[] = [];
  const { id } = view.message;
  const end = view.parts.length - 1;
  view.parts.forEach((part, index) => {
    const key = `${id}:${index}`;
    if (part.kind === 'text') {
      if (!part.text.trim()) return;
      const pieces = chunks(part.text);
      pieces.forEach((text, piece) => {
        const tail = index === end && piece === pieces.length - 1;
        list.push({
          key: `${key}:${piece}`,
          view,
          first: list.length === 0,
          kind: 'text',
          text,
          tail,
        });
      });
    } else if (part.kind !== 'route' && part.kind !== 'step' && part.kind !== 'attachment') {
      list.push({ key, view, first: list.length === 0, kind: 'part', part, index });
    }
  });
  list.push({ key: `${id}:foot`, view, first: list.length === 0, kind: 'foot' });
  return list;
}
