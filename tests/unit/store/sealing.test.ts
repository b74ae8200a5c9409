import { describe, expect, test } from 'vitest';
import type { PartRow } from '../../../src/store/schema.ts';
import { createRowCipher } from '../../../src/store/sealing.ts';
import { call, conversation, text } from './helpers.ts';

const cipher = createRowCipher(Uint8Array.from({ length: 32 }, (_, at) => at));
const part = (seq: number, index: number): PartRow => ({
  conversation: 'c',
  seq,
  index,
  part: text(`part ${seq}.${index}`),
});

describe('a sealed row', () => {
  test('opens to what it was, whatever is in it', () => {
    const odd = conversation('a', {
      title: 'Zürich \ud83d\ude00 \ud800 alone \u0000',
      draft: '{"sealed":1}',
      queue: ['x'.repeat(100_000)],
    });
    const row = cipher.seal('conversations', odd);
    expect(Object.keys(row).sort()).toEqual(['id', 'sealed']);
    expect(cipher.open('conversations', row as never)).toEqual(odd);
    const args = JSON.parse('{"__proto__":{"a":1},"nested":[null,true,-1.5e300]}') as object;
    const running = { ...part(1, 2), part: call('k', { args: { ...args } }) };
    expect(cipher.open('parts', cipher.seal('parts', running) as never)).toEqual(running);
    const secret = { name: 's', iv: Uint8Array.of(1, 0, 255), data: Uint8Array.of(9, 8).buffer };
    expect(cipher.open('secrets', cipher.seal('secrets', secret) as never)).toEqual(secret);
  });

  test('is sealed differently each time', () => {
    const [a, b] = [part(0, 0), part(0, 0)].map((row) => cipher.seal('parts', row).sealed);
    expect(a).not.toEqual(b);
  });

  test('keeps plain what a key or an index needs, and nothing else', () => {
    const { sealed, ...plain } = cipher.seal('parts', part(3, 4));
    expect(plain).toEqual({ conversation: 'c', seq: 3, index: 4, part: { kind: 'text' } });
    expect(sealed.length).toBeGreaterThan(40);
  });

  test('that is plain is read as it is', () => {
    const row = conversation('a');
    expect(cipher.open('conversations', row)).toBe(row);
    // A record that has a field of that name is no sealed row.
    const odd = { ...row, sealed: 'wax' };
    expect(cipher.open('conversations', odd)).toBe(odd);
  });

  test('opens under no other key, in no other store and with no other plain field', () => {
    const row = cipher.seal('conversations', conversation('a'));
    const other = createRowCipher(new Uint8Array(32));
    expect(other.open('conversations', row as never)).toBeUndefined();
    expect(cipher.open('conversations', { ...row, id: 'b' } as never)).toBeUndefined();
    expect(cipher.open('reminders', row as never)).toBeUndefined();
    const grant = cipher.seal('grants', {
      id: 'g',
      server: 's',
      tool: 'read',
      pin: 'p',
      verdict: 'allow',
      createdAt: 0,
    });
    expect(cipher.open('grants', { ...grant, tool: 'pay' } as never)).toBeUndefined();
    expect(cipher.open('grants', { ...grant, conversation: 'c' } as never)).toBeUndefined();
  });

  test.each([0, 23, 24, 40, -1])('does not open once byte %d was changed', (at) => {
    const row = cipher.seal('reminders', {
      id: 'r',
      text: 'Pack',
      at: 1,
      createdAt: 1,
      state: 'waiting',
    });
    const sealed = Uint8Array.from(row.sealed);
    const place = at < 0 ? sealed.length + at : at;
    sealed[place] = (sealed[place] ?? 0) ^ 1;
    expect(cipher.open('reminders', { ...row, sealed } as never)).toBeUndefined();
    const cut = { ...row, sealed: row.sealed.slice(0, place) };
    expect(cipher.open('reminders', cut as never)).toBeUndefined();
  });

  test('that was put in the place of another part leaves a sentence there, and every other part in its place', () => {
    const { sealed } = cipher.seal('parts', part(0, 1));
    const swapped = { ...cipher.seal('parts', part(0, 0)), sealed };
    expect(cipher.open('parts', swapped as never)).toMatchObject({
      conversation: 'c',
      seq: 0,
      index: 0,
      part: { kind: 'notice', code: 'damaged' },
    });
  });
});
