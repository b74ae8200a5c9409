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

/**
 * llama.cpp stops between two stretches of the prompt: on a slow phone that is seconds away, and still
 * sooner than loading the model anew.
 */
const STOP_MS = 15_000;

export function createWllama(): HostedEngine {
  return createWorkerEngine({
    spawn: () => spawnWorker(workerUrl, 'wllama'),
    patience: { stop: STOP_MS },
  });
}
