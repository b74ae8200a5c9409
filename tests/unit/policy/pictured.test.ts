/** Words in pictures are in no text: a model that was shown somebody's picture is not taken at its word. */
import { expect, test } from 'vitest';
import { boundCall, freshGate, heard } from './helpers.ts';

const pay = { name: 'pay_bill', title: 'Pay a bill' };

test('what cannot be undone is asked about once the model has seen a picture of somebody else', async () => {
  const { gate } = await freshGate();
  const call = boundCall(pay);
  const { server, name: tool, pin } = call.tool;
  const granted = { callId: 'k0', conversation: 'c1', server, tool, pin, args: {} };
  await gate.decide(granted, { allow: true, scope: 'conversation' });
  const said = heard('Pay the bill.');
  expect(await gate.judge(call, said)).toMatchObject({ verdict: 'run' });
  expect(await gate.judge(call, { ...said, pictures: ['Album', 'Camera'] })).toMatchObject({
    verdict: 'ask',
    why: 'A picture from Camera was among what the model saw, and what it says cannot be checked, so you are asked whatever you allowed.',
    consequential: true,
  });
});

test('what only reads or can be undone runs as it did', async () => {
  const { gate } = await freshGate();
  const seen = { ...heard('Save it.'), pictures: ['Camera'] };
  expect(await gate.judge(boundCall({ readOnly: true }), seen)).toMatchObject({ verdict: 'run' });
  await gate.setMode({ server: 's1', tool: 'save_trip', pin: 'pin-1' }, 'allow');
  expect(await gate.judge(boundCall(), seen)).toMatchObject({ verdict: 'run' });
});
