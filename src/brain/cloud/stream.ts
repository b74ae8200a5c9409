/**
 * Makes a brain of a wire: sends the request, reads the stream, keeps time, and turns whatever goes
 * wrong into the last event.
 *
 * Promises: it never throws; an abort ends it at once; silence ends it after `stallMs`; no answer is
 * read beyond `maxBytes`; calls are given out only when the host said that the answer is complete.
 */
import { createParser } from 'eventsource-parser';
import type {
  Brain,
  BrainError,
  BrainEvent,
  BrainInfo,
  BrainRequest,
  BrainUsage,
  ModelCall,
} from '../brain.ts';
import { unseen } from '../pictures.ts';
import {
  cutError,
  eventError,
  httpError,
  internalError,
  movedError,
  networkError,
  pageError,
  picturesError,
  refusedError,
  stalledError,
  tooLargeError,
  unfinishedError,
  unreadableError,
  type Peer,
} from './errors.ts';
import { historyOf, wireNames } from './history.ts';
import { isRecord, parse } from './json.ts';
import type { Album, ReadyRequest } from './pictures.ts';
import { estimateTokens } from './tokens.ts';
import {
  HostFault,
  Unreadable,
  type Delta,
  type Echoes,
  type RawCall,
  type Reader,
  type Wire,
} from './wire.ts';

export interface Net {
  readonly fetch: typeof globalThis.fetch;
  readonly online: () => boolean;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Longest silence of a host, in milliseconds. */
  readonly stallMs: number;
  /** Longest answer, in bytes. */
  readonly maxBytes: number;
}

/** Of a body that reports an error, this much is read. */
const ERROR_BYTES = 64 * 1024;
/** A host may refuse several parameters, one after the other. */
const NEGOTIATIONS = 4;

/** Why a stream ended before its time; becomes the error of its last event. */
class Failed extends Error {
  override readonly name = 'Failed';
  readonly error: BrainError;
  constructor(error: BrainError) {
    super(error.message);
    this.error = error;
  }
}

class Aborted extends Error {
  override readonly name = 'Aborted';
}

export function cloudBrain(
  info: BrainInfo,
  wire: Wire,
  peer: Peer,
  net: Net,
  echoes: Echoes,
): Brain {
  /** Parameters that this host refused, for as long as this brain lives. */
  const changed = new Set<string>();
  const album: Album = new Map();
  const sees = info.can.images;
  return {
    describe: () => info,
    countTokens: estimateTokens,
    stream: (request, signal) =>
      answer(request, signal, { wire, peer, net, echoes, changed, album, sees }),
  };
}

interface Setting {
  readonly wire: Wire;
  readonly peer: Peer;
  readonly net: Net;
  readonly echoes: Echoes;
  readonly changed: Set<string>;
  readonly album: Album;
  readonly sees: boolean;
}

/** The request with its pictures as the model takes them, or in words. */
async function readied(request: BrainRequest, { album, sees }: Setting): Promise<ReadyRequest> {
  const asIs = { request, receipt: (body: string) => body };
  if (!hasPictures(request)) return asIs;
  if (!sees) return { ...asIs, request: { ...request, messages: unseen(request.messages) } };
  const { readyPictures } = await import('./pictures.ts');
  return readyPictures(request, album);
}

function hasPictures({ messages }: BrainRequest): boolean {
  return messages.some((message) => message.role !== 'assistant' && message.images?.length);
}

