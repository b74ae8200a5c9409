/**
 * The fetch under a connection. It remembers how the last request went, because the protocol's own
 * errors leave out what tells one fault from another, and it bounds what a server may send.
 */
import { noteBearer } from './auth/bearer.ts';

/** Response headers that say what went wrong, as far as a browser lets a page read them. */
const TELLING = [
  'content-type',
  'retry-after',
  'www-authenticate',
  'access-control-allow-origin',
  'access-control-allow-headers',
  'access-control-expose-headers',
] as const;

/** How the last POST of a connection went; over HTTP+SSE, the last request of any kind. */
export interface Exchange {
  /** The HTTP status; null where no answer came. */
  readonly status: number | null;
  readonly contentType: string;
  readonly retryAfter: string | null;
  readonly challenge: string | null;
  /** Those that a report may name, as they came. */
  readonly headers: Readonly<Record<string, string>>;
  /** `cors` where the browser hides headers that the server does not expose. */
  readonly type: ResponseType | null;
  /** What fetch failed with. */
  readonly failure: unknown;
}

/** What was seen of one thing that was asked, whatever else went over the connection meanwhile. */
export interface Seeing {
  last(): Exchange | null;
  /** True where the last answer was larger than allowed. */
  overflowed(): boolean;
}

/** Follows the requests of one call. */
export interface Trace extends Seeing {
  /** Goes with the options of each of its requests; the transport takes it off (`noteSends`). */
  readonly mark: Readonly<Record<string, string>>;
  end(): void;
}

export interface Wire extends Seeing {
  readonly fetch: typeof globalThis.fetch;
  /** Begins to follow what is asked with its mark. */
  trace(): Trace;
  /** The request with this id of JSON-RPC belongs to the trace with this mark. */
  belongs(id: string | number, mark: string): void;
  /** Milliseconds since the epoch at which the server was last heard of; 0: never. */
  heardAt(): number;
}

/** Name of the mark among the headers of a request's options. It is never sent. */
export const MARK = 'deft-trace';

interface Followed {
  last: Exchange | null;
  overflowed: boolean;
  readonly ids: (string | number)[];
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
  let marks = 0;
  const followed = new Map<string, Followed>();
  const owners = new Map<string | number, Followed>();

  /** Whose request it is that a body carries. */
  function ownerOf(body: unknown): Followed | undefined {
    if (owners.size === 0 || typeof body !== 'string' || !body.startsWith('{')) return undefined;
    const { id } = JSON.parse(body) as { id?: string | number };
    return id === undefined ? undefined : owners.get(id);
  }

  return {
    last: () => last,
    overflowed: () => overflowed,
    heardAt: () => heardAt,

    trace() {
      marks += 1;
      const mark = String(marks);
      const own: Followed = { last: null, overflowed: false, ids: [] };
      followed.set(mark, own);
      return {
        mark: { [MARK]: mark },
        last: () => own.last,
        overflowed: () => own.overflowed,
        end() {
          followed.delete(mark);
          for (const id of own.ids) owners.delete(id);
        },
      };
    },

    belongs(id, mark) {
      const own = followed.get(mark);
      if (!own) return;
      own.ids.push(id);
      owners.set(id, own);
    },

    async fetch(input, init) {
      const isPost = init?.method?.toUpperCase() === 'POST';
      const owner = isPost ? ownerOf(init.body) : undefined;
      const note = (exchange: Exchange) => {
        if (owner) Object.assign(owner, { last: exchange, overflowed: false });
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
          headers: {},
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
        headers: tellingOf(response.headers),
        type: response.type,
        failure: null,
      });
      const onOverflow = () => {
        overflowed = true;
        // A stream that is no answer to a POST may carry the answer to any of them.
        for (const one of owner ? [owner] : isPost ? [] : followed.values()) one.overflowed = true;
      };
      const answer = bounded(response, maxBytes, onOverflow, isPost ? undefined : onStreamEnd);
      if (answer.status === 401) noteBearer(answer, init?.headers);
      return answer;
    },
  };
}

function tellingOf(headers: Headers): Record<string, string> {
  const named = TELLING.map((name) => [name, headers.get(name)] as const);
  return Object.fromEntries(
    named.filter((one): one is [(typeof one)[0], string] => Boolean(one[1])),
  );
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
