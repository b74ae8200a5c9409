import { describe, expect, onTestFinished, test } from 'vitest';
import { createGate } from '../../../src/policy/gate.ts';
import { connect } from '../../../src/store/connection.ts';
import { MIGRATIONS } from '../../../src/store/schema.ts';
import type { Change } from '../../../src/store/store.ts';
import { allowedCall, conversation, draft, freshStore, otherTab, text } from './helpers.ts';

describe('two tabs', () => {
  test('stay in step: a change here is heard there, with the new record ready to read', async () => {
    const { store, name } = await freshStore();
    await store.conversations.put(conversation('c'));
    const other = await otherTab(name);
    const heard = new Promise<Change>((resolve) => store.changes.subscribe(resolve));
    await other.ask({ do: 'rename', conversation: 'c', title: 'Renamed there' });
    expect(await heard).toEqual({ topic: 'conversations', key: 'c', remote: true });
    expect((await store.conversations.get('c'))?.title).toBe('Renamed there');
  });

  test('never run one call twice', async () => {
    const { store, name } = await freshStore();
    await store.conversations.put(conversation('c'));
    const other = await otherTab(name);
    for (let round = 0; round < 10; round++) {
      const message = await store.messages.add(draft(`m${round}`, 'c'), [allowedCall]);
      const won = await Promise.all([
        other.ask({ do: 'claim', message, index: 0 }),
        store.messages.claim(message, 0, 1),
      ]);
      expect(won.filter(Boolean)).toHaveLength(1);
      const [part] = await store.messages.parts(message.id);
      expect(part).toMatchObject({ state: 'running', startedAt: won[0] ? 2 : 1 });
    }
  });

  test('answer one question once, and both get that answer', async () => {
    const { store, name } = await freshStore();
    const other = await otherTab(name);
    const gate = createGate({ store });
    const waiting = gate.answer({ callId: 'k', conversation: 'c' }, new AbortController().signal);
    const decided = await Promise.all([
      other.ask({ do: 'decide', callId: 'k', allow: true }),
      gate.decide(
        { callId: 'k', conversation: 'c', server: 's', tool: 't', pin: 'p', args: {} },
        { allow: false, scope: 'once' },
      ),
    ]);
    expect(decided.filter(Boolean)).toHaveLength(1);
    expect(await waiting).toEqual({ allow: decided[0], scope: 'once' });
  });

  test('share the vault', async () => {
    const { store, name } = await freshStore();
    await store.vault.set('a', 'a secret');
    const other = await otherTab(name);
    expect(await other.ask({ do: 'secret', name: 'a' })).toBe('a secret');
  });

  test('let the newer version go on: the older one closes and says so', async () => {
    const { name } = await freshStore();
    const other = await otherTab(name);
    const newer = await connect({
      name,
      migrations: [...MIGRATIONS, () => {}],
      blockedMs: 10_000,
    });
    onTestFinished(() => newer.close());
    await other.outdated;
    await expect(other.ask({ do: 'secret', name: 'a' })).rejects.toThrow('Deft was updated');
  });
});

describe('what was written', () => {
  test('is there after the tab that wrote it was killed', async () => {
    const { store, name } = await freshStore();
    await store.conversations.put(conversation('c', 'Before'));
    const other = await otherTab(name);
    await other.ask({ do: 'rename', conversation: 'c', title: 'Written' });
    const message = await store.messages.add(draft('m', 'c'), [text('x'), allowedCall]);
    await other.ask({ do: 'claim', message, index: 1 });
    other.kill();
    expect((await store.conversations.get('c'))?.title).toBe('Written');
    expect(await store.messages.claim(message, 1, 1)).toBe(false);
  });
});
