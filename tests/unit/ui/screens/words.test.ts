import { describe, expect, it } from 'vitest';
import {
  ago,
  bytes,
  count,
  dayAndTime,
  hostOf,
  timeLeft,
} from '../../../../src/ui/screens/words.ts';

const NOW = new Date(2026, 10, 29, 14, 5).getTime();
const HOUR = 3_600_000;

describe('figures and times in words', () => {
  it('says sizes as phones do, on one line', () => {
    expect([0, 999, 7_600_000, 291_600_000, 999_600_000, 1_440_000_000, 128e9].map(bytes)).toEqual([
      '0\u00a0bytes',
      '999\u00a0bytes',
      '8\u00a0MB',
      '292\u00a0MB',
      '1.0\u00a0GB',
      '1.4\u00a0GB',
      '128\u00a0GB',
    ]);
  });

  it('says how old a list is, and never that it comes from the future', () => {
    const ages = [-5000, 59_000, 5 * 60_000, 3.9 * HOUR, 30 * HOUR, 60 * HOUR];
    expect(ages.map((age) => ago(NOW - age, NOW))).toEqual([
      'just now',
      'just now',
      '5 min ago',
      '3 h ago',
      '1 day ago',
      '2 days ago',
    ]);
  });

  it('says how long a download takes only where it can be told', () => {
    expect(timeLeft(100, 0)).toBe('');
    expect(timeLeft(100, 10)).toBe('10 s left');
    expect(timeLeft(3_000, 10)).toBe('5 min left');
    expect(timeLeft(72_000, 10)).toBe('2 h left');
  });

  it('names near days', () => {
    expect(dayAndTime(NOW, NOW)).toMatch(/^Today, /);
    expect(dayAndTime(NOW + 10 * HOUR, NOW)).toMatch(/^Tomorrow, /);
    expect(dayAndTime(NOW - 15 * HOUR, NOW)).toMatch(/^Yesterday, /);
    expect(dayAndTime(new Date(2027, 5, 1, 9).getTime(), NOW)).toMatch(/2027/);
  });

  it('counts in words and names hosts', () => {
    expect(count(1, 'tool')).toBe('1 tool');
    expect(count(0, 'tool')).toBe('0 tools');
    expect(hostOf('https://a.example:8080/mcp')).toBe('a.example:8080');
    expect(hostOf('phone:')).toBe('phone:');
    expect(hostOf('no address')).toBe('no address');
  });
});
