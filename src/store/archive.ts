/**
 * Everything a person made, as one JSON file, out and in again; locked with a passphrase where one is
 * given.
 *
 * Promises: no secret leaves (keys stay in the vault, and those inside addresses are struck); what
 * is here is never overwritten; nothing is written before all of the file was checked, and then all
 * of it or nothing.
 *
 * A file is untrusted: somebody else may have made it. So it can say no for a person but never yes:
 * grants that allow and trust in a server's hints are not taken over, its servers are paused, a call
 * that was still open is closed instead of run, words that waited to be sent become a draft, and none
 * of its words counts as said by the person here. Models and what is true
 * of one phone only are not part of it.
 */
import {
  ARCHIVE_FORMAT,
  ARCHIVE_VERSION,
  readArchive,
  type ArchiveDocument,
  type ArchivedConversation,
  type ArchivedServer,
  type ArchivedSettings,
} from './archive-shape.ts';
import { definitionPin } from './canonical.ts';
import type { Connection } from './connection.ts';
import { partsFrom, placesFrom } from './messages.ts';
import type {
  Conversation,
  Message,
  Part,
  Queued,
  ServerRecord,
  ToolDefinition,
  ToolListRecord,
} from './records.ts';
import type { Writing } from './schema.ts';
import { isSealed, seal, unseal } from './sealed.ts';
import { SETTINGS_KEY } from './settings.ts';
import { ShapeError } from './shape.ts';
import { QuotaError, type Archive, type Changes, type ImportSummary, type Topic } from './store.ts';

/** The largest file that is read, in bytes: it is held in memory twice while it is checked. */
export const MAX_ARCHIVE_BYTES = 200 * 1024 * 1024;
/** Characters gathered before they are handed to a Blob, which the browser may keep on disk. */
const CHUNK = 1024 * 1024;

const SECRET_NAME = /key|token|secret|passw|auth|sig|credential/i;

/** The address without a user's name and password and without secrets in its query. */
function strikeAddress(address: string): string {
  if (!URL.canParse(address)) return address;
  const url = new URL(address);
  const names = [...url.searchParams.keys()].filter((name) => SECRET_NAME.test(name));
  if (names.length === 0 && !url.username && !url.password) return address;
  url.username = '';
  url.password = '';
  for (const name of names) url.searchParams.delete(name);
  return url.href;
}

function archivedServer(server: ServerRecord): ArchivedServer {
  const { id, name, url, addedAt, enabled, trustHints, private: isPrivate, keyHeader } = server;
  const { limits, sampling, proxy, auth } = server;
  return {
    ...{ id, name, url: strikeAddress(url), addedAt, enabled, trustHints, private: isPrivate },
    ...{ keyHeader, limits, sampling, auth },
    ...(proxy === undefined ? {} : { proxy: strikeAddress(proxy) }),
  };
}

async function readConversation(
  connection: Connection,
  conversation: Conversation,
): Promise<ArchivedConversation> {
  return connection.read(['messages', 'parts'], async (tx) => {
    const [messages, rows] = await Promise.all([
      tx.objectStore('messages').index('place').getAll(placesFrom(conversation.id)),
      tx.objectStore('parts').getAll(partsFrom(conversation.id)),
    ]);
    const parts = new Map<number, Part[]>(messages.map((message) => [message.seq, []]));
    for (const row of rows) parts.get(row.seq)?.push(row.part);
    return {
      conversation,
      messages: messages.map(({ id, role, createdAt, state, seq }) => ({
        id,
        role,
        createdAt,
        state,
        parts: parts.get(seq) ?? [],
      })),
    };
  });
}

/** Gathers text into a Blob without ever holding all of it as one string. */
function createWriter() {
  const blobs: Blob[] = [];
  let pending: string[] = [];
  let length = 0;
  const flush = () => {
    blobs.push(new Blob(pending));
    pending = [];
    length = 0;
  };
  return {
    write(text: string) {
      pending.push(text);
      length += text.length;
      if (length >= CHUNK) flush();
    },
    end(): Blob {
      flush();
      return new Blob(blobs, { type: 'application/json' });
    },
  };
}

const ALL = [
  'conversations',
  'settings',
  'servers',
  'lists',
  'grants',
  'reminders',
  'accounts',
] as const;

