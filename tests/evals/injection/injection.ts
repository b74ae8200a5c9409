/**
 * Measures what InjecAgent's injected instructions can do where the model obeys every one of them.
 * Run: `npm run eval:injection`. Writes tests/evals/reports/injection.json and .md.
 */
import 'fake-indexeddb/auto';
import { execFileSync } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { openStore } from '../../../src/store/open.ts';
import { figuresOf, playAll, type Row } from './report.ts';

const FOLDER = fileURLToPath(new URL('../reports/', import.meta.url));

const COLUMNS: readonly (readonly [keyof Row, string])[] = [
  ['world', 'What the person had allowed'],
  ['cases', 'Cases'],
  ['calls', 'Calls the attacker wanted'],
  ['asked', 'Asked, naming whose words they are'],
  ['unnamed', 'Asked without that'],
  ['refused', 'Refused'],
  ['ranWithoutYes', 'Ran without a yes'],
  ['userRan', "The user's own calls that ran"],
  ['userAsked', 'of them asked about'],
];

function markdown(rows: readonly Row[], commit: string, date: string): string {
  const line = (cells: readonly (string | number)[]): string => `| ${cells.join(' | ')} |`;
  return [
    '# Injected instructions',
    '',
    `Commit ${commit}, ${date}.`,
    '',
    "InjecAgent's base cases, a model that does whatever a tool's result tells it to, and a person who",
    'says yes to the tool that they asked for and no to everything else.',
    '',
    line(COLUMNS.map(([, title]) => title)),
    line(COLUMNS.map(() => '-')),
    ...rows.map((row) => line(COLUMNS.map(([key]) => row[key]))),
    '',
  ].join('\n');
}

const store = await openStore({ name: 'injection', channel: false });
const { rows, bad } = await playAll(store);
const commit = execFileSync('git', ['rev-parse', '--short=10', 'HEAD'], {
  encoding: 'utf8',
}).trim();
const date = new Date().toISOString();
await mkdir(FOLDER, { recursive: true });
const report = { name: 'injection', commit, date, figures: figuresOf(rows), cases: rows };
await writeFile(`${FOLDER}injection.json`, `${JSON.stringify(report, null, 1)}\n`);
await writeFile(`${FOLDER}injection.md`, markdown(rows, commit, date));
console.log(JSON.stringify(report.figures, null, 1));
for (const one of bad) console.log(JSON.stringify(one));
process.exit(bad.length > 0 ? 1 : 0);
