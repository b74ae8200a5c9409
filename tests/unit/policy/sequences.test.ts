/** Whatever happens in whatever order: nothing runs twice, after a no, or under another definition. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ToolMode } from '../../../src/policy/types.ts';
import type { CallPart, Mode } from '../../../src/store/records.ts';
import { conversation, freshStore } from '../store/helpers.ts';
import { newPhone, tick, type Phone, type Tab } from './tabs.ts';

type Event =
  | { do: 'send' | 'kill' | 'resume' | 'stop'; tab: 0 | 1 }
  | { do: 'answer'; tab: 0 | 1; allow: boolean; scope: 'once' | 'conversation' | 'always' }
  | { do: 'change' | 'accept' | 'revoke' | 'import' }
  /** How the tool stands from now on, as its server's screen sets it. */
  | { do: 'stand'; mode: ToolMode }
  /** Where the model runs from now on, as one of the tabs sets it. */
  | { do: 'mode'; tab: 0 | 1; mode: Mode };

const tab = fc.constantFrom(0 as const, 1 as const);
const event: fc.Arbitrary<Event> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: fc.constant('send' as const), tab }) },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('answer' as const),
      tab,
      allow: fc.boolean(),
      scope: fc.constantFrom('once' as const, 'conversation' as const, 'always' as const),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constantFrom('kill' as const, 'resume' as const, 'stop' as const),
      tab,
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constantFrom(
        'change' as const,
        'accept' as const,
        'revoke' as const,
        'import' as const,
      ),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('stand' as const),
      mode: fc.constantFrom('ask' as const, 'allow' as const, 'never' as const),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('mode' as const),
      tab,
      mode: fc.constantFrom('phone' as const, 'auto' as const, 'cloud' as const),
    }),
  },
);
/** An event, and how many rounds of other work lie behind it. */
const step = fc.record({ event, rounds: fc.integer({ min: 0, max: 120 }) });

/** Numbers of calls that only a file wishes for. */
const OF_A_FILE = 1_000_000;

/** A file that says yes for the person, and holds a call that was allowed and not yet sent. */
async function fileFor(phone: Phone, id: string): Promise<Blob> {
  const store = await freshStore();
  const pin = await phone.pin();
  const { server } = phone;
  await store.grants.put({
    ...{ id: 'yes', server, tool: 'note', pin, verdict: 'allow', createdAt: 1, warned: true },
  });
  await store.conversations.put(conversation(id));
  const at = { conversation: id, createdAt: 1 };
  await store.messages.add({ ...at, id: `${id}-u`, role: 'user', state: 'done' }, [
    { kind: 'text', step: 0, text: 'Note it' },
  ]);
  const call: CallPart = {
    ...{ kind: 'call', step: 1, callId: `${id}-k`, server, serverName: 'Notes', tool: 'note' },
    ...{ title: 'note', modelName: 'note', pin, args: { n: OF_A_FILE }, days: [] },
    ...{ readOnly: false, state: 'allowed' },
  };
  await store.messages.add({ ...at, id: `${id}-a`, role: 'assistant', state: 'running' }, [
    call,
    { kind: 'step', step: 1, end: 'calls', usage: {} },
  ]);
  return store.archive.export();
}

async function play(
  phone: Phone,
  steps: readonly { event: Event; rounds: number }[],
): Promise<void> {
  for (const grant of await phone.store.grants.all()) await phone.store.grants.delete(grant.id);
  await phone.acceptChange();
  const id = await phone.newConversation();
  const before = phone.ran.length;
  const tabs: [Tab, Tab] = [await phone.open(id), await phone.open(id)];
  /** Calls that were said no to, while they had not been sent: by their number. */
  const denied = new Map<number, number>();
  let sent = 0;
  const file = await fileFor(phone, `${id}-file`);
  /** While the tool may never run: what was wished for, and had run, before that was said. */
  let never: { wished: number; ran: number } | null = null;
  const endNever = (): void => {
    if (!never) return;
    const { wished, ran } = never;
    const numbers = phone.ran.slice(ran).map((it) => Number(it.split('/')[1]));
    expect(numbers.filter((n) => n > wished)).toEqual([]);
    never = null;
  };

  for (const { event: now, rounds } of steps) {
    switch (now.do) {
      case 'send':
        if (sent < 4) void tabs[now.tab].session.send(`Note ${(sent += 1)}`).catch(() => undefined);
        break;
      case 'kill':
        tabs[now.tab].kill();
        tabs[now.tab] = await phone.open(id);
        break;
      case 'resume':
        void tabs[now.tab].session.resume();
        break;
      case 'stop':
        tabs[now.tab].session.stop();
        break;
      case 'answer': {
        const { session } = tabs[now.tab];
        const call = session.view().questions[0]?.call;
        if (!call) break;
        const { allow, scope } = now;
        // The newest word about it is the one that holds.
        if (scope === 'always') endNever();
        if ((await session.answer(call.callId, { allow, scope })) && !allow)
          denied.set(
            Number(call.args.n),
            phone.ran.filter((it) => it === `${id}/${String(call.args.n)}`).length,
          );
        break;
      }
      case 'change':
        await phone.changeDefinition();
        break;
      case 'accept':
        await phone.acceptChange();
        break;
      case 'stand':
        endNever();
        await phone.setMode(now.mode);
        if (now.mode === 'never') never = { wished: phone.wished(), ran: phone.ran.length };
        break;
      case 'mode':
        void tabs[now.tab].session.setMode(now.mode).catch(() => undefined);
        break;
      case 'import': {
        expect(await phone.store.archive.import(file)).toMatchObject({ ok: true });
        const theirs = await phone.open(`${id}-file`);
        await theirs.session.resume();
        for (let round = 0; round < 20; round += 1) await tick();
        theirs.kill();
        break;
      }
      case 'revoke':
        endNever();
        for (const grant of await phone.store.grants.all())
          await phone.store.grants.delete(grant.id);
    }
    for (let round = 0; round < rounds; round += 1) await tick();
  }
  for (let round = 0; round < 400; round += 1) await tick();
  for (const { session, kill } of tabs) {
    session.stop();
    kill();
  }

  endNever();
  const ran = phone.ran.slice(before);
  // What was allowed in a file is not allowed here.
  expect(ran.filter((it) => it.endsWith(`/${OF_A_FILE}`))).toEqual([]);
  // Each call has a number of its own.
  expect(ran).toEqual([...new Set(ran)]);
  for (const [n, times] of denied)
    expect(ran.filter((it) => it === `${id}/${n}`)).toHaveLength(times);
  expect(phone.underOldPin).toEqual([]);
  // What ran is on record as having been sent.
  const parts = [...(await phone.store.messages.partsOf(id)).values()].flat();
  for (const it of ran) {
    const n = Number(it.split('/')[1]);
    const calls = parts.filter((part) => part.kind === 'call' && part.args.n === n);
    expect(calls.some((part) => part.kind === 'call' && part.startedAt !== undefined)).toBe(true);
  }
}

test('no sequence of answers, kills, reloads, changes of the definition, of how the tool stands and of where the model runs, yeses taken back, imports and two tabs runs a call twice, after a no, or under another definition', async () => {
  const phone = await newPhone();
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 14 }), (steps) =>
      play(phone, steps),
    ),
    { numRuns: 50, endOnFailure: true },
  );
  expect(phone.ran.length).toBeGreaterThan(0);
}, 240_000);