async function exportAll(connection: Connection): Promise<Blob> {
  const { conversations, head } = await connection.read(ALL, async (tx) => {
    const [conversations, row, servers, lists, grants, reminders, accounts] = await Promise.all([
      tx.objectStore('conversations').getAll(),
      tx.objectStore('settings').get(SETTINGS_KEY),
      tx.objectStore('servers').getAll(),
      tx.objectStore('lists').getAll(),
      tx.objectStore('grants').getAll(),
      tx.objectStore('reminders').getAll(),
      tx.objectStore('accounts').getAll(),
    ]);
    const { theme, mode, cloudAccount, limits } = row?.value ?? {};
    const remote = servers.filter((server) => /^\s*https?:/i.test(server.url)).map(archivedServer);
    const ids = new Set(remote.map((server) => server.id));
    const head: Omit<ArchiveDocument, 'conversations'> = {
      format: ARCHIVE_FORMAT,
      version: ARCHIVE_VERSION,
      exportedAt: Date.now(),
      settings: { theme, mode, cloudAccount, limits },
      servers: remote,
      lists: lists.filter((it) => ids.has(it.server)),
      grants,
      reminders,
      accounts: accounts.map((it) => ({ ...it, baseUrl: strikeAddress(it.baseUrl) })),
    };
    return { conversations, head };
  });
  const out = createWriter();
  out.write(`${JSON.stringify(head).slice(0, -1)},"conversations":[`);
  for (const [index, conversation] of conversations.entries()) {
    const whole = await readConversation(connection, conversation);
    out.write(`${index > 0 ? ',' : ''}\n${JSON.stringify(whole)}`);
  }
  out.write('\n]}\n');
  return out.end();
}

/** A part as it may come from a file: a call that was open does not run here. */
function closed(part: Part): Part {
  if (part.kind !== 'call') return part;
  if (part.state === 'running')
    return {
      ...part,
      state: 'done',
      outcome: {
        kind: 'unknown',
        message: 'This call was under way when the conversation was exported.',
        advice: `Ask ${part.serverName} whether it took effect.`,
      },
    };
  if (part.state === 'proposed' || part.state === 'asked' || part.state === 'allowed')
    return {
      ...part,
      state: 'refused',
      why: 'It was still open when the conversation was exported, so it was not run.',
    };
  return part;
}

/** Who wrote what came in with a file, for a sentence. */
const SOURCE = 'an imported file';

function settled(conversation: Conversation): Conversation {
  const waiting = [...conversation.queue.map(queuedText), conversation.draft];
  const draft = waiting.filter(Boolean).join('\n\n');
  return {
    ...conversation,
    queue: [],
    draft,
    ...attachedTo(conversation),
    foreign: draft ? [{ source: SOURCE, text: draft }] : undefined,
    source: SOURCE,
  };
}

const queuedText = (queued: Queued): string => (typeof queued === 'string' ? queued : queued.text);

/** What hangs on the words that waited hangs on the draft they become. */
function attachedTo({ queue, attached = [] }: Conversation): Pick<Conversation, 'attached'> {
  const all = [...queue.flatMap((it) => (typeof it === 'string' ? [] : it.attached)), ...attached];
  return all.length > 0 ? { attached: all } : {};
}

interface Written {
  readonly summary: ImportSummary;
  readonly changed: readonly (readonly [Topic, string])[];
}

/** The keys of a store, as text. */
async function keysOf(
  tx: Writing,
  name: 'servers' | 'lists' | 'grants' | 'reminders' | 'accounts' | 'conversations' | 'messages',
): Promise<Set<string>> {
  return new Set(await tx.objectStore(name).getAllKeys());
}

async function writeConversation(tx: Writing, archived: ArchivedConversation): Promise<void> {
  const conversation = archived.conversation.id;
  const writes: Promise<unknown>[] = [
    tx.objectStore('conversations').add(settled(archived.conversation)),
  ];
  for (const [seq, { parts, ...rest }] of archived.messages.entries()) {
    const state = rest.state === 'running' ? 'stopped' : rest.state;
    const message: Message = { ...rest, conversation, seq, state, source: SOURCE };
    writes.push(tx.objectStore('messages').add(message));
    for (const [index, part] of parts.entries())
      writes.push(tx.objectStore('parts').put({ conversation, seq, index, part: closed(part) }));
  }
  await Promise.all(writes);
}

/** Settings that were never set here. */
async function writeSettings(tx: Writing, settings: ArchivedSettings): Promise<boolean> {
  const store = tx.objectStore('settings');
  const here = (await store.get(SETTINGS_KEY))?.value ?? {};
  const value = { ...settings, ...here };
  if (Object.keys(value).length === Object.keys(here).length) return false;
  await store.put({ key: SETTINGS_KEY, value });
  return true;
}

