/**
 * `npm run bench`: measures the built app and writes report.json and report.md beside this file, or
 * into the folder given as the first argument. Nothing here is a bound that a run has to keep; it
 * fails only where a figure could not be measured.
 */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { FIGURES, type Case, type FigureName, type Figures, type Measured } from './figures.ts';
import { measureDownload } from './download.ts';
import { measureFirstScreen } from './first-screen.ts';
import { measureOverhead } from './overhead.ts';
import { measureScreen } from './screen.ts';
import { measureShell } from './shell.ts';
import { measureTools } from './tools.ts';

interface Report {
  readonly name: string;
  /** Commit that was measured, `+` behind it where files differ from it. */
  readonly commit: string;
  readonly date: string;
  /** Processors, and how many processes wanted one, on average over a minute, before and after. */
  readonly machine: { readonly cores: number; readonly load: readonly [number, number] };
  readonly figures: Figures;
  readonly missing: readonly FigureName[];
  readonly cases: readonly Case[];
}

const PARTS: readonly (readonly [string, () => Promise<Measured>])[] = [
  ['shell', measureShell],
  ['first screen', measureFirstScreen],
  ['screen', measureScreen],
  ['tools', measureTools],
  ['overhead', measureOverhead],
  ['download', measureDownload],
];
const NAMES = Object.keys(FIGURES) as FigureName[];

const load = (): number => Math.round((os.loadavg()[0] ?? 0) * 10) / 10;

/** Four digits that mean something; counts as they are. */
const rounded = (value: number): number =>
  Number.isInteger(value) ? value : Number(value.toPrecision(4));

function commit(): string {
  const git = (...args: string[]): string => execFileSync('git', args, { encoding: 'utf8' }).trim();
  try {
    const changed = git('status', '--porcelain', '--', 'src', 'public', 'index.html') !== '';
    return `${git('rev-parse', '--short=10', 'HEAD')}${changed ? '+' : ''}`;
  } catch {
    return 'unknown';
  }
}

function markdown({ commit, date, machine, figures }: Report): string {
  const rows = NAMES.map((name) => `| ${name} | ${figures[name] ?? 'none'} | ${FIGURES[name]} |`);
  return `# Speed

Measured on ${date.slice(0, 10)} at commit ${commit}, in headless Chromium with WebGPU in software, on a machine with ${machine.cores} cores. Its load was ${machine.load[0]} before and ${machine.load[1]} after: above ${machine.cores} other work took part of the processor, and times and long tasks are worse for it. Ratios suffer too, since the screen and the engine then want the same cores: each is the median of neighbouring runs in one page, and report.json has every one of them.

| figure | value | what it is |
| --- | --: | --- |
${rows.join('\n')}

\`overhead\` compares the phone's brain (dialect, grammar, checks of what is written) with a bare loop over the same engine and the same prompt, from the first token to the last; \`app\` does so with the whole app (session, loop, brain, journal, IndexedDB, drawn screen), until the turn is stored: WebGPU in software and the screen want the same cores. On WebLLM the grammar for tool calls is part of both; on wllama, with random weights, all are held to letters. 1 would be no cost at all.

Made by \`npm run bench\`.
`;
}

async function main(): Promise<void> {
  const folder = path.resolve(process.argv[2] ?? 'tests/bench');
  if (!existsSync('dist/index.html'))
    throw new Error('There is no build: run npm run build first.');
  const before = load();
  const measured = commit();
  const figures: Figures = {};
  const cases: Case[] = [];
  for (const [name, measure] of PARTS) {
    console.log(name);
    try {
      const found = await measure();
      for (const [key, value] of Object.entries(found.figures) as [FigureName, number][])
        if (Number.isFinite(value)) figures[key] = rounded(value);
      cases.push(...(found.cases ?? []));
    } catch (error) {
      console.error(error);
    }
  }
  const report: Report = {
    name: 'deft',
    commit: measured,
    date: new Date().toISOString(),
    machine: { cores: os.cpus().length, load: [before, load()] },
    figures,
    missing: NAMES.filter((name) => figures[name] === undefined),
    cases: cases.map(({ figure, value }) => ({ figure, value: rounded(value) })),
  };
  await mkdir(folder, { recursive: true });
  await writeFile(path.join(folder, 'report.json'), `${JSON.stringify(report, null, 2)}\n`);
  await writeFile(path.join(folder, 'report.md'), markdown(report));
  for (const name of NAMES)
    console.log(`${name.padEnd(30)} ${String(figures[name] ?? 'not measured').padStart(12)}`);
  process.exitCode = report.missing.length > 0 ? 1 : 0;
}

await main();
