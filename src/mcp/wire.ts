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
  /** True where the last answer was larger than allowed. */
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
      const note = (exchange: Exchange) => {
        if (!isPost && onStreamEnd === undefined) return;
        last = exchange;
        overflowed = false;
      };
      let response: Response;
      try {
        response = await fetch(input, init);
      } catch (failure) {
        note({
          status: null,
          contentType: '',
          retryAfter: null,
          challenge: null,
          type: null,
          failure,
        });
        throw failure;
      }
      heardAt = now();
      note({
        status: response.status,
        contentType: response.headers.get('content-type') ?? '',
        retryAfter: response.headers.get('retry-after'),
        challenge: response.headers.get('www-authenticate'),
        type: response.type,
        failure: null,
      });
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
  /** The end of what came before. */
  let tail: readonly number[] = [];
  const counter = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      // A stream may go on for days; only one event of it is held at a time.
      const begun = isStream ? afterLastEvent(tail, chunk) : null;
      bytes = begun ?? bytes + chunk.byteLength;
      tail = [...tail, ...chunk.slice(-2)].slice(-2);
      if (bytes > maxBytes) {
        onOverflow();
        controller.error(new Error(`More than ${maxBytes} bytes.`));
        return;
      }
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

const LF = 10;
const CR = 13;

/**
 * How many bytes of a chunk belong to an event that has not ended yet; null where none ends in it. An
 * empty line ends an event, whichever way lines end (HTML, 9.2.5).
 */
function afterLastEvent(tail: readonly number[], chunk: Uint8Array): number | null {
  const at = (place: number) => (place < 0 ? tail.at(place) : chunk[place]);
  for (let place = chunk.length - 1; place >= 0; place -= 1) {
    const [byte, before] = [at(place), at(place - 1)];
    if (byte !== LF && byte !== CR) continue;
    const isEmptyLine = byte === before || (byte === LF && before === CR && at(place - 2) === LF);
    if (isEmptyLine) return chunk.length - 1 - place;
  }
  return null;
}
