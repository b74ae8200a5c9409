import { describe, expect, test } from 'vitest';
import { DEFAULT_SETTINGS } from '../../../src/store/settings.ts';
import { call, conversation, draft, freshStore } from './helpers.ts';

describe('a table', () => {
  test('puts, gets, lists and deletes', async () => {
    const { reminders } = await freshStore();
    const first = { id: 'r1', text: 'Milk', at: 9, createdAt: 1, state: 'waiting' } as const;
    await reminders.put(first);
    await reminders.put({ ...first, id: 'r2' });
    expect(await reminders.get('r1')).toEqual(first);
    expect((await reminders.all()).map((it) => it.id)).toEqual(['r1', 'r2']);
    await reminders.delete('r1');
    expect(await reminders.get('r1')).toBeUndefined();
  });

  test('updates in one transaction: no update is lost', async () => {
    const { models } = await freshStore();
    await models.put({ id: 'm', state: 'downloading', bytes: 0, updatedAt: 1 });
    await Promise.all(
      Array.from({ length: 25 }, () =>
        models.update('m', (old) => ({ ...old, bytes: old.bytes + 1 })),
      ),
    );
    expect((await models.get('m'))?.bytes).toBe(25);
  });

  test('leaves a record as it is where the change says so, or throws, or there is none', async () => {
    const { models } = await freshStore();
    const record = { id: 'm', state: 'ready', bytes: 1, updatedAt: 1 } as const;
    await models.put(record);
    expect(await models.update('m', () => undefined)).toEqual(record);
    const fault = new Error('fault of the caller');
    await expect(
      models.update('m', () => {
        throw fault;
      }),
    ).rejects.toBe(fault);
    expect(await models.get('m')).toEqual(record);
    expect(await models.update('none', (old) => old)).toBeUndefined();
    expect(await models.get('none')).toBeUndefined();
  });

  test('finds the grants of a tool', async () => {
    const { grants } = await freshStore();
    const grant = { id: 'g1', server: 's', tool: 't', pin: 'p', verdict: 'allow' } as const;
    await grants.put({ ...grant, createdAt: 1 });
    await grants.put({ ...grant, id: 'g2', tool: 'other', createdAt: 1 });
    expect((await grants.for('s', 't')).map((it) => it.id)).toEqual(['g1']);
  });
});

describe('a decision', () => {
  test('is written once; the first one stands', async () => {
    const { decisions } = await freshStore();
    const decision = { callId: 'k', conversation: 'c', allow: true, scope: 'once', at: 1 } as const;
    const added = await Promise.all([
      decisions.add(decision),
      decisions.add({ ...decision, allow: false }),
      decisions.add({ ...decision, allow: false }),
    ]);
    expect(added).toEqual([true, false, false]);
    expect(await decisions.get('k')).toEqual(decision);
  });
});

describe('deleting a conversation', () => {
  test('takes all that hangs on it and nothing else', async () => {
    const store = await freshStore();
    for (const id of ['a', 'b']) {
      await store.conversations.put(conversation(id));
      await store.messages.add(draft(`m-${id}`, id), [call(`k-${id}`)]);
      await store.decisions.add({
        callId: `k-${id}`,
        conversation: id,
        allow: true,
        scope: 'conversation',
        at: 1,
      });
      await store.grants.put({
        id: `g-${id}`,
        server: 's',
        tool: 't',
        pin: 'p',
        conversation: id,
        verdict: 'allow',
        createdAt: 1,
      });
    }
    await store.conversations.delete('a');
    expect((await store.conversations.list()).map((it) => it.id)).toEqual(['b']);
    expect(await store.messages.list('a')).toEqual([]);
    expect(await store.decisions.get('k-a')).toBeUndefined();
    expect(await store.decisions.get('k-b')).toBeDefined();
    expect((await store.grants.all()).map((it) => it.id)).toEqual(['g-b']);
    expect(await store.messages.parts('m-b')).toHaveLength(1);
  });
});

describe('settings', () => {
  test('begin with the defaults and keep what was set', async () => {
    const { settings } = await freshStore();
    expect(await settings.get()).toEqual(DEFAULT_SETTINGS);
    await Promise.all([settings.set({ theme: 'dark' }), settings.set({ mode: 'phone' })]);
    await settings.set({ persisted: false });
    expect(await settings.get()).toEqual({
      ...DEFAULT_SETTINGS,
      theme: 'dark',
      mode: 'phone',
      persisted: false,
    });
  });
});
