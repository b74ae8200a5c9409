/**
 * Draws the app's icons from `icon.svg` with Chromium: `npx tsx tools/icons.ts`. What it draws is
 * committed in `public/icons/`, so that a build needs no browser.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { chromium } from 'playwright';
import { CHROMIUM_FLAGS, findChromium } from './chromium.ts';

const FOLDER = path.resolve('public/icons');

interface Look {
  /** Colour behind the glyph; null: none. */
  readonly ground: string | null;
  readonly ink: string;
  readonly spark: string;
  /** Corner radius, of 512. */
  readonly corner: number;
  /** Size of the glyph; a maskable icon keeps it in the middle 80 %. */
  readonly scale: number;
}

const PLAIN: Look = {
  ground: '#0b6b5c',
  ink: '#faf9f7',
  spark: '#86dfca',
  corner: 116,
  scale: 1,
};
const MASKABLE: Look = { ...PLAIN, corner: 0, scale: 0.82 };
const MONOCHROME: Look = { ground: null, ink: '#fff', spark: '#fff', corner: 0, scale: 0.95 };

const ICONS: readonly { file: string; size: number; look: Look }[] = [
  { file: 'icon-192.png', size: 192, look: PLAIN },
  { file: 'icon-512.png', size: 512, look: PLAIN },
  { file: 'maskable-192.png', size: 192, look: MASKABLE },
  { file: 'maskable-512.png', size: 512, look: MASKABLE },
  { file: 'monochrome-96.png', size: 96, look: MONOCHROME },
  { file: 'monochrome-512.png', size: 512, look: MONOCHROME },
  { file: 'apple-touch-icon.png', size: 180, look: { ...PLAIN, corner: 0 } },
];

/** Strokes of the shortcuts' icons, in a 24-unit box. */
const SHORTCUTS: Readonly<Record<string, string>> = {
  'shortcut-new.png': '<path d="M12 6v12M6 12h12"/>',
  'shortcut-voice.png':
    '<rect x="9.5" y="4" width="5" height="9.5" rx="2.5"/><path d="M6.5 11.5a5.5 5.5 0 0 0 11 0M12 17v3"/>',
  'shortcut-servers.png':
    '<rect x="5" y="5" width="14" height="6" rx="2"/><rect x="5" y="13" width="14" height="6" rx="2"/><path d="M8 8h.01M8 16h.01"/>',
};

function icon(glyph: string, look: Look): string {
  const at = 256 - 256 * look.scale;
  const inner = glyph.replace(/<\/?svg[^>]*>/g, '');
  const ground = look.ground
    ? `<rect width="512" height="512" rx="${look.corner}" fill="${look.ground}"/>`
    : '';
  const drawn = inner
    .replaceAll('var(--ink)', look.ink)
    .replaceAll('var(--spark)', look.spark)
    .trim();
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 512 512" fill="none">${ground}` +
    `<g transform="translate(${at} ${at}) scale(${look.scale})">${drawn}</g></svg>`
  );
}

const shortcut = (strokes: string): string =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" fill="none">` +
  `<circle cx="12" cy="12" r="12" fill="#e0f0ec"/><g stroke="#0b6b5c" stroke-width="1.8" ` +
  `stroke-linecap="round" stroke-linejoin="round">${strokes}</g></svg>`;

const glyph = await readFile(new URL('icon.svg', import.meta.url), 'utf8');
const executablePath = findChromium();
const browser = await chromium.launch({
  args: CHROMIUM_FLAGS,
  ...(executablePath ? { executablePath } : {}),
});
const page = await browser.newPage();

async function draw(svg: string, size: number, file: string): Promise<void> {
  await page.setViewportSize({ width: size, height: size });
  await page.setContent(
    `<style>body{margin:0}svg{display:block;width:${size}px;height:${size}px}</style>${svg}`,
  );
  await writeFile(path.join(FOLDER, file), await page.screenshot({ omitBackground: true }));
}

await mkdir(FOLDER, { recursive: true });
for (const { file, size, look } of ICONS) await draw(icon(glyph, look), size, file);
for (const [file, strokes] of Object.entries(SHORTCUTS)) await draw(shortcut(strokes), 96, file);
await writeFile(path.join(FOLDER, 'icon.svg'), `${icon(glyph, PLAIN)}\n`);
await browser.close();
