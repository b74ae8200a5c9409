/**
 * Adding a server: a look at it first, which stores nothing, then what the person said yes to.
 *
 * Promise: what is added is what was looked at. The lists of a preview are stored as they were shown,
 * without a second request.
 */
import type { ServerRecord } from '../store/records.ts';
import type { Store } from '../store/store.ts';
import { readAddress } from './address.ts';
import type { Connection, Listed } from './connection-types.ts';
import { listRecord, type Lists } from './lists.ts';
import type { Lives } from './lives.ts';
import { vaultName, type Ears, type Open } from './opening.ts';
import { internal } from './errors.ts';
import type { Failed, Host, ServerInput, ServerPreview } from './types.ts';

export interface AddingOptions {
  readonly store: Pick<Store, 'servers' | 'vault'>;
  readonly ready: () => Promise<void>;
  readonly open: Open;
  readonly lists: Lists;
  readonly lives: Lives;
  readonly now: () => number;
}

/** What is known of a server before it is stored. */
interface Draft {
  /** Its connection speaks of it by the name that it has by then. */
  readonly record: Omit<ServerRecord, 'name'> & { name: string };
  readonly stored: ServerRecord | undefined;
  /** As it was typed now. */
  readonly key: string | undefined;
  readonly name: string | undefined;
}

interface Look {
  readonly draft: Draft;
  readonly listed: Listed;
  readonly era: 'modern' | 'legacy';
  readonly transport: 'http' | 'sse';
  readonly name: string;
  readonly instructions: string | null;
}

/** Nobody listens to a server that is only looked at. */
const DEAF: Ears = { onChanged: () => undefined, onLog: () => undefined };

export function createAdding(options: AddingOptions): Pick<Host, 'look' | 'add'> {
  const { store, ready, open, lists, lives, now } = options;
  /** What stands behind a preview: more than a screen has to know. */
  const looks = new WeakMap<ServerPreview, Look>();

  async function draftOf(input: ServerInput): Promise<{ ok: true; draft: Draft } | Failed> {
    await ready();
    const address = readAddress(input.url);
    if (!address.ok) return address;
    const url = address.url.href;
    const stored = (await store.servers.all()).find((server) => server.url === url);
    const key = input.key?.trim() || undefined;
    const keyHeader = key ? input.keyHeader?.trim() || 'Authorization' : stored?.keyHeader;
    const proxy = input.proxy?.trim() || stored?.proxy;
    // What was found out before may be what does not hold any more.
    const { era, transport, lastError, ...kept } = stored ?? {
      id: crypto.randomUUID(),
      name: address.url.host,
      url,
      addedAt: now(),
      trustHints: false,
      private: false,
    };
    const record: Draft['record'] = {
      ...kept,
      enabled: true,
      ...(keyHeader ? { keyHeader } : {}),
      ...(proxy ? { proxy } : {}),
    };
    return { ok: true, draft: { record, stored, key, name: input.name?.trim() || undefined } };
  }

  /** Connects and lists; closes the connection where there is nothing to be added. */
  async function lookAt(
    draft: Draft,
    ears: Ears,
    signal: AbortSignal,
  ): Promise<{ ok: true; look: Look; connection: Connection } | Failed> {
    const opened = await open(draft.record, ears, draft.key);
    if (!opened.ok) return opened;
    const { connection } = opened;
    const listed = signal.aborted ? null : await connection.list();
    if (!listed?.ok || signal.aborted) {
      await connection.close();
      const error = listed && !listed.ok ? listed.error : internal('Nobody waits for it any more.');
      return { ok: false, error };
    }
    const { era, transport, instructions } = connection;
    const name =
      draft.name ?? draft.stored?.name ?? (shortName(connection.title) || draft.record.name);
    draft.record.name = name;
    const found = { era, transport, name, instructions };
    return { ok: true, connection, look: { draft, listed: listed.list, ...found } };
  }

  async function keep({ draft, listed, era, transport, name }: Look): Promise<ServerRecord> {
    const found = { era: { kind: era, at: now() }, ...(transport === 'sse' ? { transport } : {}) };
    const server: ServerRecord = { ...draft.record, name, ...found };
    if (draft.key) await store.vault.set(vaultName(server.id), draft.key);
    // Its tools first: a server that is there without them would be of no use to a page just opened.
    await lists.store(server.id, listed);
    await store.servers.put(server);
    return server;
  }

  return {
    async look(input, signal = new AbortController().signal) {
      const read = await draftOf(input);
      if (!read.ok) return read;
      const seen = await lookAt(read.draft, DEAF, signal);
      if (!seen.ok) return seen;
      // A person may look for long, and no stream is kept meanwhile: the next use connects again.
      await seen.connection.close();
      const { draft, listed, era, name, instructions } = seen.look;
      const { tools } = await listRecord(draft.record.id, listed, now());
      const { prompts, resources, templates, cut } = listed;
      const preview: ServerPreview = {
        url: draft.record.url,
        host: new URL(draft.record.url).host,
        name,
        stored: draft.stored?.id ?? null,
        era,
        instructions,
        tools,
        prompts,
        resources,
        templates,
        cut,
      };
      looks.set(preview, seen.look);
      return { ok: true, preview };
    },

    async add(input) {
      const { preview, auth } = input;
      const look = preview && looks.get(preview);
      if (look) {
        await lives.drop(look.draft.record.id);
        const name = input.name?.trim() || look.name;
        return { ok: true, server: await keep({ ...look, name }) };
      }
      const read = await draftOf(input);
      if (!read.ok) return read;
      const { record } = read.draft;
      if (auth) {
        const server: ServerRecord = { ...record, name: read.draft.name ?? record.name, auth };
        await store.servers.put(server);
        return { ok: true, server };
      }
      await lives.drop(record.id);
      const seen = await lookAt(read.draft, lives.ears(record.id), new AbortController().signal);
      if (!seen.ok) return seen;
      const server = await keep(seen.look);
      lives.adopt(server, seen.connection);
      return { ok: true, server };
    },
  };
}

function shortName(title: string | null): string {
  return (title ?? '').replace(/\s+/g, ' ').trim().slice(0, 60);
}
