/**
 * A conversation as rows of the list: a message of the person is one, an answer one for each part,
 * a long text several. A row keeps its key while its message grows.
 */
import type { MessageView } from '../../app.ts';
import type { Part } from '../../store/records.ts';
import { chunks } from '../markdown/chunks.ts';

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
);

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

export function rows(messages: readonly MessageView[]): readonly Row[] {
  return messages.flatMap(rowsOf);
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
    } else if (part.kind !== 'route' && part.kind !== 'step') {
      list.push({ key, view, first: list.length === 0, kind: 'part', part, index });
    }
  });
  list.push({ key: `${id}:foot`, view, first: list.length === 0, kind: 'foot' });
  return list;
}
