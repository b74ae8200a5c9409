/** How well the tools fit the request: told to the brain where it says whether a tool is needed. */
import { expect, test } from 'vitest';
import { runTurn } from '../../../src/agent/loop.ts';
import type { Brain } from '../../../src/brain/brain.ts';
import {
  inputOf,
  portsOf,
  routerOf,
  scriptedBrain,
  textResult,
  toolboxOf,
  type Say,
} from './world.ts';

const live = (): AbortSignal => new AbortController().signal;

function world(...script: Say[]) {
  const brain = scriptedBrain(script);
  const hands = toolboxOf({ look: { readOnly: true, run: async () => textResult('blue') } });
  const toolbox: typeof hands = {
    ...hands,
    offer: async (...asked) => ({ ...(await hands.offer(...asked)), match: 9 }),
  };
  return { brain, ports: portsOf({ router: routerOf(brain), toolbox }) };
}

test('a brain is told in the first step of a turn, and not in the others', async () => {
  const { brain, ports } = world(
    { calls: [{ name: 'look', args: { at: 'sky' } }] },
    { text: 'Blue.' },
  );
  await runTurn(inputOf(), ports, live());
  expect(brain.requests.map(({ match }) => match)).toEqual([9, undefined]);
});

test('of a follow-up, looked up with the words before it, it is told nothing', async () => {
  const { brain, ports } = world({ text: 'You are welcome.' });
  await runTurn(inputOf({ request: 'Thanks', lookup: 'Thanks\nLook at the sky' }), ports, live());
  expect(brain.requests.map(({ match }) => match)).toEqual([undefined]);
});

test('why a brain called or did not is kept with the step', async () => {
  const { brain, ports } = world({ text: 'Hello.' });
  const deciding: Brain = {
    ...brain,
    async *stream(request, signal) {
      yield { type: 'decision', text: 'Not sure enough.' };
      yield* brain.stream(request, signal);
    },
  };
  await runTurn(inputOf(), { ...ports, router: routerOf(deciding) }, live());
  expect(ports.journal.parts().at(-1)).toMatchObject({
    kind: 'step',
    decision: 'Not sure enough.',
  });
});
