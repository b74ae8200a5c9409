import { describe, expect, test } from 'vitest';
import { BlockReader } from '../../../src/ui/markdown/blocks.ts';
import { chunks } from '../../../src/ui/markdown/chunks.ts';

const words = (count: number): string => 'Some **words** of it. '.repeat(count).trim();
const paragraphs = (count: number): string =>
  Array.from({ length: count }, (_, index) => `${index} ${words(20)}`).join('\n\n');
const types = (text: string): string[] =>
  new BlockReader()
    .read(text, false)
    .map((token) => token.type)
    .filter((type) => type !== 'space');

const DOCUMENTS: Record<string, string> = {
  paragraphs: paragraphs(60),
  'a loose list': Array.from({ length: 60 }, (_, index) => `${index + 1}. ${words(15)}`).join(
    '\n\n',
  ),
  'lists between paragraphs': Array.from(
    { length: 30 },
    (_, index) => `Para ${index} ${words(10)}\n\n- a\n\n  more of a\n- b`,
  ).join('\n\n'),
  'code with empty lines': `${paragraphs(12)}\n\n\`\`\`js\n${'const a = 1;\n\nlet b;\n'.repeat(400)}\`\`\`\n\n${paragraphs(12)}`,
  'code inside of longer fences': `${paragraphs(12)}\n\n\`\`\`\`md\n\`\`\`js\n\n${words(200)}\n\`\`\`\n\nstill code\n\`\`\`\`\n\n${paragraphs(12)}`,
  'a long table': `${paragraphs(12)}\n\n| a | b |\n|---|---|\n${'| 1 | 2 |\n'.repeat(2000)}\n${paragraphs(12)}`,
  quotes: Array.from({ length: 40 }, () => `> ${words(12)}\n>\n> ${words(12)}`).join('\n\n'),
};

describe.each(Object.entries(DOCUMENTS))('%s', (_name, text) => {
  test('in pieces is the same text', () => {
    expect(chunks(text).join('')).toBe(text);
  });

  test('in pieces means the same', () => {
    const pieces = chunks(text);
    const whole = types(text);
    // A very long list may be several, which look like one.
    const joined = pieces
      .flatMap(types)
      .filter((type, index, all) => type !== 'list' || all[index - 1] !== 'list');
    expect(joined).toEqual(whole);
  });

  test('grows only at its last piece', { timeout: 60_000 }, () => {
    let before: string[] = [];
    for (let end = 6001; end < text.length; end += 31) {
      const now = chunks(text.slice(0, end));
      const finished = before.slice(0, -1);
      expect(now.slice(0, finished.length)).toEqual(finished);
      before = now;
    }
  });
});

test('long pieces are rare: none is much longer than needed', () => {
  for (const piece of chunks(DOCUMENTS.paragraphs ?? '')) expect(piece.length).toBeLessThan(5000);
});

test('a list without an empty line is cut between items, a paragraph between lines', () => {
  const list = `- ${words(4)}\n`.repeat(300);
  expect(chunks(list).length).toBeGreaterThan(2);
  expect(chunks(list).every((piece) => piece.startsWith('- '))).toBe(true);
  expect(chunks(`${words(4)}\n`.repeat(300)).length).toBeGreaterThan(2);
});

test('a short text, and one whose links are defined elsewhere in it, is one piece', () => {
  expect(chunks('Short.')).toEqual(['Short.']);
  const defined = `${paragraphs(40)}\n\n[r]: https://a.example`;
  expect(chunks(defined)).toEqual([defined]);
});
