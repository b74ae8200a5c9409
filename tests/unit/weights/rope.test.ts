import { expect, it } from 'vitest';
import { ropeTable } from '../../../tools/weights/rope.ts';

it('the rope table holds the cosine and sine of every angle, to single precision', () => {
  const positions = 2048;
  const headDim = 64;
  const table = ropeTable([4, 6], positions, headDim);
  let at = 0;
  for (const base of [1e4, 1e6])
    for (let position = 0; position < positions; position++)
      for (let i = 0; i < headDim / 2; i++) {
        const angle = position * base ** ((-2 * i) / headDim);
        const [cos, sin] = [table[at++]!, table[at++]!];
        const worst = Math.max(Math.abs(cos - Math.cos(angle)), Math.abs(sin - Math.sin(angle)));
        if (worst > 2 ** -24) expect.fail(`off by ${worst} at base ${base}, ${position}, ${i}`);
      }
  expect(at).toBe(table.length);
});
