import { describe, expect, it } from 'vitest';
import type { Conversation } from '../../../../src/store/records.ts';
import { byTime, marked } from '../../../../src/ui/screens/chats.ts';

const NOW = new Date(2026, 10, 29, 0, 30).getTime();
const DAY = 24 * 3_600_000;

const entry = (id: string, updatedAt: number, pinned = false) => ({
  conversation: { id, updatedAt, pinned } as Conversation,
  excerpt: '',
});

describe('the list of conversations', () => {
  it('is grouped by the day of the calendar, pinned ones first', () => {
    const groups = byTime(
      [
        entry('now', NOW - 60_000),
        entry('before midnight', NOW - 3_600_000),
        entry('old but pinned', NOW - 90 * DAY, true),
        entry('this week', NOW - 4 * DAY),
        entry('long ago', NOW - 30 * DAY),
      ],
      NOW,
    );
    expect(
      groups.map(({ title, entries }) => [title, entries.map((one) => one.conversation.id)]),
    ).toEqual([
      ['Pinned', ['old but pinned']],
      ['Today', ['now']],
      ['Yesterday', ['before midnight']],
      ['The last seven days', ['this week']],
      ['Earlier', ['long ago']],
    ]);
  });

  it('marks every word that was searched, in any case, as text and never as a pattern', () => {
    expect(marked('A raincoat, and a Rain hat', 'rain hat')).toEqual([
      { text: 'A ', hit: false },
      { text: 'rain', hit: true },
      { text: 'coat, and a ', hit: false },
      { text: 'Rain', hit: true },
      { text: ' ', hit: false },
      { text: 'hat', hit: true },
    ]);
    expect(marked('costs $5 (or so)', '$5 (')).toEqual([
      { text: 'costs ', hit: false },
      { text: '$5', hit: true },
      { text: ' ', hit: false },
      { text: '(', hit: true },
      { text: 'or so)', hit: false },
    ]);
    expect(marked('words', '  ')).toEqual([{ text: 'words', hit: false }]);
  });
});
