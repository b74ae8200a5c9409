/**
 * What our downloads cost over a bare fetch: hashing, writing and verifying against reading and throwing
 * away, in turn, in one page and one run, over a connection as fast as a phone's ever is.
 */
import { createHash } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { createServer, type ServerResponse } from 'node:http';
import path from 'node:path';
import type { Page } from '@playwright/test';
import { startServer } from '../../tools/serve.ts';
import type { CatalogueRow, EngineName } from '../../src/brain/local/types.ts';
import { launch } from './browser.ts';
import { buildPage } from './build-page.ts';
import { median, type Case, type Measured } from './figures.ts';

const WORK = path.resolve('.cache/bench-download');
/** 25 MB a second: 200 Mbit/s. */
const BYTES_A_TICK = 250_000;
const TICK_MS = 10;
/** As large as the shards of a public model. */
const SHARD = 32_000_000;
const SHARDS = 4;
const ROUNDS = 3;

const CORS = { 'access-control-allow-origin': '*', 'access-control-expose-headers': '*' };

/** Noise that is quickly made: hashing does not care. */
function content(seed: number): Buffer {
  const data = Buffer.alloc(SHARD);
  for (let at = 0; at < SHARD; at += 4)
    data.writeUInt32LE(Math.imul(at + seed, 2654435761) >>> 0, at);
  return data;
}

/** Sends a body at the connection's pace. */
async function pace(response: ServerResponse, body: Buffer): Promise<void> {
  const start = performance.now();
  for (let at = 0; at < body.length && !response.destroyed; at += BYTES_A_TICK) {
    response.write(body.subarray(at, at + BYTES_A_TICK));
    const due = start + ((at + BYTES_A_TICK) / BYTES_A_TICK) * TICK_MS;
    const early = due - performance.now();
    if (early > 1) await new Promise((resolve) => setTimeout(resolve, early));
  }
  response.end();
}

async function startHost(files: ReadonlyMap<string, Buffer>): Promise<{
  url: string;
  close(): void;
}> {
  const server = createServer((request, response) => {
    const body = files.get(path.basename(request.url ?? ''));
    if (!body) return void response.writeHead(404, CORS).end();
    response.writeHead(200, { ...CORS, 'content-length': body.length });
    void pace(response, body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (typeof address !== 'object' || !address) throw new Error('The server has no port.');
  return { url: `http://127.0.0.1:${address.port}/`, close: () => server.close() };
}

function rowOf(engine: EngineName, base: string, files: ReadonlyMap<string, Buffer>): CatalogueRow {
  return {
    id: `bench.${engine}`,
    label: 'bench',
    engine,
    family: 'gemma3',
    note: '',
    files: [...files].map(([name, body]) => ({
      path: name,
      bytes: body.length,
      sha256: createHash('sha256').update(body).digest('hex'),
    })),
    base,
    licence: { name: 'test', url: 'https://example.org/' },
    contextTokens: 1024,
    maxTools: 5,
    memory: 100e6,
    beside: false,
  };
}

/** Ratios of neighbours: our throughput by that of a bare fetch. */
async function ratios(page: Page, row: CatalogueRow): Promise<number[]> {
  const found: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const bare = await page.evaluate((one) => window.downloadBench.bare(one), row);
    const app = await page.evaluate((one) => window.downloadBench.app(one), row);
    console.log(`  ${row.engine}: app ${Math.round(app)} ms, bare ${Math.round(bare)} ms`);
    found.push(bare / app);
  }
  return found;
}

export async function measureDownload(): Promise<Measured> {
  const dist = path.join(WORK, 'dist');
  await buildPage('tests/bench/download-page', dist);
  const files = new Map(
    Array.from({ length: SHARDS }, (_, at) => [`params_shard_${at}.bin`, content(at)] as const),
  );
  const host = await startHost(files);
  const app = await startServer({ port: 0, dist, models: WORK });
  const browser = await launch();
  try {
    const page = await (await browser.newContext()).newPage();
    await page.goto(app.url);
    await page.waitForFunction(() => 'downloadBench' in window);
    const cases: Case[] = [];
    for (const engine of ['wllama', 'webllm'] as const)
      for (const value of await ratios(page, rowOf(engine, host.url, files)))
        cases.push({ figure: 'download.throughput', value });
    return {
      figures: { 'download.throughput': median(cases.map(({ value }) => value)) },
      cases,
    };
  } finally {
    await browser.close();
    await app.close();
    host.close();
    await rm(WORK, { recursive: true, force: true });
  }
}
