import { describe, expect, test } from 'vitest';
import { unwrapKey, wrapKey } from '../../../src/store/lock-ways.ts';
import type { WayRow } from '../../../src/store/schema.ts';
import { PASSKEY, passkey, passphrase } from './locked.ts';

const KEY = Uint8Array.from({ length: 32 }, (_, at) => at * 7);
const flipped = (bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> =>
  bytes.map((byte, at) => (at === 0 ? byte ^ 1 : byte));

describe('the key of the lock', () => {
  test('comes back with the passphrase, however its accents were typed, and with no other', async () => {
    const way = await wrapKey('l', KEY, passphrase('Käse und Brot'));
    expect(way).toMatchObject({ kind: 'passphrase', iterations: 600_000 });
    expect(Buffer.from(way.wrapped).includes(Buffer.from(KEY))).toBe(false);
    expect(await unwrapKey('l', way, passphrase('Ka\u0308se und Brot'))).toEqual(KEY);
    expect(await unwrapKey('l', way, passphrase('Käse und brot'))).toBeNull();
    expect(await unwrapKey('l', way, passkey)).toBeNull();
  });

  test('comes back with what the passkey answers, and with nothing else', async () => {
    const way = await wrapKey('l', KEY, PASSKEY);
    expect(JSON.stringify([...way.wrapped])).not.toContain(JSON.stringify([...KEY]).slice(1, -1));
    expect(await unwrapKey('l', way, passkey)).toEqual(KEY);
    const other = flipped(PASSKEY.secret);
    expect(await unwrapKey('l', way, { kind: 'passkey', secret: other })).toBeNull();
    expect(await unwrapKey('l', way, { kind: 'passkey', secret: other.slice(1) })).toBeNull();
    expect(await unwrapKey('l', way, passphrase('Käse und Brot'))).toBeNull();
  });

  test('is wrapped differently each time', async () => {
    const [a, b] = [await wrapKey('l', KEY, PASSKEY), await wrapKey('l', KEY, PASSKEY)];
    expect(a.wrapped).not.toEqual(b.wrapped);
    expect(a.iv).not.toEqual(b.iv);
  });

  test.each<[string, (way: WayRow & { kind: 'passkey' }) => WayRow]>([
    ['its credential', (way) => ({ ...way, credential: flipped(way.credential) })],
    ['its salt', (way) => ({ ...way, salt: flipped(way.salt) })],
    ['its nonce', (way) => ({ ...way, iv: flipped(way.iv) })],
    ['what is wrapped', (way) => ({ ...way, wrapped: flipped(way.wrapped) })],
  ])('does not come back once %s was changed', async (_what, change) => {
    const way = await wrapKey('l', KEY, PASSKEY);
    if (way.kind !== 'passkey') throw new Error('of another kind');
    expect(await unwrapKey('l', change(way), passkey)).toBeNull();
  });

  test('does not come back under another lock, nor with fewer rounds', async () => {
    expect(await unwrapKey('m', await wrapKey('l', KEY, PASSKEY), passkey)).toBeNull();
    const way = await wrapKey('l', KEY, passphrase('four words and more'));
    if (way.kind !== 'passphrase') throw new Error('of another kind');
    expect(
      await unwrapKey('l', { ...way, iterations: 1 }, passphrase('four words and more')),
    ).toBeNull();
  });

  test.each([0, -1, 1e12, Number.NaN])(
    'is not looked for where a row says %d rounds, which would keep the phone busy',
    async (iterations) => {
      const way = await wrapKey('l', KEY, PASSKEY);
      const { salt, iv, wrapped } = way;
      const row: WayRow = { kind: 'passphrase', salt, iterations, iv, wrapped };
      expect(await unwrapKey('l', row, passphrase('four words and more'))).toBeNull();
    },
  );
});
