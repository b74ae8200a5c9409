/**
 * Turns what goes wrong between the phone and a cloud model into a kind, a sentence that says what
 * happened, and one that says what to do.
 *
 * Promise: no sentence and no detail holds the key. What the host wrote is quoted in `detail` only,
 * cut to a few hundred characters.
 */
import type { BrainError, BrainErrorKind } from '../brain.ts';
import { isPrivateHost } from './address.ts';
import { isRecord, list, number, parse, record, string } from './json.ts';
import { redact } from '../../store/redact.ts';

/** The other side of a request, as the sentences name it. */
export interface Peer {
  /** What the person calls it, e.g. "OpenRouter". */
  readonly name: string;
  readonly url: URL;
  readonly model: string;
  readonly preset: string;
  /** What the person must set on a server of their own. */
  readonly hint?: string;
  /** Struck from every detail. */
  readonly secrets: readonly string[];
}

/** What a host said about a failure, in whatever shape: a body, or an error event in a stream. */
interface Said {
  readonly status: number | undefined;
  /** Codes and types, lower case, joined by spaces: what sentences are chosen by. */
  readonly codes: string;
  readonly message: string;
}

const DETAIL_LENGTH = 600;
const PROBE_MS = 5_000;

function fault(
  kind: BrainErrorKind,
  message: string,
  advice: string,
  peer: Peer,
  detail?: string,
  retryAfterMs?: number,
): BrainError {
  const clean = detail && redact(detail, peer.secrets).replace(/\s+/g, ' ').trim();
  return {
    kind,
    message,
    advice,
    ...(clean ? { detail: clean.slice(0, DETAIL_LENGTH) } : {}),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  };
}

/**
 * Every provider wraps errors its own way: `{error: {message, type, code, param}}` (OpenAI,
 * OpenRouter, llama.cpp), `{type: 'error', error: {type, message}}` (Anthropic), `[{error: {code,
 * status, message, details}}]` (Gemini), `{message}`, `{detail}` (Mistral, FastAPI), `{error: '…'}`
 * (Ollama).
 */
function said(value: unknown, status?: number): Said {
  const outer = Array.isArray(value) ? record(value[0]) : record(value);
  const error = outer.error ?? outer;
  const inner = record(error);
  const reasons = list(inner.details).map((detail) => string(record(detail).reason));
  const code = inner.code ?? outer.code;
  const message =
    (typeof error === 'string' && error) ||
    string(inner.message) ||
    (isRecord(inner.message) && JSON.stringify(inner.message)) ||
    string(outer.message) ||
    (outer.detail !== undefined && JSON.stringify(outer.detail)) ||
    '';
  return {
    status: status ?? number(code) ?? number(inner.status),
    codes: [code, inner.type, inner.status, ...reasons]
      .filter((part) => typeof part === 'string')
      .join(' ')
      .toLowerCase(),
    message,
  };
}

const CONTEXT =
  /context[_ ](length|size|window)|maximum context|prompt is too long|input is too long|input token count|too many tokens|exceeds? the (available|maximum)[^.]{0,20} (context|tokens)|request_too_large|reduce the length/i;
const KEY = /api[_ -]?key|x-api-key|credential|unauthori[sz]ed|unauthenticated|authentication/i;
const MONEY =
  /insufficient_quota|credit balance|insufficient (credit|balance|fund)|billing|payment/i;
const NO_MODEL =
  /model[_ ]not[_ ]found|no such model|not a valid model|invalid model|unknown model|model.{0,120}(not found|does not exist|not exist|not supported)|not_found_error.{0,40}model/i;
const REFUSED = /moderation|content[_ ](policy|filter)|safety|flagged|prohibited_content/i;
const REGION = /unsupported_country|country, region|user location is not supported/i;

