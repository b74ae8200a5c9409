/**
 * `npm run eval:bfcl`: how many calls the phone's models get right, in the browser's own engines,
 * through the app's own dialect, grammar and repair. Writes ../reports/bfcl.json and .md.
 *
 * `--models id,id` and `--count n` (cases of each category, 60 unless said otherwise) make it shorter;
 * `--to folder` writes the reports elsewhere. Two ways of asking are measured: `all` gives the model
 * every tool of the case and leaves it free to call none; `picked` gives it the one that BM25 finds and
 * asks for a call, as a step of the app does that retries.
 */
import { execFileSync } from 'node:child_process';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { parseArgs } from 'node:util';
import type { Page } from '@playwright/test';
import { build } from 'vite';
import type { ToolSpec } from '../../../src/brain/brain.ts';
import { buildIndex } from '../../../src/mcp/bm25.ts';
import { startServer } from '../../../tools/serve.ts';
import { wllama } from '../../../tools/vite-wllama.ts';
import { launch } from '../../bench/browser.ts';
import { CATEGORIES, unseenCases, type Case } from './cases.ts';
import { isExact, isRightTool } from './check.ts';
import type { Question, Reply } from './page/main.ts';

const WORK = path.resolve('.cache/evals');

type Way = 'all' | 'picked';

interface Row {
  readonly model: string;
  readonly way: Way;
  readonly category: Case['category'];
  readonly id: string;
  readonly exact: boolean;
  readonly rightTool: boolean;
  readonly reply: Reply;
}

const { values: options } = parseArgs({
  options: {
    models: { type: 'string' },
    count: { type: 'string', default: '60' },
    to: { type: 'string', default: 'tests/evals/reports' },
  },
});

async function buildPage(): Promise<string> {
  const outDir = path.join(WORK, 'dist');
  await build({
    configFile: false,
    root: path.resolve('tests/evals/bfcl/page'),
    publicDir: false,
    logLevel: 'error',
    plugins: [wllama()],
    worker: { format: 'es', plugins: () => [wllama()] },
    build: { target: 'es2023', outDir, emptyOutDir: true, assetsInlineLimit: 0 },
  });
  return outDir;
}

const toolText = ({ name, description, inputSchema }: ToolSpec): string =>
  `${name} ${name} ${description} ${JSON.stringify(inputSchema.properties ?? {})}`;

/** The tool that shares most with the question, by BM25 over all tools of all cases. */
function createPicker(cases: readonly Case[]): (one: Case) => ToolSpec | undefined {
  const tools = cases.flatMap((one) => one.tools);
  const index = buildIndex(tools.map(toolText));
  return (one) => {
    const scores = index.search(one.question);
    const scoreOf = (tool: ToolSpec): number => scores.get(tools.indexOf(tool)) ?? 0;
    return one.tools.toSorted((a, b) => scoreOf(b) - scoreOf(a))[0];
  };
}

const ask = (page: Page, question: Question): Promise<Reply> =>
  page.evaluate(async (asked) => (await window.evaluation).ask(asked), question);

async function evaluate(page: Page, model: string, cases: readonly Case[]): Promise<Row[]> {
  const pick = createPicker(cases);
  const rows: Row[] = [];
  for (const one of cases)
    for (const way of ['all', 'picked'] as const) {
      const picked = pick(one);
      if (way === 'picked' && (!picked || one.calls.length !== 1)) continue;
      const reply = await ask(page, {
        model,
        words: one.question,
        tools: way === 'picked' && picked ? [picked] : one.tools,
        toolChoice: way === 'picked' ? 'required' : 'auto',
      });
      const { id, category } = one;
      const exact = isExact(reply, one);
      rows.push({
        model,
        way,
        category,
        id,
        exact,
        rightTool: isRightTool(reply, one),
        reply,
      });
      console.log(
        `${model} ${way} ${id}: ${exact ? 'exact' : (reply.error ?? JSON.stringify(reply.calls))}`,
      );
    }
  return rows;
}

const share = (rows: readonly Row[], is: (row: Row) => boolean): number =>
  Number((rows.filter(is).length / rows.length).toFixed(4));