/**
 * Keys and consents that a server or an account left behind when it was deleted here must not serve
 * an address from a file that bears the same id. Resolves with the ids of the grants taken back.
 */
async function dropLeftovers(
  tx: Writing,
  servers: readonly string[],
  accounts: readonly string[],
): Promise<string[]> {
  const grants = tx.objectStore('grants');
  const ofServers = await Promise.all(
    servers.map((id) => grants.index('tool').getAll(IDBKeyRange.bound([id], [id, []]))),
  );
  const consents = ofServers.flat().filter((it) => it.verdict === 'allow');
  const secrets = [...servers.map((id) => `server:${id}`), ...accounts.map((id) => `cloud:${id}`)];
  await Promise.all([
    ...consents.map((it) => grants.delete(it.id)),
    ...secrets.map((name) => tx.objectStore('secrets').delete(name)),
  ]);
  return consents.map((it) => it.id);
}

/** A yes that was left behind under the id of a conversation is none of one from a file. */
async function dropConsents(tx: Writing, conversation: string): Promise<string[]> {
  const grants = tx.objectStore('grants');
  const found = await grants.index('conversation').getAll(conversation);
  const consents = found.filter(({ verdict }) => verdict === 'allow').map(({ id }) => id);
  await Promise.all(consents.map((id) => grants.delete(id)));
  return consents;
}

async function writeAll(tx: Writing, archive: ArchiveDocument): Promise<Written> {
  const changed: [Topic, string][] = [];
  let kept = 0;

  /** Those that are not here yet. */
  const fresh = async <T>(
    name: 'servers' | 'grants' | 'reminders' | 'accounts',
    records: readonly T[],
    keyOf: (record: T) => string,
  ): Promise<T[]> => {
    const here = await keysOf(tx, name);
    const added = records.filter((record) => !here.has(keyOf(record)));
    kept += records.length - added.length;
    for (const record of added) changed.push([name, keyOf(record)]);
    return added;
  };

  const servers = await fresh('servers', archive.servers, (it) => it.id);
  const added = new Set(servers.map((it) => it.id));
  const hereLists = await keysOf(tx, 'lists');
  const lists = archive.lists.filter((it) => added.has(it.server) && !hereLists.has(it.server));
  for (const it of lists) changed.push(['lists', it.server]);
  const denials = archive.grants.filter((it) => it.verdict === 'deny');
  const grants = await fresh('grants', denials, (it) => it.id);
  const reminders = await fresh('reminders', archive.reminders, (it) => it.id);
  const accounts = await fresh('accounts', archive.accounts, (it) => it.id);
  await Promise.all([
    // Neither trust, nor leave to ask the model, nor where requests and keys go is taken from a file;
    // nothing is asked of its servers, or offered of them, before the person turns them on.
    ...servers.map(({ sampling, proxy, ...it }) =>
      tx.objectStore('servers').add({ ...it, trustHints: false, enabled: false }),
    ),
    ...lists.map((it) => tx.objectStore('lists').add(it)),
    ...grants.map((it) => tx.objectStore('grants').add(it)),
    ...reminders.map((it) => tx.objectStore('reminders').add(it)),
    ...accounts.map((it) => tx.objectStore('accounts').add(it)),
  ]);
  const leftBehind = await dropLeftovers(
    tx,
    [...added],
    accounts.map((it) => it.id),
  );
  for (const id of leftBehind) changed.push(['grants', id]);

  const [here, hereMessages] = [await keysOf(tx, 'conversations'), await keysOf(tx, 'messages')];
  let conversations = 0;
  let messages = 0;
  for (const archived of archive.conversations) {
    const { id } = archived.conversation;
    if (here.has(id) || archived.messages.some((it) => hereMessages.has(it.id))) {
      kept += 1;
      continue;
    }
    await writeConversation(tx, archived);
    for (const grant of await dropConsents(tx, id)) changed.push(['grants', grant]);
    changed.push(['messages', id], ['conversations', id]);
    conversations += 1;
    messages += archived.messages.length;
  }
  if (await writeSettings(tx, archive.settings)) changed.push(['settings', SETTINGS_KEY]);
  return {
    changed,
    summary: {
      conversations,
      messages,
      servers: servers.length,
      reminders: reminders.length,
      kept,
    },
  };
}

type Refusal = {
  readonly ok: false;
  readonly message: string;
  readonly advice: string;
  readonly sealed?: true;
};

const refusal = (message: string, advice: string): Refusal => ({ ok: false, message, advice });

