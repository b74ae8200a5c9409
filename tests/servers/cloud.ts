/**
 * A server that speaks the OpenAI-compatible, the Anthropic and the Gemini wire over real HTTP, with
 * CORS, and plays a strong model by rules (cloud/model.ts). It also plays OpenRouter's sign-in.
 *
 * Faults are chosen by the model's id (its last path segment) or by the key:
 *   key `bad…` refused · `missing` no such model · `rate` 429 with Retry-After · `payment` 402 ·
 *   `context` too long · `server` 500 · `overloaded` 503 · `html` a web page · `redirect` 307 ·
 *   `garbage` 200 with text that is no stream · `cut` dropped in the middle · `unfinished` ends
 *   without an end · `fault` an error event in the middle · `hang` silence in the middle · `silent`
 *   no answer at all · `huge` an answer without an end · `slow` 100 ms a chunk · `length` cut by the
 *   limit · `refuse` the provider declines · `badcall` a malformed call, then a right one · `badargs`
 *   a call that fails its schema, then a right one · `badalways` only malformed calls · `repeat` the
 *   same call again and again · `picky` refuses parameters one by one · `whole` does not stream ·
 *   `blind` refuses pictures.
 * A model whose id holds `mistral` takes no user behind a tool.
 * A model whose id holds `think` also streams its thoughts.
 *
 * Run by hand: npx tsx tests/servers/cloud.ts [port]
 */
import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { firstCall, hasCalled, requiredOf, think } from './cloud/model.ts';
import {
  isObject,
  object,
  parseJson,
  text,
  type Json,
  type Reply,
  type Seen,
} from './cloud/talk.ts';
import { anthropic, gemini, openai, Rejected, type Finish, type WireSide } from './cloud/wires.ts';

export interface CloudRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** Parsed, or null where there was none. */
  readonly body: unknown;
}

export interface CloudServer {
  /** E.g. `http://127.0.0.1:41234`; add `/v1` (OpenAI, Anthropic), `/v1beta` (Gemini) or `/api/v1` (OpenRouter). */
  readonly url: string;
  /** Every request but preflights and `/__requests`, in order. */
  readonly requests: readonly CloudRequest[];
  close(): Promise<void>;
}

export interface CloudServerOptions {
  readonly port?: number;
  /** Pause between the events of a stream, in milliseconds. */
  readonly chunkDelayMs?: number;
  /** False: browsers are refused, as by a server that was not told of this app. */
  readonly cors?: boolean;
  /** False: no key is asked for, as by Ollama. */
  readonly needsKey?: boolean;
}

const MODELS = [
  'strong',
  'strong-think',
  ...'missing rate payment context server overloaded html redirect garbage cut unfinished fault hang silent huge slow length refuse badcall badargs badalways repeat picky whole blind'.split(
    ' ',
  ),
];
const SLOW_MS = 100;
/** OpenRouter-like hosts live under this path. */
const ROUTER = '/api/v1';

