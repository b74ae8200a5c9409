import { describe, expect, test } from 'vitest';
import type { ArchiveDocument } from '../../../src/store/archive-shape.ts';
import { MAX_ARCHIVE_BYTES } from '../../../src/store/archive.ts';
import { definitionPin } from '../../../src/store/canonical.ts';
import { DEFAULT_SETTINGS } from '../../../src/store/settings.ts';
import type { Store } from '../../../src/store/store.ts';
import * as content from './content.ts';
import { fill } from './fill.ts';
import { call, conversation, draft, freshName, freshStore, text } from './helpers.ts';
import { dump } from './raw.ts';

const json = (value: unknown) => new Blob([JSON.stringify(value)]);

async function exported(): Promise<{ blob: Blob; document: ArchiveDocument }> {
  const store = await freshStore();
  await fill(store);
  const blob = await store.archive.export();
  return { blob, document: JSON.parse(await blob.text()) as ArchiveDocument };
}

async function refused(file: Blob): Promise<{ message: string; advice: string }> {
  const name = freshName();
  const store = await freshStore({ name });
  const before = await dump(name);
  const result = await store.archive.import(file);
  expect(await dump(name)).toEqual(before);
  if (result.ok) throw new Error('it was imported');
  return result;
}

/** The document with one value replaced. */
function changed(document: ArchiveDocument, path: readonly (string | number)[], value: unknown) {
  const copy = structuredClone(document) as unknown as Record<string | number, unknown>;
  let place = copy;
  for (const step of path.slice(0, -1)) place = place[step] as typeof copy;
  place[path.at(-1) ?? ''] = value;
  return copy;
}

describe('an export', () => {
  test('is one JSON document with a name and a version', async () => {
    const { blob, document } = await exported();
    expect(blob.type).toBe('application/json');
    expect(document).toMatchObject({ format: 'deft-archive', version: 1 });
    expect(document.exportedAt).toBeGreaterThan(0);
  });

  test('holds no secret: not of the vault, not in an address', async () => {
    const store = await freshStore();
    await fill(store);
    await store.vault.set('cloud:a1', 'sk-topsecret');
    await store.servers.put({
      ...content.servers[0]!,
      id: 's2',
      url: 'https://ann:hunter22@x.test/mcp?api_key=topsecret&team=red',
    });
    const source = await (await store.archive.export()).text();
    expect(source).not.toMatch(/topsecret|hunter22/);
    expect(source).toContain('https://x.test/mcp?team=red');
  });

  test('of nothing can be imported', async () => {
    const blob = await (await freshStore()).archive.export();
    const result = await (await freshStore()).archive.import(blob);
    expect(result).toEqual({
      ok: true,
      summary: { conversations: 0, messages: 0, servers: 0, reminders: 0, kept: 0 },
    });
  });
});

