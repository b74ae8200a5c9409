import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { connect, type Connection } from '../../../src/store/connection.ts';
import { countTry, forgiveTries, waitAfter, waitLeft } from '../../../src/store/lock-tries.ts';
import { MIGRATIONS } from '../../../src/store/schema.ts';
import { freshName } from './helpers.ts';

const MINUTE = 60_000;

async function tab(name: string): Promise<Connection> {
  const connection = await connect({ name, migrations: MIGRATIONS, blockedMs: 1_000 });
  onTestFinished(() => connection.close());
  return connection;
}

/** A clock that stands still until it is set. */
function clock(): (to: number) => void {
  const now = vi.spyOn(Date, 'now').mockReturnValue(1_000_000);
  onTestFinished(() => now.mockRestore());
  return (to) => now.mockReturnValue(to);
}

describe('wrong tries', () => {
  test('cost nothing three times, then 5 s, then double, at most 15 minutes', () => {
    expect([0, 1, 2].map(waitAfter)).toEqual([0, 0, 0]);
    expect([3, 4, 5, 6].map(waitAfter)).toEqual([5_000, 10_000, 20_000, 40_000]);
    expect([11, 50, 5_000].map(waitAfter)).toEqual([15 * MINUTE, 15 * MINUTE, 15 * MINUTE]);
  });

  test('count on after a reload, and a try during the wait is not heard and does not make it longer', async () => {
    const set = clock();
    const name = freshName();
    for (let n = 0; n < 3; n++) expect(await countTry(await tab(name))).toBe(0);
    expect(await countTry(await tab(name))).toBe(5_000);
    set(1_003_000);
    expect(await countTry(await tab(name))).toBe(2_000);
    expect(await waitLeft(await tab(name))).toBe(2_000);
    set(1_005_000);
    expect(await countTry(await tab(name))).toBe(0);
    expect(await waitLeft(await tab(name))).toBe(10_000);
  });

  test('of two tabs count together, also when both try at the same time', async () => {
    clock();
    const name = freshName();
    const [here, there] = [await tab(name), await tab(name)];
    const waits = await Promise.all(
      [here, there, here, there, here, there].map((connection) => countTry(connection)),
    );
    expect(waits).toEqual([0, 0, 0, 5_000, 5_000, 5_000]);
  });

  test('are forgiven by a right one', async () => {
    clock();
    const connection = await tab(freshName());
    for (let n = 0; n < 3; n++) await countTry(connection);
    await forgiveTries(connection);
    expect(await waitLeft(connection)).toBe(0);
    expect(await countTry(connection)).toBe(0);
  });

  test('wait no less after the clock was set back, and no longer than from then on', async () => {
    const set = clock();
    const connection = await tab(freshName());
    for (let n = 0; n < 4; n++) {
      await countTry(connection);
      set(1_000_000 + n * MINUTE);
    }
    set(5_000);
    expect(await waitLeft(connection)).toBe(10_000);
    set(11_000);
    expect(await waitLeft(connection)).toBe(4_000);
    set(2_000);
    expect(await waitLeft(connection)).toBe(10_000);
    set(12_000);
    expect(await waitLeft(connection)).toBe(0);
  });
});
