/**
 * What servers ask for while they work: values of the person (elicitation), answers of a model
 * (sampling). Two ways lead here, requests of the server (until 2025-11-25) and `input_required`
 * results (2026-07-28). Promise: what was not announced to the server is not answered.
 */
import { ProtocolError, ProtocolErrorCode, type Result } from '@modelcontextprotocol/client';
import type { JsonSchema } from '../brain/brain.ts';
import type { BoundAsks } from './connection-types.ts';
import { blocksOf, isDeeper, MAX_DEPTH } from './depth.ts';
import { isObject } from './schema.ts';
import type { ElicitRequest, SampleRequest } from './types.ts';

/** JSON-RPC error of a sampling request that the person did not allow (client/sampling). */
const REJECTED = -1;
const LONGEST_MESSAGE = 10_000;
const LONGEST_URL = 10_000;
const MOST_TOKENS = 100_000;

/** Answers one request of the server; throws the error that the server is to get. */
export type Answer = (method: string, params: unknown, signal: AbortSignal) => Promise<Result>;

export function createAnswer(asks: BoundAsks | undefined): Answer {
  return async function answer(method, params, signal) {
    const given = isObject(params) ? params : {};
    if (method === 'elicitation/create' && asks) {
      const answered = await asks.elicit(elicitRequest(given), signal);
      return { ...answered };
    }
    if (method === 'sampling/createMessage' && asks?.sample) {
      const sample = await asks.sample(sampleRequest(given), signal);
      if (!sample.ok) throw new ProtocolError(REJECTED, sample.refused);
      const { text, model, stopReason } = sample;
      return { role: 'assistant', content: { type: 'text', text }, model, stopReason };
    }
    // Roots among them: this client gives none, and does not say that it would.
    throw new ProtocolError(ProtocolErrorCode.MethodNotFound, `This client does not do ${method}.`);
  };
}

/** Answers to all requests of an `input_required` result, by their keys. */
export async function answerAll(
  answer: Answer,
  requests: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
): Promise<Record<string, Result>> {
  const answers: Record<string, Result> = {};
  // One after the other: a person reads one question at a time.
  for (const [key, request] of Object.entries(requests)) {
    const { method, params } = isObject(request) ? request : {};
    answers[key] = await answer(String(method), params, signal);
  }
  return answers;
}

function elicitRequest(params: Record<string, unknown>): ElicitRequest {
  const message = text(params.message);
  if (params.mode !== 'url') {
    const { requestedSchema: schema } = params;
    if (!isObject(schema) || isDeeper(schema, MAX_DEPTH))
      throw invalid('An elicitation needs a schema.');
    return { mode: 'form', message, schema: schema as JsonSchema };
  }
  const url = String(params.url);
  if (url.length > LONGEST_URL || !URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    throw invalid('An elicitation needs an address of the web.');
  // 2026-07-28 has no such id: what belongs together is the server's own to know.
  const elicitationId = typeof params.elicitationId === 'string' ? params.elicitationId : '';
  return { mode: 'url', message, url, elicitationId };
}

function sampleRequest(params: Record<string, unknown>): SampleRequest {
  if (params.tools !== undefined) throw invalid('This client takes no tools for sampling.');
  const messages = Array.isArray(params.messages) ? params.messages.filter(isObject) : [];
  if (messages.length === 0) throw invalid('A sampling request needs a message.');
  const { systemPrompt, maxTokens, temperature, stopSequences } = params;
  return {
    messages: messages.map(({ role, content }) => ({
      role: role === 'assistant' ? ('assistant' as const) : ('user' as const),
      content: blocksOf(content),
    })),
    maxTokens: typeof maxTokens === 'number' ? tokens(maxTokens) : MOST_TOKENS,
    ...(typeof systemPrompt === 'string' ? { systemPrompt } : {}),
    ...(typeof temperature === 'number' ? { temperature } : {}),
    ...(Array.isArray(stopSequences) ? { stopSequences: stopSequences.map(String) } : {}),
  };
}

function tokens(wanted: number): number {
  return Math.min(Math.max(1, Math.floor(wanted)), MOST_TOKENS);
}

function text(value: unknown): string {
  return typeof value === 'string' ? value.slice(0, LONGEST_MESSAGE) : '';
}

function invalid(message: string): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, message);
}
