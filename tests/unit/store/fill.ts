/** Puts the content of content.ts into a store, through its own surface. */
import type { Store } from '../../../src/store/store.ts';
import * as content from './content.ts';

export async function fill(store: Store): Promise<void> {
  for (const it of content.conversations) await store.conversations.put(it);
  for (const it of content.messages) await store.messages.add(it, content.parts[it.id] ?? []);
  for (const it of content.servers) await store.servers.put(it);
  for (const it of content.lists) await store.lists.put(it);
  for (const it of content.grants) await store.grants.put(it);
  for (const it of content.decisions) await store.decisions.add(it);
  for (const it of content.reminders) await store.reminders.put(it);
  for (const it of content.accounts) await store.accounts.put(it);
  for (const it of content.models) await store.models.put(it);
  await store.settings.set(content.settings);
}
