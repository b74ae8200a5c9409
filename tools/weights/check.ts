/**
 * Knows which files are as they should be. A file whose hash was found right is remembered with its
 * size and time of change, so that the next look is a `stat` and not the reading of 600 MB.
 */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, readFile, rename, stat, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';

/** A file and what it must be; `sha256` in hex. */
export interface Pinned {
  readonly path: string;
  readonly bytes: number;
  readonly sha256: string;
}

interface Seen {
  readonly bytes: number;
  readonly changedAt: number;
  readonly sha256: string;
}

/** SHA-256 of a file, in hex. */
export async function sha256(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path, { highWaterMark: 1 << 20 })) hash.update(chunk);
  return hash.digest('hex');
}

/** Writes a file so that it is there whole or not at all. */
export async function writeWhole(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const temporary = `${path}.${process.pid}.tmp`;
  await writeFile(temporary, text);
  await rename(temporary, path);
}

async function readMemory(path: string): Promise<Record<string, Seen>> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as Record<string, Seen>;
  } catch {
    return {}; // Not there yet, or cut off: everything is read once more.
  }
}

/**
 * The paths, among these files, that are missing or wrong. Reads only what changed since it was last
 * found right; with `full`, everything.
 */
export async function findWrong(
  folder: string,
  files: readonly Pinned[],
  memoryPath: string,
  { full = false }: { full?: boolean } = {},
): Promise<string[]> {
  const memory = await readMemory(memoryPath);
  const wrong: string[] = [];
  let learned = false;
  for (const { path, bytes, sha256: expected } of files) {
    const absolute = join(folder, path);
    const key = relative(dirname(memoryPath), absolute);
    const found = await stat(absolute).catch(() => null);
    if (!found || found.size !== bytes) {
      wrong.push(path);
      continue;
    }
    const seen = memory[key];
    const same =
      seen?.bytes === bytes && seen.changedAt === found.mtimeMs && seen.sha256 === expected;
    if (same && !full) continue;
    if ((await sha256(absolute)) !== expected) {
      wrong.push(path);
      continue;
    }
    memory[key] = { bytes, changedAt: found.mtimeMs, sha256: expected };
    learned = true;
  }
  if (learned) await writeWhole(memoryPath, JSON.stringify(memory, null, 1));
  return wrong;
}
