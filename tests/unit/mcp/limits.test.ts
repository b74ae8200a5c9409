/** How long is waited where nothing is set, with the clock in hand. */
import { afterEach, expect, it, vi } from 'vitest';
import { openHttp } from '../../../src/mcp/connection.ts';

afterEach(() => {
  vi.useRealTimers();
});

it('a server that never answers is waited for ten seconds where nothing is set', async () => {
  vi.useFakeTimers();
  const ends: unknown[] = [];
  const opening = openHttp({
    peer: { name: 'Far', url: new URL('https://far.example/mcp'), keyHeader: null },
    headers: {},
    secrets: [],
    era: undefined,
    fetch: () => new Promise(() => undefined),
    now: Date.now,
    online: () => true,
    onChanged: () => undefined,
  }).then((opened) => ends.push(opened));
  await vi.advanceTimersByTimeAsync(9_999);
  expect(ends).toEqual([]);
  await vi.advanceTimersByTimeAsync(1);
  await opening;
  expect(ends).toMatchObject([
    { ok: false, error: { code: 'timeout', message: expect.stringContaining('10 seconds') } },
  ]);
});
