/**
 * The SDK's transports, with what they leave out: an answer that never comes is noticed, a broken
 * stream is opened again with growing pauses, and a task in an answer's place gets through.
 */
import {
  SdkErrorCode,
  SdkHttpError,
  SSEClientTransport,
  SseError,
  StreamableHTTPClientTransport,
  isJSONRPCRequest,
  isJSONRPCResultResponse,
  type ReconnectionScheduler,
  type StreamableHTTPClientTransportOptions,
  type Transport,
} from '@modelcontextprotocol/client';
import type { ConnectOptions, Patience } from './connection-types.ts';
import { LOST } from './explain.ts';
import { isObject } from './schema.ts';
import { MARK, type Seeing, type Wire } from './wire.ts';

/** Under this key of `_meta` stands the task that a server made of a call. */
export const TASK_META = 'deft/task';

/** Streams that break one after the other within this many milliseconds are opened ever later. */
const IN_A_ROW_MS = 10_000;

export const PATIENCE: Patience = { firstMs: 1_000, longestMs: 30_000, times: 5 };

/** Streamable HTTP (2025-03-26 and later). */
export function httpTransport(
  options: ConnectOptions,
  fetch: typeof globalThis.fetch,
): StreamableHTTPClientTransport {
  const patience = { ...PATIENCE, ...options.patience };
  return carryTasks(
    new WatchfulTransport(options.peer.url, {
      ...shared(options, fetch),
      reconnectionOptions: {
        initialReconnectionDelay: patience.firstMs,
        maxReconnectionDelay: patience.longestMs,
        reconnectionDelayGrowFactor: 2,
        maxRetries: patience.times,
      },
      reconnectionScheduler: patientScheduler(patience),
    }),
  );
}

/** HTTP+SSE (2024-11-05). A stream that ends takes the session with it. */
export function sseTransport(
  options: ConnectOptions,
  fetch: typeof globalThis.fetch,
): SSEClientTransport {
  return carryTasks(new SSEClientTransport(options.peer.url, shared(options, fetch)));
}

/** Tells the wire whose request goes out, and takes the mark off before it does. */
export function noteSends(transport: Transport, wire: Wire): void {
  const send: Transport['send'] = transport.send.bind(transport);
  transport.send = (message, options) => {
    const { [MARK]: mark, ...headers } = options?.headers ?? {};
    if (mark === undefined) return send(message, options);
    if (isJSONRPCRequest(message)) wire.belongs(message.id, mark);
    return send(message, { ...options, headers });
  };
}

function shared(
  { peer, headers, authProvider }: ConnectOptions,
  fetch: typeof globalThis.fetch,
): StreamableHTTPClientTransportOptions {
  return {
    fetch,
    requestInit: { headers: { ...headers }, credentials: 'omit' },
    // A key must not follow a redirect to another host.
    redirectPolicy: peer.keyHeader || authProvider ? 'same-origin' : 'follow',
    ...(authProvider ? { authProvider } : {}),
  };
}

/**
 * The SDK does not notice when the stream that should carry an answer ends without it, and would
 * wait until the time limit. This transport answers in the server's place that the answer is lost.
 */
class WatchfulTransport extends StreamableHTTPClientTransport {
  override send(
    message: Parameters<StreamableHTTPClientTransport['send']>[0],
    options?: Parameters<StreamableHTTPClientTransport['send']>[1],
  ): Promise<void> {
    if (Array.isArray(message) || !isJSONRPCRequest(message) || options?.onRequestStreamEnd)
      return super.send(message, options);
    const { id } = message;
    const onRequestStreamEnd = () => {
      this.onmessage?.({ jsonrpc: '2.0', id, error: { code: -32_000, message: LOST } });
    };
    return super.send(message, { ...options, onRequestStreamEnd });
  }
}

/**
 * The SDK counts the attempts of one break only. A server that takes every stream and ends it at once
 * would be asked for another every second, for as long as the connection is open.
 */
function patientScheduler({ firstMs, longestMs, times }: Patience): ReconnectionScheduler {
  let inARow = 0;
  let last = -Infinity;
  return (reconnect, delay) => {
    const now = performance.now();
    inARow = now - last < IN_A_ROW_MS ? inARow + 1 : 0;
    // The server's own pace holds at first: it may end its streams on purpose, to be polled.
    const extra = inARow < times ? 0 : Math.min(firstMs * 2 ** (inARow - times), longestMs);
    const pause = Math.max(delay, extra);
    last = now + pause;
    const timer = setTimeout(reconnect, pause);
    return () => clearTimeout(timer);
  };
}

/**
 * The SDK refuses a result that is a task, without a look at it. Here it gets through as an empty
 * result that has the task in `_meta`: that of 2025-11-25, and that of the extension
 * `io.modelcontextprotocol/tasks` of 2026-07-28.
 */
export function carryTasks<T extends Transport>(transport: T): T {
  let handler: Transport['onmessage'];
  Object.defineProperty(transport, 'onmessage', {
    configurable: true,
    get: () => handler,
    set(given: Transport['onmessage']) {
      handler = given && ((message, extra) => given(withoutTask(message), extra));
    },
  });
  return transport;
}

/** The SDK tells faults over HTTP+SSE in errors of another kind; here they look like those of HTTP. */
export function asHttpError(cause: unknown, wire: Seeing): unknown {
  const status = wire.last()?.status ?? null;
  const isPlain = cause instanceof SseError || (cause instanceof Error && cause.name === 'Error');
  if (!isPlain || status === null || status < 300) return cause;
  const text = cause.message;
  return new SdkHttpError(SdkErrorCode.SendFailed, text, { status, statusText: '', text });
}

type Message = Parameters<NonNullable<Transport['onmessage']>>[0];

function withoutTask(message: Message): Message {
  if (!isJSONRPCResultResponse(message)) return message;
  const result: Readonly<Record<string, unknown>> = message.result;
  const isNew = result.resultType === 'task';
  const task = isNew ? result : 'content' in result ? null : result.task;
  if (!isObject(task) || typeof task.taskId !== 'string') return message;
  const replaced = { resultType: 'complete', content: [], _meta: { [TASK_META]: task } };
  return { ...message, result: replaced };
}
