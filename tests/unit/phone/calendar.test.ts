import { describe, expect, it } from 'vitest';
import { toCalendar } from '../../../src/phone/calendar.ts';

const AT = Date.parse('2026-11-30T09:00:00+05:30');
const base = { id: 'r1', text: 'Call mum', at: AT, createdAt: AT - 3_600_000 };
const unfold = (text: string) => text.replace(/\r\n /g, '');

describe('a reminder as an iCalendar file', () => {
  it('is one event with an alarm, in UTC', () => {
    expect(toCalendar(base).split('\r\n')).toEqual([
      'BEGIN:VCALENDAR',
      'VERSION:2.0',
      'PRODID:-//Deft//Reminders//EN',
      'BEGIN:VEVENT',
      'UID:r1@deft',
      'DTSTAMP:20261130T023000Z',
      'DTSTART:20261130T033000Z',
      'DTEND:20261130T034500Z',
      'SUMMARY:Call mum',
      'BEGIN:VALARM',
      'ACTION:DISPLAY',
      'DESCRIPTION:Call mum',
      'TRIGGER:PT0S',
      'END:VALARM',
      'END:VEVENT',
      'END:VCALENDAR',
      '',
    ]);
  });

  it.each([
    ['Milk, eggs; bread', 'Milk\\, eggs\\; bread'],
    ['C:\\temp', 'C:\\\\temp'],
    ['one\ntwo\r\nthree', 'one\\ntwo\\nthree'],
    ['bell\u0007', 'bell '],
    ['x\r\nEND:VCALENDAR', 'x\\nEND:VCALENDAR'],
  ])('escapes %j', (text, escaped) => {
    expect(unfold(toCalendar({ ...base, text }))).toContain(`SUMMARY:${escaped}\r\n`);
  });

  it.each(['a'.repeat(400), 'é'.repeat(200), '😀'.repeat(100)])(
    'folds lines at 75 octets, never inside of a character',
    (text) => {
      const file = toCalendar({ ...base, text });
      for (const line of file.split('\r\n')) {
        expect(new TextEncoder().encode(line).length).toBeLessThanOrEqual(75);
        expect(line).not.toContain('\ufffd');
      }
      expect(unfold(file)).toContain(`SUMMARY:${text}\r\n`);
    },
  );

  it('keeps its UID, so that importing it again changes the event', () => {
    const uid = (text: string) => /UID:.*/.exec(text)?.[0];
    expect(uid(toCalendar({ ...base, text: 'Other', at: AT + 1 }))).toBe(uid(toCalendar(base)));
  });
});