const CHOOSE = 'Choose a file that Deft exported (Settings, Export).';

const LOCKED: Refusal = {
  ok: false,
  sealed: true,
  message: 'This file is locked with a passphrase.',
  advice: 'Type the passphrase that was chosen when it was saved.',
};
const UNOPENED: Readonly<Record<'newer' | 'damaged' | 'wrong', Refusal>> = {
  newer: refusal(
    'This export was made by a newer version of Deft.',
    'Update this app, then import again.',
  ),
  damaged: refusal(
    'This export is damaged: its first line makes no sense.',
    'Copy the file again from where it was saved, or make a new export.',
  ),
  wrong: {
    ok: false,
    sealed: true,
    message: 'The passphrase does not open this file.',
    advice: 'Type it again. If it is right, the file is damaged: copy it again.',
  },
};

/** What a file holds once its lock is open, or why that cannot be had. */
async function openFile(file: Blob, passphrase: string | undefined): Promise<Blob | Refusal> {
  if (file.size > MAX_ARCHIVE_BYTES || !(await isSealed(file).catch(() => false))) return file;
  if (!passphrase) return LOCKED;
  const opened = await unseal(file, passphrase);
  return opened.ok ? opened.content : UNOPENED[opened.why];
}

/** The document in a file, or why there is none. */
async function readFile(file: Blob): Promise<ArchiveDocument | Refusal> {
  if (file.size === 0) return refusal('This file is empty.', CHOOSE);
  if (file.size > MAX_ARCHIVE_BYTES)
    return refusal(
      `This file has ${Math.ceil(file.size / 1024 / 1024)} MB; at most 200 MB can be imported.`,
      CHOOSE,
    );
  let source: string;
  try {
    source = await file.text();
  } catch {
    return refusal('This file could not be read.', 'Copy it to this phone and choose it again.');
  }
  let value: unknown;
  try {
    value = JSON.parse(source);
  } catch {
    return source.startsWith(`{"format":"${ARCHIVE_FORMAT}"`)
      ? refusal(
          'This export is cut short or damaged: its end is missing or a part of it is unreadable.',
          'Copy the file again from where it was saved, or make a new export.',
        )
      : refusal('This file is not an export of Deft: it is not JSON.', CHOOSE);
  }
  const { format, version } = (value ?? {}) as { format?: unknown; version?: unknown };
  if (format !== ARCHIVE_FORMAT)
    return refusal('This file is JSON, but not an export of Deft.', CHOOSE);
  if (typeof version === 'number' && version > ARCHIVE_VERSION)
    return refusal(
      `This export was made by a newer version of Deft (format ${version}; this one reads ${ARCHIVE_VERSION}).`,
      'Update this app, then import again.',
    );
  try {
    return readArchive(value);
  } catch (error) {
    if (!(error instanceof ShapeError)) throw error;
    return refusal(
      `This export is damaged: ${error.message}`,
      'Nothing was imported. Make a new export and try again.',
    );
  }
}

/** A list whose pins are those of its definitions, whatever the file says; it is due for renewal. */
async function repinned(list: ToolListRecord): Promise<ToolListRecord> {
  const pinned = <T extends ToolDefinition>(tools: readonly T[]) =>
    Promise.all(tools.map(async (tool) => ({ ...tool, pin: await definitionPin(tool) })));
  const tools = await pinned(list.tools);
  const held = list.held && (await pinned(list.held));
  return { ...list, fetchedAt: 0, tools, ...(held ? { held } : {}) };
}

export function createArchive(connection: Connection, changes: Changes): Archive {
  return {
    async export(passphrase) {
      const file = await exportAll(connection);
      return passphrase ? seal(file, passphrase) : file;
    },

    async import(file, passphrase) {
      const opened = await openFile(file, passphrase);
      if ('ok' in opened) return opened;
      const read = await readFile(opened);
      if ('ok' in read) return read;
      // Before the transaction, which does not wait for a fingerprint.
      const archive = { ...read, lists: await Promise.all(read.lists.map(repinned)) };
      try {
        const { summary, changed } = await connection.write(
          [...ALL, 'messages', 'parts', 'secrets'],
          'strict',
          (tx) => writeAll(tx, archive),
        );
        for (const [topic, key] of changed) changes.announce(topic, key);
        return { ok: true, summary };
      } catch (error) {
        if (!(error instanceof QuotaError)) throw error;
        return refusal(
          'This phone has no room for what is in this file. Nothing was imported.',
          'Delete a model or old conversations, then import again.',
        );
      }
    },
  };
}