describe('an import', () => {
  test('brings back all that a server publishes, and what the person set for it but for consents', async () => {
    const from = await freshStore();
    const server = {
      ...content.servers[0]!,
      url: 'https://s.test/mcp',
      limits: { callMs: 90_000 },
      sampling: true,
      proxy: 'https://p.test/',
      auth: 'oauth' as const,
    };
    const { id } = server;
    const tool = { name: 'wait', inputSchema: { type: 'object' }, pin: 'a' };
    const published = {
      server: id,
      fetchedAt: 5,
      ttlMs: 6,
      tools: [{ ...tool, execution: { taskSupport: 'required' as const } }],
      off: [],
      prompts: [{ name: 'p', arguments: [{ name: 'who', required: true }] }],
      resources: [{ uri: 'a:b', name: 'b', mimeType: 'text/plain', size: 3 }],
      templates: [{ uriTemplate: 'a:{b}', name: 'b', description: 'Any.' }],
      cacheScope: 'private' as const,
      cut: ['prompts' as const],
      known: ['wait'],
      rule: { readOnly: true, pattern: 'get_*' },
      missing: [{ name: 'gone', title: 'Gone', at: 7 }],
    };
    await from.servers.put({ ...server, transport: 'sse' });
    await from.lists.put(published);
    const to = await freshStore();
    expect(await to.archive.import(await from.archive.export())).toMatchObject({ ok: true });
    expect(await to.servers.get(id)).toMatchObject({
      limits: { callMs: 90_000 },
      auth: 'oauth',
    });
    // A file says neither yes for the person, nor where their key goes.
    expect(await to.servers.get(id)).not.toHaveProperty('sampling');
    expect(await to.servers.get(id)).not.toHaveProperty('proxy');
    // What was found out about it is found out anew.
    expect(await to.servers.get(id)).not.toHaveProperty('transport');
    expect(await to.lists.get(id)).toMatchObject({
      ...published,
      fetchedAt: 0,
      tools: expect.any(Array),
    });
  });

  test('brings back everything but secrets, consents and what is of one phone', async () => {
    const { blob } = await exported();
    const store = await freshStore();
    expect(await store.archive.import(blob)).toEqual({
      ok: true,
      summary: { conversations: 1, messages: 2, servers: 1, reminders: 1, kept: 0 },
    });
    // All of it, but as words of the file.
    const source = 'an imported file';
    const draft = 'And book it.\n\nhalf a sen';
    const theirs = { draft, foreign: [{ source, text: draft }], source };
    expect(await store.conversations.list()).toEqual([
      { ...content.conversations[0], queue: [], ...theirs },
    ]);
    expect(await store.messages.list('c1')).toEqual(
      content.messages.map((it) => ({ ...it, source })),
    );
    expect(Object.fromEntries(await store.messages.partsOf('c1'))).toEqual(content.parts);
    const { id, name, url, addedAt, enabled, keyHeader } = content.servers[0]!;
    expect(enabled).toBe(true);
    // Paused: nothing is asked of a server that the person has not looked at.
    expect(await store.servers.all()).toEqual([
      { id, name, url, addedAt, enabled: false, keyHeader, private: false, trustHints: false },
    ]);
    const tools = await Promise.all(
      content.lists[0]!.tools.map(async (it) => ({ ...it, pin: await definitionPin(it) })),
    );
    expect(await store.lists.all()).toEqual([{ ...content.lists[0], fetchedAt: 0, tools }]);
    expect(await store.grants.all()).toEqual(content.grants.filter((it) => it.verdict === 'deny'));
    expect(await store.reminders.all()).toEqual(content.reminders);
    expect(await store.accounts.all()).toEqual(content.accounts);
    expect(await store.models.all()).toEqual([]);
    const { theme, mode, cloudAccount, limits } = content.settings;
    expect(await store.settings.get()).toEqual({
      ...DEFAULT_SETTINGS,
      theme,
      mode,
      cloudAccount,
      limits: { ...DEFAULT_SETTINGS.limits, ...limits },
    });
  });

  test('brings back what was seen of a call that failed, for its report', async () => {
    const from = await freshStore();
    await from.conversations.put(conversation('c1'));
    const failed = call('k1', {
      state: 'done',
      outcome: {
        kind: 'unknown',
        message: 'It broke off.',
        advice: 'Look.',
        detail: {
          seen: { status: 502, headers: { 'retry-after': '30' }, code: -32_603 },
          text: 'HTTP 502',
        },
      },
    });
    await from.messages.add(draft('m1', 'c1', { role: 'assistant', state: 'done' }), [failed]);
    const to = await freshStore();
    expect(await to.archive.import(await from.archive.export())).toMatchObject({ ok: true });
    expect(await to.messages.parts('m1')).toEqual([failed]);
  });

  test('a second time changes nothing', async () => {
    const { blob } = await exported();
    const name = freshName();
    const store = await freshStore({ name });
    await store.archive.import(blob);
    const before = await dump(name);
    expect(await store.archive.import(blob)).toEqual({
      ok: true,
      summary: { conversations: 0, messages: 0, servers: 0, reminders: 0, kept: 5 },
    });
    expect(await dump(name)).toEqual(before);
  });

  test('never overwrites what is here', async () => {
    const { blob } = await exported();
    const store = await freshStore();
    await store.conversations.put(conversation('c1', { title: 'Mine' }));
    await store.messages.add(draft('other', 'c1'), [text('my words')]);
    await store.servers.put({ ...content.servers[0]!, name: 'My name', trustHints: true });
    await store.settings.set({ theme: 'light', phoneModel: 'mine' });
    expect(await store.archive.import(blob)).toMatchObject({ summary: { kept: 2 } });
    expect(await store.conversations.list()).toMatchObject([{ title: 'Mine' }]);
    expect((await store.messages.list('c1')).map((it) => it.id)).toEqual(['other']);
    expect(await store.servers.get('s1')).toMatchObject({ name: 'My name', trustHints: true });
    expect(await store.lists.all()).toEqual([]);
    expect(await store.settings.get()).toMatchObject({
      theme: 'light',
      phoneModel: 'mine',
      mode: 'phone',
    });
  });

  test('keeps a conversation out whose messages are here under another one', async () => {
    const { blob } = await exported();
    const store = await freshStore();
    await store.conversations.put(conversation('mine'));
    await store.messages.add(draft('m2', 'mine'), [text('my words')]);
    expect(await store.archive.import(blob)).toMatchObject({
      summary: { conversations: 0, messages: 0, kept: 1 },
    });
    expect(await store.messages.parts('m2')).toEqual([text('my words')]);
  });

  test('runs nothing: open calls are closed, a running turn is stopped', async () => {
    const from = await freshStore();
    await from.conversations.put(conversation('c'));
    await from.messages.add(draft('m', 'c', { state: 'running' }), [
      call('k1', { state: 'allowed' }),
      call('k2', { state: 'asked' }),
      call('k3', { state: 'proposed' }),
      call('k4', { state: 'running' }),
    ]);
    await from.decisions.add({
      callId: 'k2',
      conversation: 'c',
      allow: true,
      scope: 'once',
      at: 1,
    });
    const store = await freshStore();
    await store.archive.import(await from.archive.export());
    expect((await store.messages.list('c'))[0]?.state).toBe('stopped');
    const parts = await store.messages.parts('m');
    expect(parts.map((it) => it.kind === 'call' && it.state)).toEqual([
      'refused',
      'refused',
      'refused',
      'done',
    ]);
    expect(parts[3]).toMatchObject({ outcome: { kind: 'unknown' } });
    expect(await store.decisions.get('k2')).toBeUndefined();
  });

  test('gives keys and consents that were left behind to no address from the file', async () => {
    const { blob } = await exported();
    const store = await freshStore();
    await store.vault.set('cloud:a1', 'left behind');
    await store.vault.set('server:s1', 'left behind');
    const [grant] = content.grants;
    await store.grants.put({ ...grant!, id: 'left' });
    await store.grants.put({ ...grant!, id: 'other', server: 's10' });
    await store.archive.import(blob);
    expect(await store.vault.get('cloud:a1')).toBeUndefined();
    expect(await store.vault.get('server:s1')).toBeUndefined();
    expect((await store.grants.all()).map((it) => it.id)).toEqual(['g2', 'other']);
  });

  test('writes addresses in one way, however they stand in the file', async () => {
    const { document } = await exported();
    for (const written of ['HTTPS://Evil.test/mcp', ' https://evil.test/mcp']) {
      const store = await freshStore();
      const file = json(changed(document, ['servers', 0, 'url'], written));
      expect(await store.archive.import(file)).toMatchObject({ ok: true });
      expect((await store.servers.all())[0]?.url).toBe('https://evil.test/mcp');
    }
  });

  test('believes no pin of the file, neither of a tool nor of one that is held back', async () => {
    const { document } = await exported();
    const shown = { name: 'pay', description: 'Pays.', inputSchema: {} };
    const known = { ...shown, description: 'Shows prices.' };
    const claimed = { tools: [{ ...shown, pin: 'x' }], held: [{ ...known, pin: 'x' }] };
    const store = await freshStore();
    const file = json(changed(document, ['lists', 0], { ...document.lists[0], ...claimed }));
    expect(await store.archive.import(file)).toMatchObject({ ok: true });
    const list = (await store.lists.all())[0]!;
    expect(list.fetchedAt).toBe(0);
    expect(list.tools[0]?.pin).toBe(await definitionPin(shown));
    expect(list.held?.[0]?.pin).toBe(await definitionPin(known));
  });

  test('is announced', async () => {
    const { blob } = await exported();
    const store: Store = await freshStore();
    const heard = new Set<string>();
    store.changes.subscribe((change) => heard.add(`${change.topic} ${change.key}`));
    await store.archive.import(blob);
    expect([...heard].sort()).toEqual([
      'accounts a1',
      'conversations c1',
      'grants g2',
      'lists s1',
      'messages c1',
      'reminders r1',
      'servers s1',
      'settings settings',
    ]);
  });
});

