/** Reminders as iCalendar files (RFC 5545), to hand over to the phone's calendar. */
import type { Reminder } from '../store/records.ts';

const PRODUCT = '-//Deft//Reminders//EN';

/**
 * One event with an alarm at its time. The UID stays the same for one reminder, so importing it
 * again changes the event instead of adding another. Lines end in CRLF and are at most 75 octets.
 */
export function toCalendar(reminder: Pick<Reminder, 'id' | 'text' | 'at' | 'createdAt'>): string {
  const lines = [
    'BEGIN:VCALENDAR',
    'VERSION:2.0',
    `PRODID:${PRODUCT}`,
    'BEGIN:VEVENT',
    `UID:${reminder.id}@deft`,
    `DTSTAMP:${utc(reminder.createdAt)}`,
    `DTSTART:${utc(reminder.at)}`,
    `DTEND:${utc(reminder.at + 15 * 60_000)}`,
    `SUMMARY:${escape(reminder.text)}`,
    'BEGIN:VALARM',
    'ACTION:DISPLAY',
    `DESCRIPTION:${escape(reminder.text)}`,
    'TRIGGER:PT0S',
    'END:VALARM',
    'END:VEVENT',
    'END:VCALENDAR',
  ];
  return lines.map((line) => `${fold(line)}\r\n`).join('');
}

/** A moment in UTC, form 2 of section 3.3.5. */
function utc(at: number): string {
  return `${new Date(at).toISOString().slice(0, 19).replace(/[-:]/g, '')}Z`;
}

/** Text values, section 3.3.11; other control characters have no place in them. */
function escape(text: string): string {
  return (
    text
      .replace(/\r\n?/g, '\n')
      // eslint-disable-next-line no-control-regex -- they are what is removed
      .replace(/[\u0000-\u0009\u000b-\u001f\u007f]/g, ' ')
      .replace(/[\\;,]/g, (character) => `\\${character}`)
      .replace(/\n/g, '\\n')
  );
}

/** Content lines, section 3.1: at most 75 octets, never inside of a character. */
function fold(line: string): string {
  const encoder = new TextEncoder();
  const lines: string[] = [];
  let current = '';
  let octets = 0;
  for (const character of line) {
    const size = encoder.encode(character).length;
    // A folded line begins with a space, which counts.
    if (octets + size > 75) {
      lines.push(current);
      current = ' ';
      octets = 1;
    }
    current += character;
    octets += size;
  }
  return [...lines, current].join('\r\n');
}
