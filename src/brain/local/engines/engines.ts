/** The engines by name, and the files of this app that each of them consists of. */
import type { EngineName } from '../types.ts';
import type { HostedEngine } from './client.ts';
import { createWebllm, webllmFiles } from './webllm.ts';
import { createWllama, wllamaFiles } from './wllama.ts';

/** Starts nothing: an engine's worker is made, and its code fetched, at the first load. */
export const createEngine: Readonly<Record<EngineName, () => HostedEngine>> = {
  webllm: createWebllm,
  wllama: createWllama,
};

const FILES: Readonly<Record<EngineName, () => readonly string[]>> = {
  webllm: webllmFiles,
  wllama: wllamaFiles,
};

/**
 * Fetches an engine's own files once: the service worker keeps what it has seen, so that the engine
 * starts without a network from now on. What cannot be fetched now is fetched at the first load.
 */
export async function keepEngine(name: EngineName): Promise<void> {
  await Promise.allSettled(
    FILES[name]().map(async (url) => {
      const response = await fetch(url);
      await response.body?.pipeTo(new WritableStream());
    }),
  );
}

/** Whether an engine's own files are kept, so that it starts without a network. */
export async function isEngineKept(name: EngineName): Promise<boolean> {
  const found = await Promise.all(FILES[name]().map((url) => caches.match(url)));
  return found.every((response) => response !== undefined);
}