export async function startCloud(options: CloudServerOptions = {}): Promise<CloudServer> {
  const { port = 0, chunkDelayMs = 0, cors = true, needsKey = true } = options;
  const requests: CloudRequest[] = [];
  /** Codes given out by the sign-in page, with the challenge that each answers to. */
  const codes = new Map<string, string>();

  const server = createServer((request, response) => {
    serve(request, response).catch((cause: unknown) => {
      if (!response.headersSent) response.writeHead(500);
      response.end(cause instanceof Error ? cause.message : String(cause));
    });
  });

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://host');
    if (cors) {
      response.setHeader('access-control-allow-origin', '*');
      response.setHeader('access-control-expose-headers', 'retry-after');
    }
    if (request.method === 'OPTIONS') {
      if (!cors) return void response.writeHead(403).end();
      response.writeHead(204, {
        'access-control-allow-methods': 'GET, POST, OPTIONS',
        'access-control-allow-headers': request.headers['access-control-request-headers'] ?? '*',
        'access-control-allow-private-network': 'true',
        'access-control-max-age': '600',
      });
      return void response.end();
    }
    if (url.pathname === '/__requests') return json(response, 200, requests);

    const body = parseJson(await bodyOf(request)) ?? null;
    requests.push({
      method: request.method ?? 'GET',
      path: `${url.pathname}${url.search}`,
      headers: request.headers as Record<string, string | undefined>,
      body,
    });
    if (url.pathname === '/auth') return authorize(url, response);
    if (url.pathname === `${ROUTER}/auth/keys`) return exchange(body, response);
    if (request.method === 'GET' && /\/models$/.test(url.pathname))
      return json(response, 200, listing(url.pathname));

    const route = routeOf(url, body);
    if (!route || request.method !== 'POST')
      return json(response, 404, { error: { message: `Not found: ${url.pathname}` } });
    await answer(route, body, request, response);
  }

  async function answer(
    route: Route,
    body: unknown,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    const { side, model } = route;
    const fail = (status: number, message: string, code: string, headers: Json = {}) =>
      json(response, status, side.error(status, message, code), headers as Record<string, string>);
    const key = side.key(request.headers as Record<string, string | undefined>);
    if (key === null ? needsKey : key.startsWith('bad'))
      return side === gemini
        ? json(response, 400, {
            error: {
              code: 400,
              message: `API key not valid. Please pass a valid API key. (${key})`,
              status: 'INVALID_ARGUMENT',
              details: [{ reason: 'API_KEY_INVALID' }],
            },
          })
        : fail(401, `Incorrect API key provided: ${key}`, 'authentication_error');
    const mode = model.split('/').at(-1)!;
    switch (mode) {
      case 'missing':
        return fail(404, `The model '${model}' does not exist`, 'not_found_error');
      case 'rate':
        return fail(429, 'Too many requests', 'rate_limit_error', { 'retry-after': '7' });
      case 'payment':
        return fail(402, 'Insufficient credits', 'billing_error');
      case 'context':
        return fail(
          400,
          'This model has a maximum context length of 10 tokens',
          'context_length_exceeded',
        );
      case 'server':
        return fail(500, 'Something broke', 'api_error');
      case 'overloaded':
        return fail(503, 'Overloaded', 'overloaded_error');
      case 'html':
        response.writeHead(200, { 'content-type': 'text/html' });
        return void response.end('<!doctype html><title>Sign in to the Wi-Fi</title><p>Welcome.');
      case 'redirect':
        response.writeHead(307, { location: '/elsewhere' });
        return void response.end();
      case 'garbage':
        response.writeHead(200, { 'content-type': 'text/plain' });
        return void response.end('It works!\n');
      case 'silent':
        return;
    }
    let seen: Seen;
    try {
      seen = side.read(body, model);
      const pictures = seen.turns.some((turn) => turn.role !== 'assistant' && turn.images?.length);
      if (mode === 'blind' && pictures)
        return fail(404, 'No endpoints found that support image input', 'not_found');
      if (mode === 'picky') refuseParameters(object(body));
    } catch (cause) {
      if (cause instanceof Rejected) return json(response, cause.status, cause.body);
      throw cause;
    }
    const promptTokens = Math.ceil(JSON.stringify(body).length / 4);
    const reply = replyOf(seen, mode);
    const finish: Finish =
      mode === 'length'
        ? 'length'
        : mode === 'refuse'
          ? 'refused'
          : mode === 'unfinished' || mode === 'huge'
            ? 'none'
            : 'stop';
    const frames = side.frames(reply, finish, { model, promptTokens, bills: route.bills });
    if (mode === 'whole' && side === openai) return json(response, 200, wholeAnswer(reply));
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
    await stream(response, frames, mode, side);
  }

  async function stream(
    response: ServerResponse,
    frames: readonly string[],
    mode: string,
    side: WireSide,
  ): Promise<void> {
    const closed = new AbortController();
    response.on('close', () => closed.abort());
    const delay = mode === 'slow' ? Math.max(SLOW_MS, chunkDelayMs) : chunkDelayMs;
    // Early enough to be in the middle, late enough for some text to have come.
    const middle = Math.max(1, Math.floor(frames.length / 2));
    for (const [at, frame] of frames.entries()) {
      if (closed.signal.aborted) return;
      if (at === middle) {
        // What was written still arrives; the end of the answer does not.
        if (mode === 'cut') return void response.socket?.end();
        if (mode === 'hang') return;
        if (mode === 'fault') return void response.end(side.errorFrame('The engine fell over'));
      }
      const more = response.write(frame);
      if (delay > 0)
        await pause(delay, undefined, { signal: closed.signal }).catch(() => undefined);
      else if (!more) await drained(response, closed.signal);
    }
    while (mode === 'huge' && !closed.signal.aborted) {
      const frame = side.frames({ thinking: '', text: 'more '.repeat(2_000), calls: [] }, 'none', {
        model: mode,
        promptTokens: 1,
        bills: false,
      });
      if (!response.write(frame.join(''))) await drained(response, closed.signal);
    }
    response.end();
  }

  /** OpenRouter's consent page: it gives its code at once to whoever comes. */
  function authorize(url: URL, response: ServerResponse): void {
    const callback = new URL(url.searchParams.get('callback_url') ?? 'about:blank');
    const code = randomUUID();
    codes.set(code, url.searchParams.get('code_challenge') ?? '');
    callback.searchParams.set('code', code);
    response.writeHead(302, { location: callback.href });
    response.end();
  }

  function exchange(body: unknown, response: ServerResponse): void {
    const { code, code_verifier: verifier, code_challenge_method: method } = object(body);
    const challenge = codes.get(text(code));
    codes.delete(text(code));
    const hash = createHash('sha256').update(text(verifier)).digest('base64url');
    if (challenge === undefined || method !== 'S256' || hash !== challenge)
      return json(response, 403, {
        error: { code: 403, message: 'Invalid code or code_verifier' },
      });
    json(response, 200, { key: `sk-or-v1-${randomUUID()}`, user_id: 'user_1' });
  }

  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  const { port: actual } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${actual}`,
    requests,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

interface Route {
  readonly side: WireSide;
  readonly model: string;
  readonly bills: boolean;
}

function routeOf(url: URL, body: unknown): Route | null {
  const bills = url.pathname.startsWith(ROUTER);
  const model = isObject(body) ? text(body.model) : '';
  if (/^(\/api)?\/v1\/chat\/completions$/.test(url.pathname)) return { side: openai, model, bills };
  if (url.pathname === '/v1/messages') return { side: anthropic, model, bills };
  const named = /^\/v1beta\/models\/([^:]+):streamGenerateContent$/.exec(url.pathname);
  if (named && url.searchParams.get('alt') === 'sse')
    return { side: gemini, model: decodeURIComponent(named[1]!), bills };
  return null;
}

function replyOf(seen: Seen, mode: string): Reply {
  const right = think(seen);
  const reply = { ...right, thinking: mode.includes('think') ? right.thinking : '' };
  const broken = { raw: '{"origin": "Del' };
  if (mode === 'repeat') {
    const first = firstCall(seen);
    return first ? { ...reply, text: '', calls: [first] } : reply;
  }
  if (mode === 'badalways')
    return reply.calls[0] ? { ...reply, calls: [{ ...reply.calls[0], ...broken }] } : reply;
  if (hasCalled(seen) || !reply.calls[0]) return reply;
  if (mode === 'badcall') return { ...reply, calls: [{ ...reply.calls[0], ...broken }] };
  if (mode === 'badargs') {
    const [call] = reply.calls;
    const [gone] = requiredOf(seen, call.name);
    const args = Object.fromEntries(Object.entries(call.args).filter(([name]) => name !== gone));
    return { ...reply, calls: [{ name: call.name, args }] };
  }
  return reply;
}

/** One answer as a document, as a host sends it that does not stream. */
function wholeAnswer(reply: Reply): Json {
  return {
    object: 'chat.completion',
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: reply.text,
          ...(reply.calls.length > 0
            ? {
                tool_calls: reply.calls.map((call, at) => ({
                  id: `call_${at}`,
                  type: 'function',
                  function: { name: call.name, arguments: JSON.stringify(call.args) },
                })),
              }
            : {}),
        },
        finish_reason: reply.calls.length > 0 ? 'tool_calls' : 'stop',
      },
    ],
    usage: { prompt_tokens: 9, completion_tokens: 9 },
  };
}

/** Refuses what some hosts refuse, one parameter a request, each in its host's own words. */
function refuseParameters(body: Json): void {
  const reject = (message: string, param?: string): never => {
    throw new Rejected(400, {
      error: { message, type: 'invalid_request_error', ...(param ? { param } : {}) },
    });
  };
  if (body.temperature !== undefined || object(body.generationConfig).temperature !== undefined)
    reject("Unsupported value: 'temperature' does not support 0 with this model.", 'temperature');
  if (body.max_tokens !== undefined && body.messages !== undefined && body.system === undefined)
    reject(
      "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
    );
  if (
    Array.isArray(body.tools) &&
    body.stream_options !== undefined &&
    body.reasoning_effort !== 'none'
  )
    reject(
      "Function tools with reasoning_effort are not supported in /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to 'none'.",
      'reasoning_effort',
    );
  if (typeof body.max_tokens === 'number' && body.max_tokens > 4_096)
    reject(
      `max_tokens: ${body.max_tokens} > 4096, which is the maximum allowed number of output tokens`,
    );
}

function listing(path: string): Json {
  if (path.startsWith('/v1beta'))
    return { models: MODELS.map((id) => ({ name: `models/${id}`, displayName: id })) };
  return { object: 'list', data: MODELS.map((id) => ({ id, object: 'model' })) };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

function json(
  response: ServerResponse,
  status: number,
  value: unknown,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(value));
}

async function drained(response: ServerResponse, signal: AbortSignal): Promise<void> {
  await once(response, 'drain', { signal }).catch(() => undefined);
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const server = await startCloud({ port: Number(process.argv[2] ?? 4180) });
  console.log(`Cloud models at ${server.url}/v1 and ${server.url}/v1beta; any key but bad…`);
}
