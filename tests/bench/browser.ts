/** The browser of the bench, and what all parts do in it. */
import { chromium, expect, type Browser, type BrowserContext, type Page } from '@playwright/test';
import { CHROMIUM_FLAGS, findChromium } from '../../tools/chromium.ts';
import { archiveOf } from './archive.ts';

export const PHONE = { width: 360, height: 780 };

export async function launch(): Promise<Browser> {
  const executablePath = findChromium();
  if (!executablePath) throw new Error('There is no Chromium: run npm test, which installs it.');
  return chromium.launch({ executablePath, args: CHROMIUM_FLAGS });
}

/**
 * Lets pages run functions of these files: tsx wraps the named ones in a helper of its own, which a
 * page does not have.
 */
export async function takeFunctions(context: BrowserContext): Promise<void> {
  await context.addInitScript({ content: 'globalThis.__name = (named) => named;' });
}

/** Brings a stored conversation in the way a person would: by a backup file. Gives its path. */
export async function bringIn(page: Page, origin: string, messages: number): Promise<string> {
  const id = `walk-${messages}`;
  await page.goto(`${origin}/settings`);
  await page.getByLabel('Backup file').setInputFiles({
    name: 'backup.json',
    mimeType: 'application/json',
    buffer: Buffer.from(JSON.stringify(archiveOf(id, messages))),
  });
  await expect(page.getByText('Brought in 1 conversation')).toBeVisible({ timeout: 60_000 });
  return `/c/${id}`;
}
