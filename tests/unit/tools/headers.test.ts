/** The headers that a static host sends are those that the app's own server sends. */
import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { HEADERS, headersFile, IMMUTABLE } from '../../../tools/headers.ts';

test('public/_headers is what the headers make of it', async () => {
  // Written by: npx tsx -e "import('./tools/headers.ts').then((it) => process.stdout.write(it.headersFile()))" > public/_headers
  expect(await readFile('public/_headers', 'utf8')).toBe(headersFile());
});

test('it gives every path every header, and keeps only files whose names change with them', () => {
  const [all = '', assets = ''] = headersFile().split('/assets/*');
  expect(all.startsWith('/*\n')).toBe(true);
  for (const [name, value] of Object.entries(HEADERS))
    expect(all).toContain(`\n  ${name}: ${value}\n`);
  expect(all).toContain('\n  Cache-Control: no-cache\n');
  expect(assets).toBe(`\n  ! Cache-Control\n  Cache-Control: ${IMMUTABLE}\n`);
});
