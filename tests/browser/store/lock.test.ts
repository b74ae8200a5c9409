import { openDB } from 'idb';
import { expect, test } from 'vitest';
import { SEALED } from '../../../src/store/schema.ts';
import type { NewWay } from '../../../src/store/store.ts';
import { allowedCall, conversation, draft, freshStore, otherTab, text } from './helpers.ts';

const PASSKEY = {
  kind: 'passkey',
  credential: Uint8Array.of(1),
  salt: new Uint8Array(32),
  secret: Uint8Array.from({ length: 32 }, (_, at) => at),
} as const satisfies NewWay;

/** How many rows of a database are sealed, and how many of those that could be are not. */
async function rows(name: string): Promise<{ sealed: number; plain: number }> {
  const db = await openDB(name);
  const all = await Promise.all(SEALED.map((store) => db.getAll(store)));
  db.close();
  const sealed = all.flat().filter((row) => 'sealed' in (row as object)).length;
  return { sealed, plain: all.flat().length - sealed };
}

const line = (callId: string) =>
  ({
    at: 1,
    event: 'sent',
    callId,
    conversation: 'c',
    server: 's',
    serverName: 'S',
    tool: 't',
    title: 'T',
    args: { to: 'Ravi' },
    decision: { by: 'person', allowed: true },
    brain: '',
  }) as const;

test('the app lock holds over two tabs: one without the key can do nothing, one with it everything, until it is off', async () => {
  const { store, name } = await freshStore();
  await store.conversations.put(conversation('c', 'Before'));
  const message = await store.messages.add(draft('m', 'c'), [text('Pack a raincoat'), allowedCall]);
  await store.vault.set('a', 'a secret');
  for (const id of ['1', '2', '3']) await store.actions.append(line(id));

  const unaware = await otherTab(name);
  await store.lock.turnOn(PASSKEY);
  await unaware.outdated;
  await expect(unaware.ask({ do: 'rename', conversation: 'c', title: 'Plain' })).rejects.toThrow(
    'Deft is locked',
  );
  await expect(otherTab(name)).rejects.toThrow('Deft is locked');
  await expect(otherTab(name, new Uint8Array(32))).rejects.toThrow('Deft is locked');
  expect(await rows(name)).toEqual({ sealed: 7, plain: 0 });

  const aware = await otherTab(name, PASSKEY.secret);
  const renamed = new Promise((resolve) => store.changes.subscribe(resolve));
  await aware.ask({ do: 'rename', conversation: 'c', title: 'Renamed there' });
  await renamed;
  expect((await store.conversations.get('c'))?.title).toBe('Renamed there');
  expect(await aware.ask({ do: 'secret', name: 'a' })).toBe('a secret');
  // One call still runs once, whoever takes it.
  const won = await Promise.all([
    aware.ask({ do: 'claim', message, index: 1 }),
    store.messages.claim(message, 1, 1),
  ]);
  expect(won.filter(Boolean)).toHaveLength(1);
  expect(await store.conversations.search('raincoat')).toHaveLength(1);
  await store.actions.append(line('4'));
  expect(await store.actions.verify()).toBeNull();
  expect(await store.actions.search('ravi', 2)).toHaveLength(2);
  expect(await rows(name)).toEqual({ sealed: 8, plain: 0 });

  const proved = await store.lock.prove({ kind: 'passkey', secret: PASSKEY.secret });
  if (!proved.ok) throw new Error(proved.why);
  await proved.change.turnOff();
  await aware.outdated;
  await expect(aware.ask({ do: 'rename', conversation: 'c', title: 'Sealed' })).rejects.toThrow(
    'Deft is locked',
  );
  expect(await rows(name)).toEqual({ sealed: 0, plain: 8 });
  const plain = await otherTab(name);
  expect(await plain.ask({ do: 'secret', name: 'a' })).toBe('a secret');
  expect(await store.actions.verify()).toBeNull();
});
