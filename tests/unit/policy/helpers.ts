/** A gate on a real store over fake-indexeddb, and tools to judge. */
import 'fake-indexeddb/auto';
import { onTestFinished } from 'vitest';
import type { BoundCall, Tool } from '../../../src/mcp/types.ts';
import { createGate } from '../../../src/policy/gate.ts';
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
  name: 'book_flight',
  modelName: 'travel_book_flight',
  title: 'Book a flight',
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

export const boundCall = (more: Partial<Tool> = {}): BoundCall => ({
  callId: 'k',
  tool: tool(more),
  args: {},
  days: [],
});

export const question = (callId: string, more: { pin?: string; conversation?: string } = {}) => ({
  callId,
  conversation: 'c1',
  server: 's1',
  tool: 'book_flight',
  pin: 'pin-1',
  ...more,
});
