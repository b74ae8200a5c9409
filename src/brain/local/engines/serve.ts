/** The worker's side of the protocol: turns messages into calls of one engine, one at a time. */
import { EngineError } from '../errors.ts';
import type { Command, Report, WorkerEngine } from './protocol.ts';

/**
 * Answers the page's commands with `make`'s engine. `make` is given a way to say that the engine is
 * beyond use, at any time (a lost GPU device); so is every error that nobody caught.
 */
export function serve(make: (broken: (error: EngineError) => void) => WorkerEngine): void {
  const report = (message: Report): void => self.postMessage(message);
  const broken = (thrown: unknown): void =>
    report({ type: 'broken', error: EngineError.from(thrown).toWire() });

  const engine = make(broken);
  let running: { readonly id: number; readonly stop: AbortController } | null = null;

  async function generate(command: Extract<Command, { type: 'generate' }>): Promise<void> {
    const { id, request } = command;
    const stop = new AbortController();
    running = { id, stop };
    try {
      for await (const event of engine.generate(request, stop.signal))
        report({ type: 'event', id, event });
    } catch (thrown) {
      const error = EngineError.from(thrown);
      // A prompt that is too long is a fault of the request; after any other the state is unknown.
      if (error.kind === 'context') report({ type: 'refused', id, error: error.toWire() });
      else broken(error);
    } finally {
      running = null;
    }
  }

  self.addEventListener('message', (message: MessageEvent<Command>) => {
    const command = message.data;
    if (command.type === 'load')
      engine
        .load(command.row, (fraction) => report({ type: 'progress', fraction }), command.selfTest)
        .then(() => report({ type: 'loaded' }), broken);
    else if (command.type === 'generate') void generate(command);
    else if (command.type === 'stop' && running?.id === command.id) running.stop.abort();
  });
  self.addEventListener('unhandledrejection', (event) => broken(event.reason));
}
