/**
 * Finds a Chromium that the tests can drive: CHROME_PATH, a system Chromium, Google Chrome, the one
 * that Playwright keeps. Returns null where there is none.
 */
import { existsSync } from 'node:fs';
import { chromium } from 'playwright';

const CANDIDATES = [
  process.env.CHROME_PATH,
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/usr/bin/google-chrome-stable',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
];

/** Absolute path of a Chromium executable, or null. */
export function findChromium(): string | null {
  for (const path of CANDIDATES) if (path && existsSync(path)) return path;
  const own = chromium.executablePath();
  return existsSync(own) ? own : null;
}

/**
 * Flags for a headless Chromium: no sandbox (CI runs as root), no calls to the browser's maker, and
 * WebGPU in software, so that every GPU path runs on a machine without one.
 */
export const CHROMIUM_FLAGS = [
  '--headless=new',
  '--no-sandbox',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
  '--enable-unsafe-webgpu',
  '--use-webgpu-adapter=swiftshader',
];
