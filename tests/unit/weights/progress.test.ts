import { expect, it } from 'vitest';
import { showStep, type Terminal } from '../../../tools/weights/progress.ts';

function recorder(isTTY: boolean) {
  const lines: string[] = [];
  const writes: string[] = [];
  const terminal: Terminal = { isTTY, columns: 40, write: (text) => writes.push(text) };
  return { lines, writes, setting: { log: (line: string) => lines.push(line), terminal } };
}

it('off a terminal a step is a few plain lines', async () => {
  const { lines, writes, setting } = recorder(false);
  await showStep(
    'Fetching',
    async (progress) => {
      for (let i = 0; i <= 100; i++) progress(i / 100);
    },
    setting,
  );
  expect(writes).toEqual([]);
  expect(lines.slice(0, -1)).toEqual([
    'Fetching …',
    'Fetching: 25 %',
    'Fetching: 50 %',
    'Fetching: 75 %',
  ]);
  expect(lines.at(-1)).toMatch(/^Fetching: done in \d+\.\d s$/);
});

it('on a terminal a step is one bar that fits the line and is gone at the end', async () => {
  const { lines, writes, setting } = recorder(true);
  await showStep('A step with a rather long name', async (progress) => progress(0.5), setting);
  expect(writes[1]).toContain('████████████░░░░░░░░░░░░  50 %');
  for (const text of writes) expect(text.replace('\r\u001b[K', '').length).toBeLessThan(40);
  expect(writes.at(-1)).toBe('\r\u001b[K');
  expect(lines).toHaveLength(1);
});

it('a step that fails leaves no bar behind', async () => {
  const { lines, writes, setting } = recorder(true);
  const failing = showStep('Merging', () => Promise.reject(new Error('no')), setting);
  await expect(failing).rejects.toThrow('no');
  expect(writes.at(-1)).toBe('\r\u001b[K');
  expect(lines).toEqual([]);
});
