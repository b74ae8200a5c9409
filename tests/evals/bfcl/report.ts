/** What came of an evaluation: each answer judged, the shares, and a page to read. */
import { bindArguments } from '../../../src/mcp/bind.ts';
import { WAYS, type Answer } from './answers.ts';
import { CATEGORIES, type Case, type Category } from './cases.ts';
import { isExact, isRightTool, type MadeCall } from './check.ts';
import { pick } from './pick.ts';

/** The ways of asking, and one that follows from them: BM25 alone decides whether to call. */
const COLUMNS = [...WAYS, 'bm25'] as const;
type Column = (typeof COLUMNS)[number];

export interface Row extends Omit<Answer, 'way'> {
  readonly way: Column;
  /** The calls are exactly the wanted ones; where none is wanted: there is none. */
  readonly exact: boolean;
  readonly rightTool: boolean;
}

/** The clock line's own day, in the time zone that it names. */
const PLACE = { now: new Date('2026-11-29T08:35:00Z'), timeZone: 'Asia/Kolkata', locale: 'en-GB' };

/** The call as the tool would get it: checked, and days in words resolved. */
function bound(call: MadeCall, { tools }: Case): MadeCall {
  const tool = tools.find(({ name }) => name === call.name);
  if (!tool || call.args === null) return call;
  const result = bindArguments(call.name, call.args, tool.inputSchema, PLACE);
  return result.ok ? { ...call, args: result.args } : call;
}

/** Judges answers; `threshold`: the BM25 score above which a call is made where that alone decides. */
export function rowsOf(
  answers: readonly Answer[],
  known: ReadonlyMap<string, Case>,
  threshold: number,
): Row[] {
  return answers.flatMap((answer): Row[] => {
    const one = known.get(answer.id);
    if (!one) return [];
    const calls = answer.reply.calls.map((call) => bound(call, one));
    const outcomes = [answer.reply, { ...answer.reply, calls }];
    const row: Row = {
      ...answer,
      exact: outcomes.some((outcome) => isExact(outcome, one)),
      rightTool: isRightTool(answer.reply, one),
    };
    const called = pick(one).score > threshold;
    const idle = one.calls.length === 0;
    if (answer.way !== (idle ? 'abstaining' : 'forced')) return [row];
    const right = (was: boolean): boolean => (idle ? !called : called && was);
    return [row, { ...row, way: 'bm25', exact: right(row.exact), rightTool: right(row.rightTool) }];
  });
}

const share = (rows: readonly Row[], is: (row: Row) => boolean): number =>
  Number((rows.filter(is).length / rows.length).toFixed(4));

/** `model.way.category` and, beside it, `.tool` (the right tool first) and `.cases`. */
export function figuresOf(rows: readonly Row[]): Record<string, number> {
  const figures: Record<string, number> = {};
  for (const model of new Set(rows.map((row) => row.model)))
    for (const way of COLUMNS)
      for (const category of CATEGORIES) {
        const of = rows.filter(
          (row) => row.model === model && row.way === way && row.category === category,
        );
        if (of.length === 0) continue;
        const key = `${model}.${way}.${category}`;
        figures[key] = share(of, ({ exact }) => exact);
        figures[`${key}.cases`] = of.length;
        if (category !== 'irrelevance')
          figures[`${key}.tool`] = share(of, ({ rightTool }) => rightTool);
      }
  return figures;
}

/** Shares of exact calls that others have published, in percent. */
const PUBLISHED: readonly (readonly string[])[] = [
  ['Gemma 3 1B, as published', '64.0', '36.0', '7.1', ''],
  ['Gemma 3 4B, as published', '90.5', '88.0', '50.4', ''],
  ['FunctionGemma 270M, as published', '61.6', '63.5', '73.7', ''],
];

/**
 * The same weights as the starter, the same 60 cases of each category, in llama.cpp on a computer,
 * when they were trained.
 */
const TRAINED: readonly (readonly string[])[] = [
  ['Gemma 3 270M, tools, forced, when trained', '31/60', '32/60', '', ''],
  ['Gemma 3 270M, tools, bm25, when trained', '24/60', '23/60', '49/60', ''],
  ['Gemma 3 270M, tools, alone, when trained', '27/60', '27/60', '21/60', ''],
  ['Gemma 3 270M, five examples instead of training', '20/60', '27/60', '49/60', ''],
];

export function markdown(
  report: { readonly commit: string; readonly date: string },
  figures: Readonly<Record<string, number>>,
): string {
  const models = new Set(
    Object.keys(figures).flatMap(
      (key) => /^(.*)\.(?:abstaining|forced|alone|bm25)\./.exec(key)?.[1] ?? [],
    ),
  );
  const cell = (model: string, way: Column, category: Category): string => {
    const key = `${model}.${way}.${category}`;
    const [value, cases] = [figures[key], figures[`${key}.cases`]];
    if (value === undefined || cases === undefined) return '';
    return `${(value * 100).toFixed(1)} (${Math.round(value * cases)}/${cases})`;
  };
  const measured = [...models].flatMap((model) =>
    COLUMNS.map((way) => [`${model}, ${way}`, ...CATEGORIES.map((one) => cell(model, way, one))]),
  );
  const filled = measured.filter(([, ...cells]) => cells.some((one) => one !== ''));
  const table = [...filled, ...TRAINED, ...PUBLISHED].map((cells) => `| ${cells.join(' | ')} |`);
  return `# Calls that are right

Berkeley Function Calling Leaderboard, unseen cases, measured until ${report.date.slice(0, 10)} at commit ${report.commit} in Chromium, through the app's own brain. Percent of cases whose calls are exact, and how many of how many; for irrelevance, in which no call was made. Each answer in bfcl.json names the commit that it was given at.

- \`forced\`: the tool that fits best by BM25 is offered, and a call is asked for.
- \`abstaining\`: the same, and whether to call is decided: by the model's own odds and BM25 together where that was measured (the rows of Gemma 3 270M, tools), else by the model.
- \`bm25\`: as \`forced\`, and BM25 alone decides whether to call, with a threshold from other cases: as it was measured when the weights were trained.
- \`alone\`: every tool of the case is offered, and the model decides.

| model | ${CATEGORIES.join(' | ')} |
| --- | --: | --: | --: | --: |
${table.join('\n')}

Made by \`npm run eval:bfcl\`.
`;
}