async function* answer(
  asked: BrainRequest,
  signal: AbortSignal,
  setting: Setting,
): AsyncGenerator<BrainEvent, void, undefined> {
  const { peer, net, wire } = setting;
  const watch = new Watch(signal, net.stallMs, peer);
  const clock = new Clock();
  let reader: Reader | undefined;
  try {
    const ready = await watch.wait(readied(asked, setting));
    const { request } = ready;
    const response = yield* send(ready, setting, watch, clock);
    reader = wire.read();
    for await (const delta of readStream(response, reader, watch, setting)) {
      clock.token();
      yield { type: delta.type, text: delta.text };
    }
    yield* conclude(request, reader, setting, clock);
  } catch (cause) {
    const usage = reader && usageOf(reader, clock);
    if (usage) yield { type: 'usage', usage };
    if (cause instanceof Aborted || signal.aborted) yield { type: 'end', reason: 'aborted' };
    else
      yield {
        type: 'end',
        reason: 'error',
        error: cause instanceof Failed ? cause.error : internalError(cause, peer),
      };
  } finally {
    watch.close();
  }
}

/** Sends the request, again without a parameter that the host refuses, until an answer begins. */
async function* send(
  { request, receipt }: ReadyRequest,
  { wire, peer, net, changed }: Setting,
  watch: Watch,
  clock: Clock,
): AsyncGenerator<BrainEvent, Response, undefined> {
  for (let round = 0; ; round++) {
    const outgoing = wire.write(request, changed);
    const body = JSON.stringify(outgoing.body);
    watch.check();
    yield { type: 'sent', text: receipt(body), to: peer.url.host };
    watch.check();
    clock.start();
    let response: Response;
    try {
      response = await watch.wait(
        net.fetch(outgoing.url, {
          method: 'POST',
          headers: { 'content-type': 'application/json', ...outgoing.headers },
          body,
          // A redirect would take the key along to wherever it leads.
          redirect: 'manual',
          credentials: 'omit',
          cache: 'no-store',
          referrerPolicy: 'no-referrer',
          signal: watch.signal,
        }),
      );
    } catch (cause) {
      if (cause instanceof Aborted || cause instanceof Failed) throw cause;
      throw new Failed(await watch.wait(networkError(cause, peer, net.fetch, net.online())));
    }
    if (response.type === 'opaqueredirect' || (response.status >= 300 && response.status < 400))
      throw new Failed(movedError(response.headers.get('location'), peer));
    if (response.ok) {
      if (!isPage(response)) return response;
      throw new Failed(pageError(await readStart(response, watch), peer));
    }
    const refusal = {
      status: response.status,
      body: await readStart(response, watch),
      retryAfter: response.headers.get('retry-after'),
    };
    const error =
      (hasPictures(request) && picturesError(refusal, peer)) || httpError(refusal, peer, net.now());
    const parameter = error.kind === 'protocol' && refusedParameter(refusal.body, wire, changed);
    if (!parameter || round >= NEGOTIATIONS) throw new Failed(error);
    changed.add(parameter);
  }
}

/** The negotiable parameter that an error names: in its own field, or else in its words. */
function refusedParameter(body: string, wire: Wire, changed: ReadonlySet<string>) {
  const open = wire.negotiable.filter((name) => !changed.has(name));
  const outer = parse(body);
  const field = isRecord(outer) && isRecord(outer.error) ? outer.error.param : undefined;
  return (
    open.find((name) => name === field) ??
    open.find((name) => new RegExp(`(?<![A-Za-z_])${name}(?![A-Za-z_])`).test(body))
  );
}

async function* readStream(
  response: Response,
  reader: Reader,
  watch: Watch,
  { peer, net }: Setting,
): AsyncGenerator<Delta, void, undefined> {
  const events: string[] = [];
  const parser = createParser({ onEvent: (event) => events.push(event.data) });
  // A host that does not stream answers with one JSON document.
  const isJson = /\bjson\b/.test(response.headers.get('content-type') ?? '');
  let document = '';
  let start = '';

  function* drain(): Generator<Delta, void, undefined> {
    for (const data of events.splice(0)) yield* readEvent(data, reader, peer, net);
  }
  const complete = () => reader.result().finish !== null;
  for await (const text of chunks(response, watch, peer, net, complete)) {
    if (isJson) {
      document += text;
      continue;
    }
    if (start.length < 500) start += text;
    parser.feed(text);
    yield* drain();
    if (reader.ended()) return;
  }
  if (isJson) yield* readEvent(document, reader, peer, net);
  // The last event counts even where the blank line behind it is missing.
  parser.feed('\n\n');
  yield* drain();
  if (!complete())
    throw new Failed(
      /^\s*(?:event|data|id|retry|:)/.test(start) || isJson
        ? unfinishedError(peer)
        : unreadableError(start || 'an empty answer', peer),
    );
}

