import { expect, it } from 'vitest';
import { LIMITS as HELD } from '../../../../src/mcp/connection.ts';
import { LIMITS, readProxy, withLimit } from '../../../../src/ui/screens/reach.ts';

it('takes a proxy on this device, or one that is encrypted, and nothing else', () => {
  const cases: readonly (readonly [string, string | null | undefined])[] = [
    ['', undefined],
    ['  ', undefined],
    ['http://localhost:8787', 'http://localhost:8787'],
    ['http://127.0.0.1:8787/', 'http://127.0.0.1:8787'],
    ['https://proxy.example/mcp/', 'https://proxy.example/mcp'],
    ['http://proxy.example', null],
    ['http://192.168.1.2:8787', null],
    ['localhost:8787', null],
    ['ws://localhost:1', null],
    ['https://proxy.example/?url=', null],
    ['https://me:secret@proxy.example', null],
  ];
  for (const [typed, proxy] of cases) {
    const read = readProxy(typed);
    expect(read.ok ? read.proxy : null, typed).toBe(proxy);
  }
});

it('brings a time limit into its range and leaves the other as it was', () => {
  const [connect, call] = LIMITS;
  if (!connect || !call) throw new Error('Both limits can be set.');
  expect(withLimit(undefined, connect, 30)).toEqual({ connectMs: 30_000 });
  expect(withLimit({ callMs: 5_000 }, connect, 0)).toEqual({ callMs: 5_000, connectMs: 1_000 });
  expect(withLimit({}, call, 1e9)).toEqual({ callMs: 600_000 });
  expect(withLimit({}, call, NaN)).toEqual({ callMs: 60_000 });
});

it('shows the limits that hold where none is set: ten seconds to connect, a minute for a call', () => {
  const shown = Object.fromEntries(LIMITS.map(({ key, usual }) => [key, usual]));
  expect(shown).toEqual({ connectMs: 10_000, callMs: 60_000 });
  expect(HELD).toMatchObject({ connect: shown.connectMs, call: shown.callMs });
});
