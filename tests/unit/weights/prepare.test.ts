import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import { type AddressInfo } from 'node:net';
import {
  chmod,
  copyFile,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { BasePin } from '../../../tools/weights/base.ts';
import { prepare, type Recipe } from '../../../tools/weights/prepare.ts';
import { Problem } from '../../../tools/weights/problem.ts';
import type { ServedRow } from '../../../tools/weights/rows.ts';
import { randomGemma3 } from '../../models/gguf.ts';
import { SHAPE, writeModels, writePackages } from './small-model.ts';

// Real pip, started several times: seconds each on a busy machine.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const SHARD = 'small/webllm/params_shard_0.bin';
const MERGED = 'small/gguf/small.gguf';

let folder: string;
let packages: string;
let base: BasePin;
/** A folder with everything built and pinned. */
let built: string;

let models: string;
let recipe: Recipe;
let lines: string[];

/** pip finds the small model's packages in a folder, as it finds the real ones in an index. */
function usePackages(from: string) {
  vi.stubEnv('PIP_NO_INDEX', '1');
  vi.stubEnv('PIP_FIND_LINKS', from);
  vi.stubEnv('PIP_RETRIES', '0');
}

const setting = (python: readonly string[] = ['python3']) => ({
  models,
  python,
  log: (line: string) => lines.push(line),
  terminal: { isTTY: false, write: () => undefined },
});

async function problem(run: Promise<void>): Promise<Problem> {
  const error: unknown = await run.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof Problem)) return expect.fail(`no problem: ${String(error)}`);
  expect(error.message).toMatch(/\.$/);
  expect(error.advice).toMatch(/^[A-Z]/);
  return error;
}

const listed = async () => {
  const rows = JSON.parse(await readFile(path.join(models, 'index.json'), 'utf8')) as ServedRow[];
  return rows.map(({ id }) => id);
};

async function isAsBuilt(file: string): Promise<boolean> {
  const bytes = await readFile(path.join(models, file));
  return bytes.equals(await readFile(path.join(built, file)));
}

/** As after a run that was cut off once the base was there: no more need for packages. */
async function putBase(): Promise<void> {
  await mkdir(path.join(models, '.cache'));
  await writeFile(path.join(models, '.cache/base.gguf'), randomGemma3(SHAPE));
}

const copyTree = (from: string, to: string) => promisify(execFile)('cp', ['-R', `${from}/.`, to]);

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'weights-'));
  packages = path.join(folder, 'packages');
  base = await writePackages(packages);
  built = path.join(folder, 'built');
  await mkdir(built);
  usePackages(packages);
  models = built;
  lines = [];
  await prepare(await writeModels(built, base), setting(), { pin: true });
});

afterAll(async () => {
  vi.unstubAllEnvs();
  await rm(folder, { recursive: true });
});

beforeEach(async () => {
  usePackages(packages);
  models = await mkdtemp(path.join(folder, 'models-'));
  recipe = await writeModels(models, base);
  lines = [];
  // As in a fresh clone: what is committed, with its pins, and nothing that is built.
  await copyFile(path.join(built, 'small/rows.json'), path.join(models, 'small/rows.json'));
});

describe('preparing a model', () => {
  it('fetches, merges and packs it once, lists it, and leaves nothing else behind', async () => {
    await prepare(recipe, setting(), {});
    expect(await listed()).toEqual(['small.webllm', 'small.wllama']);
    for (const file of [SHARD, MERGED]) expect(await isAsBuilt(file)).toBe(true);
    expect(await readdir(path.join(models, '.cache'))).toEqual(['verified.json']);
    expect(lines.filter((line) => line.includes('done'))).toHaveLength(3);

    lines = [];
    const before = await stat(path.join(models, 'index.json'));
    vi.stubEnv('PIP_FIND_LINKS', path.join(folder, 'nowhere'));
    await prepare(recipe, setting(['no-python-here']), {});
    expect(lines).toEqual([]);
    expect((await stat(path.join(models, 'index.json'))).mtimeMs).toBe(before.mtimeMs);
  });

  it('packs again what WebLLM lacks, from the merged file, without the network', async () => {
    await copyTree(built, models);
    await rm(path.join(models, SHARD));
    vi.stubEnv('PIP_FIND_LINKS', path.join(folder, 'nowhere'));
    await prepare(recipe, setting(), {});
    expect(lines.some((line) => line.includes('Fetching'))).toBe(false);
    expect(await listed()).toHaveLength(2);
  });

  it('finds a changed byte when asked to read everything, and mends it', async () => {
    await copyTree(built, models);
    await prepare(recipe, setting(), {});
    const shard = path.join(models, SHARD);
    const { atime, mtime } = await stat(shard);
    const bytes = await readFile(shard);
    bytes[1000]! ^= 1;
    await writeFile(shard, bytes);
    await utimes(shard, atime, mtime);
    await prepare(recipe, setting(), { full: true });
    expect(await isAsBuilt(SHARD)).toBe(true);
  });

  it('goes on with the next package where an earlier run was cut off', async () => {
    const half = path.join(folder, 'half');
    await mkdir(half);
    const [first, second] = (await readdir(packages))
      .filter((name) => name.endsWith('.whl'))
      .sort();
    await copyFile(path.join(packages, first!), path.join(half, first!));
    usePackages(half);
    expect((await problem(prepare(recipe, setting(), {}))).message).toContain('part2');
    expect(await listed()).toEqual([]);

    await rm(path.join(half, first!));
    await copyFile(path.join(packages, second!), path.join(half, second!));
    await prepare(recipe, setting(), {});
    expect(await listed()).toHaveLength(2);
  });

  it('takes over from a run that was killed, its lock and half-written files', async () => {
    const cache = path.join(models, '.cache');
    await mkdir(path.join(cache, 'wheels', 'tmp'), { recursive: true });
    await writeFile(path.join(cache, 'wheels', 'small-model-part1.whl'), 'half a whe');
    await mkdir(path.join(cache, 'merged'));
    await writeFile(path.join(cache, 'merged', 'small.gguf'), 'GGUF');
    await writeFile(path.join(cache, 'base.gguf'), 'GGUF');
    const { pid } = promisify(execFile)('true').child;
    await vi.waitFor(() => expect(() => process.kill(pid!, 0)).toThrow());
    await writeFile(path.join(cache, 'lock'), String(pid));
    await prepare(recipe, setting(), {});
    expect(await listed()).toHaveLength(2);
  });

  it('lets two runs at once do the work once', async () => {
    await Promise.all([prepare(recipe, setting(), {}), prepare(recipe, setting(), {})]);
    expect(lines.filter((line) => line.startsWith('Fetching the base model: done'))).toHaveLength(
      1,
    );
    expect(lines).toContain('Another run is preparing the model; waiting for it.');
  });

  it('keeps the base when asked to', async () => {
    await putBase();
    await prepare(recipe, setting(), { keepBase: true });
    expect((await stat(path.join(models, '.cache/base.gguf'))).size).toBe(base.bytes);
  });
});