/** How long the host asks to wait: the header, Google's RetryInfo, or words in the message. */
function waitMs(header: string | null, body: unknown, message: string, now: number) {
  if (header) {
    const seconds = Number(header);
    if (Number.isFinite(seconds)) return Math.max(0, seconds * 1000);
    const date = Date.parse(header);
    if (!Number.isNaN(date)) return Math.max(0, date - now);
  }
  const outer = Array.isArray(body) ? record(body[0]) : record(body);
  for (const detail of list(record(outer.error).details)) {
    const delay = /^([\d.]+)s$/.exec(string(record(detail).retryDelay));
    if (delay) return Number(delay[1]) * 1000;
  }
  const words = /(?:try again|retry) in ([\d.]+) ?(ms|s)\b/i.exec(message);
  return words ? Number(words[1]) * (words[2] === 'ms' ? 1 : 1000) : undefined;
}

function inWords(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  if (seconds < 90) return seconds <= 1 ? 'a second' : `${seconds} seconds`;
  const minutes = Math.ceil(seconds / 60);
  return minutes < 90 ? `${minutes} minutes` : `${Math.ceil(minutes / 60)} hours`;
}

function classify(what: Said, body: unknown, peer: Peer, retryAfter: string | null, now: number) {
  const { status, codes, message } = what;
  const all = `${codes} ${message}`;
  const detail = `${status ?? 'in the stream'}: ${message || codes || 'no reason given'}`;
  const make = (kind: BrainErrorKind, happened: string, todo: string, wait?: number) =>
    fault(kind, happened, todo, peer, detail, wait);

  if (REGION.test(all))
    return make(
      'refused',
      `${peer.name} does not serve your region.`,
      'Use another provider, or a model on this phone.',
    );
  // With 429, "check your billing details" is also said of a free tier's limit a minute.
  if (status === 402 || (status === 429 ? codes.includes('insufficient_quota') : MONEY.test(all)))
    return make(
      'payment',
      `${peer.name} says that there is no credit left for this key.`,
      'Add credit there, or use another key.',
    );
  if (status === 403 && peer.preset === 'ollama')
    return make(
      'cors',
      `${peer.name} at ${peer.url.host} refuses this app.`,
      peer.hint ?? 'Allow this app’s address there.',
    );
  if (status === 429 || /rate_limit|resource_exhausted/.test(codes)) {
    const wait = waitMs(retryAfter, body, message, now);
    return make(
      'rate',
      `${peer.name} had too many requests and asks to wait.`,
      wait === undefined ? 'Wait a moment, then try again.' : `Try again in ${inWords(wait)}.`,
      wait,
    );
  }
  if (REFUSED.test(all) && status !== undefined && status < 500)
    return make(
      'refused',
      `${peer.name} would not answer this.`,
      'Say it in other words, or use another model.',
    );
  if (
    status === 401 ||
    status === 403 ||
    /authentication_error|permission_error|api_key_invalid|permission_denied|unauthenticated/.test(
      codes,
    ) ||
    (status === 400 && KEY.test(message))
  )
    return make(
      'auth',
      peer.secrets.length > 0
        ? `${peer.name} refused the key.`
        : `${peer.name} wants a key, and there is none.`,
      'Check the key in the settings and enter it again.',
    );
  if (status === 413 || CONTEXT.test(all))
    return make(
      'context',
      `The conversation is too long for ${peer.model}.`,
      'Start a new conversation, or choose a model with a larger context window.',
    );
  if (NO_MODEL.test(all) || (status === 404 && isRecord(body) && /model/i.test(all)))
    return make(
      'model',
      `${peer.name} has no model "${peer.model}".`,
      'Check the model’s id in the settings.',
    );
  if (status === 404 || status === 405)
    return make(
      'model',
      `There is no model interface at ${peer.url.host}${peer.url.pathname}.`,
      'Check the address in the settings; most end in /v1.',
    );
  if (
    (status !== undefined && (status >= 500 || status === 408)) ||
    /overloaded|api_error|server_error|unavailable|internal|timeout|deadline/.test(codes)
  )
    return make(
      'server',
      status === 529 || /overloaded|unavailable/.test(codes) || status === 503
        ? `${peer.name} is overloaded.`
        : `${peer.name} failed while it worked on this.`,
      'Try again in a moment.',
      waitMs(retryAfter, body, message, now),
    );
  return make(
    'protocol',
    `${peer.name} did not accept the request.`,
    'Check the model’s id and the address, or choose another model.',
  );
}

