import { commands } from 'vitest/browser';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type {
  BrainMessage,
  BrainRequest,
  BrainUsage,
  ModelCall,
  ToolSpec,
} from '../../../src/brain/brain.ts';
import { createLocalBrain } from '../../../src/brain/local/brain.ts';
import { dialectOf } from '../../../src/brain/local/dialect/families.ts';
import { download } from '../../../src/brain/local/downloads.ts';
import type { HostedEngine } from '../../../src/brain/local/engines/client.ts';
import { createEngine } from '../../../src/brain/local/engines/engines.ts';
import { removeFiles } from '../../../src/brain/local/files.ts';
import type { CatalogueRow, Family } from '../../../src/brain/local/types.ts';
import { never, randomGguf, tinyGemma } from './rows.ts';

type Said = Extract<BrainMessage, { role: 'assistant' }>;

const call = (name: string, args: ModelCall['args']): ModelCall => ({
  id: name,
  name,
  args,
  raw: name,
});
/** What the model says in the three steps of a turn. */
const STEPS: readonly Said[] = [
  { role: 'assistant', text: '', calls: [call('find_weather', { city: 'Mumbai', hours: 8 })] },
  {
    role: 'assistant',
    text: '',
    calls: [
      call('find_flights', { city: 'Delhi', hours: 12 }),
      call('find_hotels', { city: 'Delhi', hours: 12 }),
    ],
  },
  { role: 'assistant', text: 'Light rain in Mumbai, and two flights to Delhi.', calls: [] },
];
const RESULT = '{"city":"Mumbai","sky":"light rain","high_c":29}';
const SYSTEM =
  'You are Deft, an assistant on the phone of a person. Answer in short plain sentences. Use a tool where one fits, and say so where none does. Never make up what a tool would know.';
const TOOLS: readonly ToolSpec[] = ['weather', 'flights', 'hotels', 'trains'].map((name) => ({
  name: `find_${name}`,
  description: `Find ${name} of a city for a day, as a short list of what is known about it.`,
  inputSchema: {
    type: 'object',
    properties: {
      city: { type: 'string', enum: ['Mumbai', 'Delhi'], description: 'Name of the city.' },
      hours: { type: 'integer', enum: [8, 12, 18], description: 'Hours to look ahead.' },
    },
    required: ['city', 'hours'],
  },
}));

interface Step {
  readonly usage: Required<Pick<BrainUsage, 'promptTokens' | 'cachedTokens'>>;
  readonly calls: readonly ModelCall[];
  readonly text: string;
}

describe.each([
  ['WebLLM', tinyGemma],
  ['wllama', randomGguf],
] as const)('the prefix of a conversation on %s', (_name, rowOf) => {
  let row: CatalogueRow;
  let engine: HostedEngine;

  beforeAll(async () => {
    const server = await commands.startFileServer();
    row = { ...(await rowOf(server)), contextTokens: 4096 };
    await download(row, { signal: never(), onProgress: () => undefined });
    await commands.stopFileServer(server);
    engine = createEngine[row.engine]();
    await engine.load(row, () => undefined, never());
  });
  afterAll(async () => {
    await engine.unload();
    await removeFiles(row);
  });

  /** A turn, and one that follows it, in a family's language. */
  async function converse(family: Family): Promise<{ first: Step[]; second: Step[] }> {
    // Neither model knows our tools: a grammar says what they say.
    let grammar = '';
    const brain = createLocalBrain({
      row: { ...row, family },
      engine: {
        load: () => Promise.resolve(),
        generate: (request, signal) => engine.generate({ ...request, grammar }, signal),
        unload: () => Promise.resolve(),
      },
    });
    const messages: BrainMessage[] = [];
    const request = (): Omit<BrainRequest, 'toolChoice'> => ({
      system: SYSTEM,
      now: 'Sunday 2026-11-29 14:05, Asia/Kolkata',
      messages,
      tools: TOOLS,
      maxTokens: 200,
    });

    async function step(says: Said): Promise<Step> {
      const dialect = dialectOf({ ...row, family });
      const asked = { ...request(), toolChoice: 'auto', think: false } as const;
      const reply = dialect.render({ ...asked, messages: [...messages, says] }).at(-2);
      grammar = `root ::= ${JSON.stringify(reply)}`;
      const calls: ModelCall[] = [];
      let text = '';
      let usage: BrainUsage = {};
      for await (const event of brain.stream(asked, never())) {
        if (event.type === 'call') calls.push(event.call);
        if (event.type === 'text') text += event.text;
        if (event.type === 'usage') ({ usage } = event);
        if (event.type === 'end') expect(event).not.toHaveProperty('error');
        if (event.type === 'end') expect(event.reason).toBe(calls.length > 0 ? 'calls' : 'stop');
      }
      expect(calls.map(({ name }) => name)).toEqual(says.calls.map(({ name }) => name));
      const { promptTokens = 0, cachedTokens = 0 } = usage;
      return { usage: { promptTokens, cachedTokens }, calls, text };
    }

    async function turn(words: string): Promise<Step[]> {
      messages.push({ role: 'user', text: words });
      const steps: Step[] = [];
      for (const says of STEPS) {
        const done = await step(says);
        steps.push(done);
        messages.push({ role: 'assistant', text: done.text, calls: done.calls });
        for (const { id, name } of done.calls)
          messages.push({ role: 'tool', callId: id, name, text: RESULT, isError: false });
      }
      return steps;
    }

    return {
      first: await turn('What is the weather in Mumbai in the next 8 hours?'),
      second: await turn('And the flights to Delhi in the next 12 hours?'),
    };
  }

  /** Tokens that were read, of those that would be read where nothing is kept. */
  function share(steps: readonly Step[]): number {
    const whole = steps.reduce((sum, { usage }) => sum + usage.promptTokens, 0);
    const cached = steps.reduce((sum, { usage }) => sum + usage.cachedTokens, 0);
    expect(whole).toBeGreaterThan(500);
    return (whole - cached) / whole;
  }

  test('is read once: a tool turn of three steps reads at most a fifth of what it would read anew', async () => {
    const { first, second } = await converse('qwen3');
    expect(share(second)).toBeLessThanOrEqual(0.2);
    // The first turn of a conversation has to read its tools once.
    expect(share(first.slice(1))).toBeLessThanOrEqual(0.2);
  });

  // The weights of this app know the tools in the newest turn only: its first step reads them anew.
  test('is read once a turn by the starter: each step behind the first reads at most a fifth', async () => {
    const { first, second } = await converse('gemma3');
    for (const turn of [first, second]) expect(share(turn.slice(1))).toBeLessThanOrEqual(0.2);
  });
});
