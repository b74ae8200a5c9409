/**
 * `npm test`: everything that CI runs, none left out. Checks that measure no time run side by side,
 * the tests one stage after the other. A failing stage stops nothing; the last line sums up all runners as `N passed, N failed` (`, N skipped`). A check
 * without tests of its own counts as one test.
 */
import { spawn } from 'node:child_process';
import { mkdir, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { ensureSuite } from '../tests/conformance/suite.ts';
import { auditDependencies } from './dependencies.ts';
import { ensureChromium } from './ensure-chromium.ts';
import { ensureWeights } from './weights.ts';

interface Tally {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  /** Of those that passed, how many did so only when tried again. */
  readonly again?: number;
}

interface Stage {
  readonly name: string;
  run(): Promise<Tally>;
}

const REPORTS = path.resolve('.cache/reports');
const bin = (name: string): string => path.resolve('node_modules/.bin', name);

const PASSED: Tally = { passed: 1, failed: 0, skipped: 0 };
const FAILED: Tally = { passed: 0, failed: 1, skipped: 0 };

interface RunOptions {
  readonly env?: NodeJS.ProcessEnv;
  /** Others run beside it: its output is shown at the end and in one piece. */
  readonly apart?: boolean;
}

/** Runs a command with its output shown; resolves with its exit code. */
function run(command: string, args: readonly string[], { env, apart }: RunOptions = {}) {
  return new Promise<number>((resolve) => {
    const child = spawn(command, args, {
      stdio: apart ? ['ignore', 'pipe', 'pipe'] : 'inherit',
      env: { ...process.env, ...env },
    });
    const said: Buffer[] = [];
    for (const stream of [child.stdout, child.stderr])
      stream?.on('data', (chunk: Buffer) => said.push(chunk));
    child.on('error', (error) => {
      console.error(error.message);
      resolve(1);
    });
    child.on('close', (code) => {
      process.stdout.write(Buffer.concat(said));
      resolve(code ?? 1);
    });
  });
}

const check = (name: string, command: string, ...args: string[]): Stage => ({
  name,
  run: async () => ((await run(bin(command), args, { apart: true })) === 0 ? PASSED : FAILED),
});

/** A runner that failed without a failed test (it crashed, a file did not load) is one failure. */
export function honest(tally: Tally, exitCode: number): Tally {
  const lost = exitCode !== 0 && tally.failed === 0;
  return lost || tally.passed + tally.failed + tally.skipped === 0
    ? { ...tally, failed: Math.max(1, tally.failed) }
    : tally;
}

interface VitestReport {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly numPendingTests: number;
  readonly numTodoTests: number;
  readonly testResults: readonly { status: string; assertionResults: readonly unknown[] }[];
}

/** Sums up Vitest's JSON report; a file that did not load counts as one failed test. */
export function vitestTally(report: VitestReport): Tally {
  const unloaded = report.testResults.filter(
    (file) => file.status === 'failed' && file.assertionResults.length === 0,
  );
  return {
    passed: report.numPassedTests,
    failed: report.numFailedTests + unloaded.length,
    skipped: report.numPendingTests + report.numTodoTests,
  };
}

interface PlaywrightReport {
  readonly stats: { expected: number; unexpected: number; flaky: number; skipped: number };
  readonly errors: readonly unknown[];
}

/**
 * Sums up Playwright's JSON report. A whole browser on a busy machine may fail for the machine's sake:
 * a test may be tried once more, and that is told.
 */
export function playwrightTally({ stats, errors }: PlaywrightReport): Tally {
  return {
    passed: stats.expected + stats.flaky,
    failed: stats.unexpected + errors.length,
    skipped: stats.skipped,
    ...(stats.flaky > 0 ? { again: stats.flaky } : {}),
  };
}

async function readReport<T>(file: string): Promise<T | null> {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as T;
  } catch {
    return null;
  }
}

function vitest(project: string, ...more: readonly string[]): Stage {
  const report = path.join(REPORTS, `vitest-${project}.json`);
  return {
    name: `vitest ${project}`,
    async run() {
      await rm(report, { force: true });
      const code = await run(bin('vitest'), [
        'run',
        '--project',
        project,
        '--reporter=default',
        '--reporter=json',
        `--outputFile.json=${report}`,
        ...more,
      ]);
      const found = await readReport<VitestReport>(report);
      return found ? honest(vitestTally(found), code) : FAILED;
    },
  };
}

function playwright(): Stage {
  const report = path.join(REPORTS, 'playwright.json');
  return {
    name: 'playwright',
    async run() {
      await rm(report, { force: true });
      const code = await run(bin('playwright'), ['test', '--reporter=list,json'], {
        env: { PLAYWRIGHT_JSON_OUTPUT_FILE: report },
      });
      const found = await readReport<PlaywrightReport>(report);
      return found ? honest(playwrightTally(found), code) : FAILED;
    },
  };
}

