/**
 * `npm run conformance`: the official client suite against src/mcp, in Node and in Chromium. Leaves
 * tests/conformance/report.json.
 *
 *   npx tsx tests/conformance/run.ts [--only node|chromium] [--scenario NAME] [--out FILE]
 */
import 'fake-indexeddb/auto';
import { execFileSync } from 'node:child_process';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { closeServer, listen, readBody } from '../servers/mcp-http.ts';
import { openPage } from './chromium.ts';
import { play, type Job } from './driver.ts';
import { BY_MACHINE } from './machine.ts';
import { ensureSuite, runSuite, scenarioNames, type Scenario } from './suite.ts';
import { visit } from './visit.ts';

type Player = (job: Job) => Promise<readonly string[]>;

/** Scenarios that are played at once; the machine of CI has two cores. */
const AT_ONCE = 4;

/** Takes scenarios from the suite and has them played, some at a time. */
async function serve(player: Player): Promise<{ url: string; server: Server }> {
  const waiting: (() => void)[] = [];
  let playing = 0;
  const server = createServer((request, response) => {
    void readBody(request).then(async (body) => {
      if (playing >= AT_ONCE) await new Promise<void>((resolve) => waiting.push(resolve));
      playing += 1;
      const lines = await player(JSON.parse(body) as Job).catch((cause: unknown) => [
        `The driver failed: ${String(cause)}`,
      ]);
      playing -= 1;
      waiting.shift()?.();
      response.end(lines.join('\n'));
    });
  });
  await listen(server, 0);
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server };
}

async function measure(
  name: string,
  player: Player,
  only: string | undefined,
): Promise<readonly Scenario[]> {
  const { url, server } = await serve(player);
  try {
    const found = await runSuite(url, path.resolve('.cache/conformance', name), only);
    for (const { name: scenario, passed, faults, log } of found)
      if (!passed || only !== undefined)
        console.log(
          `${passed ? 'passed' : 'FAILED'} ${scenario}\n  ${faults.join('\n  ')}\n${log}`,
        );
    return found;
  } finally {
    await closeServer(server);
  }
}

const sum = (found: readonly Scenario[], names: readonly string[]) => {
  const passed = names.filter((name) =>
    found.some((scenario) => scenario.passed && isNamed(scenario, name)),
  );
  return { passed: passed.length, failed: names.length - passed.length };
};

/** Slashes of a name become folders, or not, as the suite's version has it. */
function isNamed(scenario: Scenario, name: string): boolean {
  return scenario.name.replaceAll(/[/\\]/g, '/') === name;
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      only: { type: 'string' },
      scenario: { type: 'string' },
      out: { type: 'string', default: 'tests/conformance/report.json' },
    },
  });
  await ensureSuite();
  const names = values.scenario ? [values.scenario] : await scenarioNames();
  const figures: Record<string, number> = {};
  const cases: object[] = [];
  const tell = (place: string, found: readonly Scenario[]) => {
    const { passed, failed } = sum(found, names);
    figures[place] = passed;
    for (const name of names) {
      const scenario = found.find((one) => isNamed(one, name));
      const { passed: ok = false, checks = 0, faults = ['It did not run.'] } = scenario ?? {};
      const tokens = BY_MACHINE.includes(name) ? { tokens: 'of the SDK, not of src/mcp' } : {};
      cases.push({ place, name, passed: ok, checks, ...tokens, ...(ok ? {} : { faults }) });
    }
    const lent = names.filter((name) => BY_MACHINE.includes(name)).length;
    console.log(
      `conformance ${place} ${passed} passed, ${failed} failed (${lent} with lent tokens)`,
    );
    if (failed > 0) process.exitCode = 1;
  };

  if (values.only !== 'chromium')
    tell('node', await measure('node', (job) => play(job, { visit }), values.scenario));
  if (values.only !== 'node') {
    const page = await openPage();
    try {
      tell('chromium', await measure('chromium', page.play, values.scenario));
    } finally {
      await page.close();
    }
  }
  if (values.scenario || values.only) return;
  await mkdir(path.dirname(path.resolve(values.out)), { recursive: true });
  const commit = execFileSync('git', ['rev-parse', 'HEAD'], { encoding: 'utf8' }).trim();
  const report = { name: 'conformance', commit, date: new Date().toISOString(), figures, cases };
  await writeFile(values.out, `${JSON.stringify(report, null, 2)}\n`);
}

await main();
process.exit();