/** The error behind an HTTP answer that is not a success. */
export function httpError(
  answer: {
    readonly status: number;
    readonly body: string;
    readonly retryAfter: string | null;
  },
  peer: Peer,
  now: number,
): BrainError {
  const body = parse(answer.body);
  const what =
    body === undefined
      ? { status: answer.status, codes: '', message: plain(answer.body) }
      : said(body, answer.status);
  return classify(what, body, peer, answer.retryAfter, now);
}

const PICTURES = /\b(images?|image_url|vision|multimodal|mmproj)\b/i;

/** The error of a host that will not take the pictures of a request; null where it says something else. */
export function picturesError(
  answer: { readonly status: number; readonly body: string },
  peer: Peer,
): BrainError | null {
  if ([401, 402, 403, 429].includes(answer.status) || !PICTURES.test(answer.body)) return null;
  const { message } = said(parse(answer.body) ?? {}, answer.status);
  return fault(
    'refused',
    `${peer.model} did not take the pictures in this conversation.`,
    'Choose another cloud model, or say under Cloud models that this one cannot see pictures.',
    peer,
    `${answer.status}: ${message || plain(answer.body)}`,
  );
}

/** The error that a host reports inside a stream that began well. */
export function eventError(payload: unknown, peer: Peer, now: number): BrainError {
  const what = said(payload);
  const error = classify(what, payload, peer, null, now);
  // A host that breaks off without a reason of its own has failed; the request was accepted before.
  return error.kind === 'protocol'
    ? fault(
        'server',
        `${peer.name} failed in the middle of the answer.`,
        'What came so far is kept. Try again.',
        peer,
        `in the stream: ${what.message || what.codes || JSON.stringify(payload)}`,
      )
    : error;
}

/** Words of a page without its tags, for a detail. */
function plain(html: string): string {
  return html.replace(/<(script|style)[\s\S]*?<\/\1>/gi, ' ').replace(/<[^>]*>/g, ' ');
}

/** A web page where a model's answer was due: a captive portal, a proxy, a wrong address. */
export function pageError(body: string, peer: Peer): BrainError {
  return fault(
    'protocol',
    `${peer.url.host} answered with a web page, not with a model’s answer.`,
    'Check the address in the settings. On a public network, open a browser and sign in first.',
    peer,
    plain(body),
  );
}

/** The host sends the request on; it is not followed, for the key would go along. */
export function movedError(location: string | null, peer: Peer): BrainError {
  return fault(
    'protocol',
    `${peer.url.host} sends this request on to another address.`,
    'Enter the final address in the settings; often it is the same with https.',
    peer,
    location ? `to ${location}` : undefined,
  );
}

export function unreadableError(detail: string, peer: Peer): BrainError {
  return fault(
    'protocol',
    `${peer.name} sent an answer that makes no sense.`,
    'Try again. If it stays so, check the address and the kind of interface in the settings.',
    peer,
    detail,
  );
}

export function unfinishedError(peer: Peer): BrainError {
  return fault(
    'protocol',
    `The answer of ${peer.name} ended before it was finished.`,
    'What came so far is kept. Try again.',
    peer,
  );
}

export function tooLargeError(bytes: number, peer: Peer): BrainError {
  return fault(
    'protocol',
    `The answer of ${peer.name} did not end.`,
    'It was stopped, and what came so far is kept. Try again.',
    peer,
    `more than ${bytes} bytes`,
  );
}

export function stalledError(ms: number, peer: Peer): BrainError {
  return fault(
    'stalled',
    `${peer.name} sent nothing for ${inWords(ms)}.`,
    'What came so far is kept. Try again, or use another model.',
    peer,
  );
}

