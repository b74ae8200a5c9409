/** A second tab: a realm of its own with its own connection to the database and the channel. */
import { createGate } from '../../../src/policy/gate.ts';
import { openStore } from '../../../src/store/open.ts';
import type { Message } from '../../../src/store/records.ts';

export type Order =
  /** `secret`: what a passkey answers, where the store is locked. */
  | { readonly do: 'open'; readonly name: string; readonly secret?: Uint8Array<ArrayBuffer> }
  | { readonly do: 'claim'; readonly message: Message; readonly index: number }
  | { readonly do: 'decide'; readonly callId: string; readonly allow: boolean }
  | { readonly do: 'rename'; readonly conversation: string; readonly title: string }
  | { readonly do: 'secret'; readonly name: string };

let opened: ReturnType<typeof openStore> | null = null;

async function obey(order: Order): Promise<unknown> {
  if (order.do === 'open') {
    const { name, secret } = order;
    opened = openStore({
      name,
      onOutdated: () => self.postMessage({ outdated: true }),
      unlock: async (locked) => {
        if (secret) await locked.open({ kind: 'passkey', secret });
      },
    });
    await opened;
    return 'open';
  }
  if (!opened) throw new Error('not open');
  const store = await opened;
  switch (order.do) {
    case 'claim':
      return store.messages.claim(order.message, order.index, 2);
    case 'decide':
      return createGate({ store }).decide(
        { callId: order.callId, conversation: 'c', server: 's', tool: 't', pin: 'p', args: {} },
        { allow: order.allow, scope: 'once' },
      );
    case 'rename':
      return store.conversations.update(order.conversation, (old) => ({
        ...old,
        title: order.title,
      }));
    case 'secret':
      return store.vault.get(order.name);
  }
}

self.onmessage = (event: MessageEvent<{ id: number; order: Order }>) => {
  const { id, order } = event.data;
  obey(order).then(
    (result) => self.postMessage({ id, result }),
    (error: unknown) => self.postMessage({ id, error: String(error) }),
  );
};
