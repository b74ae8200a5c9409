/**
 * Adding a server: a look at it first, which stores nothing, then what the person said yes to.
 *
 * Promise: what is added is what was looked at. The lists of a preview are stored as they were shown,
 * without a second request. What is given up in the midst of it leaves nothing.
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
  readonly store: Pick<Store, 'servers' | 'lists' | 'vault'>;
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

type Kept = Awaited<ReturnType<Host['add']>>;

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
      return listed && !listed.ok ? { ok: false, error: listed.error } : givenUp();
    }
    const { era, transport, instructions } = connection;
    const namedBefore = draft.stored?.unnamed ? undefined : draft.stored?.name;
    const name = draft.name ?? namedBefore ?? (shortName(connection.title) || draft.record.name);
    draft.record.name = name;
    const found = { era, transport, name, instructions };
    return { ok: true, connection, look: { draft, listed: listed.list, ...found } };
  }

  function keep({ draft, listed, era, transport, name }: Look, signal: AbortSignal): Promise<Kept> {
    const found = { era: { kind: era, at: now() }, ...(transport === 'sse' ? { transport } : {}) };
    const { unnamed: _, ...record } = draft.record;
    const server: ServerRecord = { ...record, name, ...found };
    const { key } = draft;
    return stored(server, signal, [
      ...(key ? [() => store.vault.set(vaultName(server.id), key)] : []),
      // Its tools first: a server that is there without them would be of no use to a page just opened.
      () => lists.store(server.id, listed),
      () => store.servers.put(server),
    ]);
  }

  /** Does what stores a server; where it was given up meanwhile, all is put back as it was before. */
  async function stored(
    server: ServerRecord,
    signal: AbortSignal,
    steps: readonly (() => Promise<void>)[],
  ): Promise<Kept> {
    const { id } = server;
    const vault = vaultName(id);
    const [key, list, record] = await Promise.all([
      store.vault.get(vault),
      store.lists.get(id),
      store.servers.get(id),
    ]);
    for (const step of steps) {
      if (!signal.aborted) await step();
      if (!signal.aborted) continue;
      await (record ? store.servers.put(record) : store.servers.delete(id));
      await (list ? store.lists.put(list) : store.lists.delete(id));
      await (key === undefined ? store.vault.delete(vault) : store.vault.set(vault, key));
      return givenUp();
    }
    return { ok: true, server };
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

    async add(input, signal = new AbortController().signal) {
      const { preview, auth } = input;
      const look = preview && looks.get(preview);
      if (look) {
        await lives.drop(look.draft.record.id);
        return keep({ ...look, name: input.name?.trim() || look.name }, signal);
      }
      const read = await draftOf(input);
      if (!read.ok) return read;
      const { record, stored: before, name } = read.draft;
      if (auth) {
        const unnamed = !name && !before;
        const server: ServerRecord = {
          ...record,
          auth,
          ...(name ? { name } : {}),
          ...(unnamed ? { unnamed } : {}),
        };
        return stored(server, signal, [() => store.servers.put(server)]);
      }
      await lives.drop(record.id);
      const seen = await lookAt(read.draft, lives.ears(record.id), signal);
      if (!seen.ok) return seen;
      const kept = await keep(seen.look, signal);
      if (kept.ok) lives.adopt(kept.server, seen.connection);
      else await seen.connection.close();
      return kept;
    },
  };
}

function givenUp(): Failed {
  return { ok: false, error: internal('Nobody waits for it any more.') };
}

/** What a server calls itself, short enough for a row. */
export function shortName(title: string | null): string {
  return (title ?? '').replace(/\s+/g, ' ').trim().slice(0, 60);
}
