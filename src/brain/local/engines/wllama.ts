/** wllama as a LocalEngine: loads and runs in a worker of its own. */
import { createWorkerEngine, type HostedEngine } from './client.ts';
import { spawnWorker } from './spawn.ts';
import workerUrl from './wllama.worker.ts?worker&url';

export function createWllama(): HostedEngine {
  return createWorkerEngine({ spawn: () => spawnWorker(workerUrl, 'wllama') });
}