export function refusedError(reason: string, peer: Peer): BrainError {
  return fault(
    'refused',
    `${peer.name} would not answer this.`,
    'Say it in other words, or use another model.',
    peer,
    reason,
  );
}

export function internalError(cause: unknown, peer: Peer): BrainError {
  return fault(
    'internal',
    'The request could not be made.',
    'Try again. If it stays so, report it with the detail below.',
    peer,
    cause instanceof Error ? `${cause.name}: ${cause.message}` : String(cause),
  );
}

/** The connection broke after the answer had begun. */
export function cutError(cause: unknown, peer: Peer, online: boolean): BrainError {
  const detail = cause instanceof Error ? cause.message : String(cause);
  return online
    ? fault(
        'server',
        `The connection to ${peer.name} broke in the middle of the answer.`,
        'What came so far is kept. Try again.',
        peer,
        detail,
      )
    : fault(
        'offline',
        'The network went away in the middle of the answer.',
        'What came so far is kept. Try again when you are online.',
        peer,
        detail,
      );
}

/**
 * Why no answer came at all. A browser says only "Failed to fetch", so a second request that asks
 * for nothing (`no-cors`, no key, no body) tells a host that refuses browsers from one that is not
 * there.
 */
export async function networkError(
  cause: unknown,
  peer: Peer,
  fetch: typeof globalThis.fetch,
  online: boolean,
): Promise<BrainError> {
  const detail = cause instanceof Error ? cause.message : String(cause);
  if (!online)
    return fault(
      'offline',
      'There is no network.',
      'Go online and try again, or use a model on this phone.',
      peer,
      detail,
    );
  const found = await probe(peer.url, fetch);
  if (found === 'answers')
    return fault(
      'cors',
      `${peer.url.host} is there, but it does not let this app in.`,
      peer.hint ??
        'Its owner must allow requests from browsers (CORS). OpenRouter offers most models to browsers.',
      peer,
      detail,
    );
  if (found === 'forbidden')
    return fault(
      'unreachable',
      `This app may not talk to ${peer.url.origin}.`,
      'It may talk to https addresses, and by plain http to this device alone: give the server an https address.',
      peer,
      detail,
    );
  return fault(
    'unreachable',
    `${peer.url.host} did not answer.`,
    unreachableAdvice(peer),
    peer,
    detail,
  );
}

/** `forbidden`: the page's own content security policy stopped the request. */
async function probe(
  url: URL,
  fetch: typeof globalThis.fetch,
): Promise<'answers' | 'silent' | 'forbidden'> {
  let forbidden = false;
  const onViolation = (event: SecurityPolicyViolationEvent): void => {
    if (event.blockedURI.startsWith(url.origin)) forbidden = true;
  };
  const page = globalThis.document as Document | undefined;
  page?.addEventListener('securitypolicyviolation', onViolation);
  try {
    await fetch(`${url.origin}/`, {
      mode: 'no-cors',
      cache: 'no-store',
      credentials: 'omit',
      referrerPolicy: 'no-referrer',
      signal: AbortSignal.timeout(PROBE_MS),
    });
    return 'answers';
  } catch {
    // The browser tells of a violation in a task of its own, next to the failure.
    if (page) await new Promise((resolve) => setTimeout(resolve));
    return forbidden ? 'forbidden' : 'silent';
  } finally {
    page?.removeEventListener('securitypolicyviolation', onViolation);
  }
}

function unreachableAdvice(peer: Peer): string {
  if (!isPrivateHost(peer.url.hostname))
    return 'Check the address and your network, then try again.';
  const securePage = globalThis.location?.protocol === 'https:';
  return [
    'Check that the server runs and that this phone is in the same network; say yes if the browser asks about devices in it.',
    ...(securePage && peer.url.protocol === 'http:'
      ? ['A page loaded over https may be kept from an http address: give the server an https one.']
      : []),
    ...(peer.hint ? [peer.hint] : []),
  ].join(' ');
}
