/** Bytes of the first screen: each file that it waits for, with gzip, as `npm run size` counts them. */
import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { firstScreenFiles } from '../../tools/first-screen.ts';
import type { Measured } from './figures.ts';

export async function measureShell(): Promise<Measured> {
  const bytes = firstScreenFiles('dist')
    .map((file) => gzipSync(readFileSync(file), { level: 9 }).length)
    .reduce((sum, length) => sum + length, 0);
  return { figures: { 'shell.gzipBytes': bytes } };
}
