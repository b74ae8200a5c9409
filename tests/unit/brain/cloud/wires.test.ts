/** Every wire keeps the same promises, over real HTTP against a server that is as strict as its host. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { BrainErrorKind } from '../../../../src/brain/brain.ts';
import { startCloud, type CloudServer } from '../../../servers/cloud.ts';
import { KEY, NOW, TRAVEL, TRAVEL_TOOLS, WIRES, ask, brainAt, collect, runTurn } from './bench.ts';

let server: CloudServer;
beforeAll(async () => {
  server = await startCloud();
});
afterAll(() => server.close());

describe.each(WIRES)('$kind', ({ kind, path }) => {
  const at = (model: string, options: Parameters<typeof brainAt>[3] = {}) =>
    brainAt(server.url + path, kind, model, options);

  test('streams text in pieces and stops', async () => {
    const answer = await collect(await at('strong'), ask('Count to 20.'));
    expect(answer.text).toBe(Array.from({ length: 20 }, (_, n) => n + 1).join(' '));
    expect(answer.events.filter(({ type }) => type === 'text').length).toBeGreaterThan(5);
    expect(answer.end).toBe('stop');
  });

  test('shows the exact body that leaves the phone, and to whom, before anything comes back', async () => {
    const before = server.requests.length;
    const answer = await collect(await at('strong'), ask('Say hello.'));
    expect(answer.events[0]?.type).toBe('sent');
    expect(answer.sent).toHaveLength(1);
    const request = server.requests[before];
    expect(JSON.parse(answer.sent[0]!.text)).toEqual(request?.body);
    expect(answer.sent[0]!.to).toBe(new URL(server.url).host);
    expect(answer.sent[0]!.text).not.toContain(KEY);
    expect(answer.sent[0]!.text).toContain(`Now: ${NOW}`);
  });

  test('sends the key in a header only, and no header that a host may refuse', async () => {
    const before = server.requests.length;
    await collect(await at('strong'), ask('Say hello.'));
    const { headers, path: asked } = server.requests[before]!;
    expect(asked).not.toContain(KEY);
    const carriers = Object.entries(headers).filter(([, value]) => value?.includes(KEY));
    expect(carriers.map(([name]) => name)).toEqual([
      { openai: 'authorization', anthropic: 'x-api-key', gemini: 'x-goog-api-key' }[kind],
    ]);
    expect(
      Object.keys(headers).filter((name) =>
        /^(x-stainless|http-referer|x-title|referer)/.test(name),
      ),
    ).toEqual([]);
  });

  test('tells thinking from text', async () => {
    const answer = await collect(await at('strong-think'), ask('Say hello.'));
    expect(answer.thinking).toContain('The user said');
    expect(answer.text).toBe('Hello.');
  });

  test('gives a call with its arguments parsed', async () => {
    const answer = await collect(
      await at('strong'),
      ask('What is the weather in Mumbai tomorrow?', { tools: TRAVEL_TOOLS }),
    );
    expect(answer.end).toBe('calls');
    expect(answer.calls).toMatchObject([
      { name: 'get_weather', args: { city: 'Mumbai', date: '2026-11-30' } },
    ]);
    expect(JSON.parse(answer.calls[0]!.raw)).toEqual(answer.calls[0]!.args);
  });

  test('keeps parallel calls apart though their arguments come mixed', async () => {
    const answer = await collect(await at('strong'), ask(TRAVEL, { tools: TRAVEL_TOOLS }));
    expect(answer.calls.map(({ name }) => name)).toEqual(['search_flights', 'get_weather']);
    expect(answer.calls[0]!.args).toEqual({
      origin: 'Delhi',
      destination: 'Goa',
      date: '2026-12-04',
      part: 'morning',
    });
    expect(answer.calls[1]!.args).toEqual({ city: 'Goa', date: '2026-12-04' });
    expect(new Set(answer.calls.map(({ id }) => id)).size).toBe(2);
  });

  test.each([
    ['light rain', 'Light rain in Goa, so take a raincoat.'],
    ['clear sky', "Clear sky in Goa, so you won't need a raincoat."],
  ])('runs the travel sentence whole, in %s', async (sky, sentence) => {
    const { answer, steps } = await runTurn(
      await at('strong'),
      ask(TRAVEL, { tools: TRAVEL_TOOLS }),
      { sky },
    );
    expect(steps.map((calls) => calls.map(({ name }) => name))).toEqual([
      ['search_flights', 'get_weather'],
      ['add_to_itinerary'],
    ]);
    expect(steps[1]![0]!.args).toEqual({ item: 'Flight 6E 2131', date: '2026-12-04' });
    expect(answer.text).toContain('Flight 6E 2131 at 07:40 is in your itinerary');
    expect(answer.text).toContain(sentence);
  });

  test('passes days on as they were said where the system text asks for it', async () => {
    const answer = await collect(
      await at('strong'),
      ask(TRAVEL, { tools: TRAVEL_TOOLS, system: 'Pass days as the user said them.' }),
    );
    expect(answer.calls[0]!.args).toMatchObject({ date: 'next Friday' });
  });

  test('tells the model of a denied call and of a failed one', async () => {
    const request = ask(TRAVEL, { tools: TRAVEL_TOOLS });
    const denied = await runTurn(await at('strong'), request, {
      sky: 'clear sky',
      denied: 'add_to_itinerary',
    });
    expect(denied.answer.text).toContain('I did not save it');
    const broken = await runTurn(await at('strong'), request, {
      sky: 'clear sky',
      broken: 'search_flights',
    });
    expect(broken.answer.text).toContain('The flight search failed: the booking system is down');
  });

  test('hands sealed reasoning back with the results, and does without it where it is lost', async () => {
    const brain = await at('strong-think');
    const request = ask(TRAVEL, { tools: TRAVEL_TOOLS });
    const { messages } = await runTurn(brain, request, { sky: 'clear sky' });
    const seals = server.requests
      .slice(-2)
      .map(({ body }) => JSON.stringify(body).includes('sealed:'));
    if (kind !== 'openai') expect(seals).toEqual([true, true]);

    // Another brain of the same host, e.g. after a reload.
    const fresh = await collect(await at('strong-think'), { ...request, messages });
    expect(fresh.error).toBeUndefined();
    expect(fresh.text).toContain('6E 2131');
  });

  test('keeps call ids apart over a conversation, whatever the host calls them', async () => {
    const { steps } = await runTurn(await at('strong'), ask(TRAVEL, { tools: TRAVEL_TOOLS }), {
      sky: 'clear sky',
    });
    const ids = steps.flat().map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
  });

  test('counts tokens and time', async () => {
    const brain = await at('strong');
    const { usage } = await collect(brain, ask('Count to 50.'));
    expect(usage).toMatchObject({
      promptTokens: expect.any(Number),
      cachedTokens: expect.any(Number),
      outputTokens: expect.any(Number),
      firstTokenMs: expect.any(Number),
      tokensPerSecond: expect.any(Number),
    });
    expect(usage!.cachedTokens!).toBeLessThanOrEqual(usage!.promptTokens!);
    expect(usage!.cost).toBeUndefined();
  });

  test('says that an answer was cut by its length', async () => {
    const answer = await collect(await at('length'), ask('Say hello.'));
    expect(answer.end).toBe('length');
    expect(answer.text).toBe('Hello.');
  });

  test('an abort before it starts sends nothing', async () => {
    const before = server.requests.length;
    const answer = await collect(await at('strong'), ask('Hello'), AbortSignal.abort());
    expect(answer.events).toEqual([{ type: 'end', reason: 'aborted' }]);
    expect(server.requests).toHaveLength(before);
  });

  test('an abort in the middle ends it at once, keeps the text, and hangs up', async () => {
    const control = new AbortController();
    const answer = await collect(
      await at('slow'),
      ask('Count to 500.'),
      control.signal,
      (event) => {
        if (event.type === 'text') control.abort();
      },
    );
    expect(answer.end).toBe('aborted');
    expect(answer.text).toMatch(/^1/);
    expect(answer.text).not.toContain('20');
  });

  test('an abort ends it even while the host is silent', async () => {
    const control = new AbortController();
    const answer = await collect(await at('silent'), ask('Hello'), control.signal, (event) => {
      if (event.type === 'sent') queueMicrotask(() => control.abort());
    });
    expect(answer.end).toBe('aborted');
  });

  const faults: readonly [string, BrainErrorKind, RegExp, Parameters<typeof brainAt>[3]?][] = [
    ['strong', 'auth', /refused the key/, { key: 'bad-key-0123456789' }],
    ['missing', 'model', /no model "missing"/],
    ['rate', 'rate', /asks to wait/],
    ['payment', 'payment', /no credit/],
    ['context', 'context', /too long for context/],
    ['server', 'server', /failed while/],
    ['overloaded', 'server', /overloaded/],
    ['html', 'protocol', /web page/],
    ['redirect', 'protocol', /sends this request on/],
    ['garbage', 'protocol', /makes no sense/],
    ['cut', 'server', /broke in the middle/],
    ['unfinished', 'protocol', /ended before it was finished/],
    ['fault', 'server', /overloaded|failed in the middle|failed while/],
    ['refuse', 'refused', /would not answer/],
    ['hang', 'stalled', /sent nothing/, { stallMs: 1_500 }],
    ['silent', 'stalled', /sent nothing/, { stallMs: 60 }],
    ['huge', 'protocol', /did not end/, { maxBytes: 200_000 }],
  ];
  test.each(faults)('%s is told as %s', async (model, errorKind, words, options) => {
    const answer = await collect(await at(model, options), ask('Count to 30.'));
    expect(answer.error).toMatchObject({ kind: errorKind, message: expect.stringMatching(words) });
    expect(answer.error!.advice).toMatch(/\.$/);
    expect(answer.error!.message).toMatch(/\.$/);
    expect(JSON.stringify(answer.events)).not.toContain(options?.key ?? KEY);
    if (['cut', 'hang', 'fault', 'unfinished', 'huge'].includes(model))
      expect(answer.text).toMatch(/^1 2 3/);
    expect(answer.calls).toEqual([]);
  });

  test('says how long to wait where the host said so', async () => {
    const answer = await collect(await at('rate'), ask('Hello'));
    expect(answer.error).toMatchObject({
      retryAfterMs: 7_000,
      advice: 'Try again in 7 seconds.',
    });
  });

  test('gives no calls of an answer that was cut off', async () => {
    const answer = await collect(await at('unfinished'), ask(TRAVEL, { tools: TRAVEL_TOOLS }));
    expect(answer.calls).toEqual([]);
    expect(answer.end).toBe('error');
  });

  test('gives a malformed call as it was written, and a right one when told', async () => {
    const brain = await at('badcall');
    const { steps, answer } = await runTurn(brain, ask(TRAVEL, { tools: TRAVEL_TOOLS }), {
      sky: 'clear sky',
    });
    expect(steps[0]).toMatchObject([{ name: 'search_flights', args: null }]);
    expect(steps[0]![0]!.raw).toContain('"origin": "Del');
    expect(steps[1]!.map(({ args }) => args)).not.toContain(null);
    expect(answer.text).toContain('6E 2131');
  });

  test('a call that fails its schema is made right when told', async () => {
    const { steps, answer } = await runTurn(
      await at('badargs'),
      ask(TRAVEL, { tools: TRAVEL_TOOLS }),
      { sky: 'clear sky' },
    );
    expect(steps[0]![0]!.args).not.toHaveProperty('origin');
    expect(steps[1]![0]!.args).toHaveProperty('origin', 'Delhi');
    expect(answer.text).toContain('6E 2131');
  });

  test('does without parameters that a host refuses, and remembers it', async () => {
    const brain = await at('picky');
    const request = ask('What is the weather in Goa tomorrow?', {
      tools: TRAVEL_TOOLS,
      temperature: 0,
    });
    const first = await collect(brain, request);
    expect(first.calls).toMatchObject([{ name: 'get_weather' }]);
    expect(first.sent.length).toBeGreaterThan(1);
    const second = await collect(brain, request);
    expect(second.sent).toHaveLength(1);
    expect(second.calls).toMatchObject([{ name: 'get_weather' }]);
  });

  test('a host that is not there is unreachable, without a network it is offline', async () => {
    const gone = await startCloud();
    await gone.close();
    const away = await brainAt(gone.url + path, kind, 'strong');
    expect((await collect(away, ask('Hello'))).error).toMatchObject({
      kind: 'unreachable',
      message: expect.stringContaining('did not answer'),
    });
    const offline = await brainAt(gone.url + path, kind, 'strong', { online: () => false });
    expect((await collect(offline, ask('Hello'))).error).toMatchObject({
      kind: 'offline',
      message: 'There is no network.',
    });
  });

  test('a host that answers nothing but a bare request refuses browsers', async () => {
    // As a browser does with a host that has no CORS: the request fails, a no-cors one does not.
    const brain = await at('strong', {
      fetch: (input, init) =>
        init?.mode === 'no-cors'
          ? fetch(input, init)
          : Promise.reject(new TypeError('Failed to fetch')),
    });
    expect((await collect(brain, ask('Hello'))).error).toMatchObject({ kind: 'cors' });
  });

  test('leaving off early hangs up', async () => {
    const brain = await at('slow');
    for await (const event of brain.stream(ask('Count to 500.'), new AbortController().signal))
      if (event.type === 'text') break;
    // The server's close waits for open streams unless they were hung up.
    expect((await collect(await at('strong'), ask('Say yes.'))).text).toBe('Yes.');
  });
});

describe('what only one wire has', () => {
  test('OpenRouter says what an answer cost', async () => {
    const brain = await brainAt(`${server.url}/api/v1`, 'openai', 'openrouter/auto');
    expect((await collect(brain, ask('Hello'))).usage?.cost).toBeGreaterThan(0);
  });

  test('OpenRouter gets its sealed reasoning back whole', async () => {
    const brain = await brainAt(`${server.url}/api/v1`, 'openai', 'strong-think');
    const { answer } = await runTurn(brain, ask(TRAVEL, { tools: TRAVEL_TOOLS }), {
      sky: 'clear sky',
    });
    const body = server.requests.at(-1)!.body as { messages: Record<string, unknown>[] };
    const calling = body.messages.filter(({ tool_calls: calls }) => calls);
    expect(calling).toHaveLength(2);
    for (const message of calling)
      expect(message.reasoning_details).toEqual([
        { type: 'reasoning.text', index: 0, text: answer.thinking },
      ]);
  });

  test('a compatible host that does not stream is understood', async () => {
    const brain = await brainAt(`${server.url}/v1`, 'openai', 'whole');
    const plain = await collect(brain, ask('Say hello.'));
    expect(plain).toMatchObject({ text: 'Hello.', end: 'stop' });
    const calls = await collect(brain, ask(TRAVEL, { tools: TRAVEL_TOOLS }));
    expect(calls.calls.map(({ name }) => name)).toEqual(['search_flights', 'get_weather']);
  });

  test('Ollama’s refusal comes with what to set there', async () => {
    const refusing = await brainAt(`${server.url}/v1`, 'openai', 'strong', {
      preset: 'ollama',
      key: '',
      fetch: () => Promise.resolve(new Response('', { status: 403 })),
    });
    expect((await collect(refusing, ask('Hello'))).error).toMatchObject({
      kind: 'cors',
      advice: expect.stringContaining('OLLAMA_ORIGINS'),
    });
  });
});
