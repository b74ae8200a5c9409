/** Every primitive of the public server-everything, over Streamable HTTP and over HTTP+SSE. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { BoundAsks, CallEnd } from '../../../src/mcp/connection.ts';
import type { ElicitRequest, SampleRequest } from '../../../src/mcp/types.ts';
import { startEverything, type Everything } from '../../servers/everything.ts';
import { connected, toolFrom } from './connecting.ts';
import { never, until } from './setup.ts';

function text(end: CallEnd): string {
  return end.kind === 'answer' ? String(end.content.map((block) => block.text).join('\n')) : '';
}

describe.each(['streamableHttp', 'sse'] as const)('server-everything over %s', (kind) => {
  let server: Everything;
  beforeAll(async () => {
    server = await startEverything(kind);
  }, 60_000);
  afterAll(() => server.close());

  it('is found in its era and over its transport, and says what it can do', async () => {
    const { connection } = await connected(server.url);
    expect(connection).toMatchObject({
      era: 'legacy',
      transport: kind === 'sse' ? 'sse' : 'http',
      title: 'Everything Reference Server',
      can: { tools: true, prompts: true, resources: true, subscribe: true, logging: true },
    });
    expect(connection.instructions).toMatch(/Everything/);
  });

  it('lists its tools, prompts, resources and templates', async () => {
    const { connection } = await connected(server.url);
    const listed = await connection.list();
    if (!listed.ok) throw new Error(listed.error.message);
    const { tools, prompts, resources, templates, cut } = listed.list;
    expect(tools.map(({ name }) => name)).toContain('echo');
    expect(prompts.map(({ name }) => name)).toContain('completable-prompt');
    expect(resources.length).toBeGreaterThan(3);
    expect(templates.map(({ uriTemplate }) => uriTemplate)).toContain(
      'demo://resource/dynamic/text/{resourceId}',
    );
    expect(cut).toEqual([]);
    // Nothing was announced, so nothing is offered that would ask for it.
    expect(tools.map(({ name }) => name)).not.toContain('trigger-elicitation-request');
    expect(tools.map(({ name }) => name)).not.toContain('get-roots-list');
  });

  it('is called, with progress, and answers with text, images and structured data', async () => {
    const { connection } = await connected(server.url);
    const sum = await toolFrom(connection, 'get-sum');
    expect(text(await connection.call(sum, { a: 2, b: 3 }, never()))).toMatch(/5/);
    const image = await toolFrom(connection, 'get-tiny-image');
    const shown = await connection.call(image, {}, never());
    expect(shown).toMatchObject({ kind: 'answer', isError: false });
    expect(shown.kind === 'answer' && shown.content.map(({ type }) => type)).toContain('image');
    const weather = await toolFrom(connection, 'get-structured-content');
    const structured = await connection.call(weather, { location: 'New York' }, never());
    expect(structured).toMatchObject({ structured: { conditions: expect.any(String) } });
    expect(structured).not.toHaveProperty('note');
    const long = await toolFrom(connection, 'trigger-long-running-operation');
    const seen: number[] = [];
    await connection.call(long, { duration: 0.2, steps: 4 }, never(), {
      progress: ({ progress }) => seen.push(progress),
    });
    // The last one may come together with the answer, when nobody waits for it any more.
    expect(seen.slice(0, 3)).toEqual([1, 2, 3]);
  });

  it('gives its prompts, and completes their arguments by what is filled in already', async () => {
    const { connection } = await connected(server.url);
    const ref = { type: 'prompt', name: 'completable-prompt' } as const;
    const first = { name: 'department', value: 'S' };
    expect(await connection.complete(ref, first, {}, never())).toMatchObject({
      ok: true,
      value: { values: ['Sales', 'Support'], hasMore: false },
    });
    const second = { name: 'name', value: '' };
    expect(await connection.complete(ref, second, { department: 'Sales' }, never())).toMatchObject({
      value: { values: ['David', 'Eve', 'Frank'] },
    });
    const args = { department: 'Sales', name: 'Eve' };
    expect(await connection.getPrompt('completable-prompt', args, never())).toMatchObject({
      ok: true,
      value: { messages: [{ role: 'user', content: { type: 'text' } }] },
    });
  });

  it('gives its resources, completes a template, and refuses what there is not', async () => {
    const { connection } = await connected(server.url);
    const uri = 'demo://resource/dynamic/text/1';
    expect(await connection.readResource(uri, never())).toMatchObject({
      ok: true,
      value: [{ uri, mimeType: 'text/plain', text: expect.any(String) }],
    });
    const uriTemplate = 'demo://resource/dynamic/text/{resourceId}';
    const ref = { type: 'template', uriTemplate } as const;
    const argument = { name: 'resourceId', value: '7' };
    expect(await connection.complete(ref, argument, {}, never())).toMatchObject({
      value: { values: ['7'] },
    });
    const none = await connection.readResource('demo://nothing/here', never());
    expect(none).toMatchObject({
      ok: false,
      sessionGone: false,
      error: { message: 'Test did not give this.', advice: expect.stringMatching(/^It says: /) },
    });
  });

  it('tells when a watched resource changes, until nobody watches it', async () => {
    const { connection } = await connected(server.url);
    let updates = 0;
    const watched = await connection.watch('demo://resource/dynamic/text/1', () => {
      updates += 1;
    });
    if (!watched.ok) throw new Error(watched.error.message);
    await connection.call(await toolFrom(connection, 'toggle-subscriber-updates'), {}, never());
    await until(() => updates > 0);
    watched.value();
  });

  it('puts its log where the connection says', async () => {
    const { connection, log } = await connected(server.url);
    await connection.watch('demo://resource/dynamic/text/2', () => undefined);
    await until(() => log.length > 0);
    expect(log[0]).toMatchObject({ level: 'info', text: expect.stringMatching(/Subscribe/) });
  });

  it('asks the person: a form, and its answer, decline and cancel told apart', async () => {
    const asked: ElicitRequest[] = [];
    const answers: Awaited<ReturnType<BoundAsks['elicit']>>[] = [
      { action: 'accept', content: { name: 'Mira', check: true } },
      { action: 'decline' },
      { action: 'cancel' },
    ];
    const asks: BoundAsks = {
      async elicit(request) {
        asked.push(request);
        return answers[asked.length - 1] ?? { action: 'cancel' };
      },
    };
    const { connection } = await connected(server.url, { asks });
    const tool = await toolFrom(connection, 'trigger-elicitation-request');
    const said = [];
    for (let time = 0; time < answers.length; time += 1)
      said.push(text(await connection.call(tool, {}, never())));
    expect(said[0]).toMatch(/provided the requested information/);
    expect(said[0]).toMatch(/Mira/);
    expect(said[1]).toMatch(/declined/);
    expect(said[2]).toMatch(/cancelled/);
    expect(asked[0]).toMatchObject({ mode: 'form', schema: { type: 'object' } });
  });

  it('asks the person to open a page, by a request and by refusing the call', async () => {
    const urls: string[] = [];
    const asks: BoundAsks = {
      async elicit(request) {
        if (request.mode === 'url') urls.push(request.url);
        return { action: 'accept' };
      },
    };
    const { connection } = await connected(server.url, { asks, patience: { firstMs: 10 } });
    const tool = await toolFrom(connection, 'trigger-url-elicitation');
    const url = 'https://example.com/form';
    const end = await connection.call(tool, { url }, never());
    expect(end).toMatchObject({ kind: 'answer', isError: false });
    expect(urls).toEqual([url]);
    const refused = await connection.call(tool, { url, errorPath: true }, never());
    expect(refused).toMatchObject({ kind: 'answer', isError: false });
    expect(urls).toEqual([url, 'https://modelcontextprotocol.io', url]);
  });

  it('asks the model where it may, and hears a refusal', async () => {
    const asked: SampleRequest[] = [];
    const asks: BoundAsks = {
      elicit: async () => ({ action: 'cancel' }),
      async sample(request) {
        asked.push(request);
        return asked.length === 1
          ? { ok: true, text: 'Four.', model: 'small', stopReason: 'endTurn' }
          : { ok: false, refused: 'The person said no.' };
      },
    };
    const { connection } = await connected(server.url, { asks });
    const tool = await toolFrom(connection, 'trigger-sampling-request');
    const args = { prompt: 'What is two and two?', maxTokens: 20 };
    expect(text(await connection.call(tool, args, never()))).toMatch(/Four\./);
    expect(asked[0]).toMatchObject({
      maxTokens: 20,
      messages: [{ role: 'user', content: [{ type: 'text' }] }],
    });
    const refused = await connection.call(tool, args, never());
    expect(JSON.stringify(refused)).toMatch(/The person said no/);
  });

  it('offers nothing that asks the model where it may not', async () => {
    const { connection } = await connected(server.url, {
      asks: { elicit: async () => ({ action: 'cancel' }) },
    });
    const listed = await connection.list();
    const names = listed.ok ? listed.list.tools.map(({ name }) => name) : [];
    expect(names).toContain('trigger-elicitation-request');
    expect(names).not.toContain('trigger-sampling-request');
  });

  it('makes a task of a call, asks in the midst of it, and its result comes in the end', async () => {
    const asked: ElicitRequest[] = [];
    const asks: BoundAsks = {
      async elicit(request) {
        asked.push(request);
        return { action: 'accept', content: { interpretation: 'snake' } };
      },
    };
    const { connection } = await connected(server.url, { asks });
    const tool = await toolFrom(connection, 'simulate-research-query');
    const tasks: string[] = [];
    const messages: (string | undefined)[] = [];
    const end = await connection.call(tool, { topic: 'python', ambiguous: true }, never(), {
      task: (id) => tasks.push(id),
      progress: ({ message }) => messages.push(message),
    });
    expect(text(end)).toMatch(/Research Report: python \(snake\)/);
    expect(tasks).toHaveLength(1);
    expect(asked).toHaveLength(1);
    expect(messages).toContain('Gathering sources...');
  }, 20_000);
});