function figuresOf(rows: readonly Row[]): Record<string, number> {
  const figures: Record<string, number> = {};
  for (const model of new Set(rows.map((row) => row.model)))
    for (const way of ['all', 'picked'] as const)
      for (const category of CATEGORIES) {
        const of = rows.filter(
          (row) => row.model === model && row.way === way && row.category === category,
        );
        if (of.length === 0) continue;
        figures[`${model}.${way}.${category}`] = share(of, ({ exact }) => exact);
        if (category !== 'irrelevance')
          figures[`${model}.${way}.${category}.tool`] = share(of, ({ rightTool }) => rightTool);
      }
  return figures;
}

/** Shares of exact calls that others have published, in percent. */
const PUBLISHED = [
  ['Gemma 3 1B, as published', '64.0', '36.0', '', '7.1'],
  ['Gemma 3 4B, as published', '90.5', '88.0', '', '50.4'],
  ['FunctionGemma 270M, as published', '61.6', '63.5', '', '73.7'],
] as const;

function markdown(
  report: { commit: string; date: string; count: number },
  figures: Readonly<Record<string, number>>,
): string {
  const keys = [...new Set(Object.keys(figures).map((key) => key.split('.').slice(0, -1)))];
  const models = new Set(keys.map((parts) => parts.join('.').replace(/\.(all|picked).*$/, '')));
  const cell = (key: string): string =>
    figures[key] === undefined ? '' : (figures[key] * 100).toFixed(1);
  const measured = [...models].flatMap((model) =>
    (['all', 'picked'] as const).map((way) => [
      `${model}, ${way}`,
      ...CATEGORIES.map((category) => cell(`${model}.${way}.${category}`)),
    ]),
  );
  const table = [...measured, ...PUBLISHED].map((cells) => `| ${cells.join(' | ')} |`);
  return `# Calls that are right

Berkeley Function Calling Leaderboard, ${report.count} unseen cases of each category, measured on ${report.date.slice(0, 10)} at commit ${report.commit} in Chromium, through the app's own brain. Percent of cases whose calls are exact; for irrelevance, in which no call was made. \`all\`: every tool of the case is offered and the model may answer in words. \`picked\`: the one that BM25 finds, and a call is asked for.

| model | ${CATEGORIES.join(' | ')} |
| --- | --: | --: | --: | --: |
${table.join('\n')}

Made by \`npm run eval:bfcl\`.
`;
}

const commit = execFileSync('git', ['rev-parse', '--short=10', 'HEAD'], {
  encoding: 'utf8',
}).trim();
const count = Number(options.count);
if (!Number.isInteger(count) || count < 1)
  throw new Error(`--count is "${options.count}": give a whole number above 0.`);
const cases = (
  await Promise.all(CATEGORIES.map((category) => unseenCases(category, count)))
).flat();
const server = await startServer({
  port: 0,
  dist: await buildPage(),
  models: path.resolve('models'),
});
const browser = await launch();
const rows: Row[] = [];
try {
  const page = await browser.newPage();
  await page.goto(server.url);
  const found = await page.evaluate(async () => (await window.evaluation).models());
  const wanted = options.models?.split(',') ?? found.map(({ id }) => id);
  for (const model of wanted) {
    if (!found.some(({ id }) => id === model))
      throw new Error(`There is no model ${model} in models/: run npm run weights.`);
    await page.evaluate(async (id) => (await window.evaluation).fetch(id), model);
    rows.push(...(await evaluate(page, model, cases)));
    await page.evaluate(async () => (await window.evaluation).unload());
  }
} finally {
  await browser.close();
  await server.close();
  await rm(WORK, { recursive: true, force: true });
}
const figures = figuresOf(rows);
const date = new Date().toISOString();
const folder = path.resolve(options.to);
await mkdir(folder, { recursive: true });
await writeFile(
  path.join(folder, 'bfcl.json'),
  `${JSON.stringify({ name: 'bfcl', commit, date, figures, cases: rows }, null, 1)}\n`,
);
await writeFile(path.join(folder, 'bfcl.md'), markdown({ commit, date, count }, figures));
console.log(JSON.stringify(figures, null, 1));
