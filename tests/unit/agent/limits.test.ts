import { describe, expect, test } from 'vitest';
import { reachedLimit } from '../../../src/agent/limits.ts';
import { runTurn } from '../../../src/agent/loop.ts';
import { counted } from '../../../src/brain/cloud/cost.ts';
import type { Brain, BrainEvent } from '../../../src/brain/brain.ts';
import type { Part, TurnLimits } from '../../../src/store/records.ts';
import { freshStore } from '../store/helpers.ts';
import {
  inputOf,
  LIMITS,
  memoryJournal,
  portsOf,
  routerOf,
  scriptedBrain,
  textResult,
  toolboxOf,
} from './world.ts';

const never = (): AbortSignal => new AbortController().signal;
const notices = (parts: readonly Part[]): string[] =>
  parts.flatMap((part) => (part.kind === 'notice' ? [part.code] : []));
const inputWith = (limits: Partial<TurnLimits>) => inputOf({ limits: { ...LIMITS, ...limits } });

test('a turn stops at the limit of calls of one tool, says so, and goes on with a fresh measure', async () => {
  const call = (n: number) => ({ calls: [{ name: 'look', args: { n } }] });
  const toolbox = toolboxOf({ look: { run: async () => textResult('ok') } });
  const journal = memoryJournal();
  const ports = portsOf({
    toolbox,
    journal,
    router: routerOf(scriptedBrain([call(1), call(2), call(3), { text: 'Done.' }])),
  });
  expect(await runTurn(inputWith({ toolCalls: 2 }), ports, never())).toBe('paused');
  expect(toolbox.ran).toHaveLength(2);
  expect(journal.parts().at(-1)).toMatchObject({
    kind: 'notice',
    code: 'limit-tool',
    text: 'I stopped after 2 calls of look.',
    action: 'continue',
  });
  expect(await runTurn(inputWith({ toolCalls: 2 }), ports, never())).toBe('done');
  expect(toolbox.ran).toHaveLength(3);
});

test('what was reached is said as people count: one is not many, and seconds are not minutes', () => {
  const step: Part = { kind: 'step', step: 1, end: 'stop', usage: { outputTokens: 2500 } };
  const made = (n: number): Part => ({
    kind: 'call',
    step: 1,
    callId: `c${n}`,
    server: 's',
    serverName: 'S',
    tool: 'look',
    title: 'Look',
    modelName: 'look',
    pin: 'p',
    args: { n },
    days: [],
    readOnly: true,
    state: 'done',
  });
  const said = (limits: Partial<TurnLimits>, parts: readonly Part[], ms = 0) =>
    reachedLimit(parts, { ...LIMITS, ...limits }, ms)?.text;
  expect(said({ steps: 1 }, [step])).toBe('I stopped after 1 step.');
  expect(said({ steps: 2 }, [step, step])).toBe('I stopped after 2 steps.');
  expect(said({ calls: 1 }, [made(1)])).toBe('I stopped after 1 tool call.');
  expect(said({ toolCalls: 1 }, [made(1)])).toBe('I stopped after 1 call of Look.');
  expect(said({ equalCalls: 1 }, [made(1), made(1)])).toMatch(/made the same call 2 times/);
  expect(said({ tokens: 2500 }, [step])).toBe('I stopped after 2,500 tokens.');
  const after = (seconds: number) => said({ ms: seconds * 1000 }, [], 4_000_000);
  expect([10, 59, 60, 61, 90, 120, 3600].map(after)).toEqual(
    [
      '10 seconds',
      '59 seconds',
      '1 minute',
      '1 minute and 1 second',
      '1 minute and 30 seconds',
      '2 minutes',
      '60 minutes',
    ].map((words) => `I stopped after ${words}.`),
  );
});

describe('what cloud models cost in a day', () => {
  const purse = (spent: number) => ({
    today: async () => spent,
    add: async (cost: number) => void (spent += cost),
  });
  const dear = (cost: number, { add }: ReturnType<typeof purse>): Brain => {
    const brain = scriptedBrain([], 'cloud');
    async function* stream(): AsyncIterable<BrainEvent> {
      yield { type: 'text', text: 'Words.' };
      yield { type: 'usage', usage: { cost } };
      yield { type: 'end', reason: 'stop' };
    }
    return counted({ ...brain, stream }, undefined, add);
  };

  test('is counted, and at its limit nothing is sent before the person says Continue', async () => {
    const spending = purse(0.5);
    const router = routerOf(null, dear(0.75, spending));
    const run = async (parts: readonly Part[] = []) => {
      const journal = memoryJournal(parts);
      const end = await runTurn(
        inputWith({ dayCost: 1 }),
        portsOf({ router, journal, spent: spending.today }),
        never(),
      );
      return { end, parts: journal.parts() };
    };
    expect((await run()).end).toBe('done');
    expect(await spending.today()).toBe(1.25);
    const stopped = await run();
    expect(stopped.end).toBe('paused');
    expect(notices(stopped.parts)).toEqual(['limit-cost']);
    expect(stopped.parts.at(-1)).toMatchObject({
      text: 'Cloud models have cost $1.25 today, so I stopped.',
    });
    expect(stopped.parts.some(({ kind }) => kind === 'route')).toBe(false);
    const on = await run(stopped.parts);
    expect(on.end).toBe('done');
    expect(await spending.today()).toBe(2);
  });

  test('does not stop the model on this phone', async () => {
    const ports = portsOf({
      router: routerOf(scriptedBrain([{ text: 'Hi.' }])),
      spent: async () => 99,
    });
    expect(await runTurn(inputWith({ dayCost: 1 }), ports, never())).toBe('done');
  });

  test('is kept by day, and added up over tabs', async () => {
    const { settings } = await freshStore();
    await Promise.all([0.25, 0.5, 0.25].map((cost) => settings.spend('2026-11-30', cost)));
    expect((await settings.get()).spent).toEqual({ day: '2026-11-30', cost: 1 });
    await settings.spend('2026-12-01', 0.5);
    expect((await settings.get()).spent).toEqual({ day: '2026-12-01', cost: 0.5 });
  });
});
