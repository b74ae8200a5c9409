/** WebLLM as a LocalEngine: checks the GPU, then loads and runs in a worker of its own. */
import { createWorkerEngine, type HostedEngine } from './client.ts';
import { checkGpu } from './gpu.ts';
import { spawnWorker } from './spawn.ts';
import workerUrl from './webllm.worker.ts?worker&url';

/** Addresses of the engine's own files, to be kept for use without a network. */
export const webllmFiles = (): readonly string[] => [workerUrl];

export function createWebllm(): HostedEngine {
  return createWorkerEngine({
    spawn: () => spawnWorker(workerUrl, 'webllm'),
    preflight: checkGpu,
  });
}
