/** A text cut where the words of different people meet, so that each can be drawn in its own way. */
import type { ArgumentOrigin } from '../../store/records.ts';

export interface Segment {
  readonly text: string;
  /** Null: words that say nothing about where they came from. */
  readonly from: ArgumentOrigin['from'] | null;
  readonly source?: string;
}

type Span = Pick<ArgumentOrigin, 'start' | 'end' | 'from' | 'source'>;

/** Spans that overlap an earlier one are left out; every character of the text is in one segment. */
export function segmentsOf(text: string, spans: readonly Span[]): Segment[] {
  const segments: Segment[] = [];
  let at = 0;
  for (const { start, end, from, source } of [...spans].sort((a, b) => a.start - b.start)) {
    if (start < at || end > text.length || start >= end) continue;
    if (start > at) segments.push({ text: text.slice(at, start), from: null });
    segments.push({ text: text.slice(start, end), from, ...(source ? { source } : {}) });
    at = end;
  }
  if (at < text.length) segments.push({ text: text.slice(at), from: null });
  return segments;
}

/** The spans of one argument in the text that is shown of it. */
export function spansOf(
  name: string,
  shown: string,
  origins: readonly ArgumentOrigin[],
): readonly Span[] {
  const own = origins.filter(({ path }) => path === name);
  if (own.every(({ start, end, text }) => shown.slice(start, end) === text) && own.length > 0)
    return own;
  // Of a value with values inside, the text of the whole is shown: its words are looked for there.
  return origins
    .filter(({ path }) => path === name || path.startsWith(`${name}/`))
    .flatMap(({ text, from, source }) => {
      const written = JSON.stringify(text).slice(1, -1);
      const start = shown.indexOf(written);
      return start < 0
        ? []
        : [{ start, end: start + written.length, from, ...(source ? { source } : {}) }];
    });
}
