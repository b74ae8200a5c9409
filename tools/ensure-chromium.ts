/** Finds a Chromium for the tests, or installs one with what the machine has for that. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { findChromium } from './chromium.ts';

interface Step {
  readonly command: string;
  readonly args: readonly string[];
}

/** How to become root, or null where that is not possible without a question. */
function asRoot(): readonly string[] | null {
  if (process.getuid?.() === 0) return [];
  const asked = spawnSync('sudo', ['-n', 'true'], { stdio: 'ignore' });
  return asked.status === 0 ? ['sudo', '-n'] : null;
}

function recipes(): Step[][] {
  const found: Step[][] = [];
  const root = asRoot();
  if (root && existsSync('/usr/bin/apt-get')) {
    const apt = (...args: string[]): Step => {
      const [command = '', ...rest] = [...root, 'apt-get', ...args];
      return { command, args: rest };
    };
    found.push([apt('update'), apt('install', '-y', '--no-install-recommends', 'chromium')]);
  }
  found.push([
    { command: path.resolve('node_modules/.bin/playwright'), args: ['install', 'chromium'] },
  ]);
  return found;
}

/** Absolute path of a Chromium; null, after saying why, where there is none and none can be had. */
export function ensureChromium(log: (line: string) => void): string | null {
  const present = findChromium();
  if (present) return present;
  for (const recipe of recipes()) {
    for (const { command, args } of recipe) {
      log(`There is no Chromium here. Running ${command} ${args.join(' ')}`);
      const ended = spawnSync(command, args, { stdio: 'inherit' });
      if (ended.status !== 0) break;
    }
    const installed = findChromium();
    if (installed) return installed;
  }
  log('No Chromium could be installed. Install one and set CHROME_PATH to its path.');
  return null;
}
