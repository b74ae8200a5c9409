import { describe, expect, test } from 'vitest';
import { blobOf, gridOf, pieceOf, readable, visible } from '../../../src/ui/conversation/values.ts';

test('names of arguments are written as a person would', () => {
  expect(readable('find_flights')).toBe('Find flights');
  expect(readable('arriveBy')).toBe('Arrive by');
  expect(readable('__')).toBe('__');
});

describe('a list as a table', () => {
  test('like objects make one', () => {
    expect(gridOf([{ a: 1, b: 2 }, { a: 3 }])?.columns).toEqual(['a', 'b']);
  });
  test.each([
    ['one object', [{ a: 1 }]],
    ['nested values', [{ a: { b: 1 } }, { a: { b: 2 } }]],
    ['things that are no objects', [1, 2, 3]],
    ['objects and others', [{ a: 1 }, 2]],
    [
      'too many columns',
      [0, 1].map(() => Object.fromEntries('abcdefghi'.split('').map((k) => [k, 1]))),
    ],
    ['an object', { a: [] }],
  ])('%s does not', (_name, value) => {
    expect(gridOf(value)).toBeNull();
  });
});

describe('a block of a result', () => {
  test('text that is JSON is data, other text stays text', () => {
    expect(pieceOf({ type: 'text', text: ' {"a": 1}' })).toEqual({ kind: 'json', value: { a: 1 } });
    expect(pieceOf({ type: 'text', text: '{not json' })).toEqual({
      kind: 'text',
      text: '{not json',
    });
    expect(pieceOf({ type: 'text', text: 12 })).toEqual({ kind: 'text', text: '' });
  });

  test('only pictures that came as data are shown', () => {
    expect(pieceOf({ type: 'image', data: 'AAAA', mimeType: 'image/png' })).toMatchObject({
      kind: 'image',
      media: { data: 'AAAA', type: 'image/png', name: '' },
    });
    for (const mimeType of ['image/svg+xml', 'text/html', '', undefined])
      expect(pieceOf({ type: 'image', data: 'AAAA', mimeType }).kind).toBe('other');
    expect(
      pieceOf({ type: 'image', data: 'https://evil.example/x.png', mimeType: 'image/png' }).kind,
    ).toBe('other');
  });

  test('links to resources keep their address, files show their text', () => {
    expect(pieceOf({ type: 'resource_link', uri: 'https://a.example/f', name: 'f' })).toEqual({
      kind: 'link',
      address: 'https://a.example/f',
      label: 'f',
      note: '',
    });
    expect(pieceOf({ type: 'resource', resource: { uri: 'file:///a', text: 'words' } })).toEqual({
      kind: 'text',
      text: 'words',
    });
  });

  test('sounds are played and files saved from their own bytes; what is broken or too large says so', async () => {
    const sound = pieceOf({ type: 'audio', data: 'UklGRg==', mimeType: 'audio/wav; rate=8000' });
    expect(sound).toMatchObject({ kind: 'audio', media: { type: 'audio/wav' } });
    const file = pieceOf({
      type: 'resource',
      resource: { uri: 'file:///a.zip', mimeType: 'application/zip', blob: 'QUJD' },
    });
    expect(file).toMatchObject({ kind: 'file', media: { name: 'file:///a.zip' } });
    const html = { uri: 'file:///a.html', mimeType: 'text/html', blob: 'QUJD' };
    const found = pieceOf({ type: 'resource', resource: html });
    if (found.kind !== 'file') throw new Error('no file');
    expect(blobOf(found.media)?.type).toBe('application/octet-stream');
    if (file.kind !== 'file') throw new Error('no file');
    expect(await blobOf(file.media)?.text()).toBe('ABC');
    expect(blobOf({ ...file.media, data: 'A' })).toBeNull();
    for (const [data, words] of [
      ['', 'broken'],
      ['x*', 'broken'],
      ['A'.repeat(16_000_004), 'too large'],
    ] as const)
      expect(pieceOf({ type: 'audio', data, mimeType: 'audio/wav' })).toMatchObject({
        kind: 'other',
        text: expect.stringContaining(words),
      });
    expect(pieceOf({ type: 'audio', data: 'AAAA', mimeType: 'audio/midi' }).kind).toBe('other');
  });

  test('what is not known is shown as data', () => {
    expect(pieceOf({ type: 'hologram', x: 1 })).toEqual({
      kind: 'json',
      value: { type: 'hologram', x: 1 },
    });
  });
});

test('characters that would not be seen are drawn as signs, and words and emoji as they are', () => {
  expect(visible('pay \u202Eevil\u202C')).toBe('pay ⟨U+202E⟩evil⟨U+202C⟩');
  expect(visible('a\u200Bb\u{E0041}c\u0000d\u00ADe\uFEFF')).toBe(
    'a⟨U+200B⟩b⟨U+E0041⟩c⟨U+0000⟩d⟨U+00AD⟩e⟨U+FEFF⟩',
  );
  expect(visible('at\u200Dtacker')).toBe('at⟨U+200D⟩tacker');
  const fine = 'Tea\n\t☕️ 👩‍👩‍👧 می‌روم שלום 東京 naïve';
  expect(visible(fine)).toBe(fine);
});
