/**
 * What a thousand tools on twenty servers cost over fifty on one: reading them as the app starts,
 * the first offer and those behind it, and drawing the servers screen; in turn, in one run.
 */
import { rm } from 'node:fs/promises';
import path from 'node:path';
import type { Browser } from '@playwright/test';
import { startServer } from '../../tools/serve.ts';
import { launch, PHONE } from './browser.ts';
import { buildPage } from './build-page.ts';
import { median, type Case, type Measured } from './figures.ts';
import type { ToolTimes } from './tools-page/main.ts';

const WORK = path.resolve('.cache/bench-tools');
const ROUNDS = 5;
const PARTS = ['read', 'firstOffer', 'offer', 'screen'] as const;

/** In a profile of its own, since what is stored is the matter. */
async function times(browser: Browser, url: string, servers: number): Promise<ToolTimes> {
  const context = await browser.newContext({ viewport: PHONE });
  try {
    const page = await context.newPage();
    await page.goto(url);
    return await page.evaluate((count) => window.measureTools(count), servers);
  } finally {
    await context.close();
  }
}

export async function measureTools(): Promise<Measured> {
  await buildPage('tests/bench/tools-page', path.join(WORK, 'dist'));
  const server = await startServer({ port: 0, dist: path.join(WORK, 'dist'), models: WORK });
  const browser = await launch();
  try {
    const cases: Case[] = [];
    const firstOffers: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const few = await times(browser, server.url, 1);
      const many = await times(browser, server.url, 20);
      for (const part of PARTS) {
        cases.push({ figure: `tools.${part}`, value: many[part] / few[part] });
        console.log(`  ${part}: ${few[part].toFixed(1)}, ${many[part].toFixed(1)} ms`);
      }
      firstOffers.push(many.firstOffer);
    }
    const of = (part: (typeof PARTS)[number]) =>
      median(cases.filter(({ figure }) => figure === `tools.${part}`).map(({ value }) => value));
    return {
      figures: {
        'tools.read': of('read'),
        'tools.firstOffer': of('firstOffer'),
        'tools.offer': of('offer'),
        'tools.screen': of('screen'),
        'tools.firstOfferMs': median(firstOffers),
      },
      cases,
    };
  } finally {
    await browser.close();
    await server.close();
    await rm(WORK, { recursive: true, force: true });
  }
}
