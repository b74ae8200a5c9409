/** What users of other assistants reported, as promises of this one. */
import { expect, test } from 'vitest';
import { createToolbox } from '../../../src/mcp/toolbox.ts';
import type { CallPart } from '../../../src/store/records.ts';
import { boundCall, freshGate, heard, question } from './helpers.ts';
import { newPhone, until, type Tab } from './tabs.ts';

const callsOf = ({ session }: Tab): CallPart[] =>
  session.view().messages.flatMap(({ parts }) => parts.filter((part) => part.kind === 'call'));
const asked = ({ session }: Tab): CallPart | undefined => session.view().questions[0]?.call;
const over = ({ session }: Tab): boolean => {
  const { activity, interrupted, messages } = session.view();
  return activity.kind === 'idle' && !interrupted && messages.length > 1;
};

test('a call is bound to its server and tool: where that tool is gone, nothing else runs in its place', async () => {
  const phone = await newPhone();
  const tab = await phone.open(await phone.newConversation());
  await tab.session.send('Keep it');
  await until(() => asked(tab) !== undefined);
  const { callId = '' } = asked(tab) ?? {};
  await phone.store.lists.update(phone.server, (old) => ({ ...old, off: ['note'] }));
  await tab.session.answer(callId, { allow: true, scope: 'once' });
  await until(() => over(tab));
  expect(phone.ran).toEqual([]);
  expect(callsOf(tab)[0]).toMatchObject({ state: 'refused' });
  tab.kill();
});

test('whatever is changed in the settings, a stored call finds its own server’s tool or none, never a namesake', async () => {
  const { store } = await freshGate();
  const at = { addedAt: 1, enabled: true, trustHints: false, private: false };
  const note = { name: 'note', inputSchema: { type: 'object' }, pin: 'same' };
  for (const id of ['a', 'b']) {
    await store.servers.put({ ...at, id, name: 'Notes', url: `https://${id}.example/mcp` });
    await store.lists.put({ server: id, fetchedAt: 1, ttlMs: 1, tools: [note], off: [] });
  }
  const stock = async () => ({
    servers: await store.servers.all(),
    lists: new Map((await store.lists.all()).map((list) => [list.server, list])),
  });
  const unused = () => {
    throw new Error('Nothing is called here.');
  };
  const host = { stock, renewStale: unused, callTool: unused, resumeTask: unused };
  const toolbox = createToolbox({ store, host, timeZone: () => 'UTC' });
  const found = async () => (await toolbox.find('a', 'note', 'same'))?.server ?? null;
  expect(await found()).toBe('a');
  await store.servers.update('a', (old) => ({ ...old, enabled: false }));
  expect(await found()).toBeNull();
  await store.servers.update('a', (old) => ({ ...old, enabled: true, name: 'Other' }));
  expect(await found()).toBe('a');
  await store.servers.delete('a');
  expect(await found()).toBeNull();
});

test('a yes for a tool of one server is no yes for its namesake on another', async () => {
  const { gate } = await freshGate();
  await gate.decide(question('k'), { allow: true, scope: 'always' });
  expect(await gate.judge(boundCall({ server: 's2' }), heard())).toMatchObject({ verdict: 'ask' });
});

test('a question that was open when the tab died is there again, and its answer counts once', async () => {
  const phone = await newPhone();
  const id = await phone.newConversation();
  const dying = await phone.open(id);
  await dying.session.send('Keep it');
  await until(() => asked(dying) !== undefined);
  const { callId = '' } = asked(dying) ?? {};
  dying.kill();
  const tab = await phone.open(id);
  expect(asked(tab)?.callId).toBe(callId);
  const yes = { allow: true, scope: 'once' } as const;
  expect(await tab.session.answer(callId, yes)).toBe(true);
  expect(await tab.session.answer(callId, { ...yes, allow: false })).toBe(false);
  await until(() => over(tab));
  expect(phone.ran).toHaveLength(1);
  expect(callsOf(tab)[0]).toMatchObject({ state: 'done', outcome: { kind: 'result' } });
  tab.kill();
});

