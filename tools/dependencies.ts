/**
 * What Deft is made of, audited: `npm run audit`, and a stage of `npm test`,
 * which no fault found by others meanwhile can turn red.
 *
 * Promises: every dependency has an exact version; every package of the lock file has a SHA-512 that
 * npm compares; none but those named here runs a script while it is installed; what goes into the app
 * has a licence that lets it. Known faults are asked of the registry; one that does not answer such
 * questions is said, and takes nothing from the rest.
 */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

export interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

export interface LockedPackage {
  readonly version?: string;
  readonly integrity?: string;
  readonly license?: string;
  readonly hasInstallScript?: boolean;
  readonly dev?: boolean;
  readonly devOptional?: boolean;
}

export interface Lock {
  /** By place, e.g. `node_modules/idb`; the project itself is under the empty name. */
  readonly packages: Readonly<Record<string, LockedPackage>>;
}

/** Packages that may run a script while they are installed: esbuild fetches its own binary, tldjs a list. */
const MAY_RUN = new Set(['esbuild', 'tldjs']);

/** Licences under which code may be a part of the app. */
const IN_THE_APP = new Set(['MIT', 'ISC', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', '0BSD']);

const EXACT = /^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$/;

/** What is wrong with what the project is made of, a sentence each. */
export function auditLock(manifest: Manifest, lock: Lock): string[] {
  const faults: string[] = [];
  const wanted = { ...manifest.dependencies, ...manifest.devDependencies };
  for (const [name, version] of Object.entries(wanted))
    if (!EXACT.test(version)) faults.push(`${name} is not pinned: "${version}" is a range.`);
  for (const [place, it] of Object.entries(lock.packages)) {
    if (place === '') continue;
    const name = place.slice(place.lastIndexOf('node_modules/') + 'node_modules/'.length);
    if (!it.integrity?.includes('sha512-'))
      faults.push(`${place} has no SHA-512 in the lock file.`);
    if (it.hasInstallScript && !MAY_RUN.has(name))
      faults.push(`${place} runs a script when it is installed.`);
    if (!it.dev && !it.devOptional && !IN_THE_APP.has(it.license ?? ''))
      faults.push(`${place} is a part of the app under the licence "${it.license ?? 'none'}".`);
  }
  return faults;
}

export type Advisories =
  | { readonly asked: true; readonly serious: number }
  | { readonly asked: false; readonly why: string };

/** Reads what `npm audit --json` printed; serious are the high and the critical ones. */
export function readAudit(printed: string): Advisories {
  try {
    const report = JSON.parse(printed) as {
      metadata?: { vulnerabilities?: { high: number; critical: number } };
      message?: string;
    };
    const found = report.metadata?.vulnerabilities;
    if (found) return { asked: true, serious: found.high + found.critical };
    return { asked: false, why: report.message ?? 'the registry gave no report' };
  } catch {
    return { asked: false, why: 'the registry gave no report' };
  }
}

async function json<T>(file: string): Promise<T> {
  return JSON.parse(await readFile(path.resolve(file), 'utf8')) as T;
}

/** What npm prints; it ends with an error also where it only found something. */
const npmAudit = (): Promise<string> =>
  new Promise((resolve) => {
    const args = ['audit', '--json', '--omit=dev', '--fetch-retries=0'];
    execFile('npm', args, { timeout: 60_000 }, (_error, stdout) => resolve(stdout));
  });

/**
 * Audits this project and prints what it finds. `sound` is what the repository itself answers for;
 * `serious` counts faults that became known meanwhile, null where the registry was not to be asked.
 */
export async function auditDependencies(
  log: (line: string) => void,
): Promise<{ sound: boolean; serious: number | null }> {
  const lock = await json<Lock>('package-lock.json');
  const faults = auditLock(await json<Manifest>('package.json'), lock);
  for (const fault of faults) log(fault);
  log(`${Object.keys(lock.packages).length - 1} packages looked at, ${faults.length} faults`);
  const advisories = readAudit(await npmAudit());
  if (advisories.asked) log(`known faults that are high or critical: ${advisories.serious}`);
  else log(`skipped: known faults could not be asked for, because ${advisories.why}`);
  return { sound: faults.length === 0, serious: advisories.asked ? advisories.serious : null };
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const { sound, serious } = await auditDependencies(console.log);
  process.exitCode = sound && !serious ? 0 : 1;
}
