import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import type { ToolSpec } from '../../../src/brain/brain.ts';
import { gemma3 } from '../../../src/brain/local/dialect/gemma3.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const RECIPE = path.resolve(import.meta.dirname, '../../../tools/gemma-tools');

/** One line of the generator: conversations about the same tools. */
interface Tree {
  readonly k: string;
  readonly p: string;
  readonly b: readonly (readonly [text: string, isTarget: 0 | 1])[][];
}

let folder: string;
let trees: Tree[];

async function generate(name: string, seed: number, hashSeed: string): Promise<string> {
  const out = path.join(folder, name);
  await promisify(execFile)('python3', ['-B', '-m', 'generator', out, String(seed), '300'], {
    cwd: RECIPE,
    env: { ...process.env, PYTHONHASHSEED: hashSeed },
  });
  return readFile(out, 'utf8');
}

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'generator-'));
  const lines = (await generate('trees.jsonl', 11, '1')).trimEnd().split('\n');
  trees = lines.map((line) => JSON.parse(line) as Tree);
});

afterAll(() => rm(folder, { recursive: true }));

/** The tools that a prefix offers, as far as a reader needs them. */
function toolsOf({ p }: Tree): ToolSpec[] {
  return [...p.matchAll(/^([A-Za-z][\w.]*)\((.*)\)$/gm)].map(([, name = '', list = '']) => {
    const parameters = [...list.matchAll(/(\w+): [^,]*?( = None)?(?=, \w+: |$)/g)];
    return {
      name,
      description: '',
      inputSchema: {
        type: 'object',
        properties: Object.fromEntries(parameters.map(([, key]) => [key, {}])),
        required: parameters.filter(([, , none]) => !none).map(([, key]) => key),
      },
    };
  });
}

it('the same seed gives the same conversations, another seed others', async () => {
  const first = await readFile(path.join(folder, 'trees.jsonl'), 'utf8');
  expect((await generate('again.jsonl', 11, '2')) === first).toBe(true);
  expect((await generate('other.jsonl', 12, '1')) === first).toBe(false);
});

it('writes every kind of conversation', () => {
  const kinds = new Set(trees.map((tree) => tree.k));
  expect([...kinds].sort()).toEqual(['chain', 'dates', 'flow', 'tools']);
});

it('every reply is a sentence, or calls that the app reads, of tools on offer', () => {
  let calls = 0;
  for (const tree of trees) {
    const tools = toolsOf(tree);
    for (const [text, isTarget] of tree.b.flat()) {
      if (!isTarget) continue;
      expect(text.endsWith('<end_of_turn>')).toBe(true);
      const reader = gemma3.reader({ tools, toolChoice: 'auto' });
      const reply = text.replace('<end_of_turn>', '');
      const events = [...reader.push(reply), ...reader.end(false)];
      const isCode = reply.startsWith('```tool_code\n');
      expect(events.length).toBeGreaterThan(0);
      for (const event of events) {
        if (event.type !== 'call') {
          expect(isCode).toBe(false);
          continue;
        }
        calls++;
        const tool = tools.find(({ name }) => name === event.name);
        if (!tool || !event.args) return expect.fail(`${event.raw} in ${tree.p}`);
        const { properties, required } = tool.inputSchema;
        expect(Object.keys(properties as object)).toEqual(
          expect.arrayContaining(Object.keys(event.args)),
        );
        expect(Object.keys(event.args)).toEqual(expect.arrayContaining(required as string[]));
      }
    }
  }
  expect(calls).toBeGreaterThan(1000);
});

it('days that need a calendar stay in words, so that code can resolve them', () => {
  const turns = trees.flatMap((tree) => tree.b.flat());
  const targets = turns.filter(([, isTarget]) => isTarget).map(([text]) => text);
  const inWords = targets.filter((text) =>
    /="(next \w+day|\w+day|in \w+ days|the day after tomorrow)"/.test(text),
  );
  expect(inWords.length).toBeGreaterThan(20);
});
