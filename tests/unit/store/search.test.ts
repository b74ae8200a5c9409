import { describe, expect, test } from 'vitest';
import { excerptOf, fold, queryWords } from '../../../src/store/search.ts';
import type { Part } from '../../../src/store/records.ts';
import { call, conversation, draft, freshStore, text } from './helpers.ts';

async function withTexts(texts: Record<string, readonly (string | Part)[]>) {
  const store = await freshStore();
  for (const [id, parts] of Object.entries(texts)) {
    await store.conversations.put(conversation(id, { title: `${id} title` }));
    for (const [i, part] of parts.entries())
      await store.messages.add(draft(`${id}-${i}`, id), [
        typeof part === 'string' ? text(part) : part,
      ]);
  }
  const search = async (query: string) =>
    (await store.conversations.search(query)).map((hit) => hit.conversation.id).sort();
  return { store, search };
}

describe('search', () => {
  test('finds every word, in any message, in any case, with or without accents', async () => {
    const { search } = await withTexts({
      a: ['A café in Zürich', 'and a RAINCOAT'],
      b: ['A cafe in Mumbai'],
      c: ['Straße nach Łódź'],
    });
    expect(await search('CAFE')).toEqual(['a', 'b']);
    expect(await search('café zurich raincoat')).toEqual(['a']);
    expect(await search('cafe nowhere')).toEqual([]);
    expect(await search('STRASSE lodz')).toEqual(['c']);
  });

  test('finds words of the title, and of title and text together', async () => {
    const { search } = await withTexts({ alpha: ['one'], beta: ['one'] });
    expect(await search('alpha one')).toEqual(['alpha']);
  });

  test('tells words of other scripts apart by their vowels', async () => {
    const { search } = await withTexts({ a: ['किताब'], b: ['कतब'], c: ['مَرْحَبًا'] });
    expect(await search('किताब')).toEqual(['a']);
    expect(await search('مرحبا')).toEqual(['c']);
  });

  test('does not look into tool results and receipts', async () => {
    const { search } = await withTexts({ a: [call('k', { args: { city: 'Hidden' } })] });
    expect(await search('hidden')).toEqual([]);
  });

  test('of nothing lists all with the last words, pinned first, then the newest', async () => {
    const { store } = await withTexts({ a: ['first', 'last words of a'], b: [] });
    await store.conversations.put(conversation('c', { updatedAt: 99 }));
    await store.conversations.update('b', (old) => ({ ...old, pinned: true }));
    const hits = await store.conversations.search('  ');
    expect(hits.map((hit) => [hit.conversation.id, hit.excerpt])).toEqual([
      ['b', ''],
      ['c', ''],
      ['a', 'last words of a'],
    ]);
    expect((await store.conversations.list()).map((it) => it.id)).toEqual(['b', 'c', 'a']);
  });

  test('shows the words around the first match, or the last ones for a match in the title', async () => {
    const long = `${'before '.repeat(60)}the näedle here${' after'.repeat(60)}`;
    const { store } = await withTexts({ a: [long, 'the last message'] });
    const [hit] = await store.conversations.search('naedle');
    expect(hit?.excerpt).toMatch(/^…before.* the näedle here after.*…$/);
    expect(hit?.excerpt.length).toBeLessThanOrEqual(142);
    const [titled] = await store.conversations.search('title');
    expect(titled?.excerpt).toBe('the last message');
  });

  test('stops when it is aborted', async () => {
    const { store } = await withTexts({ a: ['one'] });
    const reason = new Error('typed on');
    await expect(store.conversations.search('one', AbortSignal.abort(reason))).rejects.toBe(reason);
    const controller = new AbortController();
    const running = store.conversations.search('one', controller.signal);
    controller.abort(reason);
    await expect(running).rejects.toBe(reason);
  });
});

describe('folding', () => {
  test('keeps what is no accent', () => {
    expect(fold('ÀÉÎõü İI ẞ Ω ΣΑΣ ﬁ')).toBe('aeiou ii ss ω σασ fi');
    expect(queryWords('  Two  TWO words ')).toEqual(['two', 'words']);
  });

  test('finds the place in the text as it was typed', () => {
    const text = `${'ß'.repeat(80)} ŒUVRE end`;
    expect(excerptOf(text, ['oeuvre'])).toContain('ŒUVRE end');
    expect(excerptOf('😀'.repeat(200), ['none']).length).toBeLessThanOrEqual(142);
  });
});
