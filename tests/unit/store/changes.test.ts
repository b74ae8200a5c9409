import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { createChanges } from '../../../src/store/changes.ts';
import { openStore } from '../../../src/store/open.ts';
import type { Change } from '../../../src/store/store.ts';
import { call, conversation, draft, freshName, freshStore, text } from './helpers.ts';

describe('changes', () => {
  test('of every table are announced once they are complete', async () => {
    const store = await freshStore();
    const heard: string[] = [];
    store.changes.subscribe((change) => heard.push(`${change.topic} ${change.key}`));
    await store.conversations.put(conversation('c'));
    const message = await store.messages.add(draft('m', 'c'), [call('k', { state: 'allowed' })]);
    await store.messages.putPart(message, 1, text('x'));
    await store.messages.claim(message, 0, 1);
    await store.messages.setState('m', 'done');
    await store.messages.truncate('c', 0);
    await store.settings.set({ theme: 'dark' });
    await store.vault.set('v', 's');
    await store.vault.delete('v');
    await store.models.put({ id: 'mo', state: 'ready', bytes: 1, updatedAt: 1 });
    await store.models.update('mo', (old) => ({ ...old, bytes: 2 }));
    await store.models.update('mo', () => undefined);
    await store.models.delete('mo');
    expect(heard).toEqual([
      'conversations c',
      'messages c',
      'conversations c',
      'messages c',
      'messages c',
      'messages c',
      'messages c',
      'settings settings',
      'secrets v',
      'secrets v',
      'models mo',
      'models mo',
      'models mo',
    ]);
  });

  test('are heard in other tabs, where the new record can be read at once', async () => {
    const name = freshName();
    const [here, there] = [await openStore({ name }), await openStore({ name })];
    onTestFinished(() => {
      here.close();
      there.close();
    });
    const heard = new Promise<Change>((resolve) => there.changes.subscribe(resolve));
    await here.conversations.put(conversation('c'));
    expect(await heard).toEqual({ topic: 'conversations', key: 'c', remote: true });
    expect(await there.conversations.get('c')).toEqual(conversation('c'));
  });

  test('stay in their tab without a channel', async () => {
    const name = freshName();
    const here = await openStore({ name, channel: false });
    const there = await openStore({ name });
    onTestFinished(() => {
      here.close();
      there.close();
    });
    const heard: Change[] = [];
    there.changes.subscribe((change) => heard.push(change));
    await here.conversations.put(conversation('c'));
    there.changes.announce('servers', 'last');
    await vi.waitFor(() => expect(heard).toHaveLength(1));
    expect(heard[0]?.topic).toBe('servers');
  });

  test('that make no sense are not passed on', async () => {
    const name = freshName();
    const changes = createChanges(name);
    const stranger = new BroadcastChannel(name);
    onTestFinished(() => {
      changes.close();
      stranger.close();
    });
    const heard: Change[] = [];
    changes.subscribe((change) => heard.push(change));
    for (const message of [null, 'x', { topic: 'nonsense', key: 'k' }, { topic: 'lists' }])
      stranger.postMessage(message);
    stranger.postMessage({ topic: 'lists', key: 'k' });
    await vi.waitFor(() => expect(heard).toEqual([{ topic: 'lists', key: 'k', remote: true }]));
  });

  test('are not told to a listener that has left, nor after the end', () => {
    const changes = createChanges(null);
    const listener = vi.fn();
    const leave = changes.subscribe(listener);
    leave();
    changes.announce('lists', 'a');
    changes.subscribe(listener);
    changes.close();
    changes.announce('lists', 'b');
    expect(listener).not.toHaveBeenCalled();
  });
});
