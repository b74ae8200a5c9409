/** A tab that dies at any await of a turn: what was to be done is done once or not at all, and it is told which. */
import { expect, test } from 'vitest';
import type { CallPart } from '../../../src/store/records.ts';
import { newPhone, until, type Tab } from './tabs.ts';

const callsOf = ({ session }: Tab): CallPart[] =>
  session.view().messages.flatMap(({ parts }) => parts.filter((part) => part.kind === 'call'));

/** Says yes to what is asked until the turn is over, or the tab is dead. */
async function carryOn(tab: Tab): Promise<void> {
  const asked = new Set<string>();
  await until(() => {
    if (tab.life.dead) return true;
    const { questions, activity, interrupted, messages } = tab.session.view();
    for (const { call } of questions)
      if (!asked.has(call.callId)) {
        asked.add(call.callId);
        void tab.session.answer(call.callId, { allow: true, scope: 'once' });
      }
    if (questions.length === 0 && interrupted) void tab.session.resume();
    return (
      activity.kind === 'idle' &&
      !interrupted &&
      questions.length === 0 &&
      messages.at(-1)?.message.state !== 'running'
    );
  });
}

test('killed at every await of a turn with a write, the write happens once or not at all, and the screen tells which', async () => {
  const phone = await newPhone();
  const whole = await phone.open(await phone.newConversation());
  await whole.session.send('Keep it');
  await carryOn(whole);
  expect(phone.ran).toHaveLength(1);
  const awaits = whole.life.steps;
  expect(awaits).toBeGreaterThan(25);

  const ends: Record<string, number> = {};
  for (let nth = 1; nth <= awaits; nth += 1) {
    const before = phone.ran.length;
    const id = await phone.newConversation();
    const dying = await phone.open(id, nth);
    void dying.session.send('Keep it');
    await carryOn(dying);
    dying.kill();

    const tab = await phone.open(id);
    if (tab.session.view().messages.length > 0) await carryOn(tab);
    const ran = phone.ran.length - before;
    const at = `killed at await ${nth} of ${awaits}`;
    expect(ran, at).toBeLessThanOrEqual(1);
    const calls = callsOf(tab);
    const outcomes = calls.flatMap(({ outcome }) => outcome?.kind ?? []);
    const told = outcomes.includes('result')
      ? 'done'
      : outcomes.includes('unknown')
        ? 'unknown'
        : 'not done';
    ends[`${told}, ran ${ran}`] = (ends[`${told}, ran ${ran}`] ?? 0) + 1;
    // What is told as done was done, what is told as not done was not; only "unknown" may be either.
    if (told === 'done') expect(ran, at).toBe(1);
    if (told === 'not done') expect(ran, at).toBe(0);
    // Nothing is left that could still run.
    expect(
      calls.filter(({ state }) => ['running', 'allowed', 'asked'].includes(state)),
      at,
    ).toEqual([]);
    if (tab.session.view().messages.length > 0)
      expect(tab.session.view().messages[0]?.parts[0]).toMatchObject({ text: 'Keep it' });
    tab.kill();
  }
  expect(Object.keys(ends)).toEqual(expect.arrayContaining(['done, ran 1', 'unknown, ran 1']));
}, 120_000);
