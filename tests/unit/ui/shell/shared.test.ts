import { describe, expect, it } from 'vitest';
import { sharedText } from '../../../../src/ui/shell/shared.ts';

const shared = (query: string): string => sharedText(new URLSearchParams(query));

describe('words shared from another app', () => {
  it('become one text, each part once', () => {
    expect(shared('title=News&text=Rain+in+Goa&url=https%3A%2F%2Fa.example%2F1')).toBe(
      'News\nRain in Goa\nhttps://a.example/1',
    );
    expect(shared('text=See+https%3A%2F%2Fa.example%2F1&url=https%3A%2F%2Fa.example%2F1')).toBe(
      'See https://a.example/1',
    );
    expect(shared('title=+&text=')).toBe('');
  });

  it('are cut where they are too long, and say so', () => {
    const text = shared(`text=${'a'.repeat(300_000)}`);
    expect(text.length).toBeLessThan(101_000);
    expect(text).toMatch(/longer and ends here/);
  });
});
