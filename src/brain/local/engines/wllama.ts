/** wllama as a LocalEngine: loads and runs in a worker of its own. */
import { createWorkerEngine, type HostedEngine } from './client.ts';
import { spawnWorker } from './spawn.ts';
import { wllamaBuild } from './wllama-build.ts';
import workerUrl from './wllama.worker.ts?worker&url';

/** Addresses of the engine's own files, to be kept for use without a network. */
export function wllamaFiles(): readonly string[] {
  const { core, wasm } = wllamaBuild();
  return [workerUrl, core, wasm];
}

export function createWllama(): HostedEngine {
  return createWorkerEngine({ spawn: () => spawnWorker(workerUrl, 'wllama') });
}
