/**
 * A worker that speaks the engines' protocol and fails on demand: what the row is called says how.
 */
import type { Command, Report } from '../../../../src/brain/local/engines/protocol.ts';

const report = (message: Report): void => self.postMessage(message);
let behaviour = '';
let talking: ReturnType<typeof setInterval> | undefined;

self.addEventListener('message', (message: MessageEvent<Command>) => {
  const command = message.data;
  if (command.type === 'load') {
    behaviour = command.row.id;
    if (behaviour === 'hangs-in-load') return;
    if (behaviour === 'crashes-in-load') throw new Error('crash');
    if (behaviour === 'creeps-in-load') {
      let step = 0;
      const timer = setInterval(() => {
        report({ type: 'progress', fraction: ++step / 10 });
        if (step < 10) return;
        clearInterval(timer);
        report({ type: 'loaded' });
      }, 250);
      return;
    }
    if (behaviour === 'refuses-to-load')
      return report({ type: 'broken', error: { kind: 'gpu', detail: 'the self-test failed' } });
    report({ type: 'loaded' });
    if (behaviour === 'dies-when-idle')
      report({ type: 'broken', error: { kind: 'gpu', detail: 'the device was lost' } });
  }
  if (command.type === 'stop') {
    clearInterval(talking);
    const counts = { promptTokens: 3, cachedTokens: 0, outputTokens: 1 };
    const event = { type: 'done', reason: 'aborted', ...counts } as const;
    if (behaviour === 'creeps') report({ type: 'event', id: command.id, event });
  }
  if (command.type !== 'generate') return;
  const { id } = command;
  const token = (text: string): void =>
    report({ type: 'event', id, event: { type: 'token', text } });
  if (behaviour === 'crashes-in-generate') {
    token('half');
    throw new Error('crash');
  }
  if (behaviour === 'works') {
    token('yes');
    const counts = { promptTokens: 3, cachedTokens: 0, outputTokens: 1 };
    report({ type: 'event', id, event: { type: 'done', reason: 'stop', ...counts } });
  }
  if (behaviour === 'refuses')
    report({ type: 'refused', id, error: { kind: 'context', detail: 'too long' } });
  if (behaviour === 'breaks')
    report({ type: 'broken', error: { kind: 'memory', detail: 'out of memory' } });
  if (behaviour === 'loses-its-device') {
    token('half');
    report({ type: 'broken', error: { kind: 'gpu', detail: 'the device was lost' } });
  }
  if (behaviour === 'creeps') talking = setInterval(() => token('a'), 20);
  if (behaviour === 'hangs-in-decode') token('half');
});
