/** What providers really answer, and what the person is told of it. */
import { describe, expect, test } from 'vitest';
import type { BrainErrorKind } from '../../../../src/brain/brain.ts';
import {
  eventError,
  httpError,
  networkError,
  type Peer,
} from '../../../../src/brain/cloud/errors.ts';

const KEY = 'my-own-key-42/+=';
const peer: Peer = {
  name: 'OpenAI',
  url: new URL('https://api.openai.com/v1'),
  model: 'gpt-x',
  preset: 'openai',
  secrets: [KEY],
};
const NOW = Date.UTC(2026, 10, 29, 14, 0, 0);

const answer = (status: number, body: unknown, retryAfter: string | null = null) =>
  httpError(
    { status, body: typeof body === 'string' ? body : JSON.stringify(body), retryAfter },
    peer,
    NOW,
  );

const CASES: readonly [string, number, unknown, BrainErrorKind][] = [
  [
    'OpenAI, a wrong key',
    401,
    {
      error: {
        message: `Incorrect API key provided: ${KEY}.`,
        type: 'invalid_request_error',
        param: null,
        code: 'invalid_api_key',
      },
    },
    'auth',
  ],
  [
    'OpenAI, no credit left',
    429,
    {
      error: {
        message: 'You exceeded your current quota, please check your plan and billing details.',
        type: 'insufficient_quota',
        code: 'insufficient_quota',
      },
    },
    'payment',
  ],
  [
    'OpenAI, too many requests',
    429,
    {
      error: {
        message: 'Rate limit reached for gpt-x. Please try again in 6.2s.',
        type: 'requests',
        code: 'rate_limit_exceeded',
      },
    },
    'rate',
  ],
  [
    'OpenAI, no such model',
    404,
    {
      error: {
        message: 'The model `gpt-x` does not exist or you do not have access to it.',
        type: 'invalid_request_error',
        code: 'model_not_found',
      },
    },
    'model',
  ],
  [
    'OpenAI, too long',
    400,
    {
      error: {
        message: "This model's maximum context length is 8192 tokens.",
        code: 'context_length_exceeded',
      },
    },
    'context',
  ],
  [
    'OpenAI, a region it does not serve',
    403,
    {
      error: {
        code: 'unsupported_country_region_territory',
        message: 'Country, region, or territory not supported',
      },
    },
    'refused',
  ],
  [
    'OpenAI, a bad schema',
    400,
    {
      error: {
        message: "Invalid schema for function 'x'",
        type: 'invalid_request_error',
        code: 'invalid_function_parameters',
      },
    },
    'protocol',
  ],
  [
    'OpenRouter, no credit',
    402,
    { error: { code: 402, message: 'Insufficient credits' } },
    'payment',
  ],
  [
    'OpenRouter, a flagged prompt',
    403,
    { error: { code: 403, message: 'Your input was flagged', metadata: { reasons: ['x'] } } },
    'refused',
  ],
  [
    'OpenRouter, no such model',
    400,
    { error: { code: 400, message: 'foo/bar is not a valid model ID' } },
    'model',
  ],
  [
    'OpenRouter, the model is down',
    502,
    { error: { code: 502, message: 'Provider returned error' } },
    'server',
  ],
  [
    'Anthropic, a wrong key',
    401,
    { type: 'error', error: { type: 'authentication_error', message: 'invalid x-api-key' } },
    'auth',
  ],
  [
    'Anthropic, no credit',
    400,
    {
      type: 'error',
      error: {
        type: 'invalid_request_error',
        message: 'Your credit balance is too low to access the Anthropic API.',
      },
    },
    'payment',
  ],
  [
    'Anthropic, too long',
    400,
    {
      type: 'error',
      error: {
        type: 'invalid_request_error',
        message: 'prompt is too long: 210000 tokens > 200000 maximum',
      },
    },
    'context',
  ],
  [
    'Anthropic, too large',
    413,
    {
      type: 'error',
      error: { type: 'request_too_large', message: 'Request exceeds the maximum size' },
    },
    'context',
  ],
  [
    'Anthropic, no such model',
    404,
    { type: 'error', error: { type: 'not_found_error', message: 'model: claude-nope' } },
    'model',
  ],
  [
    'Anthropic, overloaded',
    529,
    { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } },
    'server',
  ],
  [
    'Gemini, a wrong key',
    400,
    {
      error: {
        code: 400,
        message: 'API key not valid. Please pass a valid API key.',
        status: 'INVALID_ARGUMENT',
        details: [{ reason: 'API_KEY_INVALID' }],
      },
    },
    'auth',
  ],
  [
    'Gemini, a free tier used up',
    429,
    {
      error: {
        code: 429,
        message: 'You exceeded your current quota, please check your plan and billing details.',
        status: 'RESOURCE_EXHAUSTED',
        details: [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '34s' }],
      },
    },
    'rate',
  ],
  [
    'Gemini, no such model',
    404,
    {
      error: {
        code: 404,
        message: 'models/nope is not found for API version v1beta',
        status: 'NOT_FOUND',
      },
    },
    'model',
  ],
  [
    'Gemini, too long',
    400,
    {
      error: {
        code: 400,
        message: 'The input token count (1200000) exceeds the maximum number of tokens allowed',
        status: 'INVALID_ARGUMENT',
      },
    },
    'context',
  ],
  [
    'Gemini, in a list',
    503,
    [{ error: { code: 503, message: 'The model is overloaded.', status: 'UNAVAILABLE' } }],
    'server',
  ],
  [
    'Mistral, a parameter it does not know',
    422,
    { object: 'error', message: { detail: [{ type: 'extra_forbidden', loc: ['body', 'seed'] }] } },
    'protocol',
  ],
  ['Mistral, a wrong key', 401, { message: 'Unauthorized', request_id: 'x' }, 'auth'],
  [
    'Ollama, no such model',
    404,
    { error: 'model "gpt-x" not found, try pulling it first' },
    'model',
  ],
  [
    'llama.cpp, too long',
    400,
    {
      error: {
        code: 400,
        message: 'the request exceeds the available context size, try increasing it',
        type: 'exceed_context_size_error',
      },
    },
    'context',
  ],
  [
    'llama.cpp, still loading',
    503,
    { error: { code: 503, message: 'Loading model', type: 'unavailable_error' } },
    'server',
  ],
  ['a page that is not there', 404, '<html><title>404</title><h1>Not Found</h1></html>', 'model'],
  ['a proxy that failed', 502, '<html><h1>Bad gateway</h1></html>', 'server'],
  ['an empty body', 500, '', 'server'],
];

