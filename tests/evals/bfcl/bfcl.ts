/**
 * `npm run eval:bfcl`: how many calls the phone's models get right, in the browser's own engines,
 * through the app's own offer, dialect, grammar, checks and repair. Writes ../reports/bfcl.json and .md.
 *
 * `--models id,id` and `--count n` (cases of each category, 60 unless said otherwise, or `id=n,id=n`)
 * make it shorter, as do `--categories` and `--ways`, `--gguf file` adds a model in GGUF that speaks ChatML, `--to folder` writes the
 * reports elsewhere, `--report` only writes them from the answers so far. Each answer is kept in .cache
 * at once: a run that was ended goes on where it was, as long as the code and the weights are the same
 * (`--answers file`: whatever they are; each answer says at which commit it was given).
 */
import { execFileSync } from 'node:child_process';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { parseArgs } from 'node:util';
import type { Page } from '@playwright/test';
import { matchOf } from '../../../src/mcp/match.ts';
import { searchText } from '../../../src/mcp/search-text.ts';
import { startServer } from '../../../tools/serve.ts';
import { launch } from '../../bench/browser.ts';
import { openAnswers, WAYS, type Answers, type Way } from './answers.ts';
import { CATEGORIES, unseenCases, type Case, type Category } from './cases.ts';
import type { Question, Reply } from './page/main.ts';
import { bm25Threshold, pick } from './pick.ts';
import { buildPage, gatherModels } from './prepare.ts';
import { figuresOf, markdown, rowsOf } from './report.ts';

const WORK = path.resolve('.cache/evals');

const { values: options } = parseArgs({
  options: {
    models: { type: 'string' },
    count: { type: 'string', default: '60' },
    gguf: { type: 'string', multiple: true, default: [] },
    to: { type: 'string', default: 'tests/evals/reports' },
    report: { type: 'boolean', default: false },
    answers: { type: 'string' },
    categories: { type: 'string', default: CATEGORIES.join(',') },
    ways: { type: 'string', default: WAYS.join(',') },
  },
});

type Asked = Omit<Question, 'model' | 'words'>;

/** What a case asks a model; null where that way says nothing of it. */
function asking(one: Case, way: Way): Asked | null {
  if (way === 'alone') return { tools: one.tools, toolChoice: 'auto' };
  const { tool, score } = pick(one);
  const tools = tool ? [tool] : [];
  if (way === 'abstaining') {
    const match = matchOf(one.question, tools.map(searchText));
    // A small model is offered nothing that shares no word with the request.
    return {
      tools: score > 0 ? tools : [],
      toolChoice: 'auto',
      ...(match === undefined ? {} : { match }),
    };
  }
  return one.category === 'irrelevance' ? null : { tools, toolChoice: 'required' };
}

/** What was answered to the very same prompt, where that was a call under the very same grammar. */
function already(answers: Answers, model: string, one: Case, way: Way): Reply | undefined {
  if (way !== 'forced') return undefined;
  const before = answers.of(model, one, 'abstaining')?.reply;
  return before?.decision !== undefined && before.calls.length > 0 ? before : undefined;
}

const ask = (page: Page, question: Question): Promise<Reply> =>
  page.evaluate(async (asked) => (await window.evaluation).ask(asked), question);

async function evaluate(
  page: Page,
  model: string,
  cases: readonly Case[],
  answers: Answers,
): Promise<void> {
  const next = async (one: Case, way: Way): Promise<void> => {
    const asked = asking(one, way);
    if (!asked || answers.of(model, one, way)) return;
    const began = Date.now();
    const reply =
      already(answers, model, one, way) ??
      (await ask(page, { model, words: one.question, ...asked }));
    await answers.add({ model, way, category: one.category, id: one.id, reply });
    const said = reply.error ?? (reply.calls.map(({ raw }) => raw).join('; ') || reply.text);
    console.log(`${model} ${way} ${one.id} ${Date.now() - began} ms: ${said}`);
  };
  // Right after one another, so that the engine has read the prompt already.
  for (const one of cases)
    for (const way of WAYS) if (options.ways.split(',').includes(way)) await next(one, way);
}

/** Cases of each category for a model: `60`, or `id=60,id=20`. */
function countFor(model: string): number {
  const own = options.count.split(',').map((part) => part.split('='));
  const count = Number(own.length === 1 ? own[0]?.at(-1) : own.find(([id]) => id === model)?.[1]);
  if (!Number.isInteger(count) || count < 1)
    throw new Error(`--count is "${options.count}": give a whole number above 0.`);
  return count;
}

/** One of each category, then the next of each: a run that is ended early has as many of all. */
async function casesFor(model: string): Promise<Case[]> {
  const count = countFor(model);
  const all = await Promise.all(
    options.categories.split(',').map((category) => unseenCases(category as Category, count)),
  );
  return Array.from({ length: count }, (_, at) => all.flatMap((cases) => cases[at] ?? [])).flat();
}

async function run(answers: Answers, dist: string, models: string): Promise<void> {
  const server = await startServer({ port: 0, dist, models });
  const browser = await launch();
  try {
    const page = await browser.newPage();
    await page.goto(server.url);
    const found = await page.evaluate(async () => (await window.evaluation).models());
    for (const model of options.models?.split(',') ?? found.map(({ id }) => id)) {
      if (!found.some(({ id }) => id === model))
        throw new Error(`There is no model ${model} in models/: run npm run weights.`);
      await page.evaluate(async (id) => (await window.evaluation).fetch(id), model);
      await evaluate(page, model, await casesFor(model), answers);
      await page.evaluate(async () => (await window.evaluation).unload());
    }
  } finally {
    await browser.close();
    await server.close();
  }
}

const { dist, version } = await buildPage(path.join(WORK, `dist-${process.pid}`));
const models = await gatherModels(path.join(WORK, `models-${process.pid}`), options.gguf);
const commit = execFileSync('git', ['rev-parse', '--short=10', 'HEAD'], {
  encoding: 'utf8',
}).trim();
const answers = await openAnswers(
  options.answers ?? path.join(WORK, `bfcl-${version}.jsonl`),
  commit,
);
if (!options.report) await run(answers, dist, models);
const known = new Map(
  (await Promise.all(CATEGORIES.map((category) => unseenCases(category, 1000))))
    .flat()
    .map((one) => [one.id, one]),
);
const rows = rowsOf(answers.all(), known, await bm25Threshold());
const figures = figuresOf(rows);
const date = new Date().toISOString();
const folder = path.resolve(options.to);
await mkdir(folder, { recursive: true });
await writeFile(
  path.join(folder, 'bfcl.json'),
  `${JSON.stringify({ name: 'bfcl', commit: commit, date, figures, cases: rows.filter(({ way }) => way !== 'bm25') }, null, 1)}\n`,
);
await writeFile(path.join(folder, 'bfcl.md'), markdown({ commit: commit, date }, figures));
for (const made of [dist, models]) await rm(made, { recursive: true, force: true });
console.log(JSON.stringify(figures, null, 1));
