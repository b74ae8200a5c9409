/** The licences of the packages that the app is made of, as one text that goes with the build. */
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';

interface Locked {
  readonly version?: string;
  readonly license?: string;
  readonly dev?: boolean;
  readonly devOptional?: boolean;
}

const LICENCE_FILE = /^(licen[cs]e|copying|notice)(\.|-|$)/i;

async function texts(folder: string): Promise<string[]> {
  const names = (await readdir(folder)).filter((name) => LICENCE_FILE.test(name)).sort();
  return Promise.all(names.map((name) => readFile(path.join(folder, name), 'utf8')));
}

/** Every package that is installed for the app itself, not for its tools, with its licence's text. */
export async function licences(root: string): Promise<string> {
  const lock = JSON.parse(await readFile(path.join(root, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, Locked>;
  };
  const parts = [
    'Deft is under the MIT licence and is made with these packages.\n' +
      'The licence of a model is shown beside the model.\n',
    await readFile(path.join(root, 'LICENSE'), 'utf8'),
  ];
  const names = Object.keys(lock.packages).filter((name) => name.startsWith('node_modules/'));
  for (const name of names.sort()) {
    const found = lock.packages[name];
    if (!found || found.dev || found.devOptional) continue;
    const own = await texts(path.join(root, name)).catch(() => []);
    const title = `${name.slice('node_modules/'.length)} ${found.version ?? ''}`.trim();
    const licence = found.license ? ` (${found.license})` : '';
    parts.push([`${title}${licence}\n`, ...own].join('\n'));
  }
  return parts.map((part) => part.trim()).join(`\n\n${'-'.repeat(72)}\n\n`) + '\n';
}