describe('a model that cannot be prepared', () => {
  it('for want of Python says how to get it', async () => {
    const { message, advice } = await problem(prepare(recipe, setting(['no-python-here']), {}));
    expect(message).toContain('Python 3 is not here');
    expect(advice).toContain('npm run weights');
    expect(await listed()).toEqual([]);
  });

  it('for want of pip and venv says so', async () => {
    const bare = path.join(folder, 'bare-python');
    await writeFile(bare, '#!/bin/sh\n[ "$1" = -c ] && echo 3 && exit 0\nexit 1\n');
    await chmod(bare, 0o755);
    const { message } = await problem(prepare(recipe, setting([bare]), {}));
    expect(message).toContain('neither its pip nor its venv');
  });

  it('for want of a network says so', async () => {
    const gone = createServer();
    await new Promise<void>((resolve) => gone.listen(0, '127.0.0.1', resolve));
    const { port } = gone.address() as AddressInfo;
    await new Promise((resolve) => gone.close(resolve));
    vi.stubEnv('PIP_NO_INDEX', '0');
    vi.stubEnv('PIP_FIND_LINKS', '');
    vi.stubEnv('PIP_INDEX_URL', `http://user:secret@127.0.0.1:${port}/simple`);
    vi.stubEnv('PIP_EXTRA_INDEX_URL', '');
    vi.stubEnv('PIP_RETRIES', '1');
    const { message, advice } = await problem(prepare(recipe, setting(), {}));
    expect(message).toContain('cannot be reached');
    expect(message + advice).not.toContain('secret');
  });

  it('because a package is not the pinned one keeps nothing of it', async () => {
    const [first, second] = base.parts;
    const other = { ...base, parts: [{ ...first!, sha256: second!.sha256 }, second!] };
    const { message } = await problem(prepare({ ...recipe, base: other }, setting(), {}));
    expect(message).toContain('its hash differs');
    expect(await readdir(path.join(models, '.cache/wheels'))).toEqual(['tmp']);
  });

  it('for want of space says how much it needs', async () => {
    const huge = { ...base, bytes: 1e15 };
    const { message } = await problem(prepare({ ...recipe, base: huge }, setting(), {}));
    expect(message).toMatch(/needs \d+\.\d GB of free disk/);
  });

  it('because the adapter is another one is not served', async () => {
    await putBase();
    const adapter = path.join(models, 'small/adapter.gguf');
    const bytes = await readFile(adapter);
    bytes.writeUInt16LE(0x3c00, bytes.length - 64);
    await writeFile(adapter, bytes);
    const { message, advice } = await problem(prepare(recipe, setting(), {}));
    expect(message).toContain('small.gguf came out different');
    expect(advice).toContain('--pin');
    expect(await listed()).toEqual([]);
  });

  it('because a committed file is missing says how to bring it back', async () => {
    await rm(path.join(models, 'small/webllm/library.wasm'));
    const { advice } = await problem(prepare(recipe, setting(), {}));
    expect(advice).toContain('git checkout -- models/small/webllm/');
  });

  it('for want of the tokenizer says what to run, and still serves the other engine', async () => {
    await putBase();
    await rm(recipe.tokenizer);
    const { advice } = await problem(prepare(recipe, setting(), {}));
    expect(advice).toContain('npm ci');
    expect(await listed()).toEqual(['small.wllama']);
  });
});
