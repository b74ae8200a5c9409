import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { boundCall, freshGate, heard, question } from './helpers.ts';

const here = heard();
const elsewhere = heard([], {}, 'c2');

describe('the gate', () => {
  test('asks by default, naming the tool and its server', async () => {
    const { gate } = await freshGate();
    expect(await gate.judge(boundCall(), here)).toMatchObject({
      verdict: 'ask',
      why: 'You have not allowed Save a trip on Travel yet.',
    });
  });

  test("runs the phone's own tools that only read", async () => {
    const { gate } = await freshGate();
    const verdict = await gate.judge(boundCall({ local: true, readOnly: true }), here);
    expect(verdict.verdict).toBe('run');
    expect(verdict.why).toContain('Save a trip on Travel');
  });

  test("asks for the phone's own tools that change something", async () => {
    const { gate } = await freshGate();
    expect(await gate.judge(boundCall({ local: true }), here)).toMatchObject({ verdict: 'ask' });
  });

  test('runs a tool that only reads where its server is trusted', async () => {
    const { gate } = await freshGate();
    expect(await gate.judge(boundCall({ readOnly: true }), here)).toMatchObject({ verdict: 'run' });
  });

  test('does not believe a hint of a server that is not trusted', async () => {
    const { gate } = await freshGate();
    const call = boundCall({ annotations: { readOnlyHint: true } });
    expect(await gate.judge(call, here)).toMatchObject({ verdict: 'ask' });
  });

  test('runs what was allowed always, in every conversation', async () => {
    const { gate } = await freshGate();
    await gate.decide(question('k1'), { allow: true, scope: 'always' });
    expect(await gate.judge(boundCall(), elsewhere)).toMatchObject({
      verdict: 'run',
      why: 'You allowed Save a trip on Travel always.',
    });
  });

  test('runs what was allowed for a conversation in that conversation only', async () => {
    const { gate } = await freshGate();
    await gate.decide(question('k1'), { allow: true, scope: 'conversation' });
    expect(await gate.judge(boundCall(), here)).toMatchObject({ verdict: 'run' });
    expect(await gate.judge(boundCall(), elsewhere)).toMatchObject({ verdict: 'ask' });
  });

  test('asks again after a yes for once', async () => {
    const { gate, store } = await freshGate();
    await gate.decide(question('k1'), { allow: true, scope: 'once' });
    expect(await gate.judge(boundCall(), here)).toMatchObject({ verdict: 'ask' });
    expect(await store.grants.all()).toEqual([]);
  });

  test('refuses what was denied always', async () => {
    const { gate } = await freshGate();
    await gate.decide(question('k1'), { allow: false, scope: 'always' });
    expect(await gate.judge(boundCall({ readOnly: true }), elsewhere)).toMatchObject({
      verdict: 'refuse',
      why: 'You do not allow Save a trip on Travel.',
    });
  });

  test("refuses even the phone's own reading tool once it was denied", async () => {
    const { gate } = await freshGate();
    await gate.decide(question('k1'), { allow: false, scope: 'conversation' });
    const call = boundCall({ local: true, readOnly: true });
    expect(await gate.judge(call, here)).toMatchObject({
      verdict: 'refuse',
      why: 'You do not allow Save a trip on Travel in this conversation.',
    });
    expect(await gate.judge(call, elsewhere)).toMatchObject({ verdict: 'run' });
  });

  test('lets a no win over a yes of another scope', async () => {
    const { gate } = await freshGate();
    await gate.decide(question('k1'), { allow: true, scope: 'always' });
    await gate.decide(question('k2'), { allow: false, scope: 'conversation' });
    expect(await gate.judge(boundCall(), here)).toMatchObject({ verdict: 'refuse' });
    expect(await gate.judge(boundCall(), elsewhere)).toMatchObject({ verdict: 'run' });
  });

  test('asks again once the definition has changed, and says so', async () => {
    const { gate } = await freshGate();
    await gate.decide(question('k1'), { allow: true, scope: 'always' });
    const changed = boundCall({ pin: 'pin-2', readOnly: true });
    expect(await gate.judge(changed, here)).toMatchObject({
      verdict: 'ask',
      why: 'Save a trip on Travel has changed since you allowed it, so you are asked again.',
    });
    await gate.decide(question('k2', { pin: 'pin-2' }), { allow: true, scope: 'always' });
    expect(await gate.judge(changed, here)).toMatchObject({ verdict: 'run' });
    expect(await gate.judge(boundCall(), here)).toMatchObject({ verdict: 'ask' });
  });

  test('does not let a tool slip past a no by changing its definition', async () => {
    const { gate } = await freshGate();
    await gate.decide(question('k1'), { allow: false, scope: 'always' });
    expect(await gate.judge(boundCall({ pin: 'pin-2', readOnly: true }), here)).toMatchObject({
      verdict: 'ask',
      why: 'Save a trip on Travel has changed since you said no to it, so you are asked again.',
    });
  });

  test('keeps apart tools of one name on two servers', async () => {
    const { gate } = await freshGate();
    await gate.decide(question('k1'), { allow: true, scope: 'always' });
    expect(await gate.judge(boundCall({ server: 's2' }), here)).toMatchObject({ verdict: 'ask' });
  });

  test('shows names without control and direction characters, and short', async () => {
    const { gate } = await freshGate();
    const { why } = await gate.judge(
      boundCall({ title: `\u202eevil\nname\u0007${'x'.repeat(500)}`, serverName: '\u200b' }),
      here,
    );
    expect(why).toMatch(/^You have not allowed evil name x{40,60}… on something unnamed yet\.$/);
  });

  test('never runs unasked what no answer covers (any sequence of answers)', async () => {
    const answers = fc.record({
      allow: fc.boolean(),
      scope: fc.constantFrom('once' as const, 'conversation' as const, 'always' as const),
      pin: fc.constantFrom('pin-1', 'pin-2'),
      conversation: fc.constantFrom('c1', 'c2'),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(answers, { maxLength: 6 }), async (sequence) => {
        const { gate, store } = await freshGate();
        /** The last answer of each scope stands. */
        const standing = new Map<string, { allow: boolean; pin: string }>();
        for (const [i, { allow, scope, pin, conversation }] of sequence.entries()) {
          await gate.decide(question(`k${i}`, { pin, conversation }), { allow, scope });
          if (scope !== 'once')
            standing.set(scope === 'always' ? '*' : conversation, { allow, pin });
        }
        for (const conversation of ['c1', 'c2'])
          for (const pin of ['pin-1', 'pin-2']) {
            const holding = [standing.get('*'), standing.get(conversation)].filter(
              (it) => it?.pin === pin,
            );
            const expected = holding.some((it) => !it?.allow)
              ? 'refuse'
              : holding.length > 0
                ? 'run'
                : 'ask';
            const { verdict } = await gate.judge(boundCall({ pin }), heard([], {}, conversation));
            expect(verdict).toBe(expected);
          }
        store.close();
      }),
      { numRuns: 40 },
    );
  });
});
