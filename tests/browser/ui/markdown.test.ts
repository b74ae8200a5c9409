/** Untrusted Markdown is drawn safely, and a growing text never draws again what is finished. */
import { flushSync } from 'svelte';
import { expect, test, vi } from 'vitest';
import { page } from 'vitest/browser';
import Markdown from '../../../src/ui/markdown/Markdown.svelte';
import { show } from './render.ts';
import Growing from './Growing.svelte';

const draw = async (text: string): Promise<HTMLElement> => (await show(Markdown, { text })).root;

test('HTML is text: no element is made from it, no script runs', async () => {
  const ran = vi.fn();
  vi.stubGlobal('ran', ran);
  const root = await draw(
    [
      'Hello <script>ran()</script> <b onclick="ran()">bold</b>',
      '<img src="x" onerror="ran()">',
      '<iframe src="javascript:ran()"></iframe>',
      '<svg onload="ran()"></svg>',
      '- <style>* { display: none }</style>',
      '| <img src=x onerror=ran()> | b |\n|---|---|\n| <a href="javascript:ran()">x</a> | c |',
    ].join('\n\n'),
  );
  expect(root.querySelector('script, b, img, iframe, style, a, [onclick], [onerror]')).toBeNull();
  expect(root.textContent).toContain('<script>ran()</script>');
  expect(root.textContent).toContain('<b onclick="ran()">bold</b>');
  expect(ran).not.toHaveBeenCalled();
});

test('an address that runs or hides something is never a link', async () => {
  const root = await draw(
    [
      '[one](javascript:alert(1))',
      '[two](data:text/html;base64,PHNjcmlwdD4=)',
      '[three](vbscript:x) [four](/servers) [five](//evil.example)',
      '<javascript:alert(1)>',
      '[six][r]\n\n[r]: javascript:alert(1)',
    ].join('\n\n'),
  );
  expect(root.querySelector('a')).toBeNull();
  for (const word of ['one', 'two', 'three', 'four', 'five', 'six'])
    expect(root.textContent).toContain(word);
});

test('a link shows its host and opens outside without telling from where', async () => {
  const root = await draw('See [your bank](https://evil.example/login) and https://a.example/x.');
  const [named, bare] = root.querySelectorAll('a');
  expect(named?.target).toBe('_blank');
  expect(named?.rel).toContain('noopener');
  expect(named?.rel).toContain('noreferrer');
  expect(root.textContent).toContain('your bank\u00a0(evil.example)');
  expect(bare?.href).toBe('https://a.example/x');
});

test('an image is a link and is never fetched', async () => {
  const before = performance.getEntriesByType('resource').length;
  const root = await draw('![a map](https://tracker.example/pixel.png?id=1) ![](data:image/png,x)');
  expect(root.querySelector('img')).toBeNull();
  expect(root.querySelector('a')?.textContent).toBe('Image: a map');
  expect(
    performance
      .getEntriesByType('resource')
      .slice(before)
      .filter((entry) => entry.name.includes('tracker.example')),
  ).toEqual([]);
});

test('headings start below those of the screen and leave no level out', async () => {
  const root = await draw('## One\n\n#### Two\n\n###### Three\n\n# Four');
  expect([...root.querySelectorAll('h3, h4, h5')].map((heading) => heading.tagName)).toEqual([
    'H3',
    'H4',
    'H5',
    'H3',
  ]);
  expect(root.querySelector('h1, h2')).toBeNull();
});

test('a wide table scrolls by keyboard in a region of its own', async () => {
  await draw(`|${' a column |'.repeat(12)}\n|${'---|'.repeat(12)}\n|${' words |'.repeat(12)}`);
  const region = page.getByRole('region', { name: 'Table' });
  await expect.element(region).toBeVisible();
  const element = region.element();
  expect(element.scrollWidth).toBeGreaterThan(element.clientWidth);
  expect((element as HTMLElement).tabIndex).toBe(0);
  expect(document.documentElement.scrollWidth).toBeLessThanOrEqual(innerWidth);
});

test('code is coloured by classes and copied as it is', async () => {
  const code = 'const a = "<b>";\n// done';
  const root = await draw(`\`\`\`js\n${code}\n\`\`\``);
  await expect.poll(() => root.querySelector('.hl-keyword')?.textContent).toBe('const');
  expect(root.querySelector('code')?.textContent).toBe(code);
  expect(root.querySelector('[style]')).toBeNull();
  const copied = vi.spyOn(navigator.clipboard, 'writeText').mockResolvedValue();
  await page.getByRole('button', { name: 'Copy code' }).click();
  expect(copied).toHaveBeenCalledWith(code);
  await expect.element(page.getByRole('button', { name: 'Copied' })).toBeVisible();
});

test('code of a language inside another is coloured too, and an unknown one stays plain', async () => {
  const root = await draw('```html\n<script>const a = 1</script>\n```\n\n```brainfuck\n+>\n```');
  await expect.poll(() => root.querySelector('.hl-name')?.textContent).toBe('script');
  expect([...root.querySelectorAll('code')].map((code) => code.textContent)).toEqual([
    '<script>const a = 1</script>',
    '+>',
  ]);
});

test('tasks say whether they are done', async () => {
  await draw('- [x] pack\n- [ ] leave');
  await expect.element(page.getByRole('img', { name: 'Done' })).toBeVisible();
  await expect.element(page.getByRole('img', { name: 'To do' })).toBeVisible();
});

test('a finished block stays the same element while the text behind it grows', async () => {
  let feed: (text: string) => void = () => {};
  const { root } = await show(Growing, { onready: (ready: typeof feed) => void (feed = ready) });
  const text = '# One\n\nTwo **bold**.\n\n- a\n- b\n\n```js\nlet x\n```\n\nSix';
  feed(text);
  await expect.element(page.getByText('Six')).toBeVisible();
  const before = [...(root.querySelector('.markdown')?.children ?? [])];
  const top = before[0]?.getBoundingClientRect().top;
  let grown = text;
  for (const word of ' goes on and **on** and on.\n\nSeven'.split(/(?<=\s)/)) {
    feed((grown += word));
    flushSync();
  }
  await expect.element(page.getByText('Seven')).toBeVisible();
  const after = [...(root.querySelector('.markdown')?.children ?? [])];
  expect(after.slice(0, before.length).every((child, index) => child === before[index])).toBe(true);
  expect(after[0]?.getBoundingClientRect().top).toBe(top);
});
