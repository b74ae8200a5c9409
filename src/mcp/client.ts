/**
 * The SDK's client as this app sets it up. Promise: it announces only what the app does for this very
 * server, no roots among it, and answers only what it announced.
 */
import {
  Client,
  type ClientCapabilities,
  type ClientContext,
  type CreateMessageResult,
  type ElicitResult,
} from '@modelcontextprotocol/client';
import type { Clocks } from './clock.ts';
import type { BoundAsks } from './connection-types.ts';
import type { Answer } from './inquiries.ts';
import { TASKS_EXTENSION } from './tasks.ts';

const CLIENT = { name: 'deft', title: 'Deft', version: '0.1.0' };

export function newClient(asks: BoundAsks | undefined, answer: Answer, clocks: Clocks): Client {
  const client = new Client(CLIENT, {
    capabilities: capabilitiesFor(asks),
    versionNegotiation: { mode: 'auto' },
    // Questions in results are answered here, with the clocks stopped.
    inputRequired: { autoFulfill: false },
  });
  const answered = (method: string, params: unknown, { mcpReq }: ClientContext) =>
    clocks.during(mcpReq.signal, (signal) => answer(method, params, signal));
  if (asks)
    client.setRequestHandler('elicitation/create', async ({ method, params }, context) => {
      const { action, content } = await answered(method, params, context);
      return { action, ...(content ? { content } : {}) } as ElicitResult;
    });
  if (asks?.sample)
    client.setRequestHandler('sampling/createMessage', async ({ method, params }, context) => {
      const { role, content, model, stopReason } = await answered(method, params, context);
      return { role, content, model, stopReason } as CreateMessageResult;
    });
  return client;
}

function capabilitiesFor(asks: BoundAsks | undefined): ClientCapabilities {
  return {
    extensions: { [TASKS_EXTENSION]: {} },
    ...(asks ? { elicitation: { form: { applyDefaults: true }, url: {} } } : {}),
    ...(asks?.sample ? { sampling: {} } : {}),
  };
}
