/**
 * What the app costs a token: the whole app against the bare engine, in turn, in one page and one
 * run, on both engines. The page (page/main.ts) is built as the app is and served with its headers.
 */
import { copyFile, mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Browser } from '@playwright/test';
import { svelte } from '@sveltejs/vite-plugin-svelte';
import { build } from 'vite';
import { startServer } from '../../tools/serve.ts';
import { wllama } from '../../tools/vite-wllama.ts';
import type { EngineName } from '../../src/brain/local/types.ts';
import { randomGemma3 } from '../models/gguf.ts';
import { launch, PHONE } from './browser.ts';
import { median, type Case, type FigureName, type Measured } from './figures.ts';

const WORK = path.resolve('.cache/bench');
const DIST = path.join(WORK, 'dist');
const MODELS = path.join(WORK, 'models');
const ROUNDS = 5;

async function buildPage(): Promise<void> {
  await build({
    configFile: false,
    root: path.resolve('tests/bench/page'),
    publicDir: false,
    logLevel: 'error',
    plugins: [svelte({ configFile: path.resolve('svelte.config.js') }), wllama()],
    worker: { format: 'es', plugins: () => [wllama()] },
    build: {
      target: 'es2023',
      outDir: DIST,
      emptyOutDir: true,
      modulePreload: { polyfill: false },
      assetsInlineLimit: 0,
      chunkSizeWarningLimit: 20_000,
    },
  });
}

async function layOutModels(): Promise<void> {
  const from = path.resolve('tests/models/tiny-gemma');
  await mkdir(path.join(MODELS, 'tiny-gemma'), { recursive: true });
  await mkdir(path.join(MODELS, 'random'), { recursive: true });
  for (const file of await readdir(from))
    await copyFile(path.join(from, file), path.join(MODELS, 'tiny-gemma', file));
  await writeFile(path.join(MODELS, 'random/random.gguf'), randomGemma3());
  await writeFile(path.join(MODELS, 'index.json'), JSON.stringify({ models: [] }));
}

/** Ratios of neighbours: the app's tokens a second by the bare engine's. */
async function ratios(browser: Browser, url: string, engine: EngineName): Promise<number[]> {
  const context = await browser.newContext({ viewport: PHONE });
  try {
    const page = await context.newPage();
    await page.goto(url);
    const bench = await page.evaluateHandle((name) => window.prepareBench(name), engine);
    const app = () => bench.evaluate((it) => it.app());
    const bare = () => bench.evaluate((it) => it.bare());
    // The first of each loads and compiles.
    await app();
    await bare();
    const found: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const one = await app();
      const other = await bare();
      console.log(
        `  ${engine}: app ${one.tokensPerSecond.toFixed(1)}, bare ${other.tokensPerSecond.toFixed(1)} tokens/s (${one.tokens} and ${other.tokens} tokens)`,
      );
      found.push(one.tokensPerSecond / other.tokensPerSecond);
    }
    return found;
  } finally {
    await context.close();
  }
}

export async function measureOverhead(): Promise<Measured> {
  await buildPage();
  await layOutModels();
  const server = await startServer({ port: 0, dist: DIST, models: MODELS });
  const browser = await launch();
  try {
    const figures: Partial<Record<FigureName, number>> = {};
    const cases: Case[] = [];
    for (const engine of ['webllm', 'wllama'] as const) {
      const figure = `overhead.${engine}` as const;
      const found = await ratios(browser, server.url, engine);
      figures[figure] = median(found);
      cases.push(...found.map((value) => ({ figure, value })));
    }
    return { figures, cases };
  } finally {
    await browser.close();
    await server.close();
    await rm(WORK, { recursive: true, force: true });
  }
}