function readEvent(data: string, reader: Reader, peer: Peer, net: Net): readonly Delta[] {
  try {
    return reader.push(data);
  } catch (cause) {
    if (cause instanceof HostFault) throw new Failed(eventError(cause.payload, peer, net.now()));
    if (cause instanceof Unreadable) throw new Failed(unreadableError(cause.message, peer));
    throw cause;
  }
}

/** The last events of a complete answer: its calls, its usage, its end. */
function* conclude(
  request: BrainRequest,
  reader: Reader,
  { peer, echoes }: Setting,
  clock: Clock,
): Generator<BrainEvent, void, undefined> {
  const result = reader.result();
  const names = wireNames(request.tools);
  const taken = new Set(
    request.messages.flatMap((message) =>
      message.role === 'assistant' ? message.calls.map((call) => call.id) : [],
    ),
  );
  const calls = result.calls.map((raw) => {
    const call = callOf(raw, names.fromWire(raw.name), result.finish === 'length', taken);
    taken.add(call.id);
    return call;
  });
  if (calls.length > 0 && result.echo !== undefined)
    echoes.set(historyOf(request.messages, names).key, result.echo);
  if (calls.length > 0) clock.token();
  for (const call of calls) yield { type: 'call', call };
  const usage = usageOf(reader, clock);
  if (usage) yield { type: 'usage', usage };
  if (result.finish === 'refused')
    yield { type: 'end', reason: 'error', error: refusedError(result.refusal ?? '', peer) };
  else if (result.finish === 'length') yield { type: 'end', reason: 'length' };
  else yield { type: 'end', reason: calls.length > 0 ? 'calls' : 'stop' };
}

/** `cut`: the answer reached its limit, so empty arguments are not "none" but missing. */
function callOf(raw: RawCall, name: string, cut: boolean, taken: ReadonlySet<string>): ModelCall {
  const args = raw.raw.trim() === '' && !cut ? {} : parse(raw.raw);
  return {
    // Some hosts number calls anew in each answer; the conversation needs them apart.
    id: raw.id && !taken.has(raw.id) ? raw.id : `call_${crypto.randomUUID()}`,
    name,
    args: isRecord(args) ? args : null,
    raw: raw.raw,
  };
}

function usageOf(reader: Reader, clock: Clock): BrainUsage | undefined {
  const { promptTokens, cachedTokens, outputTokens, cost } = reader.result();
  const firstTokenMs = clock.firstTokenMs();
  const tokensPerSecond = clock.tokensPerSecond(outputTokens);
  const usage = {
    ...(promptTokens === undefined ? {} : { promptTokens }),
    ...(cachedTokens === undefined ? {} : { cachedTokens }),
    ...(outputTokens === undefined ? {} : { outputTokens }),
    ...(firstTokenMs === undefined ? {} : { firstTokenMs }),
    ...(tokensPerSecond === undefined ? {} : { tokensPerSecond }),
    ...(cost === undefined ? {} : { cost }),
  };
  return Object.keys(usage).length > 0 ? usage : undefined;
}

function isPage(response: Response): boolean {
  return /text\/html/i.test(response.headers.get('content-type') ?? '');
}

/**
 * The body as text, piece by piece; the pieces of a character stay together. What goes wrong behind
 * a complete answer does not matter any more.
 */