describe('a file that is no good export', () => {
  test.each([
    ['empty', new Blob([]), 'This file is empty.'],
    ['a picture', new Blob(['\x89PNG\r\n']), 'This file is not an export of Deft: it is not JSON.'],
    ['other JSON', json({ hello: 1 }), 'This file is JSON, but not an export of Deft.'],
    ['a list', json([1]), 'This file is JSON, but not an export of Deft.'],
    ['null', json(null), 'This file is JSON, but not an export of Deft.'],
    [
      'of a newer version',
      json({ format: 'deft-archive', version: 2 }),
      'This export was made by a newer version of Deft (format 2; this one reads 1).',
    ],
    [
      'of no version',
      json({ format: 'deft-archive' }),
      'This export is damaged: archive.version is missing.',
    ],
  ])('is refused in words: %s', async (_name, file, message) => {
    expect((await refused(file)).message).toBe(message);
  });

  test('is refused when it is cut short, wherever the cut is', async () => {
    const { blob } = await exported();
    const source = await blob.text();
    for (const at of [40, Math.floor(source.length / 2), source.trimEnd().length - 1])
      expect((await refused(new Blob([source.slice(0, at)]))).message).toMatch(
        /^This export is cut short or damaged/,
      );
  });

  test('is refused unread when it is huge', async () => {
    const file = new Blob([new Uint8Array(MAX_ARCHIVE_BYTES + 1)]);
    expect((await refused(file)).message).toBe(
      'This file has 201 MB; at most 200 MB can be imported.',
    );
  });

  test.each<[path: (string | number)[], value: unknown, fault: string]>([
    [['conversations'], {}, 'archive.conversations is not a list'],
    [
      ['conversations', 0, 'conversation', 'createdAt'],
      'yesterday',
      'archive.conversations[0].conversation.createdAt is not a number from 0 up',
    ],
    [
      ['conversations', 0, 'conversation', 'updatedAt'],
      1e300,
      'archive.conversations[0].conversation.updatedAt is not a time',
    ],
    [
      ['conversations', 0, 'conversation', 'mode'],
      'moon',
      'archive.conversations[0].conversation.mode is not one of: phone, auto, cloud',
    ],
    [
      ['conversations', 0, 'messages', 1, 'id'],
      'm1',
      'archive.conversations[0].messages[1] has the same id as an earlier one',
    ],
    [
      ['conversations', 0, 'messages', 1, 'parts', 0, 'kind'],
      'dance',
      'archive.conversations[0].messages[1].parts[0].kind is not one of: text, thinking, route, step, call, badcall, notice, attachment',
    ],
    [
      ['conversations', 0, 'messages', 1, 'parts', 2, 'outcome', 'content', 0, 'type'],
      7,
      'archive.conversations[0].messages[1].parts[2].outcome.content[0].type is not text',
    ],
    [
      ['conversations', 0, 'messages', 1, 'parts', 2, 'args'],
      'x',
      'archive.conversations[0].messages[1].parts[2].args is not an object',
    ],
    [
      ['servers', 0, 'url'],
      'javascript:1',
      'archive.servers[0].url is not an http or https address',
    ],
    [['servers', 0, 'enabled'], 'yes', 'archive.servers[0].enabled is neither true nor false'],
    [['servers', 0, 'id'], '', 'archive.servers[0].id is empty'],
    [['servers', 0, 'id'], 'x'.repeat(501), 'archive.servers[0].id is longer than 500 characters'],
    [
      ['accounts', 0, 'contextTokens'],
      1.5,
      'archive.accounts[0].contextTokens is not a whole number from 0 up',
    ],
    [
      ['settings', 'limits', 'steps'],
      -1,
      'archive.settings.limits.steps is not a whole number from 0 up',
    ],
    [['grants', 0, 'pin'], null, 'archive.grants[0].pin is not text'],
    [
      ['lists', 0, 'tools', 0, 'inputSchema'],
      JSON.parse(`${'{"a":'.repeat(100)}1${'}'.repeat(100)}`),
      'archive.lists[0].tools[0].inputSchema is nested more than 64 levels deep',
    ],
  ])('is refused with the place of the fault: %j', async (path, value, fault) => {
    const { document } = await exported();
    const { message, advice } = await refused(json(changed(document, path, value)));
    expect(message).toBe(`This export is damaged: ${fault}.`);
    expect(advice).toContain('Nothing was imported.');
  });

  test('brings in no field that the app does not know', async () => {
    const { document } = await exported();
    const source = JSON.stringify(changed(document, ['servers', 0, 'evil'], 'x')).replace(
      '"evil":"x"',
      '"evil":"x","__proto__":{"enabled":false}',
    );
    const store = await freshStore();
    await store.archive.import(new Blob([source]));
    expect(Object.keys((await store.servers.get('s1')) ?? {}).sort()).toEqual([
      'addedAt',
      'enabled',
      'id',
      'keyHeader',
      'name',
      'private',
      'trustHints',
      'url',
    ]);
  });
});
