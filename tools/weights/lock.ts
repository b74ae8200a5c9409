/**
 * Lets one process at a time work in a folder. A lock whose process is gone, or has not moved for a
 * minute (its number may belong to another program by now), counts for nothing.
 */
import { mkdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

const BEAT_MS = 5_000;
const DEAD_AFTER_MS = 60_000;
const LOOK_AGAIN_MS = 500;

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

async function isHeld(path: string): Promise<boolean> {
  try {
    const [text, { mtimeMs }] = await Promise.all([readFile(path, 'utf8'), stat(path)]);
    if (Date.now() - mtimeMs > DEAD_AFTER_MS) return false;
    // An empty file is a lock that is being made.
    return text === '' || isRunning(Number(text));
  } catch {
    return false;
  }
}

/** Runs `work` while holding the lock at `path`; `onWait` is called once if another holds it. */
export async function withLock<T>(
  path: string,
  onWait: () => void,
  work: () => Promise<T>,
): Promise<T> {
  await mkdir(dirname(path), { recursive: true });
  for (let waited = false; ;) {
    try {
      await writeFile(path, String(process.pid), { flag: 'wx' });
      break;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    if (await isHeld(path)) {
      if (!waited) onWait();
      waited = true;
      await delay(LOOK_AGAIN_MS);
    } else {
      await rm(path, { force: true });
    }
  }
  const beat = setInterval(() => {
    const now = new Date();
    utimes(path, now, now).catch(() => undefined);
  }, BEAT_MS);
  beat.unref();
  try {
    return await work();
  } finally {
    clearInterval(beat);
    await rm(path, { force: true });
  }
}
