/** Which of wllama's two builds this browser runs; both are files of this app. */
import * as compat from 'virtual:wllama/compat';
import * as standard from 'virtual:wllama/standard';

export interface WllamaBuild {
  /** Address of the worker's script. */
  readonly core: string;
  readonly wasm: string;
  readonly compat: boolean;
}

/** The build for browsers without JSPI or 64-bit memory: the same question as the library asks. */
function needsCompat(): boolean {
  if (!('Suspending' in WebAssembly)) return true;
  try {
    const memory = { address: 'i64', initial: 1n };
    new WebAssembly.Memory(memory as unknown as WebAssembly.MemoryDescriptor);
    return false;
  } catch {
    return true;
  }
}

export function wllamaBuild(): WllamaBuild {
  return needsCompat() ? { ...compat, compat: true } : { ...standard, compat: false };
}
