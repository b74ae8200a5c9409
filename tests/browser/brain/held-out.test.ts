/**
 * The demo model on turns that its training never saw (tests/models/demo-turns.json, written by
 * tools/tiny-gemma/conversations/turns.ts), as the app asks them: its brain, its dialect, its grammar, and
 * the real engine. Exact is what is right letter by letter: every argument of every call, every word.
 */
import { commands } from 'vitest/browser';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { BrainEvent, BrainRequest } from '../../../src/brain/brain.ts';
import { createLocalBrain } from '../../../src/brain/local/brain.ts';
import { fetchRows } from '../../../src/brain/local/catalogue.ts';
import { gemma3 } from '../../../src/brain/local/dialect/gemma3.ts';
import { download } from '../../../src/brain/local/downloads.ts';
import type { HostedEngine } from '../../../src/brain/local/engines/client.ts';
import { createEngine } from '../../../src/brain/local/engines/engines.ts';
import { removeFiles } from '../../../src/brain/local/files.ts';
import type { CatalogueRow } from '../../../src/brain/local/types.ts';
import type { Turn, Turns } from '../../../tools/tiny-gemma/conversations/turns.ts';
import made from '../../models/demo-turns.json';
import { never } from './rows.ts';

const { tools, turns } = made as unknown as Turns;

/** The share that must be exact, of all of them. */
const LEAST = 0.95;

let row: CatalogueRow;
let engine: HostedEngine;

beforeAll(async () => {
  const server = await commands.startFileServer();
  await commands.copyFile('/models/tiny-gemma/rows.json', '/models/demo.json');
  const rows = (await fetchRows(`${server}models/demo.json`)) ?? [];
  row = rows.find((one) => one.engine === 'wllama')!;
  await download(row, { signal: never(), onProgress: () => undefined });
  await commands.stopFileServer(server);
  engine = createEngine[row.engine]();
  await engine.load(row, () => undefined, never());
});
afterAll(async () => {
  await engine.unload();
  await removeFiles(row);
});

const requestOf = ({ now, messages, tools: names }: Turn): BrainRequest => ({
  system: '',
  now,
  messages,
  tools: names.flatMap((name) => tools.filter((tool) => tool.name === name)),
  toolChoice: 'auto',
  maxTokens: 300,
});

/** What is wanted, read as a reply is. */
function wanted(turn: Turn): string {
  const reader = gemma3.reader(requestOf(turn));
  return [...reader.push(turn.reply), ...reader.end(false)]
    .map((event) => (event.type === 'call' ? event.raw : event.text))
    .join('');
}

/** What the model says; of a call its own words, before the app reads `2 am` as a time of day. */
function said(events: readonly BrainEvent[]): string {
  return events
    .map((event) => {
      if (event.type === 'text') return event.text;
      if (event.type === 'end' && event.reason === 'error') return event.error.message;
      return event.type === 'call' ? event.call.raw : '';
    })
    .join('');
}

test(`at least ${LEAST * 100}% of ${turns.length} held-out turns are exact`, async () => {
  const brain = createLocalBrain({
    row,
    engine: {
      load: () => Promise.resolve(),
      generate: (request, signal) => engine.generate(request, signal),
      unload: () => Promise.resolve(),
    },
  });
  const wrong: { kind: string; wanted: string; said: string }[] = [];
  for (const turn of turns) {
    const events: BrainEvent[] = [];
    for await (const event of brain.stream(requestOf(turn), never())) events.push(event);
    const is = { kind: turn.kind, wanted: wanted(turn), said: said(events) };
    if (is.said !== is.wanted) wrong.push(is);
  }
  const kinds = new Set(turns.map(({ kind }) => kind));
  expect([...kinds].sort()).toEqual(
    [
      ...['clock', 'device', 'flight', 'itinerary', 'name', 'no tool', 'refused call', 'reminder'],
      ...['reminder if it rains', 'talk', 'tool error', 'weather', 'where from'],
    ].sort(),
  );
  expect(turns.length).toBeGreaterThan(99);
  const exact = (turns.length - wrong.length) / turns.length;
  expect(exact, JSON.stringify(wrong, null, 1)).toBeGreaterThanOrEqual(LEAST);
});