async function* chunks(
  response: Response,
  watch: Watch,
  peer: Peer,
  net: Net,
  complete: () => boolean,
): AsyncGenerator<string, void, undefined> {
  const body = response.body?.getReader();
  if (!body) return;
  const decoder = new TextDecoder();
  let bytes = 0;
  try {
    for (;;) {
      let part: Awaited<ReturnType<typeof body.read>>;
      try {
        part = await watch.wait(body.read());
      } catch (cause) {
        if (cause instanceof Aborted) throw cause;
        if (complete()) return;
        throw cause instanceof Failed ? cause : new Failed(cutError(cause, peer, net.online()));
      }
      if (part.done) break;
      bytes += part.value.byteLength;
      if (bytes > net.maxBytes) throw new Failed(tooLargeError(net.maxBytes, peer));
      yield decoder.decode(part.value, { stream: true });
    }
    const rest = decoder.decode();
    if (rest) yield rest;
  } finally {
    body.cancel().catch(() => undefined);
  }
}

/** The first part of a body that reports an error; a body that breaks off is taken as it is. */
async function readStart(response: Response, watch: Watch): Promise<string> {
  const body = response.body?.getReader();
  if (!body) return '';
  const decoder = new TextDecoder();
  let text = '';
  try {
    while (text.length < ERROR_BYTES) {
      const part = await watch.wait(body.read());
      if (part.done) break;
      text += decoder.decode(part.value, { stream: true });
    }
  } catch (cause) {
    if (cause instanceof Aborted) throw cause;
  } finally {
    body.cancel().catch(() => undefined);
  }
  return text;
}

/** Ends a wait when the person aborts or the host is silent for too long. */
class Watch {
  readonly #control = new AbortController();
  readonly #outer: AbortSignal;
  readonly #stallMs: number;
  readonly #peer: Peer;
  readonly #onAbort = () => this.#control.abort();

  constructor(outer: AbortSignal, stallMs: number, peer: Peer) {
    this.#outer = outer;
    this.#stallMs = stallMs;
    this.#peer = peer;
    outer.addEventListener('abort', this.#onAbort, { once: true });
    if (outer.aborted) this.#onAbort();
  }

  get signal(): AbortSignal {
    return this.#control.signal;
  }

  check(): void {
    if (this.#outer.aborted) throw new Aborted();
  }

  async wait<T>(work: Promise<T>): Promise<T> {
    // Whoever wins, the loser's failure is nobody's business any more.
    work.catch(() => undefined);
    this.check();
    let timer: ReturnType<typeof setTimeout> | undefined;
    let onAbort: (() => void) | undefined;
    try {
      return await Promise.race([
        work,
        new Promise<never>((_, reject) => {
          onAbort = () => reject(new Aborted());
          this.#outer.addEventListener('abort', onAbort, { once: true });
          timer = setTimeout(() => {
            reject(new Failed(stalledError(this.#stallMs, this.#peer)));
            this.#control.abort();
          }, this.#stallMs);
        }),
      ]);
    } catch (cause) {
      // The fetch may notice the abort before we do.
      if (this.#outer.aborted) throw new Aborted();
      throw cause;
    } finally {
      clearTimeout(timer);
      if (onAbort) this.#outer.removeEventListener('abort', onAbort);
    }
  }

  /** Lets go of the connection, whether the answer was read to its end or not. */
  close(): void {
    this.#outer.removeEventListener('abort', this.#onAbort);
    this.#control.abort();
  }
}

/** Times of one answer, on the monotonic clock. */
class Clock {
  #start = 0;
  #first: number | undefined;
  #last = 0;

  start(): void {
    this.#start = performance.now();
  }

  token(): void {
    this.#last = performance.now();
    this.#first ??= this.#last;
  }

  firstTokenMs(): number | undefined {
    return this.#first === undefined ? undefined : Math.round(this.#first - this.#start);
  }

  /** The first token is where the time begins, so it does not count. */
  tokensPerSecond(tokens: number | undefined): number | undefined {
    if (this.#first === undefined || tokens === undefined || tokens < 2) return undefined;
    const seconds = (this.#last - this.#first) / 1000;
    return seconds > 0 ? Math.round(((tokens - 1) / seconds) * 10) / 10 : undefined;
  }
}