interface BenchReport {
  readonly figures: Readonly<Record<string, number>>;
  readonly missing: readonly string[];
}

/** A figure that was measured has passed, whatever it is: speed is told, never asserted. */
export function benchTally({ figures, missing }: BenchReport): Tally {
  return { passed: Object.keys(figures).length, failed: missing.length, skipped: 0 };
}

function bench(): Stage {
  const folder = path.join(REPORTS, 'bench');
  return {
    name: 'bench',
    async run() {
      await rm(folder, { recursive: true, force: true });
      const code = await run(bin('tsx'), ['tests/bench/bench.ts', folder]);
      const found = await readReport<BenchReport>(path.join(folder, 'report.json'));
      return found ? honest(benchTally(found), code) : FAILED;
    },
  };
}

interface ConformanceReport {
  readonly cases: readonly { readonly passed: boolean }[];
}

/** Every scenario counts, once in Node and once in Chromium. */
export function conformanceTally({ cases }: ConformanceReport): Tally {
  const passed = cases.filter((scenario) => scenario.passed).length;
  return { passed, failed: cases.length - passed, skipped: 0 };
}

function conformance(): Stage {
  const report = path.join(REPORTS, 'conformance.json');
  return {
    name: 'conformance',
    async run() {
      await rm(report, { force: true });
      const code = await run(bin('tsx'), ['tests/conformance/run.ts', '--out', report]);
      const found = await readReport<ConformanceReport>(report);
      return found ? honest(conformanceTally(found), code) : FAILED;
    },
  };
}

const chromium: Stage = {
  name: 'chromium',
  async run() {
    const found = ensureChromium(console.log);
    if (!found) return FAILED;
    console.log(found);
    process.env.CHROME_PATH = found;
    return PASSED;
  },
};

const weights: Stage = {
  name: 'weights',
  async run() {
    const result = await ensureWeights({ log: console.log });
    if (result.ok) return PASSED;
    console.error(`${result.message} ${result.advice}`);
    return FAILED;
  },
};

const suite: Stage = {
  name: 'conformance suite',
  run: () => ensureSuite().then(() => PASSED),
};

const dependencies: Stage = {
  name: 'dependencies',
  run: async () => ((await auditDependencies(console.log)).sound ? PASSED : FAILED),
};

/** Rows of stages: those of one row run one after the other, beside the other rows. */
const CHECKS: readonly (readonly Stage[])[] = [
  [
    check('svelte-check', 'svelte-check', '--fail-on-warnings'),
    check('eslint', 'eslint', '.'),
    check('types', 'tsc', '--noEmit', '-p', '.'),
    check('types of the worker', 'tsc', '--noEmit', '-p', 'src/sw'),
    check('prettier', 'prettier', '--check', '.'),
    check('knip', 'knip'),
    dependencies,
    check('build', 'vite', 'build'),
    check('size', 'size-limit'),
  ],
  [chromium, weights, suite],
];

const TESTS: readonly Stage[] = [
  // Much of it waits for servers, so that two cores have room for more than one file.
  vitest('unit', '--maxWorkers=2'),
  vitest('browser'),
  conformance(),
  playwright(),
  bench(),
];

async function main(): Promise<void> {
  await mkdir(REPORTS, { recursive: true });
  const rows: string[] = [];
  const sum = { passed: 0, failed: 0, skipped: 0 };
  const stages = [...CHECKS.flat(), ...TESTS];
  const play = async (stage: Stage): Promise<void> => {
    console.log(`\n[${stages.indexOf(stage) + 1}/${stages.length}] ${stage.name}`);
    const started = performance.now();
    const tally = await stage.run().catch((error: unknown) => {
      console.error(error);
      return FAILED;
    });
    sum.passed += tally.passed;
    sum.failed += tally.failed;
    sum.skipped += tally.skipped;
    const seconds = ((performance.now() - started) / 1000).toFixed(1);
    const again = tally.again ? ` (${tally.again} only when tried again)` : '';
    rows.push(`${stage.name.padEnd(22)} ${seconds.padStart(7)} s   ${inWords(tally)}${again}`);
  };
  const playAll = async (row: readonly Stage[]): Promise<void> => {
    for (const stage of row) await play(stage);
  };
  await Promise.all(CHECKS.map(playAll));
  await playAll(TESTS);
  console.log(`\n${rows.join('\n')}\n`);
  console.log(inWords(sum));
  // A test that was left out has shown nothing.
  process.exitCode = sum.failed + sum.skipped > 0 ? 1 : 0;
}

function inWords({ passed, failed, skipped }: Tally): string {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) await main();
