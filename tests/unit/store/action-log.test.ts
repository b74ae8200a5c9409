import { openDB } from 'idb';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openStore } from '../../../src/store/open.ts';
import type { ActionEntry } from '../../../src/store/records.ts';
import type { ActionDraft, Store } from '../../../src/store/store.ts';
import { conversation, freshName, freshStore } from './helpers.ts';

const draft = (callId: string, more: Partial<ActionDraft> = {}): ActionDraft => ({
  at: 1,
  event: 'sent',
  callId,
  conversation: 'c1',
  server: 's1',
  serverName: 'Travel',
  tool: 'book',
  title: 'Book a flight',
  args: { flight: '6E 2131' },
  decision: { by: 'person', allowed: true, scope: 'once' },
  brain: 'Gemma 3',
  ...more,
});

const all = (store: Store): Promise<readonly ActionEntry[]> => store.actions.search('', 100);

/** Changes the log behind the app's back. */
async function tamper(
  name: string,
  change: (rows: Map<number, ActionEntry>) => void,
): Promise<void> {
  const db = await openDB(name);
  const tx = db.transaction('actions', 'readwrite');
  const rows = new Map<number, ActionEntry>();
  for (const row of (await tx.store.getAll()) as ActionEntry[]) rows.set(row.seq, row);
  change(rows);
  await tx.store.clear();
  for (const row of rows.values()) await tx.store.put(row);
  await tx.done;
  db.close();
}

describe('the action log', () => {
  test('keeps lines in order, each with the hash of the one before', async () => {
    const store = await freshStore();
    for (const id of ['a', 'b', 'c']) await store.actions.append(draft(id));
    const [third, second, first] = await all(store);
    expect([first, second, third].map((it) => [it?.seq, it?.callId])).toEqual([
      [0, 'a'],
      [1, 'b'],
      [2, 'c'],
    ]);
    expect(first?.prev).toBe('');
    expect(second?.prev).toBe(first?.hash);
    expect(third?.prev).toBe(second?.hash);
    expect(await store.actions.verify()).toBeNull();
  });

  test.each<[string, number, (rows: Map<number, ActionEntry>) => void]>([
    ['changed', 1, (rows) => rows.set(1, { ...rows.get(1)!, title: 'Something else' })],
    ['taken out', 1, (rows) => rows.delete(1)],
    ['taken from the beginning', 0, (rows) => rows.delete(0)],
    [
      'swapped',
      1,
      (rows) => {
        const [one, two] = [rows.get(1)!, rows.get(2)!];
        rows.set(1, { ...two, seq: 1 });
        rows.set(2, { ...one, seq: 2 });
      },
    ],
  ])('finds a line that was %s', async (_what, at, change) => {
    const name = freshName();
    const store = await freshStore({ name });
    for (const id of ['a', 'b', 'c', 'd']) await store.actions.append(draft(id));
    await tamper(name, change);
    expect(await store.actions.verify()).toBe(at);
  });

  test('is one chain, whichever tabs write at the same time', async () => {
    const name = freshName();
    const stores = await Promise.all([1, 2, 3].map(() => freshStore({ name })));
    await Promise.all(
      stores.flatMap((store, tab) =>
        Array.from({ length: 8 }, (_, at) => store.actions.append(draft(`${tab}-${at}`))),
      ),
    );
    const [store] = stores as [Store, ...Store[]];
    expect(await all(store)).toHaveLength(24);
    expect(new Set((await all(store)).map(({ callId }) => callId)).size).toBe(24);
    expect(await store.actions.verify()).toBeNull();
  });

  test('stays when its conversation is deleted, and goes when the person clears it', async () => {
    const store = await freshStore();
    await store.conversations.put(conversation('c1'));
    await store.actions.append(draft('a'));
    await store.conversations.deleteWhole('c1');
    expect(await all(store)).toHaveLength(1);
    await store.actions.clear();
    expect(await all(store)).toEqual([]);
    await store.actions.append(draft('b'));
    expect(await store.actions.verify()).toBeNull();
  });

  test('is found by words of the tool, the server, the arguments and the outcome', async () => {
    const store = await freshStore();
    await store.actions.append(draft('a', { args: { city: 'Goa' } }));
    await store.actions.append(draft('b', { serverName: 'Bank', words: 'Paid 40 euros.' }));
    const found = async (query: string): Promise<string[]> =>
      (await store.actions.search(query, 10)).map(({ callId }) => callId);
    expect(await found('goa')).toEqual(['a']);
    expect(await found('BANK euros')).toEqual(['b']);
    expect(await found('flight')).toEqual(['b', 'a']);
    expect(await found('flight goa bank')).toEqual([]);
    expect(await store.actions.search('', 1)).toHaveLength(1);
  });

  test('keeps no secret, and of a long text its beginning', async () => {
    const store = await freshStore();
    const secret = 'sk-live-1234567890abcdef';
    await store.actions.append(
      draft('a', {
        args: {
          note: `use ${secret}`,
          password: 'hunter22',
          secret: 87_654_321,
          api_key: ['hunter33', [4_455_667_788]],
          count: 12_345,
          nested: [{ text: 'x'.repeat(9_000) }],
        },
        words: `Bearer ${secret}`,
      }),
    );
    const text = await (await store.actions.export()).text();
    expect(text).not.toContain(secret);
    expect(text).not.toContain('hunter22');
    for (const hidden of ['87654321', 'hunter33', '4455667788']) expect(text).not.toContain(hidden);
    expect(text).toContain('"count":12345');
    expect(text).toContain('… (7000 more characters)');
    expect(text.length).toBeLessThan(4_000);
  });

  test('leaves as JSON Lines, the oldest first, and whole after a restart', async () => {
    const name = freshName();
    const store = await freshStore({ name });
    for (let at = 0; at < 1_001; at += 1) await store.actions.append(draft(`call-${at}`));
    store.close();
    const again = await openStore({ name, channel: false });
    onTestFinished(() => again.close());
    const lines = (await (await again.actions.export()).text()).trimEnd().split('\n');
    const entries = lines.map((line) => JSON.parse(line) as ActionEntry);
    expect(entries.map(({ seq }) => seq)).toEqual(Array.from({ length: 1_001 }, (_, at) => at));
    expect(await again.actions.verify()).toBeNull();
  });
});
