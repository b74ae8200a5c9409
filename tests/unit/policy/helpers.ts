/** A gate on a real store over fake-indexeddb, and tools to judge. */
import 'fake-indexeddb/auto';
import { onTestFinished } from 'vitest';
import type { BoundCall, Tool } from '../../../src/mcp/types.ts';
import { createGate } from '../../../src/policy/gate.ts';
import type { GateContext } from '../../../src/policy/types.ts';
import { openStore } from '../../../src/store/open.ts';

let count = 0;

export async function freshGate() {
  const store = await openStore({ name: `gate-${process.pid}-${count++}`, channel: false });
  onTestFinished(() => store.close());
  return { store, gate: createGate({ store }) };
}

export const tool = (more: Partial<Tool> = {}): Tool => ({
  server: 's1',
  serverName: 'Travel',
  name: 'save_trip',
  modelName: 'travel_save_trip',
  title: 'Save a trip',
  description: '',
  inputSchema: {},
  annotations: {},
  pin: 'pin-1',
  local: false,
  readOnly: false,
  idempotent: false,
  private: false,
  ...more,
});

export const boundCall = (
  more: Partial<Tool> = {},
  args: Readonly<Record<string, unknown>> = {},
): BoundCall => ({
  callId: 'k',
  tool: tool(more),
  args,
  days: [],
});

/** A conversation in which the person said these words, and others wrote those. */
export const heard = (
  said: string | readonly string[] = [],
  untrusted: Readonly<Record<string, string>> = {},
  conversation = 'c1',
): GateContext => ({
  conversation,
  said: [said].flat(),
  untrusted: Object.entries(untrusted).map(([source, text]) => ({ source, text })),
});

export const question = (
  callId: string,
  more: { pin?: string; conversation?: string; args?: Readonly<Record<string, unknown>> } = {},
) => ({
  callId,
  conversation: 'c1',
  server: 's1',
  tool: 'save_trip',
  pin: 'pin-1',
  args: {},
  ...more,
});

/** An open question, as it is waited for. */
export const asked = (callId: string) => ({ callId, conversation: 'c1' });
