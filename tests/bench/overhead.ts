/**
 * What the brain and the app cost a token, and the app a load: each against the bare engine, in turn,
 * in one page and one run, on both engines. The page (page/main.ts) is built as the app is and served with its headers.
 */
import { copyFile, mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Browser } from '@playwright/test';
import { startServer } from '../../tools/serve.ts';
import type { EngineName } from '../../src/brain/local/types.ts';
import { randomGemma3 } from '../models/gguf.ts';
import { launch, PHONE } from './browser.ts';
import { buildPage } from './build-page.ts';
import { median, type Case, type FigureName, type Measured } from './figures.ts';

const WORK = path.resolve('.cache/bench');
const DIST = path.join(WORK, 'dist');
const MODELS = path.join(WORK, 'models');
const ROUNDS = 5;

async function layOutModels(): Promise<void> {
  const from = path.resolve('models/tiny-gemma/webllm');
  await mkdir(path.join(MODELS, 'tiny-gemma'), { recursive: true });
  await mkdir(path.join(MODELS, 'random'), { recursive: true });
  for (const file of await readdir(from))
    await copyFile(path.join(from, file), path.join(MODELS, 'tiny-gemma', file));
  await writeFile(path.join(MODELS, 'random/random.gguf'), randomGemma3());
  await writeFile(path.join(MODELS, 'index.json'), JSON.stringify({ models: [] }));
}

interface Ratios {
  readonly brain: number[];
  readonly app: number[];
  readonly grammar: number[];
  readonly load: number[];
}

/** Ratios of neighbours: tokens a second of the brain and of the app by the bare engine's. */
async function ratios(browser: Browser, url: string, engine: EngineName): Promise<Ratios> {
  const context = await browser.newContext({ viewport: PHONE });
  try {
    const page = await context.newPage();
    await page.goto(url);
    const bench = await page.evaluateHandle((name) => window.prepareBench(name), engine);
    const app = () => bench.evaluate((it) => it.app());
    const brain = () => bench.evaluate((it) => it.brain());
    const bare = (grammar = true) => bench.evaluate((it, held) => it.bare(held), grammar);
    // The first of each loads and compiles.
    await app();
    await brain();
    await bare();
    const found: Ratios = { brain: [], app: [], grammar: [], load: [] };
    for (let round = 0; round < ROUNDS; round += 1) {
      const whole = await app();
      const bareBefore = await bare();
      const part = await brain();
      const bareAfter = await bare();
      const free = await bare(engine === 'wllama');
      const speeds = [whole, bareBefore, part, bareAfter, free].map((it) =>
        it.tokensPerSecond.toFixed(1),
      );
      console.log(
        `  ${engine}: app, bare, brain, bare, without grammar: ${speeds.join(', ')} tokens/s`,
      );
      const between = (bareBefore.tokensPerSecond + bareAfter.tokensPerSecond) / 2;
      found.app.push(whole.tokensPerSecond / bareBefore.tokensPerSecond);
      found.brain.push(part.tokensPerSecond / between);
      found.grammar.push(bareAfter.tokensPerSecond / free.tokensPerSecond);
    }
    for (let round = 0; round < ROUNDS; round += 1) {
      const bareMs = await bench.evaluate((it) => it.bareLoad());
      const ms = await bench.evaluate((it) => it.load());
      console.log(`  ${engine}: load ${ms.toFixed(0)}, bare ${bareMs.toFixed(0)} ms`);
      found.load.push(ms / bareMs);
    }
    return found;
  } finally {
    await context.close();
  }
}

export async function measureOverhead(): Promise<Measured> {
  await buildPage('tests/bench/page', DIST);
  await layOutModels();
  const server = await startServer({ port: 0, dist: DIST, models: MODELS });
  const browser = await launch();
  try {
    const figures: Partial<Record<FigureName, number>> = {};
    const cases: Case[] = [];
    for (const engine of ['webllm', 'wllama'] as const) {
      const found = await ratios(browser, server.url, engine);
      for (const [figure, values] of [
        [`overhead.${engine}`, found.brain],
        [`app.${engine}`, found.app],
        [`load.${engine}`, found.load],
        ...(engine === 'webllm' ? ([['grammar.webllm', found.grammar]] as const) : []),
      ] as const) {
        figures[figure] = median(values);
        cases.push(...values.map((value) => ({ figure, value })));
      }
    }
    return { figures, cases };
  } finally {
    await browser.close();
    await server.close();
    await rm(WORK, { recursive: true, force: true });
  }
}
