import { expect, it } from 'vitest';
import { logRows } from '../../../../src/ui/screens/log.ts';

const line = (at: number, text: string, level = 'info') => ({ at, level, text });

it('shows the newest line of a log first, whichever way round it is kept', () => {
  const log = [line(1, 'a'), line(2, 'b'), line(3, 'c')];
  expect(logRows(log).map(({ text }) => text)).toEqual(['c', 'b', 'a']);
  expect(logRows([...log].reverse()).map(({ text }) => text)).toEqual(['c', 'b', 'a']);
});

it('gives every line a name of its own, also two of one moment', () => {
  const keys = logRows([line(1, 'a'), line(1, 'b'), line(1, 'a')]).map(({ key }) => key);
  expect(new Set(keys).size).toBe(3);
});

it('marks what is loud, and takes levels that a server made up for quiet', () => {
  const tones = ['debug', 'notice', 'warning', 'error', 'emergency', 'panic<b>'].map(
    (level) => logRows([line(1, '', level)])[0]?.tone,
  );
  expect(tones).toEqual(['quiet', 'quiet', 'warn', 'danger', 'danger', 'quiet']);
});
