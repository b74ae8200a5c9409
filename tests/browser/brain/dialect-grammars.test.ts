import { commands } from 'vitest/browser';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ToolSpec } from '../../../src/brain/brain.ts';
import type { ReplyEvent } from '../../../src/brain/local/dialect/dialect.ts';
import { DIALECTS } from '../../../src/brain/local/dialect/families.ts';
import { download } from '../../../src/brain/local/downloads.ts';
import type { HostedEngine } from '../../../src/brain/local/engines/client.ts';
import { createWebllm } from '../../../src/brain/local/engines/webllm.ts';
import { createWllama } from '../../../src/brain/local/engines/wllama.ts';
import { removeFiles } from '../../../src/brain/local/files.ts';
import type { Notation } from '../../../src/brain/local/grammar.ts';
import type { CatalogueRow, Family } from '../../../src/brain/local/types.ts';
import { everything, getWeather, searchFlights } from '../../unit/brain/local/tools.ts';
import { ask, chat, never, randomGguf, read, tinyGemma } from './rows.ts';

/** No free text in its arguments: random weights write bytes that are no text. */
const lamp: ToolSpec = {
  name: 'set_lamp',
  description: 'Set a lamp.',
  inputSchema: {
    type: 'object',
    properties: {
      room: { type: 'string', enum: ['kitchen', 'hall'] },
      level: { type: 'integer', enum: [1, 2, 3] },
      on: { type: 'boolean' },
      scene: { type: 'object', properties: { name: { const: 'dawn' } }, required: ['name'] },
      days: { type: 'array', items: { enum: ['mon', 'tue'] }, minItems: 1, maxItems: 2 },
    },
    required: ['room', 'level'],
  },
};
const families = Object.keys(DIALECTS) as Family[];

const ENGINES: readonly {
  readonly name: string;
  readonly notation: Notation;
  readonly create: () => HostedEngine;
  readonly row: (server: string) => Promise<CatalogueRow>;
}[] = [
  { name: 'wllama', notation: 'gbnf', create: createWllama, row: randomGguf },
  { name: 'WebLLM', notation: 'ebnf', create: createWebllm, row: tinyGemma },
];

// The engines' own parsers of grammars, llama.cpp's and xgrammar's, with models that know nothing of
// any of these families: what comes out is the grammar's doing alone.
describe.each(ENGINES)('every family’s grammar in $name', ({ notation, create, row: make }) => {
  let row: CatalogueRow;
  const engine = create();

  beforeAll(async () => {
    const server = await commands.startFileServer();
    row = await make(server);
    await download(row, { signal: never(), onProgress: () => undefined });
    await commands.stopFileServer(server);
    await engine.load(row, () => undefined, never());
  });
  afterAll(async () => {
    await engine.unload();
    await removeFiles(row);
  });

  test.each(families)('%s: what it lets through is a call of the offered tool', async (family) => {
    const dialect = DIALECTS[family];
    const request = {
      now: '',
      messages: [],
      tools: [lamp],
      toolChoice: 'required' as const,
    };
    const { text, done } = await read(
      engine,
      ask(chat(['Hello']), {
        grammar: dialect.grammar(request, notation),
        maxTokens: 900,
        sampling: { temperature: 1, seed: 1 },
      }),
    );
    const reader = dialect.reader(request);
    const events: ReplyEvent[] = [...reader.push(text), ...reader.end(false)];
    expect(done.reason).toBe('stop');
    expect(events.length).toBeGreaterThan(0);
    for (const event of events) {
      expect(event).toMatchObject({ type: 'call', name: 'set_lamp' });
      expect(event).toHaveProperty('args.room', expect.stringMatching(/^(?:kitchen|hall)$/));
      expect(event).toHaveProperty('args.level', expect.any(Number));
      expect(event).not.toHaveProperty('mended');
    }
  });

  test.each(families)(
    '%s: with every type of argument, text and thinking it parses',
    async (family) => {
      const request = {
        now: '',
        messages: [],
        tools: [searchFlights, getWeather, everything, lamp],
        toolChoice: 'auto' as const,
        think: true,
      };
      const grammar = DIALECTS[family].grammar(request, notation);
      const { done } = await read(engine, ask(chat(['Hello']), { grammar, maxTokens: 2 }));
      expect(done.outputTokens).toBeGreaterThan(0);
    },
  );
});
