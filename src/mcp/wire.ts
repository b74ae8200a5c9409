/**
 * The fetch under a connection. It remembers how the last request went, because the protocol's own
 * errors leave out what tells one fault from another, and it bounds what a server may send.
 */
import { noteBearer } from './auth/bearer.ts';

/** How the last POST of a connection went; over HTTP+SSE, the last request of any kind. */
export interface Exchange {
  /** The HTTP status; null where no answer came. */
  readonly status: number | null;
  readonly contentType: string;
  readonly retryAfter: string | null;
  readonly challenge: string | null;
  /** `cors` where the browser hides headers that the server does not expose. */
  readonly type: ResponseType | null;
  /** What fetch failed with. */
  readonly failure: unknown;
}

export interface Wire {
  readonly fetch: typeof globalThis.fetch;
  last(): Exchange | null;
  /** True once an answer was larger than allowed. */
  overflowed(): boolean;
  /** Milliseconds since the epoch at which the server was last heard of; 0: never. */
  heardAt(): number;
}

/**
 * `maxBytes` bounds a whole JSON answer, or one event of a stream. `onStreamEnd` is for HTTP+SSE, where
 * all answers come over one stream: it is called when that is over, however it ended.
 */
export function createWire(
  fetch: typeof globalThis.fetch,
  maxBytes: number,
  now: () => number,
  onStreamEnd?: () => void,
): Wire {
  let last: Exchange | null = null;
  let overflowed = false;
  let heardAt = 0;
  return {
    last: () => last,
    overflowed: () => overflowed,
    heardAt: () => heardAt,
    async fetch(input, init) {
      const isPost = init?.method?.toUpperCase() === 'POST';
      const isTold = isPost || onStreamEnd !== undefined;
      let response: Response;
      try {
        response = await fetch(input, init);
      } catch (failure) {
        if (isTold)
          last = {
            status: null,
            contentType: '',
            retryAfter: null,
            challenge: null,
            type: null,
            failure,
          };
        throw failure;
      }
      heardAt = now();
      if (isTold)
        last = {
          status: response.status,
          contentType: response.headers.get('content-type') ?? '',
          retryAfter: response.headers.get('retry-after'),
          challenge: response.headers.get('www-authenticate'),
          type: response.type,
          failure: null,
        };
      const onOverflow = () => {
        overflowed = true;
      };
      const answer = bounded(response, maxBytes, onOverflow, isPost ? undefined : onStreamEnd);
      if (answer.status === 401) noteBearer(answer, init?.headers);
      return answer;
    },
  };
}

/** The same response with a body that fails once more than `maxBytes` came. */
function bounded(
  response: Response,
  maxBytes: number,
  onOverflow: () => void,
  onEnd: () => void = () => undefined,
): Response {
  if (response.body === null || response.status < 200) return response;
  const isStream = (response.headers.get('content-type') ?? '').includes('text/event-stream');
  let bytes = 0;
  const counter = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      bytes += chunk.byteLength;
      if (bytes > maxBytes) {
        onOverflow();
        controller.error(new Error(`More than ${maxBytes} bytes.`));
        return;
      }
      // A stream may go on for days; only one event of it is held at a time.
      if (isStream && endsEvent(chunk)) bytes = 0;
      controller.enqueue(chunk);
    },
  });
  const { status, statusText, headers } = response;
  response.body.pipeTo(counter.writable).then(onEnd, onEnd);
  const copy = new Response(counter.readable, { status, statusText, headers });
  // A constructed response knows neither; the transport reads both to follow redirects.
  Object.defineProperties(copy, { url: { value: response.url }, type: { value: response.type } });
  return copy;
}

function endsEvent(chunk: Uint8Array): boolean {
  const last = chunk.length - 1;
  return chunk[last] === 10 && (chunk[last - 1] === 10 || chunk[last - 2] === 10);
}
