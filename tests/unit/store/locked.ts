/** Stores with everything in them, the app lock put on them, and their rows as they lie on the disk. */
import { openDB } from 'idb';
import { onTestFinished } from 'vitest';
import { openStore, type OpenOptions } from '../../../src/store/open.ts';
import { SEALED } from '../../../src/store/schema.ts';
import type { NewWay, Proof, Store } from '../../../src/store/store.ts';
import * as content from './content.ts';
import { fill } from './fill.ts';
import { freshName } from './helpers.ts';

/** A passkey as its PRF answers; no authenticator is needed for what comes behind it. */
export const PASSKEY = {
  kind: 'passkey',
  credential: Uint8Array.of(1, 2, 3),
  salt: Uint8Array.from({ length: 32 }, (_, at) => at),
  secret: Uint8Array.from({ length: 32 }, (_, at) => 255 - at),
} as const satisfies NewWay;
export const passkey: Proof = { kind: 'passkey', secret: PASSKEY.secret };
export const passphrase = (words: string): Proof & NewWay => ({
  kind: 'passphrase',
  passphrase: words,
});

export const SECRET = 'sk-very-secret-0123456789';

/** A store with a record of every kind, some of them in more rows than are rewritten at once. */
export async function fullStore(): Promise<{ store: Store; name: string }> {
  const name = freshName();
  const store = await openStore({ name, channel: false });
  onTestFinished(() => store.close());
  await fill(store);
  await store.vault.set(content.secret.name, SECRET);
  for (let n = 0; n < 40; n++)
    await store.reminders.put({
      id: `more-${n}`,
      text: `Water plant ${n}`,
      at: n,
      createdAt: 0,
      state: 'waiting',
    });
  for (let n = 0; n < 3; n++)
    await store.actions.append({
      at: n,
      event: 'sent',
      callId: `a${n}`,
      conversation: 'c1',
      server: 's1',
      serverName: 'Travel',
      tool: 'book',
      title: 'Book a flight',
      args: { passenger: 'Ravi Shastri' },
      decision: { by: 'person', allowed: true, why: 'because of Diwali' },
      brain: 'A model',
    });
  return { store, name };
}

/** Everything that the store gives out, to be compared before and after. */
export async function everything(store: Store): Promise<Record<string, unknown>> {
  return {
    conversations: await store.conversations.list(),
    messages: await store.messages.list('c1'),
    parts: [...(await store.messages.partsOf('c1'))],
    decisions: await store.decisions.get('k6'),
    grants: await store.grants.all(),
    ofTool: await store.grants.for('s1', 'book'),
    reminders: await store.reminders.all(),
    actions: await (await store.actions.export()).text(),
    intact: await store.actions.verify(),
    secret: await store.vault.get(content.secret.name),
    servers: await store.servers.all(),
    settings: await store.settings.get(),
    found: await store.conversations.search('29 °c mumbai'),
  };
}

/** Opens the store of a name again, as after a restart. */
export async function reopen(
  name: string,
  proof: Proof = passkey,
  options: OpenOptions = {},
): Promise<Store> {
  const store = await openStore({
    name,
    channel: false,
    async unlock(locked) {
      const tried = await locked.open(proof);
      if (!tried.ok) throw new Error(tried.why);
    },
    ...options,
  });
  onTestFinished(() => store.close());
  return store;
}

export type RawRows = ReadonlyMap<string, readonly Record<string, unknown>[]>;

/** The rows of every store, as they are, read without the product's own code. */
export async function rawRows(name: string): Promise<RawRows> {
  const db = await openDB(name);
  const all = new Map<string, Record<string, unknown>[]>();
  for (const store of db.objectStoreNames)
    all.set(store, (await db.getAll(store)) as Record<string, unknown>[]);
  db.close();
  return all;
}

/** How many rows of the sealed stores are sealed, and how many are plain. */
export function sealedRows(rows: RawRows): { sealed: number; plain: number } {
  const all = SEALED.flatMap((name) => rows.get(name) ?? []);
  const sealed = all.filter((row) => 'sealed' in row).length;
  return { sealed, plain: all.length - sealed };
}

/** All texts in a value, and its bytes read as Latin-1 and UTF-16, for a search. */
export function wordsIn(value: unknown): string {
  if (typeof value === 'string') return `${value}\n`;
  if (value instanceof ArrayBuffer) return wordsIn(new Uint8Array(value));
  if (value instanceof Uint8Array) {
    const bytes = Buffer.from(value);
    return `${bytes.toString('latin1')}\n${bytes.toString('utf8')}\n${bytes.toString('utf16le')}\n`;
  }
  if (typeof value !== 'object' || value === null) return '';
  return Object.entries(value)
    .map(([key, member]) => `${key}\n${wordsIn(member)}`)
    .join('');
}
