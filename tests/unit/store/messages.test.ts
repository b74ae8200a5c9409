import { describe, expect, test } from 'vitest';
import { call, conversation, draft, freshStore, text } from './helpers.ts';

async function withConversation(id = 'c') {
  const store = await freshStore();
  await store.conversations.put(conversation(id));
  return store;
}

describe('messages', () => {
  test('are numbered without gaps, also when added at the same time', async () => {
    const store = await withConversation();
    const added = await Promise.all(
      Array.from({ length: 20 }, (_, i) => store.messages.add(draft(`m${i}`, 'c'), [])),
    );
    expect(added.map((it) => it.seq).sort((a, b) => a - b)).toEqual([...Array(20).keys()]);
    expect((await store.messages.list('c')).map((it) => it.seq)).toEqual([...Array(20).keys()]);
  });

  test('keep their parts, in order, one row each', async () => {
    const store = await withConversation();
    const first = await store.messages.add(draft('m1', 'c', { role: 'user' }), [text('hello')]);
    const second = await store.messages.add(draft('m2', 'c'), []);
    for (let i = 0; i < 12; i++) await store.messages.putPart(second, i, text(`part ${i}`));
    await store.messages.putPart(second, 3, text('replaced'));
    expect(await store.messages.parts(first.id)).toEqual([text('hello')]);
    const parts = await store.messages.partsOf('c');
    expect([...parts.keys()]).toEqual(['m1', 'm2']);
    expect(parts.get('m2')).toHaveLength(12);
    expect(parts.get('m2')?.[3]).toEqual(text('replaced'));
    expect(parts.get('m2')?.[11]).toEqual(text('part 11'));
  });

  test('move their conversation up', async () => {
    const store = await withConversation();
    await store.messages.add(draft('m1', 'c', { createdAt: 77 }), []);
    expect((await store.conversations.get('c'))?.updatedAt).toBe(77);
  });

  test('are not added to a conversation that was deleted', async () => {
    const store = await withConversation();
    await store.conversations.deleteWhole('c');
    await expect(store.messages.add(draft('m1', 'c'), [])).rejects.toMatchObject({ kind: 'gone' });
    expect(await store.messages.list('c')).toEqual([]);
  });

  test('are removed from a place on, and a late part never lands in their successor', async () => {
    const store = await withConversation();
    await store.messages.add(draft('m1', 'c'), [text('kept')]);
    const old = await store.messages.add(draft('m2', 'c'), [text('old')]);
    await store.messages.add(draft('m3', 'c'), [text('old too')]);
    await store.messages.truncate('c', 1);
    expect((await store.messages.list('c')).map((it) => it.id)).toEqual(['m1']);
    const next = await store.messages.add(draft('m4', 'c'), [text('new')]);
    expect(next.seq).toBe(1);
    await expect(store.messages.putPart(old, 0, text('late'))).rejects.toMatchObject({
      kind: 'gone',
    });
    await expect(store.messages.claim(old, 0, 1)).rejects.toMatchObject({ kind: 'gone' });
    expect(await store.messages.parts('m4')).toEqual([text('new')]);
  });

  test('change their state', async () => {
    const store = await withConversation();
    await store.messages.add(draft('m1', 'c'), []);
    await store.messages.setState('m1', 'done');
    expect((await store.messages.list('c'))[0]?.state).toBe('done');
    await expect(store.messages.setState('none', 'done')).rejects.toMatchObject({ kind: 'gone' });
  });

  test('of another conversation whose id begins alike are not touched', async () => {
    const store = await withConversation('c');
    await store.conversations.put(conversation('c1'));
    await store.messages.add(draft('m1', 'c'), [text('one')]);
    await store.messages.add(draft('m2', 'c1'), [text('two')]);
    await store.conversations.deleteWhole('c');
    expect(await store.messages.parts('m2')).toEqual([text('two')]);
    expect(await store.messages.parts('m1')).toEqual([]);
  });
});

describe('a claim', () => {
  test('is won once, however many want it', async () => {
    const store = await withConversation();
    const message = await store.messages.add(draft('m', 'c'), [call('k', { state: 'allowed' })]);
    const won = await Promise.all(
      Array.from({ length: 8 }, (_, i) => store.messages.claim(message, 0, 100 + i)),
    );
    expect(won.filter(Boolean)).toHaveLength(1);
    const [part] = await store.messages.parts('m');
    expect(part).toMatchObject({ state: 'running', startedAt: 100 + won.indexOf(true) });
  });

  test.each(['proposed', 'asked', 'denied', 'refused', 'running', 'done'] as const)(
    'is refused to a call that is %s',
    async (state) => {
      const store = await withConversation();
      const message = await store.messages.add(draft('m', 'c'), [call('k', { state })]);
      expect(await store.messages.claim(message, 0, 1)).toBe(false);
      expect(await store.messages.parts('m')).toEqual([call('k', { state })]);
    },
  );

  test('is refused to a part that is no call or is not there', async () => {
    const store = await withConversation();
    const message = await store.messages.add(draft('m', 'c'), [text('x')]);
    expect(await store.messages.claim(message, 0, 1)).toBe(false);
    expect(await store.messages.claim(message, 1, 1)).toBe(false);
  });
});