test('a definition that drifts while the question is open is not run on the yes that comes after', async () => {
  const phone = await newPhone();
  const tab = await phone.open(await phone.newConversation());
  await tab.session.send('Keep it');
  await until(() => asked(tab) !== undefined);
  const { callId = '' } = asked(tab) ?? {};
  await phone.changeDefinition();
  await tab.session.answer(callId, { allow: true, scope: 'always' });
  await until(() => over(tab));
  expect(phone.ran).toEqual([]);
  expect(callsOf(tab)[0]).toMatchObject({ state: 'refused' });
  tab.kill();
});

test('a tool that has drifted is held back until the change was accepted, and then asks again', async () => {
  const phone = await newPhone();
  const id = await phone.newConversation();
  const first = await phone.open(id);
  await first.session.send('Keep it');
  await until(() => asked(first) !== undefined);
  await first.session.answer(asked(first)?.callId ?? '', { allow: true, scope: 'always' });
  await until(() => over(first));
  expect(phone.ran).toHaveLength(1);
  first.kill();

  await phone.changeDefinition();
  const held = await phone.open(await phone.newConversation());
  await held.session.send('Keep it');
  await until(() => held.session.view().activity.kind === 'idle');
  expect(phone.ran).toHaveLength(1);
  expect(callsOf(held)).toEqual([]);
  held.kill();

  await phone.acceptChange();
  const after = await phone.open(await phone.newConversation());
  await after.session.send('Keep it');
  await until(() => asked(after) !== undefined);
  expect(asked(after)?.why).toContain('has changed since you allowed it');
  expect(phone.ran).toHaveLength(1);
  after.kill();
});

test('always can be taken back: the next call asks', async () => {
  const { gate, store } = await freshGate();
  await gate.decide(question('k'), { allow: true, scope: 'always' });
  expect(await gate.judge(boundCall(), heard())).toMatchObject({ verdict: 'run' });
  for (const { id } of await store.grants.for('s1', 'save_trip')) await store.grants.delete(id);
  expect(await gate.judge(boundCall(), heard())).toMatchObject({ verdict: 'ask' });
});

test('a grant that is taken back while a tab is dead does not let its call run after the restart', async () => {
  const phone = await newPhone();
  const id = await phone.newConversation();
  const first = await phone.open(id);
  await first.session.send('Note it');
  await until(() => asked(first) !== undefined);
  await first.session.answer(asked(first)?.callId ?? '', { allow: true, scope: 'always' });
  await until(() => over(first));
  expect(phone.ran).toHaveLength(1);
  // Dies between the rule's yes and the sending.
  first.session.subscribe(() => {
    if (callsOf(first)[1]?.state === 'allowed') first.kill();
  });
  void first.session.send(`Note it again: ${phone.wished() + 1}`);
  await until(() => first.life.dead);
  for (const grant of await phone.store.grants.all()) await phone.store.grants.delete(grant.id);
  const tab = await phone.open(id);
  expect(callsOf(tab)[1]).toMatchObject({ state: 'allowed' });
  void tab.session.resume();
  await until(() => asked(tab) !== undefined || over(tab));
  expect(asked(tab)).toBeDefined();
  expect(phone.ran).toHaveLength(1);
  tab.kill();
});

test('a question that nobody answers in time is a no, and the model is told why', async () => {
  const { store } = await freshGate();
  const { createGate } = await import('../../../src/policy/gate.ts');
  const gate = createGate({ store, patienceMs: 1 });
  const signal = new AbortController().signal;
  expect(await gate.answer({ callId: 'k', conversation: 'c1' }, signal)).toEqual({
    allow: false,
    scope: 'once',
    reason: 'nobody answered in time',
  });
  expect(await gate.decide(question('k'), { allow: true, scope: 'always' })).toBe(false);
  expect(await store.grants.all()).toEqual([]);
});
