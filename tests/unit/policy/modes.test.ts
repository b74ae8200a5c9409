/** The mode that a tool's row shows is the one by which the gate judges. */
import { describe, expect, test } from 'vitest';
import { modesOf } from '../../../src/policy/modes.ts';
import type { ToolMode } from '../../../src/policy/types.ts';
import { boundCall, freshGate, heard } from './helpers.ts';

const plain = { name: 'save_trip', inputSchema: {}, pin: 'pin-1' };
const paying = { ...plain, description: 'Pay a bill.' };
const at = { server: 's1', tool: 'save_trip', pin: 'pin-1' };

describe('the mode in force', () => {
  test.each<[string, ToolMode, boolean, typeof plain, ToolMode, string]>([
    ['ask', 'ask', false, plain, 'ask', 'ask'],
    ['allow', 'allow', false, plain, 'allow', 'run'],
    ['never', 'never', false, plain, 'never', 'refuse'],
    ['never, whatever it becomes', 'never', false, { ...plain, pin: 'pin-2' }, 'never', 'refuse'],
    ['allow, for what it was', 'allow', false, { ...plain, pin: 'pin-2' }, 'ask', 'ask'],
    ['allow of what pays, unwarned', 'allow', false, paying, 'ask', 'ask'],
    ['allow of what pays, warned', 'allow', true, paying, 'allow', 'run'],
  ])('%s', async (_, mode, warned, tool, shown, verdict) => {
    const { store, gate } = await freshGate();
    await gate.setMode(at, mode, warned);
    const modes = modesOf(await store.grants.all(), [tool]);
    expect(modes.get('save_trip') ?? 'ask').toBe(shown);
    const judged = await gate.judge(boundCall(tool, { to: 'Oslo' }), heard('to Oslo'));
    expect(judged.verdict).toBe(verdict);
  });

  test('is no more than a conversation’s, or some arguments’, yes', async () => {
    const { store, gate } = await freshGate();
    const asked = { ...at, conversation: 'c1', args: { to: 'Oslo' } };
    const yes = { allow: true } as const;
    await gate.decide({ ...asked, callId: 'a' }, { ...yes, scope: 'conversation' });
    await gate.decide({ ...asked, callId: 'b' }, { ...yes, scope: 'always', pinned: { free: [] } });
    expect(modesOf(await store.grants.all(), [plain]).size).toBe(0);
  });

  test('of a tool that the person said no to for good is never', async () => {
    const { store, gate } = await freshGate();
    const no = { allow: false, scope: 'always' } as const;
    await gate.decide({ ...at, conversation: 'c1', args: {}, callId: 'a' }, no);
    expect(modesOf(await store.grants.all(), [plain]).get('save_trip')).toBe('never');
  });
});
