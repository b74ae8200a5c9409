/**
 * The driver in a real page. The suite's servers know nothing of other origins, so that this one
 * browser is told to let pages reach them; what CORS does is tested in tests/browser/mcp.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { chromium } from 'playwright';
import { CHROMIUM_FLAGS, findChromium } from '../../tools/chromium.ts';
import { buildPage } from '../bench/build-page.ts';
import { closeServer, listen } from '../servers/mcp-http.ts';
import type { Job } from './driver.ts';
import { visit } from './visit.ts';

export interface DriverPage {
  play(job: Job): Promise<readonly string[]>;
  close(): Promise<void>;
}

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
};

export async function openPage(): Promise<DriverPage> {
  const executablePath = findChromium();
  if (!executablePath) throw new Error('There is no Chromium: run npm test, which installs it.');
  const folder = await mkdtemp(path.join(tmpdir(), 'deft-conformance-'));
  await buildPage('tests/conformance/page', folder);
  const http = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost');
    const file = path.join(folder, pathname === '/' ? 'index.html' : path.normalize(pathname));
    readFile(file).then(
      (body) => {
        const type = TYPES[path.extname(file)] ?? 'application/octet-stream';
        response.writeHead(200, { 'content-type': type }).end(body);
      },
      () => response.writeHead(404).end(),
    );
  });
  await listen(http, 0);
  const browser = await chromium.launch({
    executablePath,
    args: [...CHROMIUM_FLAGS, '--disable-web-security'],
  });
  const page = await browser.newPage();
  page.on('pageerror', (error) => console.error(`In the page: ${error.message}`));
  await page.exposeFunction('visitOutside', visit);
  await page.goto(`http://localhost:${(http.address() as AddressInfo).port}/`);
  await page.waitForFunction(() => 'playScenario' in globalThis);
  return {
    play: (job) => page.evaluate((given) => globalThis.playScenario(given), job),
    async close() {
      await browser.close();
      await closeServer(http);
      await rm(folder, { recursive: true, force: true });
    },
  };
}
