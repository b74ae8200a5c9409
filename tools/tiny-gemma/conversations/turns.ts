/**
 * Writes the held-out turns that the tests play through the engine in the browser:
 *
 *   npx tsx tools/tiny-gemma/conversations/turns.ts tests/models/demo-turns.json
 *
 * As the app would ask them: messages and the names of the offered tools, not a rendered prompt, so that
 * a dialect that is no longer the one of training is seen as well. They are the first of every kind that
 * are drawn, whatever the model makes of them.
 */
import { writeFile } from 'node:fs/promises';
import type { BrainMessage, ToolSpec } from '../../../src/brain/brain.ts';
import { createChance } from './chance.ts';
import { conversation, type Conversation } from './conversation.ts';
import { openToolset } from './tools.ts';

/** Of the conversations that `build.sh test` takes, too. */
const SEED = 99;

/** How many turns of what; those after a call that failed are counted apart. */
const WANTED: Readonly<Record<string, number>> = {
  flight: 24,
  'where from': 8,
  weather: 8,
  'reminder if it rains': 12,
  itinerary: 6,
  reminder: 10,
  clock: 4,
  device: 6,
  talk: 5,
  name: 3,
  'no tool': 6,
  'tool error': 6,
  'refused call': 5,
};

export interface Turn {
  readonly kind: string;
  readonly now: string;
  readonly messages: readonly BrainMessage[];
  /** Names of the offered tools. */
  readonly tools: readonly string[];
  /** What is to be said. */
  readonly reply: string;
}

export interface Turns {
  readonly tools: readonly ToolSpec[];
  readonly turns: readonly Turn[];
}

function kindOf(kind: string, messages: readonly BrainMessage[]): string {
  const last = messages.at(-1);
  if (last?.role !== 'tool' || !last.isError) return kind;
  return last.text.includes('the user said no') ? 'refused call' : 'tool error';
}

/** The turns of one conversation in which the model is to say something. */
function turnsOf({ kind, pieces, learn, request }: Conversation): Turn[] {
  if (!request) return [];
  const { now, tools } = request;
  return learn.map((at) => {
    // Every piece after this one stands for a call and its result.
    const messages = request.messages.slice(0, request.messages.length - (pieces.length - 1 - at));
    const names = tools.map(({ name }) => name);
    return { kind: kindOf(kind, messages), now, messages, tools: names, reply: pieces[at] ?? '' };
  });
}

async function draw(): Promise<Turns> {
  const toolset = await openToolset();
  const from = { chance: createChance(SEED), heldOut: true, strange: false };
  const left = new Map(Object.entries(WANTED));
  const specs = new Map<string, ToolSpec>();
  const turns: Turn[] = [];
  while ([...left.values()].some((count) => count > 0)) {
    const drawn = await conversation(toolset, from);
    for (const turn of turnsOf(drawn)) {
      const count = left.get(turn.kind) ?? 0;
      if (count === 0) continue;
      left.set(turn.kind, count - 1);
      turns.push(turn);
      for (const tool of drawn.request?.tools ?? []) specs.set(tool.name, tool);
    }
  }
  return { tools: [...specs.values()], turns };
}

async function main([file]: readonly string[]): Promise<void> {
  if (file === undefined) {
    console.error('Usage: turns.ts FILE');
    process.exitCode = 2;
    return;
  }
  const { tools, turns } = await draw();
  const lines = (values: readonly unknown[]): string =>
    values.map((value) => JSON.stringify(value)).join(',\n');
  await writeFile(file, `{"tools":[\n${lines(tools)}\n],"turns":[\n${lines(turns)}\n]}\n`);
}

await main(process.argv.slice(2));
