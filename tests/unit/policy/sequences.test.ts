/** Whatever happens in whatever order: nothing runs twice, after a no, or under another definition. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { newPhone, tick, type Phone, type Tab } from './tabs.ts';

type Event =
  | { do: 'send' | 'kill' | 'resume' | 'stop'; tab: 0 | 1 }
  | { do: 'answer'; tab: 0 | 1; allow: boolean; scope: 'once' | 'conversation' | 'always' }
  | { do: 'change' | 'accept' | 'revoke' };

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
      do: fc.constantFrom('change' as const, 'accept' as const, 'revoke' as const),
    }),
  },
);
/** An event, and how many rounds of other work lie behind it. */
const step = fc.record({ event, rounds: fc.integer({ min: 0, max: 120 }) });

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
      case 'revoke':
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

  const ran = phone.ran.slice(before);
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

test('no sequence of answers, kills, reloads, changes of the definition and two tabs runs a call twice, after a no, or under another definition', async () => {
  const phone = await newPhone();
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 14 }), (steps) =>
      play(phone, steps),
    ),
    { numRuns: 50, endOnFailure: true },
  );
  expect(phone.ran.length).toBeGreaterThan(0);
}, 240_000);
