import { expect, onTestFinished, test, vi } from 'vitest';
import { QuotaError } from '../../../src/store/store.ts';
import { conversation, draft, freshStore, text } from './helpers.ts';

/** The part of the Storage Buckets API (WICG) that this needs; TypeScript does not know it. */
interface Buckets {
  open(name: string, options: { quota: number }): Promise<{ readonly indexedDB: IDBFactory }>;
  delete(name: string): Promise<void>;
}

/** Puts IndexedDB into a bucket that holds 2 MB: the browser itself refuses what is more. */
async function useSmallBucket(): Promise<void> {
  const buckets = (navigator as unknown as { readonly storageBuckets: Buckets }).storageBuckets;
  const name = `small-${crypto.randomUUID()}`;
  const bucket = await buckets.open(name, { quota: 2 * 1024 * 1024 });
  vi.stubGlobal('indexedDB', bucket.indexedDB);
  onTestFinished(async () => {
    vi.unstubAllGlobals();
    await buckets.delete(name);
  });
}

/** 4 MB that the browser cannot compress. */
function noise(): string {
  const bytes = new Uint8Array(4 * 1024 * 1024);
  for (let at = 0; at < bytes.length; at += 65_536)
    crypto.getRandomValues(bytes.subarray(at, at + 65_536));
  return new TextDecoder('latin1').decode(bytes);
}
const big = () => text(noise());

/** An export with a conversation for each draft. */
const archive = (drafts: readonly string[]): Blob =>
  new Blob([
    JSON.stringify({
      format: 'deft-archive',
      version: 1,
      exportedAt: 1,
      settings: {},
      servers: [],
      lists: [],
      grants: [],
      reminders: [],
      accounts: [],
      conversations: drafts.map((words, i) => ({
        conversation: { ...conversation(`i${i}`), draft: words },
        messages: [],
      })),
    }),
  ]);

test('a full phone is told as such, loses nothing, and goes on with what fits', async () => {
  await useSmallBucket();
  const { store } = await freshStore();
  await store.conversations.put(conversation('c'));
  const message = await store.messages.add(draft('m', 'c'), [text('kept')]);

  await expect(store.messages.putPart(message, 1, big())).rejects.toBeInstanceOf(QuotaError);
  await expect(store.messages.add(draft('m2', 'c'), [big()])).rejects.toBeInstanceOf(QuotaError);
  await expect(store.conversations.put({ ...conversation('d'), draft: noise() })).rejects.toThrow(
    'no room left',
  );
  expect(await store.messages.parts('m')).toEqual([text('kept')]);
  expect((await store.messages.list('c')).map((it) => it.id)).toEqual(['m']);

  // An import is refused whole, though its first conversation would fit.
  expect(await store.archive.import(archive(['', noise()]))).toEqual({
    ok: false,
    message: 'This phone has no room for what is in this file. Nothing was imported.',
    advice: 'Delete a model or old conversations, then import again.',
  });
  expect((await store.conversations.list()).map((it) => it.id)).toEqual(['c']);

  await store.messages.putPart(message, 1, text('small'));
  expect(await store.messages.parts('m')).toEqual([text('kept'), text('small')]);
});
