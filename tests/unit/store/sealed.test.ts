import { describe, expect, test } from 'vitest';
import { isSealed, seal, unseal } from '../../../src/store/sealed.ts';
import { conversation, freshStore } from './helpers.ts';

const WORDS = 'a letter to nobody';
const sealed = (): Promise<Blob> => seal(new Blob([WORDS]), 'correct horse');

async function flipped(file: Blob, at: number): Promise<Blob> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  bytes[at < 0 ? bytes.length + at : at]! ^= 1;
  return new Blob([bytes]);
}

const headed = async (change: Record<string, unknown>): Promise<Blob> => {
  const file = await sealed();
  const [line = ''] = (await file.text()).split('\n');
  const rest = file.slice(new TextEncoder().encode(`${line}\n`).length);
  return new Blob([`${JSON.stringify({ ...(JSON.parse(line) as object), ...change })}\n`, rest]);
};

describe('a locked file', () => {
  test('opens with its passphrase, and with it alone', async () => {
    const file = await sealed();
    expect(await isSealed(file)).toBe(true);
    const opened = await unseal(file, 'correct horse');
    expect(opened.ok && (await opened.content.text())).toBe(WORDS);
    expect(await unseal(file, 'correct horsf')).toEqual({ ok: false, why: 'wrong' });
    expect(await unseal(file, '')).toEqual({ ok: false, why: 'wrong' });
  });

  test('opens whichever way an accent was typed', async () => {
    const file = await seal(new Blob([WORDS]), 'café'.normalize('NFC'));
    expect((await unseal(file, 'café'.normalize('NFD'))).ok).toBe(true);
  });

  test('holds nothing that can be read, and no two are alike', async () => {
    const [one, two] = [await (await sealed()).text(), await (await sealed()).text()];
    expect(one).not.toContain('letter');
    expect(one).not.toBe(two);
  });

  test('does not open once a byte of it was changed, its first line included', async () => {
    const file = await sealed();
    expect(await unseal(await flipped(file, -1), 'correct horse')).toMatchObject({ why: 'wrong' });
    expect(await unseal(await headed({ note: 'x' }), 'correct horse')).toMatchObject({
      why: 'wrong',
    });
  });

  test.each([
    [{ version: 2 }, 'newer'],
    [{ salt: 'zz' }, 'damaged'],
    [{ iv: '' }, 'damaged'],
    [{ iterations: 0 }, 'damaged'],
    [{ iterations: 1e12 }, 'damaged'],
    [{ iterations: '600000' }, 'damaged'],
  ])('with %j in its first line is refused', async (change, why) => {
    expect(await unseal(await headed(change), 'correct horse')).toEqual({ ok: false, why });
  });

  test('is told from any other file', async () => {
    for (const text of ['', '{}', '{"format":"deft-archive"}\n', '{"format":"deft-sealed"'])
      expect(await isSealed(new Blob([text]))).toBe(false);
  });
});

describe('an export under a passphrase', () => {
  test('comes back with it; without it, or with another, nothing is imported and the person is told', async () => {
    const from = await freshStore();
    await from.conversations.put(conversation('c1', { title: 'A secret plan' }));
    const file = await from.archive.export('correct horse');
    expect(await file.text()).not.toContain('secret plan');

    const to = await freshStore();
    expect(await to.archive.import(file)).toEqual({
      ok: false,
      sealed: true,
      message: 'This file is locked with a passphrase.',
      advice: 'Type the passphrase that was chosen when it was saved.',
    });
    expect(await to.archive.import(file, 'wrong horse')).toMatchObject({ ok: false, sealed: true });
    expect(await to.conversations.list()).toEqual([]);
    expect(await to.archive.import(file, 'correct horse')).toMatchObject({
      ok: true,
      summary: { conversations: 1 },
    });
    expect((await to.conversations.get('c1'))?.title).toBe('A secret plan');
  });
});
