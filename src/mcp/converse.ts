/**
 * A request that the server may answer with questions first: `input_required` results of 2026-07-28.
 * They are answered, and the request is made again with the answers, until its own result comes.
 */
import { isInputRequiredResult, type Client } from '@modelcontextprotocol/client';
import type { Clock, Clocks } from './clock.ts';
import { answerAll, type Answer } from './inquiries.ts';
import type { CallProgress } from './types.ts';
import type { Trace } from './wire.ts';

/** How often a server may come back with questions. */
const MAX_ROUNDS = 10;
/** Pause where it only wants to be asked again, in milliseconds. */
const AGAIN_MS = 500;
/** The clock of the call counts, not that of the SDK, which does not stop while a person is asked. */
const NO_LIMIT_MS = 2 ** 31 - 1;

export interface Talk {
  readonly client: Client;
  readonly clocks: Clocks;
  readonly answer: Answer;
  /** Begins to follow how the requests of one call go. */
  readonly trace: () => Trace;
}

export interface Asking {
  readonly method: 'tools/call' | 'prompts/get' | 'resources/read';
  readonly params: Readonly<Record<string, unknown>>;
  readonly clock: Clock;
  readonly trace: Trace;
  readonly headers?: Readonly<Record<string, string>>;
  readonly onProgress?: (progress: CallProgress) => void;
}

/** A server that asked more often than any reason allows. */
export class TooManyQuestions extends Error {}

export async function converse<T>(talk: Talk, asking: Asking): Promise<T> {
  const { client, clocks, answer } = talk;
  const { method, clock, trace, headers, onProgress } = asking;
  let params = asking.params;
  for (let round = 0; round <= MAX_ROUNDS; round += 1) {
    const result: unknown = await client.request(
      { method, params: { ...params } },
      {
        signal: clock.signal,
        timeout: NO_LIMIT_MS,
        allowInputRequired: true,
        onprogress(progress) {
          clock.touch();
          onProgress?.(progress);
        },
        headers: { ...headers, ...trace.mark },
      },
    );
    if (!isInputRequiredResult(result)) return result as T;
    const { inputRequests, requestState } = result;
    const requests = Object.entries(inputRequests ?? {});
    const inputResponses =
      requests.length > 0
        ? await clocks.during(clock.signal, (signal) =>
            answerAll(answer, Object.fromEntries(requests), signal),
          )
        : await pause(AGAIN_MS, clock.signal);
    clock.touch();
    params = {
      ...asking.params,
      ...(inputResponses ? { inputResponses } : {}),
      ...(requestState === undefined ? {} : { requestState }),
    };
  }
  throw new TooManyQuestions('The server asks without end.');
}

/**
 * Resolves after `ms` milliseconds, or as soon as `early` aborts; rejects when the signal says that
 * nobody waits any more.
 */
export function pause(ms: number, signal: AbortSignal, early?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      early?.removeEventListener('abort', end);
      if (signal.aborted) reject(signal.reason as Error);
      else resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener('abort', end);
    early?.addEventListener('abort', end);
    if (signal.aborted || early?.aborted) end();
  });
}
