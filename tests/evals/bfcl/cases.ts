/**
 * Cases of the Berkeley Function Calling Leaderboard, as requests of a brain: one question, the tools
 * that it comes with, and the calls that count as right. Data and terms: ../data/bfcl.
 */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { ToolSpec } from '../../../src/brain/brain.ts';

export const CATEGORIES = ['simple', 'multiple', 'irrelevance', 'parallel'] as const;
export type Category = (typeof CATEGORIES)[number];

/** For each argument the values that are right; `''` among them: it may be left out. */
export type Accepted = Readonly<Record<string, readonly unknown[]>>;

export interface Case {
  readonly id: string;
  readonly category: Category;
  readonly question: string;
  readonly tools: readonly ToolSpec[];
  /** The right calls, in any order; none where no tool fits. */
  readonly calls: readonly { readonly name: string; readonly accepted: Accepted }[];
}

interface Line {
  readonly id: string;
  readonly question: readonly (readonly { readonly role: string; readonly content: string }[])[];
  readonly function: readonly {
    readonly name: string;
    readonly description: string;
    readonly parameters: unknown;
  }[];
}

interface Answer {
  readonly id: string;
  readonly ground_truth: readonly Readonly<Record<string, Accepted>>[];
}

const FILES: Readonly<Record<Category, string>> = {
  simple: 'simple_python',
  multiple: 'multiple',
  parallel: 'parallel',
  irrelevance: 'irrelevance',
};
const DATA = path.resolve('tests/evals/data/bfcl');

/** The leaderboard's type names that are not JSON Schema's. */
const TYPES: Readonly<Record<string, string>> = { dict: 'object', float: 'number', tuple: 'array' };

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A parameter list of the leaderboard as JSON Schema. */
export function toJsonSchema(value: unknown): Record<string, unknown> {
  if (!isRecord(value)) return {};
  const { type, properties, items, ...rest } = value;
  delete rest.optional;
  const known = typeof type === 'string' && type !== 'any' ? { type: TYPES[type] ?? type } : {};
  return {
    ...rest,
    ...known,
    ...(isRecord(properties)
      ? {
          properties: Object.fromEntries(
            Object.entries(properties).map(([name, schema]) => [name, toJsonSchema(schema)]),
          ),
        }
      : {}),
    ...(isRecord(items) ? { items: toJsonSchema(items) } : {}),
  };
}

/** A name as MCP allows it: letters, digits, `_` and `-`. */
export const toolName = (name: string): string => name.replaceAll(/[^A-Za-z0-9_-]/g, '_');

async function lines<Value>(file: string): Promise<Value[]> {
  const text = await readFile(path.join(DATA, file), 'utf8');
  return text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Value);
}

/** Numbers from 0 to 1, the same for the same seed (mulberry32). */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

function shuffled<Value>(values: readonly Value[], seed: number): Value[] {
  const next = random(seed);
  const list = [...values];
  for (let last = list.length - 1; last > 0; last -= 1) {
    const other = Math.floor(next() * (last + 1));
    [list[last], list[other]] = [list[other] as Value, list[last] as Value];
  }
  return list;
}

/** The first 100 of the shuffled cases were looked at while the dialect was made. */
const SEEN = 100;

/** Of these the first 60 were looked at one by one, the others only counted. */
const COUNTED = 60;

/** `count` cases of a category that nothing was tuned on, always the same ones. */
export const unseenCases = async (category: Category, count: number): Promise<Case[]> =>
  (await shuffledCases(category)).slice(SEEN, SEEN + count);

/** The cases over whose tools words were counted for src/mcp/match.ts. */
export async function countedCases(): Promise<Case[]> {
  const all = await Promise.all(
    (['simple', 'multiple', 'irrelevance'] as const).map(shuffledCases),
  );
  return all.flatMap((cases) => cases.slice(COUNTED, SEEN));
}

async function shuffledCases(category: Category): Promise<Case[]> {
  const file = `${FILES[category]}.jsonl`;
  const answers = category === 'irrelevance' ? [] : await lines<Answer>(path.join('answers', file));
  const right = new Map(answers.map((answer) => [answer.id, answer.ground_truth]));
  const all = (await lines<Line>(file)).map((line): Case => ({
    id: line.id,
    category,
    question: (line.question[0] ?? [])
      .filter(({ role }) => role === 'user')
      .map(({ content }) => content)
      .join('\n')
      .trim(),
    tools: line.function.map(({ name, description, parameters }) => ({
      name: toolName(name),
      description,
      inputSchema: toJsonSchema(parameters),
    })),
    calls: (right.get(line.id) ?? []).flatMap((call) =>
      Object.entries(call).map(([name, accepted]) => ({ name: toolName(name), accepted })),
    ),
  }));
  return shuffled(all, 42);
}
