import { describe, expect, test } from 'vitest';
import { unpack, type Unpacked } from '../../../../src/brain/local/container.ts';
import { rowOf } from './rows.ts';

const FILE = { path: 'a.gguf', bytes: 3, sha256: 'a'.repeat(64) };
const ROW = rowOf({ id: 'a.wllama', engine: 'wllama', files: [FILE] });

/** A container as the app writes it (models/README.md), around what a test puts in its header. */
function saved(row: unknown, files: readonly unknown[] = [FILE]): Promise<Unpacked> {
  const header = new TextEncoder().encode(JSON.stringify({ version: 1, row, files }));
  const length = new DataView(new ArrayBuffer(4));
  length.setUint32(0, header.length, true);
  return unpack(new Blob(['DEFTMODL', length.buffer, header, 'abc']));
}

describe('a saved model', () => {
  test('comes back as it was', async () => {
    const found = await saved(ROW);
    expect(found).toMatchObject({ ok: true, row: ROW });
    expect(found.ok && (await found.local['a.gguf']!.text())).toBe('abc');
  });

  test('comes back where it was added from a file, or has no page of its licence', async () => {
    const own = { ...ROW, own: 'file', base: 'own-file://this-phone/' };
    const bare = { ...own, licence: { name: 'see its maker', url: '' } };
    expect(await saved(bare)).toMatchObject({ ok: true, row: bare });
    const mirrored = { ...ROW, licence: { name: 'test', url: '' } };
    expect(await saved(mirrored)).toMatchObject({ ok: true, row: mirrored });
  });

  test.each<[string, unknown, (readonly unknown[])?]>([
    ['of an unknown family', { ...ROW, family: 'foo' }],
    ['without an id', { ...ROW, id: '..' }],
    ['of no place', { ...ROW, base: 'own-file://elsewhere/' }],
    ['with a script for a licence', { ...ROW, licence: { name: 'x', url: 'javascript:alert(1)' } }],
    ['with a window of no size', { ...ROW, contextTokens: 0.5 }],
    ['without files', ROW, []],
  ])('is refused where it is one %s', async (_name, row, files) => {
    expect(await saved(row, files)).toMatchObject({
      ok: false,
      message: 'The file of this model is damaged at its beginning.',
    });
  });

  test('loses what no list may say', async () => {
    const found = await saved({ ...ROW, contexts: 5, beside: true, own: 'odd' });
    expect(found.ok && found.row).toEqual(ROW);
  });
});