describe('an HTTP answer', () => {
  test.each(CASES)('%s', (_name, status, body, kind) => {
    const error = answer(status, body);
    expect(error.kind).toBe(kind);
    for (const sentence of [error.message, error.advice])
      expect(sentence).toMatch(/^[A-Z“"].*\.$/s);
    expect(JSON.stringify(error)).not.toContain(KEY);
    expect(error.detail).not.toContain('<');
  });

  test('tells a wrong address from a wrong model', () => {
    expect(answer(404, '<h1>Not Found</h1>').message).toContain('no model interface at');
    expect(answer(404, { error: { message: 'model not found' } }).message).toContain(
      'no model "gpt-x"',
    );
  });

  test.each([
    ['seconds in the header', '20', {}, 20_000],
    ['a date in the header', new Date(NOW + 90_000).toUTCString(), {}, 90_000],
    ['a date that has passed', new Date(NOW - 5_000).toUTCString(), {}, 0],
    ['RetryInfo', null, { error: { details: [{ retryDelay: '34.5s' }] } }, 34_500],
    ['words', null, { error: { message: 'Please try again in 6.2s.' } }, 6_200],
    ['words in milliseconds', null, { error: { message: 'Please try again in 120ms.' } }, 120],
    ['nothing', null, {}, undefined],
  ])('reads how long to wait from %s', (_name, header, body, ms) => {
    expect(answer(429, body, header).retryAfterMs).toBe(ms);
  });

  test('says the wait in words', () => {
    expect(answer(429, {}, '20').advice).toBe('Try again in 20 seconds.');
    expect(answer(429, {}, '1').advice).toBe('Try again in a second.');
    expect(answer(429, {}, '600').advice).toBe('Try again in 10 minutes.');
    expect(answer(429, {}, '86400').advice).toBe('Try again in 24 hours.');
  });

  test('cuts what a host writes to a length that a report can hold', () => {
    expect(answer(500, 'x'.repeat(50_000)).detail!.length).toBeLessThanOrEqual(600);
  });
});

test('an error event without a reason of its own is a failure of the host', () => {
  expect(eventError({ error: { message: 'oops' } }, peer, NOW)).toMatchObject({
    kind: 'server',
    message: 'OpenAI failed in the middle of the answer.',
  });
  expect(eventError({ error: { code: 429, message: 'slow down' } }, peer, NOW).kind).toBe('rate');
});

describe('no answer', () => {
  const fails = () => Promise.reject(new TypeError('Failed to fetch'));
  const answers = () => Promise.resolve(new Response());

  test('asks the host for nothing, without the key, to learn whether it is there', async () => {
    const probes: [string, RequestInit | undefined][] = [];
    await networkError(
      new TypeError('Failed to fetch'),
      peer,
      (input, init) => {
        probes.push([String(input), init]);
        return answers();
      },
      true,
    );
    expect(probes).toHaveLength(1);
    const [url, init] = probes[0]!;
    expect(url).toBe('https://api.openai.com/');
    expect(init).toMatchObject({ mode: 'no-cors', credentials: 'omit' });
    expect(init?.headers).toBeUndefined();
    expect(init?.body).toBeUndefined();
  });

  test('says what to set on a server of one’s own', async () => {
    const own: Peer = {
      ...peer,
      name: 'LM Studio',
      url: new URL('http://192.168.1.5:1234/v1'),
      preset: 'lmstudio',
      hint: 'Start its server with --cors.',
    };
    const refused = await networkError(new TypeError('x'), own, answers, true);
    expect(refused).toMatchObject({ kind: 'cors', advice: 'Start its server with --cors.' });
    const gone = await networkError(new TypeError('x'), own, fails, true);
    expect(gone.kind).toBe('unreachable');
    expect(gone.message).toBe('192.168.1.5:1234 did not answer.');
    expect(gone.advice).toContain('Check that the server runs');
  });
});
