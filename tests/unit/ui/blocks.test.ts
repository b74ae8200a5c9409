import { describe, expect, test } from 'vitest';
import { BlockReader } from '../../../src/ui/markdown/blocks.ts';

const DOCUMENT = `# Title

A paragraph with **bold**, \`code\` and a [link](https://a.example).
Its second line.

1. one

2. two
   - nested

3. three

\`\`\`js
const a = 1;

const b = 2;
\`\`\`

| a | b |
|---|---|
| 1 | 2 |

> quoted
still quoted

- [ ] task

***

Setext
======

<div>
html
</div>

The end.`;

/** Reads a text as it grows, some characters at a time. */
function grow(reader: BlockReader, text: string, by: number): void {
  for (let end = by; end < text.length; end += by) reader.read(text.slice(0, end), true);
}

describe('a text that grows', () => {
  test.each([1, 2, 3, 7, 40])('%i characters at a time ends as if it were read at once', (by) => {
    const reader = new BlockReader();
    grow(reader, DOCUMENT, by);
    expect(reader.read(DOCUMENT, false)).toEqual(new BlockReader().read(DOCUMENT, false));
  });

  test('keeps the identity of blocks that are finished', () => {
    const reader = new BlockReader();
    const before = reader.read('# One\n\nTwo.\n\nThree.\n\nFo', true);
    const after = reader.read('# One\n\nTwo.\n\nThree.\n\nFour **and', true);
    expect(after[0]).toBe(before[0]);
    expect(after[2]).toBe(before[2]);
  });

  test('shows bold that is not closed yet as bold', async () => {
    const reader = new BlockReader();
    reader.read('a **b', true);
    await expect
      .poll(() => JSON.stringify(reader.read('a **bo', true)))
      .toContain('"type":"strong"');
  });

  test('starts anew where it was replaced', () => {
    const reader = new BlockReader();
    grow(reader, DOCUMENT, 20);
    expect(reader.read('Other.', true)).toEqual(new BlockReader().read('Other.', true));
  });

  test('a definition at the end reaches the links before it', () => {
    const reader = new BlockReader();
    const text = '[a][r] first.\n\nTwo.\n\nThree.\n\nFour.\n\n[r]: https://a.example';
    grow(reader, text, 3);
    expect(JSON.stringify(reader.read(text, false)[0])).toContain('https://a.example');
  });

  test('lines that end as on Windows are lines', () => {
    expect(new BlockReader().read('a\r\n\r\nb', false).map((token) => token.type)).toEqual([
      'paragraph',
      'space',
      'paragraph',
    ]);
  });
});
